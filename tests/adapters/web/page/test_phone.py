"""The page on a phone: nothing is cut off, hidden or out of reach, and everything has the name that a reader says."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

FITS = """(box) => {
  const style = getComputedStyle(box);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  return pen.measureText(box.placeholder).width <= box.clientWidth - 2 * parseFloat(style.paddingLeft);
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def phone(bare: Place, browser: Browser) -> AsyncGenerator[Window]:
    """The owner's phone, of the narrowest kind."""
    phone = await Window.signed_in(browser, bare, width=360)
    yield phone
    phone.fine()
    await phone.page.context.close()


async def test_the_box_is_there_before_anything_was_said(phone: Window) -> None:
    """Also when the keyboard takes most of the screen: what welcomes a newcomer scrolls, the box stays."""
    await phone.page.set_viewport_size({"width": 360, "height": 290})
    await expect(phone.page.get_by_role("heading", name="Your agents act")).to_be_visible()
    await expect(phone.box).to_be_in_viewport(ratio=1)


async def test_nothing_is_cut_off_sideways(phone: Window) -> None:
    """And the list of conversations opens as a drawer."""
    await phone.say("delete " + "a-very-long-name-without-a-break" * 8)
    await expect(phone.cards).to_be_visible()
    assert await phone.page.locator("html").evaluate("html => html.scrollWidth") <= 360
    assert await phone.page.locator("sayso-timeline .scroller").evaluate("it => it.scrollWidth - it.clientWidth") <= 0
    await phone.page.get_by_role("button", name="Show the list of conversations").click()
    await expect(phone.page.get_by_role("link", name="Waiting for you")).to_be_in_viewport()
    await phone.page.keyboard.press("Escape")
    await expect(phone.page.get_by_role("link", name="Waiting for you")).not_to_be_in_viewport()


async def test_what_the_box_is_for_fits_into_it_and_what_a_task_does_is_shown(phone: Window, bare: Place) -> None:
    """Whole words in each state of a conversation; the status of a working task has a line of its own."""
    words = ("tool oak", "choose", "text please", "secret", "table", "import")
    for number, word in enumerate(words):
        await phone.page.goto(f"{phone.url}/#new")
        await expect(phone.box).to_have_attribute("placeholder", "Message scripted…")
        await phone.say(word)
        await expect(phone.cards if number else phone.task).to_be_visible()
        await expect(phone.box).not_to_have_attribute("placeholder", "Message scripted…")
        assert await phone.box.evaluate(FITS), await phone.box.get_attribute("placeholder")
        if not number:
            await expect(phone.task.get_by_text("about to act")).to_be_in_viewport(ratio=1)
            bare.script.gate("oak").set()


async def test_a_field_is_called_what_stands_above_it(phone: Window) -> None:
    """The words do not run into each other, and the rule of the field is read with it."""
    await phone.say("trip")
    field = phone.page.get_by_role("textbox", name="Budget, in euros optional", exact=True)
    await expect(field).to_have_accessible_description("A number.")
    await phone.page.get_by_role("button", name="Show the list of conversations").click()
    item = phone.page.locator("sayso-sidebar").get_by_role("link", name="trip (waits for an answer) 1", exact=True)
    await expect(item).to_be_visible()
