"""A Postgres of the benchmark's own, for what is measured beside the product: on a unix socket, gone afterwards."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = "/usr/lib/postgresql"
ACCOUNT = "postgres"
"""who runs it where the benchmark is root's, because Postgres refuses root"""


def programs() -> Path | None:
    """Return the folder of its programs, None where there is none."""
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else max(Path(PROGRAMS).glob("*/bin/"), default=None)


@contextmanager
def private_postgres(*databases: str) -> Generator[str]:
    """Run one with these databases until the end of the context; yields what a connection needs beside its database.

    Its durability is the default: a commit has reached the disk.
    """
    place = programs()
    if place is None:
        raise FileNotFoundError("no Postgres: install Debian's `postgresql`, or any that brings `initdb`")
    who = ACCOUNT if os.geteuid() == 0 else getpass.getuser()
    with tempfile.TemporaryDirectory(prefix="sayso-bench-pg-", ignore_cleanup_errors=True) as folder:
        shutil.chown(folder, who)
        kept = f"{folder}/kept"
        _run(who, place / "initdb", "-D", kept, "-A", "trust", "-U", ACCOUNT)
        options = ("-D", kept, "-k", folder, "-c", "listen_addresses=", "-c", "log_min_messages=fatal")
        server = subprocess.Popen([place / "postgres", *options], user=who, cwd=folder, stderr=subprocess.DEVNULL)
        try:
            _run(who, place / "pg_isready", "-h", folder, "-t", "10", patience=2_000)
            for name in databases:
                _run(who, place / "createdb", "-h", folder, "-U", ACCOUNT, name)
            yield f"host={folder} user={ACCOUNT}"
        finally:
            server.terminate()
            server.wait()


def _run(who: str, *command: object, patience: int = 1) -> None:
    """Run a command to its end, again when it fails, so many times in all."""
    words = [str(word) for word in command]
    said = ""
    for _ in range(patience):
        done = subprocess.run(words, user=who, cwd="/", capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        said = done.stderr
    raise RuntimeError(f"{words[0]} failed: {said}")
