"""When things have to stand still: the banner of a freeze, stop all, and tasks whose end nobody saw."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Locator

from core.life.event import Claim, Lost, Said
from core.life.living import Beat, Leave
from core.life.result import Sent
from core.life.start import claim
from core.model import Incarnation, Person
from core.people import OWNER
from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
FAR = "a-machine-that-burnt-down"


async def left_behind(place: Place, person: Person, origin: str) -> Sent:
    """A run whose worker is gone with its machine: nobody will ever see it end."""
    sent = await place.broker.said(Said(origin, "sweep the yard", person, "scripted"))
    assert isinstance(sent, Sent)
    at = place.broker.store.partition(sent.run) or 0
    until = place.broker.store.now() + 60_000
    worker = Incarnation(id="w0lost", kind="worker", host=FAR, boot="b", namespace="n", pid=4242, until_ms=until)
    await place.broker.beat(Beat(worker, first=True), at)
    await place.broker.committer.carry(claim, Claim(sent.run, worker.id), at)
    await place.broker.leave(Leave(worker.id), at)
    await place.broker.lost(Lost(sent.run, worker.id, gone=False, again=False))
    return sent


def leaks(window: Window) -> Locator:
    """The tasks that nobody saw end."""
    return window.page.get_by_role("region", name="Task not seen to end")


async def to_the_list(window: Window) -> None:
    await window.page.get_by_role("link", name="Waiting for you").click()


async def test_a_task_that_nobody_saw_end_is_listed_and_accepted_as_stopped(quiet: Window, idle: Place) -> None:
    """It says where it may still be at work; accepting asks once more, and the name stands in the history."""
    sent = await left_behind(idle, OWNER, "chat-1")
    await to_the_list(quiet)
    await expect(leaks(quiet)).to_contain_text("sweep the yard")
    await expect(leaks(quiet)).to_contain_text(f"on {FAR}, process 4242")
    await expect(leaks(quiet)).to_contain_text("does not answer any more")
    await leaks(quiet).get_by_role("button", name="Accept as stopped").click()
    await leaks(quiet).get_by_role("button", name="Keep it").click()
    await leaks(quiet).get_by_role("button", name="Accept as stopped").click()
    await leaks(quiet).get_by_role("button", name="Yes, it has ended").click()
    await expect(leaks(quiet)).to_have_count(0)
    run = await idle.broker.peek(sent.run)
    assert run is not None
    assert (run.state, run.unproved) == ("paused", ())
    await expect(quiet.page.locator(".paused-task")).to_contain_text("the program that did the work went away")
    await quiet.page.goto(f"{quiet.url}/#{sent.conversation}")
    await expect(quiet.page.locator("sayso-timeline")).to_contain_text("[Accepted as stopped] owner says")


async def test_what_is_left_of_a_deleted_conversation_is_listed_too(quiet: Window, idle: Place) -> None:
    """There is nothing to open any more; an owner can still say that it has ended."""
    ben = await idle.people.add("Ben", "member")
    assert isinstance(ben, Person)
    sent = await left_behind(idle, ben, "tg-42")
    await to_the_list(quiet)
    await expect(leaks(quiet)).to_contain_text("A task in a conversation of somebody else")
    await idle.broker.delete(sent.conversation, ben)
    await quiet.page.get_by_role("link", name="New conversation", exact=True).click()
    await to_the_list(quiet)
    await expect(leaks(quiet)).to_contain_text("A task of a deleted conversation")
    await expect(leaks(quiet).get_by_role("link")).to_have_count(0)
    await leaks(quiet).get_by_role("button", name="Accept as stopped").click()
    await leaks(quiet).get_by_role("button", name="Yes, it has ended").click()
    await expect(quiet.page.get_by_text("Nothing waits for you.")).to_be_visible()


async def test_a_freeze_is_on_every_page_until_an_owner_thaws(window: Window, bare: Place, browser: Browser) -> None:
    """Who froze, why, and what still works; a member reads it and cannot thaw."""
    ben = await bare.people.add("Ben", "member")
    assert isinstance(ben, Person)
    context = await browser.new_context()
    member = Window(await context.new_page(), bare.url)
    await member.page.goto(f"{bare.url}/login#{await bare.accounts.link(ben)}")
    await expect(member.box).to_be_visible()
    await window.say("/freeze the disk is full")
    for one in (window, member):
        banner = one.page.locator("#frozen")
        await expect(banner).to_contain_text(
            re.compile(r"Everything is frozen by owner since .*\(the disk is full\)\.")
        )
        await expect(banner).to_contain_text("answers, cancels and deletes still work")
        above, title = await banner.bounding_box(), await one.page.locator("#title").bounding_box()
        assert above is not None
        assert title is not None
        assert title["y"] < above["y"] < 200, "it stands under the title, above everything else"
    await expect(member.button("Thaw")).to_have_count(0)
    await expect(window.page.locator("#notices")).to_contain_text("Frozen. No task had to be paused.")
    await member.say("hello")
    await expect(member.task).to_contain_text("Starting")
    await window.page.reload()
    await window.button("Thaw").click()
    for one in (window, member):
        await expect(one.page.locator("#frozen")).to_be_hidden()
    await expect(member.agent).to_contain_text("you said hello")
    member.fine()
    await context.close()


async def test_stop_all_cancels_what_everybody_has_under_way(window: Window, bare: Place) -> None:
    """What waits and what works, mine and others'; the words say how many, and a stop that takes time goes on."""
    ben = await bare.user("Ben")
    theirs = await ben.send("delete build")
    await ben.asked(theirs.conversation)
    await window.say("wait gate")
    await bare.script.at("gate").wait()
    await window.page.get_by_role("link", name="New conversation", exact=True).click()
    await window.say("/stop")
    await expect(window.page.locator("#notices")).to_contain_text("/stop all cancels every task of everybody")
    await window.say("/stop all")
    await expect(window.page.locator("#notices")).to_contain_text(re.compile(r"Tasks: .*cancel"))
    await ben.until(theirs.run, "canceled")

    async def ended() -> bool:
        return not (await bare.broker.conversations(OWNER))[0].unsettled

    await wait_until(ended)
    assert bare.script.effects == []
