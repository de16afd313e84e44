"""A template whose turns hide something and wait: `python -m tests.core.hiding <folder> <fd>`.

What is hidden is noted in the folder, in the file `here`, and that a turn was told to stop in `told`.
"""

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
    """Leave a process in a session of its own, without parent and mark, deaf for SIGTERM; then only listen."""
    folder = Path(sys.argv[1])
    if not os.fork():
        os.setsid()
        if not os.fork():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            (folder / "here").write_text(str(os.getpid()), "utf-8")
            os.execve(str(shutil.which("sleep")), ["sleep", "600"], {})
        os._exit(0)
    os.wait()
    for line in talk.makefile():
        if "stop" in line:
            (folder / "told").touch()
    threading.Event().wait()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[2])), turn)
