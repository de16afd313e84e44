"""The private store is one for all processes of a folder, whoever is killed when."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Generator
from pathlib import Path

import hiredis
import pytest

from tests.gateway.holders import holders, server_pid, servers_started
from tests.proves import proves
from tests.redis_server import binary, say
from tests.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A data folder; a server that a failed test leaves there is stopped."""
    yield tmp_path
    record = tmp_path / "redis" / "socket"
    with contextlib.suppress(OSError, hiredis.ReplyError):
        say(Path(record.read_text()), "SHUTDOWN", "NOSAVE")


@proves("S01", "store")
async def test_four_that_come_at_once_start_one_server_and_the_last_one_out_stops_it(folder: Path) -> None:
    async with holders(folder, 4) as four:
        await asyncio.gather(*(holder.ready() for holder in four))
        socket = four[0].socket
        pid = server_pid(socket)
        assert pid
        assert servers_started(folder) == 1
        for holder in four[:3]:
            await holder.leave()
        assert server_pid(socket) == pid
        await four[3].leave()
        assert not socket.exists()
        assert not alive(pid)


@proves("S01", "store")
async def test_a_killed_server_is_started_once_and_has_every_write_it_acknowledged(folder: Path) -> None:
    async with holders(folder, 3) as three:
        await asyncio.gather(*(holder.ready() for holder in three))
        for holder in three:
            await holder.write()
        socket = three[0].socket
        first = server_pid(socket)
        assert first

        async def all_have_written(more_than: int) -> bool:
            return all([await holder.acked() > more_than for holder in three])

        await wait_until(lambda: all_have_written(20))
        os.kill(first, signal.SIGKILL)
        await wait_until(lambda: server_pid(socket) not in {None, first}, timeout=20)
        before = max([await holder.acked() for holder in three])
        await wait_until(lambda: all_have_written(before), timeout=20)
        acked = sum([await holder.acked() for holder in three])
        keys = say(socket, "KEYS", "count:*")
        assert isinstance(keys, list)
        assert sum(int(str(say(socket, "GET", str(key)))) for key in keys) >= acked
        assert servers_started(folder) == 2
        for holder in three:
            await holder.leave()


@proves("S01", "store")
async def test_a_killed_holder_takes_nothing_with_it(folder: Path) -> None:
    async with holders(folder, 2) as (victim, other):
        await asyncio.gather(victim.ready(), other.ready())
        pid = server_pid(other.socket)
        assert pid
        await victim.kill()
        assert server_pid(other.socket) == pid
        await other.leave()
        assert not alive(pid)


@proves("S01", "store")
async def test_a_server_that_all_have_left_behind_is_adopted(folder: Path) -> None:
    async with holders(folder, 1) as (victim,):
        await victim.ready()
        pid = server_pid(victim.socket)
        assert pid
        await victim.kill()
    async with holders(folder, 1) as (heir,):
        await heir.ready()
        assert server_pid(heir.socket) == pid
        await heir.leave()
        assert not alive(pid)


@proves("S01", "store")
async def test_a_server_whose_starter_was_killed_before_it_spoke_is_waited_for(folder: Path) -> None:
    """A ping would find nobody and start a second server on the same files; the inherited lock knows better."""
    gate = folder / "gate"
    os.mkfifo(gate)
    slow = folder / "slow-server"
    slow.write_text(
        f'#!/bin/sh\ncase "$1" in --version) exec {binary()} --version;; esac\n'
        f'touch {folder}/begun; read line < {gate}; exec {binary()} "$@"\n'
    )
    slow.chmod(0o700)
    async with holders(folder, 1, slow) as (starter,):
        await wait_until((folder / "begun").exists, timeout=20)
        await starter.kill()
    async with holders(folder, 1, slow) as (heir,):
        waiting = asyncio.create_task(heir.ready())
        await asyncio.to_thread(gate.write_text, "go\n")
        await waiting
        assert servers_started(folder) == 1
        await heir.leave()


def alive(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
