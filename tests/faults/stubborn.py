"""An agent whose turns want a process of their own, and resist in every way that a turn can: chosen by what is said.

What is said is a word and a folder: lines with the ids of processes that have begun go to the file `here` in it, and
what has an effect to `target`.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from core.agent import Run, Steps, agent

LATE = "import sys, time, pathlib; time.sleep(3); pathlib.Path(sys.argv[1]).open('a').write('late\\n')"
DEAF = (
    "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; "
    "print('deaf', flush=True); time.sleep(600)"
)

ESCAPED = (
    "import os, signal, sys, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; "
    "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
    "pid = os.getpid(); open(sys.argv[1], 'a').write(f'{pid}\\n'); time.sleep(600)"
)
"""What nothing names but the process it hangs on: twice forked, in a session of its own, without the mark."""


def _note(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(f"{text}\n")


def late(target: Path) -> None:
    """Have an effect three seconds later."""
    threading.Event().wait(3)  # a thread cannot be cancelled
    _note(target, "late")


def _hang(here: Path) -> None:
    _note(here, "on a thread")  # a cancel that comes before this keeps the function from being called
    threading.Event().wait()


def _turn_for_ever() -> None:
    while True:
        pass


@agent("stubborn", isolation="process")
async def stubborn(run: Run, message: str) -> str | None:
    """Resist, in a process of its own."""
    return await _resist(run, message)


@agent("hurried", isolation="process", steps=Steps(cooperative=0.2, terminate=0.3))
async def hurried(run: Run, message: str) -> str | None:
    """Resist, and be ended sooner than the settings say."""
    return await _resist(run, message)


@agent("blocking")
async def blocking(run: Run, message: str) -> str | None:
    """Resist, in the worker's process."""
    return await _resist(run, message)


async def _resist(run: Run, message: str) -> str | None:
    how, _, folder = message.partition(" ")
    here, target = Path(folder) / "here", Path(folder) / "target"
    _note(here, str(os.getpid()))
    match how:
        case "confirm":
            said = await run.ask("Who?")
            _note(target, said)
            return f"hello {said}"
        case "cooperative":
            await asyncio.Event().wait()
        case "busy":
            _turn_for_ever()
        case "swallow":
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    _note(target, "swallowed")
        case "sigint":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _turn_for_ever()
        case "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _turn_for_ever()
        case "thread":
            await asyncio.to_thread(late, target)
        case "hang":
            await asyncio.to_thread(_hang, here)
        case "child":
            child = await asyncio.create_subprocess_exec(sys.executable, "-c", LATE, str(target))
            _note(here, str(child.pid))
            await child.wait()
        case "setsid":
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", DEAF), start_new_session=True, stdout=subprocess.PIPE
            )
            assert child.stdout is not None
            await child.stdout.readline()
            _note(here, str(child.pid))
            await asyncio.Event().wait()
        case "escaped" | "leaves":
            child = await asyncio.create_subprocess_exec(sys.executable, "-c", ESCAPED, str(here), env={})
            await child.wait()
            if how == "escaped":
                await asyncio.Event().wait()
        case "forked":
            if not os.fork():
                os.setsid()
                _note(here, str(os.getpid()))
                threading.Event().wait()
            await asyncio.Event().wait()
        case "orphan":
            os.kill(os.getppid(), signal.SIGKILL)
            await asyncio.Event().wait()
        case _:
            pass
    return "done"
