"""The view of health in a browser: owners see trouble come and go by itself, in words and marks, never as markup."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser, Locator

from core.model import Person
from tests.adapters.web.page.window import HOSTILE, Window, expect
from tests.adapters.web.place import Place

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def line(window: Window, group: str, what: str) -> Locator:
    """One check, under "Look here" or "In order"."""
    section = window.page.get_by_role("region", name=group)
    return section.get_by_role("listitem").filter(has=window.page.get_by_text(what, exact=True))


async def test_trouble_appears_while_an_owner_looks_and_goes_when_it_is_over(quiet: Window, idle: Place) -> None:
    """A worker that stopped, with an answer that nobody takes; then another worker comes, and takes it."""
    owner = await idle.user()
    view = quiet.page.locator("sayso-health")
    async with AsyncExitStack() as working:
        await idle.worker(working)
        said = await owner.send("delete build")
        (card,) = await owner.asked(said.conversation)
        await quiet.page.get_by_role("link", name="Health").click()
        await expect(view).to_contain_text("Everything is in order")
        await expect(line(quiet, "In order", "worker")).to_contain_text("1 worker at work")
        await expect(quiet.page.get_by_role("region", name="Look here")).to_be_hidden()
    await expect(line(quiet, "Look here", "worker")).to_contain_text("no worker lives")
    await expect(line(quiet, "Look here", "worker").locator("code").first).to_have_text("sayso worker")
    await expect(view).to_contain_text(re.compile(r"1 of \d+ checks needs a look"))
    await owner.accept(card["request"], "once")
    await expect(line(quiet, "In order", "answers")).to_contain_text("1 accepted answer waits")
    async with AsyncExitStack() as working:
        await idle.worker(working)
        await owner.until(said.run, "completed")
        await expect(line(quiet, "In order", "answers")).to_contain_text("every accepted answer was delivered")
        await expect(line(quiet, "In order", "worker")).to_contain_text("1 worker at work")
        await expect(view).to_contain_text("Everything is in order")


async def test_what_others_wrote_is_text_in_it(window: Window, bare: Place) -> None:
    """A freeze says who froze and why, in their words; a thaw takes the line away."""
    owner = await bare.user()
    await owner.post("/v1/freeze", {"reason": HOSTILE[:200]})
    await window.page.get_by_role("link", name="Health").click()
    freeze = line(window, "Look here", "freeze")
    await expect(freeze).to_contain_text("<img src=x onerror=alert(1)><script>alert(1)</script>")
    await expect(freeze.locator("code")).to_have_text("sayso thaw")
    assert await window.page.locator("sayso-health :is(img, script, style)").count() == 0
    await owner.post("/v1/thaw")
    await expect(line(window, "In order", "freeze")).to_contain_text("nothing is frozen")


async def test_a_server_that_does_not_answer_is_trouble_itself(window: Window) -> None:
    """Nothing old is shown as if it were so; when the server is back, so is the list."""
    await window.page.route("**/v1/health", lambda route: route.abort())
    await window.page.get_by_role("link", name="Health").click()
    await expect(line(window, "Look here", "server")).to_contain_text("it is asked again")
    await expect(window.page.get_by_role("region", name="In order")).to_be_hidden()
    await window.page.unroute("**/v1/health")
    await expect(line(window, "In order", "redis")).to_contain_text("Redis answers")
    await expect(window.page.get_by_role("region", name="Look here")).to_be_hidden()


async def test_looking_ends_when_the_owner_goes_elsewhere(window: Window) -> None:
    """The view makes place for a conversation, and asks no more."""
    await window.page.get_by_role("link", name="Health").click()
    await expect(window.page).to_have_title(re.compile("Health"))
    await expect(line(window, "In order", "redis")).to_be_visible()
    await window.page.clock.install()
    await window.page.get_by_role("link", name="New conversation", exact=True).click()
    await expect(window.page.locator("sayso-health")).to_be_hidden()
    await expect(window.box).to_be_visible()
    before = len([url for url in window.asked if url.endswith("/v1/health")])
    await window.page.clock.run_for(30_000)
    assert len([url for url in window.asked if url.endswith("/v1/health")]) == before


async def test_a_member_has_no_such_view(window: Window, bare: Place, browser: Browser) -> None:
    """Neither in the list nor by its address; nothing is asked for."""
    ben = await bare.people.add("Ben", "approver")
    assert isinstance(ben, Person)
    context = await browser.new_context()
    member = Window(await context.new_page(), bare.url)
    await member.page.goto(f"{bare.url}/login#{await bare.accounts.link(ben)}")
    await expect(member.box).to_be_visible()
    await expect(member.page.get_by_role("button", name="Your stored secrets")).to_be_visible()
    await expect(member.page.get_by_role("link", name="Health")).to_have_count(0)
    await member.page.goto(f"{bare.url}/#health")
    await member.page.wait_for_url(re.compile("#new$"))
    await expect(member.box).to_be_visible()
    assert not [url for url in member.asked if url.endswith("/v1/health")]
    member.fine()
    await context.close()
