"""A platform says how long to wait: nothing is sent there before, nothing is lost, and other chats do not notice."""

from __future__ import annotations

import asyncio

from adapters.platform import Refused
from core.agent import Run
from tests.contract.bench import ANN, GROUP, Bench
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import Gate

OTHER = "fa-77"


@proves("C107", "kit", "telegram")
async def test_a_chat_that_is_told_to_wait_is_left_alone_and_others_are_not(made: Bench) -> None:
    """In the middle of a stream, then a question, then the end; the fake platform notes every call before its time.

    What was to be shown between is skipped; everything that counts comes after the pause, whole, once and in order.
    """
    begin, on, wait = Gate(), Gate(), asyncio.Event()
    pieces = [f"piece {number} " for number in range(40)]

    async def talk(run: Run, message: str) -> str:
        if message == "please":
            async with run.stream() as stream:
                await stream.write(pieces[0])
                await begin()
                await stream.write(pieces[1])
                await on()
                for piece in pieces[2:]:
                    await stream.write(piece)
        return f"To {await run.choose('Where to?', ['on'])}."

    made.quiet = 0.0
    await made.restart()
    made.hire(talk)
    await made.write("please", place=GROUP)
    status = await made.card("piece 0", place=GROUP)
    await made.settled()
    told = made.chats[0].fail("edit", Refused("later", "too many requests", 1.0), gate=wait, place=GROUP)
    begin.opened.set()
    await told.reached.wait()
    on.opened.set()

    async def asked() -> bool:
        return len(await made.pending()) == 1

    await wait_until(asked)
    (request,) = await made.pending()
    wait.set()
    lanes = made.surfaces[0].relay.lanes
    await wait_until(lambda: lanes.rests(GROUP))
    assert not lanes.rests(OTHER)
    await made.platform.write(ANN, OTHER, "something else")
    await made.card("Where to?", place=OTHER)
    assert not [one for one in made.chats[0].cards(GROUP) if "Where to?" in one.text]
    card = await made.card("Where to?", place=GROUP)
    await made.press(card, "on")
    await made.says("To on.", place=GROUP)
    await made.settled()
    texts = [text.strip() for text in made.chats[0].texts(GROUP)]
    assert texts.count("".join(pieces).strip()) == texts.count("To on.") == 1
    order = [texts.index("".join(pieces).strip()), made.chats[0].at(GROUP).index(card), texts.index("To on.")]
    assert order == sorted(order)
    assert [text for text in status.shown if pieces[2] in text and pieces[-1].strip() not in text] == []
    run = await made.broker.peek(request.run)
    assert run is not None
    assert (run.state, run.cause, run.error) == ("completed", None, None)
