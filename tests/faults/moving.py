"""An agent for every place in which a cancel can find a run: chosen by the first word of what is said.

What is said is a word and a folder: the ids of its processes go to the file `here` in it, what has an effect to
`target`.
"""

import asyncio
import os
from pathlib import Path

from core.agent import Run, agent


def _note(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(f"{text}\n")


async def act(folder: str) -> str:
    """Have an effect, and take for ever over the rest."""
    _note(Path(folder) / "target", "acted")
    await asyncio.Event().wait()
    return "acted"


@agent("moving", isolation="process")
async def moving(run: Run, message: str) -> str:
    """Be somewhere."""
    where, _, folder = message.partition(" ")
    _note(Path(folder) / "here", str(os.getpid()))
    if where == "first":
        await asyncio.Event().wait()
    await run.ask("Go on?")
    match where:
        case "model":
            _note(Path(folder) / "there", "resumed")
            await asyncio.Event().wait()
        case "tool":
            async with run.tool("dig"):
                await run.step("dig", act, folder)
        case "approved":
            await run.confirm("Deploy?", tool="deploy", arguments={"to": "production"})
            async with run.tool("deploy", to="production"):
                await run.step("push", act, folder)
        case "deaf":
            _note(Path(folder) / "there", "resumed")
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    _note(Path(folder) / "there", "swallowed")
        case _:
            pass
    _note(Path(folder) / "target", "ended")
    return "done"
