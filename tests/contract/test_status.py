"""While a run works: a status card with Pause and Cancel, what it writes, typing that stops while a person is asked."""

from __future__ import annotations

from pathlib import Path

from adapters.platform import Refused
from core.agent import Run
from core.question import ConfirmField, Question
from tests.contract.agents import what
from tests.contract.bench import ANN, EVE, GROUP, HOME, bench, narrow, wide
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


async def test_jobs_lists_what_works_here(redis_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async def work(run: Run, message: str) -> str:
        await gate()
        return "There."

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(work)
        await made.write("count the sheep")
        await gate.reached.wait()
        listed = await made.platform.desk.command(HOME, "jobs", "", ANN, key="k1") if made.platform.desk else None
        assert listed is not None
        assert "At work here" in listed.text
        assert "count the sheep" in listed.text
        gate.opened.set()
        await made.says("There.")
        await made.settled()
        listed = await made.platform.desk.command(HOME, "jobs", "", ANN, key="k2") if made.platform.desk else None
        assert listed is not None
        assert "nothing else works here" in listed.text


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


async def test_what_is_written_is_a_draft_where_the_chat_shows_them_and_an_edit_where_not(
    redis_url: str, tmp_path: Path
) -> None:
    """A chat that refuses a draft for good gets streaming edits; a group never gets a draft."""
    gate = Gate()

    async def write(run: Run, message: str) -> str:
        async with run.stream() as stream:
            await stream.write(f"Once upon {message}")
            await gate()
            await stream.write(" and more")
            await Gate()()
        return "Never."

    chats = wide()
    chats.limits = chats.limits.changed(draft_gap=0.02)
    async with bench(redis_url, tmp_path, [chats], quiet=0.0) as made:
        made.hire(write)
        made.doors.set((ANN.id,))
        await made.write("a time")
        card = await made.card("Working")
        await wait_until(lambda: any("Once upon a time" in text for _, _, text in chats.drafts))
        assert "Once" not in card.text
        made.chats[0].fail("draft", Refused("final", "unknown method"))
        gate.opened.set()
        await wait_until(lambda: "and more" in card.text)
        await made.write("the group", place=GROUP)
        await made.card("Once upon the group", place=GROUP)
        assert all(place == HOME for place, _, _ in chats.drafts)


async def test_somebody_without_a_name_is_asked_to_press_a_button(redis_url: str, tmp_path: Path) -> None:
    """The press names who they are, so that their rights count."""
    gate = Gate()

    async def work(run: Run, message: str) -> str:
        await gate()
        return "Done."

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(work)
        made.doors.set((ANN.id,))
        await made.write("please", place=GROUP)
        run = await made.the_run(GROUP)
        desk = made.platform.desk
        assert desk is not None
        for _ in range(2):
            await desk.unnamed(GROUP, "m1", key="u-unnamed")
        card = await made.card("I cannot see who you are", place=GROUP)
        assert len([one for one in made.chats[0].at(GROUP) if "I cannot see" in one.text]) == 1
        assert (await made.press(card, "Pause", person=EVE)).alert
        await made.press(card, "Pause")
        await made.shop.until(run.id, "paused")


async def test_a_group_that_moved_goes_on_where_it_is_now(redis_url: str, tmp_path: Path) -> None:
    """The platform tells of it before anything is sent."""
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(what)
        made.doors.set((ANN.id,))
        await made.write("please", place=GROUP)
        await made.says("What is it?", place=GROUP)
        desk = made.platform.desk
        assert desk is not None
        await desk.moved(GROUP, "fa-g2")
        card = await made.says("What is it?", place="fa-g2")
        await made.platform.write(ANN, "fa-g2", "a parrot", reply_to=card)
        await made.says("You said: a parrot.", place="fa-g2")


async def test_typing_stops_when_a_run_asks_or_ends_although_it_has_no_status_card(
    redis_url: str, tmp_path: Path
) -> None:
    """Another run that still works shows that typing goes on elsewhere meanwhile."""
    first, last = Gate(), Gate()

    async def work(run: Run, message: str) -> str:
        if message == "go":
            await first()
        if message == "ask":
            await first()
            return await what(run, message)
        if message == "long":
            await last()
        return "Done."

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(work)
        typed, other = made.chats[0].typed, "fa-78"
        await made.write("go")
        await made.write("ask", place="fa-77")
        await made.write("long", place=other)
        await wait_until(lambda: typed[HOME] and typed["fa-77"] and typed[other])
        first.opened.set()
        await made.says("Done.")
        await made.says("What is it?", place="fa-77")

        async def quiet() -> bool:
            before, rounds = (typed[HOME], typed["fa-77"]), typed[other]
            await wait_until(lambda: typed[other] >= rounds + 4)
            return before == (typed[HOME], typed["fa-77"])

        await wait_until(quiet)
        last.opened.set()
        await made.says("Done.", place=other)
