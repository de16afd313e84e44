"""Every platform shows what is asked, once for each thing, and keeps it in step with the state."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.agent import Run
from core.life.event import Reply
from core.question import Accepted
from tests.contract.bench import ANN, HOME, Bench, bench, narrow, wide
from tests.fakes import FakeChats
from tests.proves import proves


@pytest.fixture(params=[wide, narrow])
async def made(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Bench]:
    chats: FakeChats = request.param()
    async with bench(redis_url, tmp_path, [chats]) as one:
        yield one


async def deploy(run: Run, message: str) -> str:
    """An agent that asks before it acts."""
    await run.confirm("Deploy?", tool="deploy", arguments={"to": "production"})
    return "Deployed."


@proves("C01", "kit")
async def test_a_question_is_shown_pressed_and_its_card_says_so(made: Bench) -> None:
    """Three presses of one button are one answer, and each hears the truth."""
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    assert "production" in card.text
    payload = card.rows[0][0].payload
    assert payload is not None
    first = await made.press(card, "Approve")
    again = [await made.platform.send(ANN, card, payload) for _ in range(2)]
    assert first.text == "Accepted."
    assert [one.text for one in again] == ["Already answered: that is the answer that stands."] * 2
    await made.final(card, "Approved by Ann on fa")
    await made.says("Deployed.")
    await made.settled()
    assert made.chats[0].texts(HOME).count("Deployed.") == 1


@proves("C04", "kit")
async def test_what_is_answered_elsewhere_has_no_live_buttons_here(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    run = await made.the_run()
    await made.broker.answer(Reply(run.requests[0], Accepted(values={"confirm": "once"}), ANN, "chat"))
    await made.final(card, "Approved by Ann on the dashboard")
