"""One server process of the private store: its command line, a first word with it, and why it ended."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Final, Literal

from gateway.server_binary import Binary
from gateway.unavailable import RedisUnavailable

LOG: Final = "server.log"
LOG_CAP: Final = 4 * 1024 * 1024
REPLY_LIMIT: Final = 2.0
"""seconds for a reply to one word"""

_CAUSES: Final = (
    ("No space left on device", "The disk is full", "Free some space, then start again."),
    ("Permission denied", "The folder cannot be written", "Give this user the folder, or set SAYSO_DATA_DIR."),
    ("Read-only file system", "The folder cannot be written", "Set SAYSO_DATA_DIR to a place that can be written."),
    (
        "Can't handle RDB format version",
        "The data was written by another kind of server",
        "Use the server it was made with.",
    ),
    (
        "Bad file format",
        "The append-only file is damaged",
        "Repair a copy with valkey-check-aof --fix, or restore a backup.",
    ),
    ("Cannot allocate memory", "There is not enough memory", "Free some memory, then start again."),
)


def spawn(
    binary: Binary, folder: Path, socket: Path, fsync: Literal["always", "everysec"], held: int
) -> subprocess.Popen[bytes]:
    """Start a server that outlives this process and inherits the open lock file `held`."""
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": fsync,
        "aof-use-rdb-preamble": "no",
        "save": "",
        "maxmemory-policy": "noeviction",
        "databases": "1",
        "always-show-logo": "no",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    log = folder / LOG
    mode = "ab" if log.exists() and log.stat().st_size < LOG_CAP else "wb"
    with log.open(mode) as sink:
        return subprocess.Popen(
            [binary.path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            cwd=folder,
            start_new_session=True,
            pass_fds=(held,),
        )


async def say(socket: Path, words: str) -> str | None:
    """Say one command; the first line of the reply, "" if there is none in time, None if nobody listens."""
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return None
    try:
        async with asyncio.timeout(REPLY_LIMIT):
            writer.write(f"{words}\r\n".encode())
            line = await reader.readline()
        return line.decode("utf-8", "replace").strip() if line else None
    except TimeoutError:
        return ""
    except OSError:
        return None
    finally:
        writer.transport.abort()


def log_size(folder: Path) -> int:
    """Bytes in the server's log, to read later what came after."""
    log = folder / LOG
    return log.stat().st_size if log.exists() else 0


def why_ended(folder: Path, since: int, code: int | None) -> RedisUnavailable:
    """What the server's log says about its end, in words.

    since: bytes of the log that are older.
    """
    log = folder / LOG
    with log.open("rb") as source:
        source.seek(since if log_size(folder) >= since else 0, os.SEEK_SET)
        lines = source.read().decode("utf-8", "replace").splitlines()
    text = "\n".join(lines)
    for sign, what, what_to_do in _CAUSES:
        if sign in text:
            return RedisUnavailable(f"The private store did not start: {what.lower()}", str(folder), what_to_do)
    last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
    what = f"The private store did not start (exit status {code}): {last}"
    return RedisUnavailable(what, str(log), "Read that file; it is the server's own log.")
