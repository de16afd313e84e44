"""The dialog of people in a browser: inviting, roles, signing out everywhere, removing, linking a chat account."""

import re

import pytest
from playwright.async_api import Browser, Locator

from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def opened(window: Window) -> Locator:
    """The dialog, open."""
    await window.page.get_by_role("button", name="People and secrets").click()
    dialog = window.page.get_by_role("dialog")
    await expect(dialog.get_by_role("heading", name="Invite somebody")).to_be_visible()
    return dialog


async def invited(window: Window, bare: Place, browser: Browser, name: str) -> Window:
    """Somebody who was invited and came in, in a browser of their own."""
    dialog = await opened(window)
    await dialog.get_by_label("Name of the new person").fill(name)
    await dialog.get_by_role("button", name="Make a link").click()
    link = await dialog.get_by_label("Invite link").input_value()
    await dialog.get_by_role("button", name="Close").click()
    context = await browser.new_context(viewport={"width": 1100, "height": 800}, reduced_motion="reduce")
    guest = Window(await context.new_page(), bare.url)
    await guest.page.goto(link)
    await guest.button("Join", guest.page.locator("#login")).click()
    await expect(guest.box).to_be_visible()
    return guest


async def test_somebody_comes_in_by_an_invitation_that_works_once(
    window: Window, bare: Place, browser: Browser
) -> None:
    """Opening the link uses nothing up, Join does; the guest sees nothing of the owner and looks after nobody."""
    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    dialog = await opened(window)
    await dialog.get_by_label("Name of the new person").fill("Bob <b>")
    await dialog.get_by_role("combobox", name="Role", exact=True).select_option("approver")
    await dialog.get_by_role("button", name="Make a link").click()
    link = await dialog.get_by_label("Invite link").input_value()
    await expect(dialog).to_contain_text("Bob <b> approver")
    context = await browser.new_context()
    page = await context.new_page()
    for _ in range(2):
        await page.goto(link)
        await expect(page.locator("#login")).to_contain_text("You are invited.")
        await expect(page).to_have_url(f"{bare.url}/invite")
    await page.get_by_role("button", name="Join").click()
    guest = Window(page, bare.url)
    await expect(guest.box).to_be_visible()
    await expect(page.get_by_role("link", name="delete build")).to_have_count(0)
    await page.goto("about:blank")
    await page.goto(link)
    await page.get_by_role("button", name="Join").click()
    await expect(page.locator("#login")).to_contain_text("used already")
    await page.goto(bare.url)
    await page.get_by_role("button", name="Your stored secrets").click()
    await expect(page.get_by_role("dialog")).not_to_contain_text("Invite somebody")
    await context.close()
    members = {one.person.name: one.person.role for one in await bare.people.all()}
    assert members == {"owner": "owner", "Bob <b>": "approver"}


async def test_a_role_is_changed_and_counts_for_who_is_here(window: Window, bare: Place, browser: Browser) -> None:
    guest = await invited(window, bare, browser, "Bob")
    dialog = await opened(window)
    role = dialog.get_by_role("combobox", name="Role of Bob")
    await expect(role).to_have_value("member")
    await role.select_option("owner")

    async def owner() -> bool:
        return {one.person.name: one.person.role for one in await bare.people.all()}["Bob"] == "owner"

    await wait_until(owner)
    await expect(dialog.get_by_role("combobox", name="Role of Bob")).to_have_value("owner")

    async def promoted() -> bool:
        await guest.page.reload()
        await expect(guest.page.get_by_role("button", name=re.compile("secrets"))).to_be_visible()
        return await guest.page.get_by_role("button", name="People and secrets").count() == 1

    await wait_until(promoted, 20.0)
    await guest.page.context.close()


async def test_signing_somebody_out_everywhere_asks_once_and_ends_their_page(
    window: Window, bare: Place, browser: Browser
) -> None:
    """Their open page goes to the door by itself; the one who did it stays."""
    guest = await invited(window, bare, browser, "Bob")
    dialog = await opened(window)
    row = dialog.get_by_role("listitem").filter(has=window.page.get_by_label("Name of Bob"))
    await row.get_by_role("button", name="Sign out").click()
    await expect(guest.box).to_be_visible()
    await row.get_by_role("button", name="Sign out everywhere?").click()
    await guest.page.wait_for_url(re.compile("/login"))
    await expect(guest.page.locator("#login")).to_contain_text("sayso login")
    await dialog.get_by_role("button", name="Close").click()
    await window.say("hello")
    await expect(window.agent).to_contain_text("you said hello")
    await guest.page.context.close()


async def test_somebody_who_is_removed_is_out_and_their_name_is_free(
    window: Window, bare: Place, browser: Browser
) -> None:
    guest = await invited(window, bare, browser, "Bob")
    dialog = await opened(window)
    row = dialog.get_by_role("listitem").filter(has=window.page.get_by_label("Name of Bob"))
    await row.get_by_role("button", name="Remove").click()
    await row.get_by_role("button", name="Remove Bob?").click()
    await expect(dialog.get_by_label("Name of Bob")).to_have_count(0)
    await guest.page.wait_for_url(re.compile("/login"))
    await guest.page.context.close()
    await dialog.get_by_role("button", name="Close").click()
    again = await invited(window, bare, browser, "Bob")
    await again.page.context.close()


async def test_a_chat_account_is_linked_by_its_code(window: Window, bare: Place) -> None:
    """A wrong code says so and how many tries are left; the right one links, and Unlink takes it back."""
    code = await bare.people.pairing("tg:42", "Ann T.", "tg-42")
    assert isinstance(code, str)
    dialog = await opened(window)
    await expect(dialog).to_contain_text("Ann T. (tg:42)")
    await dialog.get_by_label("Whose account it is").select_option("web:owner")
    await dialog.get_by_label("Code that the chat shows").fill("ABCDEFGH")
    await dialog.get_by_role("button", name="Link", exact=True).click()
    await expect(dialog.get_by_role("status")).to_contain_text("code")
    assert await bare.people.who("tg:42") is None
    await dialog.get_by_label("Code that the chat shows").fill(code.lower())
    await dialog.get_by_role("button", name="Link", exact=True).click()
    await expect(dialog.get_by_role("button", name="Unlink tg:42")).to_be_visible()
    known = await bare.people.who("tg:42")
    assert known is not None
    assert known.id == "web:owner"
    await dialog.get_by_role("button", name="Unlink tg:42").click()
    await expect(dialog.get_by_role("button", name="Unlink tg:42")).to_have_count(0)
    assert await bare.people.who("tg:42") is None
