"""While a run works: a status card with Pause and Cancel, what it writes, typing that stops while a person is asked."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run
from core.question import ConfirmField, Question
from tests.contract.bench import ANN, HOME, bench, narrow, wide
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import Gate


async def test_a_working_run_has_a_status_card_that_streams_and_ends(redis_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async def write(run: Run, message: str) -> str:
        await run.status("thinking")
        async with run.stream() as stream:
            await stream.write("Once upon a time")
            await gate()
        return "The end."

    async with bench(redis_url, tmp_path, [wide()], quiet=0.0) as made:
        made.hire(write)
        await made.write("please")
        card = await made.card("Working")
        assert card.labels == ["Pause", "Cancel"]
        await wait_until(lambda: "Once upon a time" in card.text and "thinking" in card.text)
        await wait_until(lambda: made.chats[0].typed[HOME] > 1)
        gate.opened.set()
        await made.final(card, "Finished")
        await made.says("The end.")
        await made.settled()
        assert made.chats[0].texts(HOME).count("Once upon a time") == 1


async def test_a_working_run_is_canceled_on_its_status_card(redis_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async def work(run: Run, message: str) -> str:
        await gate()
        return "Never."

    async with bench(redis_url, tmp_path, [narrow()], quiet=0.0) as made:
        made.hire(work)
        await made.write("please")
        card = await made.card("Working")
        await made.press(card, "Cancel")
        await wait_until(lambda: "Sure?" in card.text)
        await made.press(card, "Yes, cancel")
        await made.final(card, "Canceled")
        await made.says("[Canceled]")


async def test_a_run_that_breaks_offers_retry(redis_url: str, tmp_path: Path) -> None:
    tries: list[str] = []

    async def fail(run: Run, message: str) -> str:
        tries.append(message)
        if len(tries) == 1:
            raise ValueError("the model is away")
        return "Better."

    async with bench(redis_url, tmp_path, [wide()], quiet=0.0) as made:
        made.hire(fail)
        await made.write("please")
        card = await made.card("the model is away")
        await made.press(card, "Retry")
        await made.says("Better.")
        await made.final(card, "Finished")


@proves("C04", "kit")
async def test_one_request_on_two_platforms_and_the_dashboard(redis_url: str, tmp_path: Path) -> None:
    """Answered on one, the other shows it without live buttons, also after everything was restarted in between."""
    second = wide()
    second.prefix = "fb"

    async def ask(run: Run, message: str) -> str:
        await run._ask("confirm", question)  # pyright: ignore[reportPrivateUsage] copies come from the API
        return "Done."

    question = Question(title="Both?", fields=(ConfirmField(),), copies=("fb-7",))
    async with bench(redis_url, tmp_path, [wide(), second]) as made:
        made.hire(ask)
        await made.write("please")
        here = await made.card("Both?")
        there = await made.card("Both?", place="fb-7", chats=second)
        assert [one.question.title for one in (await made.broker.pending(ANN)).requests] == ["Both?"]
        await made.restart()
        await made.press(here, "Approve")
        await made.final(here, "Approved by Ann on fa")
        await made.final(there, "Approved by Ann on fa")
        await made.says("Done.")
