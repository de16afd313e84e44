"""`sayso` as people start it: real processes of the command line, in a data folder of their own."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench.parked import resident_of
from bench.table import Ground, Row, measurement

SETTLED = 3.0
"""seconds after the start before an idle process is looked at"""


@contextmanager
def running(command: str, folder: str, **environment: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run `sayso COMMAND` on a free port until the end of the context; yields the process and its address."""
    # The program's own settings come from nowhere but here.
    inherited = {name: value for name, value in os.environb.items() if not name.startswith((b"SAYSO_", b"REDIS_URL"))}
    settings = {"SAYSO_DATA_DIR": folder, "SAYSO_PORT": "0", "PYTHONUNBUFFERED": "1", **environment}
    everything = {**inherited, **{name.encode(): value.encode() for name, value in settings.items()}}
    words = [sys.executable, "-m", "gateway", *command.split()]
    with subprocess.Popen(words, env=everything, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as made:
        try:
            assert made.stdout
            for line in made.stdout:
                if found := re.search(r"http://[^/\s]+", line):
                    yield made, found[0]
                    break
            else:
                raise RuntimeError(f"`sayso {command}` ended without an address")
        finally:
            made.terminate()


@measurement
def cold_start(ground: Ground) -> list[Row]:
    """From `sayso up` in an empty folder to a served page, and what stands in memory when nothing happens."""
    del ground
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", ignore_cleanup_errors=True) as folder:
        begin = time.monotonic()
        with running("up --no-open", folder) as (process, address):
            with urllib.request.urlopen(f"{address}/login", timeout=10) as page:  # the page of somebody new
                page.read()
            took = time.monotonic() - begin
            while time.monotonic() - begin < took + SETTLED:
                os.sched_yield()
            sizes = {name: resident_of(pid) for pid, name in _family(process.pid)}
    ours = sum(size for name, size in sizes.items() if "redis" not in name and "valkey" not in name)
    return [
        Row("`sayso up`, cold, to a served page", took, "s", target=3.0),
        Row("idle memory of all processes but Redis", ours / 2**20, "MiB", target=150),
    ]


def _family(pid: int) -> list[tuple[str, str]]:
    """List a process and all that it started, with their command lines."""
    commands: dict[str, str] = {}
    parents: dict[str, str] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[status.parent.name] = status.read_text().rpartition(")")[2].split()[1]
            commands[status.parent.name] = status.with_name("cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    found = [str(pid)]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return [(one, f"{one} {commands.get(one, '')}") for one in found]
