"""The agents of the chaos: each act has an effect that a file counts, and only with an approval of exactly that act.

What is said is a number and the file: one line with the number is the effect. A turn starts a program that nobody ends
but who ends the turn; the file `here` beside the other one names both processes.
"""

import asyncio
import os
import subprocess
from pathlib import Path

from core import tree
from core.agent import Isolation, Run, agent

PAUSE = 0.2
HERE = "here"


def _act(target: str, number: str) -> str:
    with Path(target).open("a", encoding="utf-8") as out:
        out.write(f"{number}\n")
    return number


def _begin(run: str, here: Path) -> None:
    """Start a program that goes on, in a session of its own, and write down what lives."""
    program = subprocess.Popen(("sleep", "600"), start_new_session=True)
    with here.open("a", encoding="utf-8") as out:
        for pid in (os.getpid(), program.pid):
            line = tree.stat(pid)
            out.write(f"{run} {pid} {line.ticks if line is not None else 0}\n")


async def _turn(run: Run, message: str) -> str:
    number, _, target = message.partition(" ")
    _begin(run.id, Path(target).with_name(HERE))
    await run.say(f"{number} begins")
    await run.confirm("Act?", tool="act", arguments={"number": number})
    async with run.tool("act", number=number):
        await run.step("act", _act, target, number)
    name = await run.ask("Who?")
    async with run.stream() as out:
        for word in ("thank", "you", name):
            await out.write(f"{word} ")
            await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=PAUSE)
    return f"{number} done"


def _made(isolation: Isolation) -> object:
    return agent("chaotic", isolation=isolation, guarded=("act",))(_turn)


shared = _made("task")
apart = _made("process")
