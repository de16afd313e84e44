"""Time, Cancel and grants: how questions end on every platform, and what is remembered for longer."""

from __future__ import annotations

from core.agent import Run
from core.model import Json
from tests.contract.agents import DID, deploy, where
from tests.contract.bench import HOME, Bench
from tests.proves import proves
from tests.waiting import wait_until


async def brief(run: Run, message: str) -> str:
    """Ask for an approval that nobody gives in time."""
    await run.confirm("Quick?", tool="deploy", arguments={"to": "x"}, timeout=600)
    DID.append("quick")
    return "Ran."


@proves("C15", "kit", "page", "telegram")
@proves("C17", "kit", "page", "telegram")
async def test_a_press_on_an_expired_question_is_final_and_the_chat_says_why(made: Bench) -> None:
    """Nothing runs, the buttons are gone, nothing is tried again after a restart; other messages go on."""
    DID.clear()
    made.hire(brief)
    await made.sweep()
    await made.write("please")
    card = await made.card("Quick?")
    payload = card.rows[0][0].payload
    await made.hurry((await made.pending())[0].id)
    await made.final(card, "Nobody answered in time")
    late = await made.late(card, payload, key="u-9")
    assert late == "Nobody answered in time, the question is closed"
    await made.says("nobody answered in time")
    made.hire(where)
    await made.write("please")
    await made.card("Where to?")
    await made.settled()
    shown = list(card.shown)
    await made.restart()
    assert await made.late(card, payload, key="u-9") == late
    await made.settled()
    assert card.shown == shown
    assert DID == []


@proves("C16", "kit", "telegram")
async def test_a_late_press_before_the_sweeper_came_is_late_all_the_same(made: Bench) -> None:
    made.hire(brief)
    await made.write("please")
    card = await made.card("Quick?")
    deadline = await made.hurry((await made.pending())[0].id)
    await wait_until(lambda: made.broker.store.now() > deadline + 5)
    assert (await made.press(card, "Approve")).text == "Nobody answered in time, the question is closed"
    await made.sweep()
    await made.final(card, "Nobody answered in time")


@proves("C64", "kit", "telegram")
async def test_cancel_asks_and_then_everything_of_the_question_goes(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    request = (await made.pending())[0].id
    await made.press(card, "Cancel task")
    await wait_until(lambda: "Sure?" in card.text)
    assert card.labels == ["Yes, cancel the task", "Keep it"]
    await made.press(card, "Keep it")
    await wait_until(lambda: "Approve" in card.labels)
    await made.press(card, "Cancel task")
    await wait_until(lambda: "Sure?" in card.text)
    sure = card.rows[0][0].payload
    assert (await made.press(card, "Yes")).text == "Canceled."
    await made.final(card, "The task was canceled by Ann")
    assert card.text.startswith("Deploy?"), "it still says what it was about"
    assert await made.late(card, sure) == "Already canceled"
    await made.says("[Canceled]")
    await made.settled()
    left = await made.request(request)
    assert (left.question.title, left.question.subject, left.state) == ("", None, "settled")
    assert not (await made.pending())


@proves("C64", "kit", "page", "telegram")
async def test_cancel_by_a_command_closes_the_card(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    await made.write("/cancel")
    await made.final(card, "canceled")


async def test_pause_on_a_question_keeps_it_and_resume_opens_it_again(made: Bench) -> None:
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    payload = card.rows[0][0].payload
    assert "Paused" in (await made.press(card, "Abort (pause)")).text
    await wait_until(lambda: "Resume" in card.labels)
    assert "aused: resume first" in await made.late(card, payload)
    await made.press(card, "Resume")
    await wait_until(lambda: any("production" in label for label in card.labels))
    await made.press(card, "production")
    await made.says("To production.")


async def test_a_no_with_its_reason_reaches_the_task(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    request = (await made.pending())[0].id
    await made.write(f"/deny {request} not on a Friday")
    await made.says("Left alone: not on a Friday.")
    await made.final(card, "not on a Friday")


async def test_the_receipt_goes_from_recorded_to_acted_on(made: Bench) -> None:
    made.hire(deploy, guarded=("deploy",))
    await made.write("please")
    card = await made.card("Deploy?")
    await made.press(card, "Approve")
    await made.says("Deployed.")
    await made.final(card, "acted on")


@proves("C131", "kit", "telegram")
async def test_always_is_for_exactly_this_call_and_can_be_taken_back(made: Bench) -> None:
    async def shell(run: Run, message: str) -> str:
        arguments: dict[str, Json] = {"command": message}
        await run.confirm("Run it?", tool="shell", arguments=arguments)
        async with run.tool("shell", **arguments):
            return f"Ran {message}"

    made.hire(shell, guarded=("shell",))
    await made.write("git status && rm -rf ./tmp")
    card = await made.card("Run it?")
    assert "exactly this call" in card.text
    await made.press(card, "Always")
    await made.says("Ran git status")
    await made.write("git status && rm -rf ./tmp")
    await wait_until(lambda: made.chats[0].texts(HOME).count("Ran git status && rm -rf ./tmp") == 2)
    for other in ("rm -rf /", "git push --force"):
        await made.write(other)
        asked = await made.card(other)
        await made.press(asked, "Deny")
        await made.says("Not done")
    await made.platform.write(made.me, "fa-77", "git status && rm -rf ./tmp")
    await made.card("Run it?", place="fa-77")
    await made.write("/grants")
    grants = await made.card("Remembered approvals")
    assert "git status && rm -rf ./tmp" in grants.text
    assert (await made.press(grants, "Take back 1")).text == "Taken back: the same call asks again."
    await made.write("git status && rm -rf ./tmp")
    await wait_until(lambda: len([one for one in made.chats[0].cards(HOME) if "Run it?" in one.text]) == 1)
