"""The agents of the chaos: each act has an effect that a file counts, and only with an approval of exactly that act.

What is said is a number and the file: one line with the number is the effect.
"""

import asyncio
from pathlib import Path

from core.agent import Isolation, Run, agent

PAUSE = 0.2


def _act(target: str, number: str) -> str:
    with Path(target).open("a", encoding="utf-8") as out:
        out.write(f"{number}\n")
    return number


async def _turn(run: Run, message: str) -> str:
    number, _, target = message.partition(" ")
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
