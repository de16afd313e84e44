"""An agent for every place in which a stop can find a run: chosen by the first word of what is said.

What is said is a word and a folder: the ids of its processes go to the file `here` in it, how far it came to `there`,
and what it does to the world to `target`. As long as anything of it works, the target hears from it.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from core.agent import Run, agent
from tests.waiting import wait_until

BEAT = 0.05


def _note(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(f"{text}\n")


async def _for_ever(folder: Path) -> None:
    """Have one effect after the other."""
    while True:
        _note(folder / "target", "beat")
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT):
                await asyncio.Event().wait()


async def act(folder: str) -> str:
    """Have an effect once, with a program in a session of its own, and take for ever over the rest."""
    _note(Path(folder) / "target", "acted")
    program = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    _note(Path(folder) / "here", str(program.pid))
    await _for_ever(Path(folder))
    return "acted"


@agent("moving", isolation="process")
async def moving(run: Run, message: str) -> str:
    """Be somewhere."""
    where, _, place = message.partition(" ")
    folder = Path(place)
    _note(folder / "here", str(os.getpid()))
    if where == "first":
        await _for_ever(folder)
    if where == "doubt":
        _note(folder / "there", "asks")
        await wait_until((folder / "open").exists, timeout=120)
    await run.ask("Go on?")
    match where:
        case "model":
            _note(folder / "there", "resumed")
            await _for_ever(folder)
        case "tool":
            async with run.tool("dig"):
                await run.step("dig", act, place)
        case "approved":
            await run.confirm("Deploy?", tool="deploy", arguments={"to": "production"})
            async with run.tool("deploy", to="production"):
                await run.step("push", act, place)
        case "deaf":
            _note(folder / "there", "resumed")
            while True:
                try:
                    await _for_ever(folder)
                except asyncio.CancelledError:
                    _note(folder / "there", "swallowed")
        case _:
            pass
    _note(folder / "target", "ended")
    return "done"
