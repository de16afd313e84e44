"""A template whose turns hide something and wait: `python -m tests.core.hiding <fd>`. An order says where it is noted."""

import os
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path

from core.model import Json
from core.template import serve


def turn(order: dict[str, Json], talk: socket.socket) -> None:
    """Leave a process in a session of its own, without parent and mark, deaf for SIGTERM; then wait for ever."""
    if not os.fork():
        os.setsid()
        if not os.fork():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            Path(str(order["here"])).write_text(str(os.getpid()), "utf-8")
            os.execve(str(shutil.which("sleep")), ["sleep", "600"], {})
        os._exit(0)
    os.wait()
    threading.Event().wait()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), turn)
