"""An agent for the cases with real processes: `SAYSO_AGENT=tests.faults.acted:it`. Each turn is a process of its own.

What is said is a word and a folder. The ids of its processes go to the file `here` in it, what it does to the world to
`target`, how far it came to `there`; it waits for a file `open`. Whoever kills it finds all of it on the disk.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from core.agent import Completed, Denied, Failed, Run, agent
from tests.turns import turns
from tests.waiting import wait_until

ASKS = 6


class Traces:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def note(self, name: str, text: str) -> None:
        """Write a line."""
        with (self.folder / name).open("a", encoding="utf-8") as out:
            out.write(f"{text}\n")

    def lines(self, name: str) -> list[str]:
        """The lines of a file."""
        file = self.folder / name
        return file.read_text("utf-8").splitlines() if file.exists() else []

    async def gate(self, where: str) -> None:
        """Say where the run is, and wait until the test lets it go on."""
        self.note("there", where)
        await wait_until((self.folder / "open").exists, timeout=120)

    async def act(self, what: str) -> str:
        """Have an effect."""
        self.note("target", what)
        return what


@agent("it", isolation="process", guarded=("act",))
async def it(run: Run, message: str) -> str | Completed | Failed:
    """Do what the first word says."""
    word, _, place = message.partition(" ")
    if not place.startswith("/"):
        return f"you said {message}"
    traces = Traces(Path(place))
    traces.note("here", str(os.getpid()))
    return await WORDS[word](run, traces)


async def _guarded(run: Run, traces: Traces, what: str) -> str:
    try:
        async with run.tool("act", what=what) as call:
            call.result = await run.step("act", traces.act, what)
    except Denied:
        return f"{what} denied"
    return f"{what} done"


async def _plain(run: Run, traces: Traces, what: str) -> str:
    async with run.tool("look", what=what) as call:
        call.result = await run.step("look", traces.act, what)
    return f"{what} done"


async def _act(run: Run, traces: Traces) -> str:
    return await _guarded(run, traces, traces.folder.name)


async def _then_wait(run: Run, traces: Traces) -> str:
    await _guarded(run, traces, traces.folder.name)
    await traces.gate("acted")
    return "went on"


async def _retry(run: Run, traces: Traces) -> str:
    """Fail at the start after the answer, then after the act, until a file says that all is well."""
    if traces.lines("there") and not (traces.folder / "mended").exists():
        raise ConnectionError("no configuration")
    traces.note("there", "asked")
    done = await _guarded(run, traces, "act")
    if not (traces.folder / "open").exists():
        raise ConnectionError("model not reachable")
    return done


async def _give_up(run: Run, traces: Traces) -> Failed:
    await run.confirm("Give up?")
    return Failed("it did not work")


async def _wait(run: Run, traces: Traces) -> str:
    await traces.gate("waits")
    return "waited"


async def _two(run: Run, traces: Traces) -> str:
    await _plain(run, traces, "first")
    async with run.tool("second") as call:
        await traces.gate("second")
        call.result = await run.step("second", traces.act, "second")
    return "both"


async def _pair(run: Run, traces: Traces) -> str:
    return ", ".join(await asyncio.gather(_plain(run, traces, "list"), _guarded(run, traces, "delete")))


async def _three(run: Run, traces: Traces) -> str:
    calls = ("ticket", "mail", "tag")
    await asyncio.gather(*(run.confirm(f"{what}?", tool="act", arguments={"what": what}) for what in calls))
    for what in calls:
        await _guarded(run, traces, what)
        if what == "ticket":
            await traces.gate("ticket")
    return "all done"


async def _other(run: Run, traces: Traces) -> str:
    await run.confirm("Send?", tool="act", arguments={"what": "10 to A"})
    return await _guarded(run, traces, "1000 to B")


async def _changed(run: Run, traces: Traces) -> str:
    await run.confirm("Send 10 to A?" if len(traces.lines("here")) == 1 else "Send 1000 to B?")
    await run.step("send", traces.act, "sent")
    return "sent"


async def _night(run: Run, traces: Traces) -> str:
    await run.confirm("Rotate the logs?")
    what = f"rotated after {(await run.history())[0].text.partition(' ')[0]}"
    if (traces.folder / "broken").exists():
        raise ConnectionError("no logs")
    await run.step("rotate", traces.act, what)
    return "rotated"


async def _stream(run: Run, traces: Traces) -> str:
    async with run.stream() as out:
        await out.write("one ")
        await traces.gate("streams")
        await out.write("two")
    return "streamed"


async def _names(run: Run, traces: Traces) -> str:
    for number in range(ASKS):
        told = f"{number} {await run.ask(f'Name {number}?')}"
        await run.step("note", traces.act, told)
    return "asked"


async def _reads(run: Run, traces: Traces) -> str:
    """Give up reads between what was sent and its reply; what is read besides has to be its own."""
    await run.say("a second entry")
    for number in range(60):
        given_up = [asyncio.create_task(run.history(limit)) for limit in (1, 2, 3)]
        await turns(1)
        for task in given_up[number % 2 :]:
            task.cancel()
        assert await run.step(f"own {number}", _same, number) == number
        first, second = await asyncio.gather(run.history(1), run.history(2))
        assert (len(first), len(second)) == (1, 2)
        await asyncio.gather(*given_up, return_exceptions=True)
    await traces.act("read")
    return "read"


async def _same(number: int) -> int:
    return number


WORDS = {
    "act": _act,
    "changed": _changed,
    "names": _names,
    "night": _night,
    "other": _other,
    "pair": _pair,
    "reads": _reads,
    "retry": _retry,
    "stream": _stream,
    "then": _then_wait,
    "three": _three,
    "two": _two,
    "up": _give_up,
    "wait": _wait,
}
