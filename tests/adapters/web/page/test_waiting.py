"""What waits, wherever it was asked: an open page learns of it, says so, and forgets it when it is settled."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator

from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import Person
from core.people import OWNER
from core.question import Accepted, Declined
from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
GROUP = "tg-100"


async def asks(bare: Place, text: str, person: Person, origin: str, people: tuple[str, ...] = ()) -> str:
    """Somebody says something on a platform, and it leads to a question, whose id is returned."""
    sent = await bare.broker.said(Said(origin, text, person, "scripted", private=not people, people=people))
    assert isinstance(sent, Sent), sent
    found: list[str] = []

    async def asked() -> bool:
        run = await bare.broker.peek(sent.run)
        found[:] = run.requests if run is not None else ()
        return bool(found)

    await wait_until(asked)
    return found[0]


async def member(bare: Place, name: str = "Ben") -> Person:
    """Somebody who is known here."""
    person = await bare.people.add(name, "member")
    assert isinstance(person, Person)
    return person


def badge(window: Window) -> Locator:
    """The number beside *Waiting for you*."""
    return window.page.locator("sayso-sidebar .side-link .badge")


def news(window: Window) -> Locator:
    """What the page says of questions that came meanwhile."""
    return window.page.locator("#news .notice")


async def test_a_question_that_names_me_in_a_chat_of_somebody_else_comes_and_goes(window: Window, bare: Place) -> None:
    """In the badge, the title and a line above the box; when somebody else answers it, all of it goes."""
    ben = await member(bare)
    await expect(badge(window)).to_be_hidden()
    asked = await asks(bare, f"approver {OWNER.id}", ben, "tg-42")
    await expect(news(window)).to_contain_text("Deploy? asked of you")
    await expect(badge(window)).to_have_text("1")
    assert (await window.page.title()).startswith("(1)")
    answered = await bare.broker.answer(Reply(asked, Declined(), OWNER, "tg-1"))
    assert isinstance(answered, Answered)
    await expect(news(window)).to_have_count(0)
    await expect(badge(window)).to_be_hidden()


async def test_it_is_answered_on_the_list_that_it_came_to_while_it_was_open(window: Window, bare: Place) -> None:
    """The list of what waits takes it in without a reload; the conversation itself stays closed to me."""
    ben = await member(bare)
    await window.page.get_by_role("link", name="Waiting for you").click()
    await expect(window.page.get_by_text("Nothing waits for you.")).to_be_visible()
    await asks(bare, f"approver {OWNER.id}", ben, "tg-42")
    card = window.page.locator("sayso-pending sayso-card.card-open")
    await expect(card).to_contain_text("Deploy?")
    await expect(window.page.locator("sayso-pending .from")).to_have_text(
        "Asked of you, in a conversation of somebody else"
    )
    await expect(window.button("30 more minutes", card)).to_be_visible()
    for stop in ("Abort (pause)", "Cancel task"):
        await expect(window.button(stop, card)).to_have_count(0)
    await window.button("Approve", card).click()
    await expect(card).to_have_count(0)
    await expect(window.page.locator("sayso-pending .settled-text")).to_contain_text("Approved")
    await expect(badge(window)).to_be_hidden()


async def test_what_others_answer_becomes_a_line_on_the_list(window: Window, bare: Place) -> None:
    """It says by whom and where; at the next visit it is gone."""
    ben = await member(bare)
    asked = await asks(bare, f"approver {OWNER.id}", ben, "tg-42")
    await window.page.get_by_role("link", name="Waiting for you").click()
    await expect(window.page.locator("sayso-pending sayso-card.card-open")).to_be_visible()
    answer = Accepted(values={"confirm": "once"})
    assert isinstance(await bare.broker.answer(Reply(asked, answer, OWNER, "tg-1")), Answered)
    await expect(window.page.locator("sayso-pending .settled-text")).to_contain_text("Approved")
    await expect(window.page.locator("sayso-pending")).to_contain_text("Telegram")
    await window.page.get_by_role("link", name="New conversation", exact=True).click()
    await window.page.get_by_role("link", name="Waiting for you").click()
    await expect(window.page.get_by_text("Nothing waits for you.")).to_be_visible()


async def test_a_question_in_a_group_waits_for_its_approvers_and_not_for_its_members(
    window: Window, bare: Place
) -> None:
    """Who may answer is told at once and has it in the list; a member sees the conversation, and waits for nothing."""
    ben, cat = await member(bare), await member(bare, "Cat")
    people = (OWNER.id, ben.id, cat.id)
    asked = await asks(bare, "delete build", ben, GROUP, people)
    await expect(news(window)).to_contain_text("Delete build? in delete build")
    await expect(badge(window)).to_have_text("1")
    assert [one.id for one in (await bare.broker.pending(OWNER)).requests] == [asked]
    assert [one.id for one in (await bare.broker.pending(ben)).requests] == [asked]
    assert not (await bare.broker.pending(cat)).requests
    assert [one.origin for one in await bare.broker.conversations(cat)] == [GROUP]
    await window.page.reload()
    await expect(badge(window)).to_have_text("1")
    await window.page.get_by_role("link", name="delete build").click()
    await window.button("Approve", window.cards).click()
    await expect(badge(window)).to_be_hidden()
    await expect(window.agent).to_contain_text("deleted build")


async def test_who_is_taken_off_the_list_of_a_group_loses_it_from_the_page(window: Window, bare: Place) -> None:
    """At once, with what waits in it; who comes onto the list finds it there."""
    ben = await member(bare)
    await bare.people.bind(GROUP, [OWNER.id, ben.id])
    await asks(bare, "delete build", ben, GROUP, (OWNER.id, ben.id))
    await expect(badge(window)).to_have_text("1")
    await bare.people.bind(GROUP, [ben.id])
    await expect(badge(window)).to_be_hidden()
    await expect(window.page.get_by_role("link", name="delete build")).to_have_count(0)
    await expect(news(window)).to_have_count(0)
    await bare.people.bind(GROUP, [OWNER.id, ben.id])
    await expect(window.page.get_by_role("link", name="delete build")).to_be_visible()
    await expect(badge(window)).to_have_text("1")


async def test_a_question_of_the_conversation_that_is_shown_is_no_news(window: Window, bare: Place) -> None:
    """It stands there already; and one that was looked at, or dismissed, is no news any more."""
    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    await expect(badge(window)).to_have_text("1")
    await expect(news(window)).to_have_count(0)
    await asks(bare, "choose", OWNER, "tg-1")
    await asks(bare, "text", OWNER, "tg-2")
    await expect(news(window)).to_have_count(2)
    await window.page.get_by_role("link", name="Open").first.click()
    await expect(news(window)).to_have_count(1)
    await news(window).get_by_role("button", name="Dismiss").click()
    await expect(news(window)).to_have_count(0)
    await expect(badge(window)).to_have_text("3")
