"""The page when its connection misbehaves: cut, dead, deaf, two tabs; nothing is lost, doubled or claimed too early."""

from collections.abc import Callable

import pytest
from playwright.async_api import Route

from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place
from tests.proves import proves
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
CUTS = 20


async def meanwhile(window: Window, told: Callable[[str], bool]) -> None:
    """Let the page's clock run until what the agent said is as it should be."""

    async def there() -> bool:
        await window.page.clock.run_for(500)
        return told(" ".join(await window.agent.all_inner_texts()))

    await wait_until(there, 60.0)


@proves("C111", "page")
async def test_cuts_leave_no_gap_and_no_repeat(window: Window, bare: Place) -> None:
    """Pieces that come while the line is cut are there once it is mended, each once and in order."""
    await window.page.clock.install()
    await window.say(f"pieces {CUTS}")
    await expect(window.task).to_contain_text("Working")
    for number in range(CUTS):
        await window.line.cut()
        bare.script.gate(f"piece {number}").set()
        await meanwhile(window, lambda text, number=number: text.split()[-1:] == [str(number)])
    await expect(window.agent).to_have_text(" ".join(str(number) for number in range(CUTS)))
    assert window.line.opened > CUTS / 2


@proves("C114", "page")
async def test_a_stale_tab_hears_which_answer_stands(window: Window, bare: Place) -> None:
    """The second question is shown in both tabs, and answered in the one that was stale."""
    await window.say("twice")
    await expect(window.cards).to_be_visible()
    stale = await window.another()
    await expect(stale.cards).to_be_visible()
    stale.line.deaf = True
    await window.page.bring_to_front()
    await window.card("First?").get_by_role("textbox").fill("one")
    await window.button("Answer", window.card("First?")).click()
    await expect(window.card("Second?")).to_be_visible()
    await stale.page.bring_to_front()
    await stale.card("First?").get_by_role("textbox").fill("another")
    await window.button("Answer", stale.card("First?")).click()
    await expect(stale.settled).to_contain_text("First? Answered “one”")
    await expect(stale.page.locator(".notice")).to_contain_text("Already answered")
    stale.line.deaf = False
    await stale.line.cut()
    await stale.card("Second?").get_by_role("textbox").fill("two")
    await window.button("Answer", stale.card("Second?")).click()
    await expect(stale.agent).to_have_text("one and two")
    await window.page.bring_to_front()
    await expect(window.agent).to_have_text("one and two")
    stale.fine()


@proves("C115", "page")
async def test_an_answer_counts_as_given_only_when_the_server_said_so(window: Window, bare: Place) -> None:
    """The first try reaches the server and its reply is lost: `not sent`; the retry has the same key and acts once."""
    keys: list[str] = []

    async def lost(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            await route.continue_()
            return
        await route.fetch()
        await route.abort()

    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    window.line.deaf = True
    await window.page.route("**/answer", lost)
    await window.button("Approve", window.cards).click()
    await expect(window.cards).to_contain_text("Not sent")
    await window.button("Retry", window.cards).click()
    await expect(window.settled).to_contain_text("Approved")
    window.line.deaf = False
    await window.line.cut()
    await expect(window.agent).to_have_text("deleted build")
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert bare.script.effects == ["build"]


@proves("C115", "page")
async def test_a_dead_line_is_noticed_within_30_seconds_and_mended(window: Window) -> None:
    """Half open: nothing is refused, nothing comes."""
    await window.page.clock.install()
    await window.page.reload()
    await window.say("hello")
    await expect(window.agent).to_have_text("you said hello")
    window.line.deaf = True
    lost = window.page.locator("#link.is-lost")
    await window.page.clock.run_for(30_000)
    await expect(lost).to_have_text("Reconnecting…")
    window.line.deaf = False

    async def mended() -> bool:
        await window.page.clock.run_for(1_000)
        return await lost.count() == 0

    await wait_until(mended, 60.0)
    await window.say("again")
    await expect(window.agent.last).to_have_text("you said again")


async def test_a_message_that_did_not_arrive_says_so_and_survives_a_reload(window: Window, bare: Place) -> None:
    """Retry sends it with the key of the first try, so it starts one run."""
    keys: list[str] = []

    async def refused(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        await (route.abort() if len(keys) == 1 else route.continue_())

    await window.page.route("**/v1/send", refused)
    await window.say("hello")
    await expect(window.page.locator(".unsent")).to_contain_text("Not sent")
    await window.page.reload()
    await expect(window.page.locator(".is-unsent .bubble")).to_have_text("hello")
    await window.button("Retry").click()
    await expect(window.agent).to_have_text("you said hello")
    await expect(window.page.locator(".is-waiting")).to_have_count(0)
    assert len(set(keys)) == 1
    assert len(set(bare.script.turns)) == 1


async def test_a_draft_survives_a_reload(window: Window) -> None:
    """What was typed and not sent is there again."""
    await window.box.fill("half a thought")
    await window.page.reload()
    await expect(window.box).to_have_value("half a thought")


async def test_a_server_that_cannot_tell_who_is_here_is_asked_again(window: Window) -> None:
    """The page says what is wrong, and needs no reload once it is mended."""
    down = True

    async def away(route: Route) -> None:
        problem = {"code": "unavailable", "detail": "Redis cannot be reached.", "status": 503}
        await (route.fulfill(status=503, json=problem) if down else route.continue_())

    await window.page.clock.install()
    await window.page.route("**/v1/me", away)
    await window.page.reload()
    await expect(window.page.locator(".notice")).to_contain_text("Redis cannot be reached. It is tried again.")
    down = False
    await window.page.clock.run_for(4_000)
    await expect(window.page.locator(".who-name")).to_have_text("owner")
