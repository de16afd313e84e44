"""Handing over a secret in a browser: masked on its card and on its one-time page, and found nowhere afterwards."""

import pytest
from playwright.async_api import Browser, Page

from core.model import Person
from gateway import wiring
from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place
from tests.everything import everything
from tests.proves import proves
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
MARKER = "S3cr3t-MARKER-42"
OWNER = Person(id="web:owner", name="owner", role="owner")


async def everywhere(page: Page) -> str:
    """Whatever this browser shows and keeps of the page: its text and values, its storage, its address."""
    return str(
        await page.evaluate(
            """() => [document.documentElement.outerHTML, document.body.innerText, location.href,
              JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }),
              ...[...document.querySelectorAll("input, textarea")].map((one) => one.value)].join("\\n")"""
        )
    )


@proves("C126", "page")
@proves("C127", "page")
async def test_a_secret_is_given_on_its_card(window: Window, bare: Place, redis: RedisServer) -> None:
    """Masked while it is typed; afterwards the page, its storage and Redis know only that it came."""
    await window.say("secret")
    field = window.cards.get_by_label("token")
    await expect(field).to_have_attribute("type", "password")
    await expect(window.box).to_have_attribute("placeholder", "Never type a secret here")
    await window.button("Give", window.cards).click()
    await expect(window.cards.locator(".secret .wrong")).to_contain_text("A value is needed.")
    await field.fill(MARKER)
    await window.button("Show", window.cards).click()
    await expect(field).to_have_attribute("type", "text")
    await window.button("Hide", window.cards).click()
    await field.press("Enter")
    await expect(window.cards).to_have_count(0)
    await expect(window.agent).to_contain_text("used")
    assert bare.script.effects == [MARKER]
    for _ in range(2):
        await expect(window.settled).to_contain_text("Received by owner")
        assert MARKER not in await everywhere(window.page)
        await window.page.reload()
    assert MARKER not in everything(redis)


@proves("C128", "page")
async def test_what_is_typed_into_the_chat_instead_is_not_kept(window: Window, redis: RedisServer) -> None:
    """Not as a message, not as a draft, not to be sent again."""
    await window.say("secret")
    await expect(window.cards).to_be_visible()
    await window.say(f"my token is {MARKER}")
    await expect(window.page.locator(".notice")).to_contain_text("not kept")
    await expect(window.box).to_have_value("")
    await expect(window.page.locator(".is-waiting")).to_have_count(0)
    assert MARKER not in await everywhere(window.page)
    assert MARKER not in everything(redis)
    await expect(window.cards).to_be_visible()


@proves("C126", "page")
async def test_a_secret_is_given_on_its_one_time_page(window: Window, bare: Place, browser: Browser) -> None:
    """Whoever has the link gives it once, without a login; giving uses it up, and the address holds nothing."""
    await window.say("secret")
    id = await window.cards.locator(".card-id").inner_text()
    ticket = await wiring.tickets(bare.settings, bare.broker).make(id, OWNER)
    context = await browser.new_context()
    page = await context.new_page()
    for _ in range(2):
        await page.goto(f"{bare.url}/secret/{id}#{ticket}")
        await expect(page.get_by_label("token")).to_have_attribute("type", "password")
        await expect(page).to_have_url(f"{bare.url}/secret/{id}")
    await page.get_by_label("token").fill(MARKER)
    await page.get_by_role("button", name="Give").click()
    await expect(page.locator("#secret")).to_contain_text("Received.")
    assert MARKER not in await everywhere(page)
    await page.goto("about:blank")
    await page.goto(f"{bare.url}/secret/{id}#{ticket}")
    await expect(page.locator("#secret")).not_to_contain_text("token")
    await expect(page.get_by_role("button", name="Give")).to_have_count(0)
    await context.close()
    await expect(window.settled).to_contain_text("Received by owner")
    await expect(window.agent).to_contain_text("used")
    assert bare.script.effects == [MARKER]


async def test_a_stored_secret_is_given_by_one_press_and_can_be_deleted(window: Window, bare: Place) -> None:
    """It is kept when the person lets it be kept, never shown, and its owner can take it out of the vault."""
    await window.say("stored")
    await expect(window.cards.get_by_label("Keep it in the vault", exact=False)).to_be_checked()
    await window.cards.get_by_label("token", exact=True).fill(MARKER)
    await window.button("Give", window.cards).click()
    await expect(window.agent).to_have_count(1)
    await window.say("stored")
    await window.button("Use the stored one", window.cards).click()
    await expect(window.agent).to_have_count(2)
    assert bare.script.effects == [MARKER, MARKER]
    await window.page.get_by_role("button", name="People and secrets").click()
    dialog = window.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("token")
    assert MARKER not in await everywhere(window.page)
    await dialog.get_by_role("button", name="Delete").click()
    await dialog.get_by_role("button", name="Delete it?").click()
    await expect(dialog).to_contain_text("None. When an agent offers it")
