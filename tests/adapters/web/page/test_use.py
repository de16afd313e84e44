"""The page as people use it, in a real browser: asking, answering, stopping, resuming, coming back."""

import pytest
from playwright.async_api import Browser

from core.model import Person
from core.people import OWNER
from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import Place, User
from tests.proves import proves

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@proves("C01", "page")
async def test_pressing_approve_twice_answers_once(window: Window, bare: Place) -> None:
    """A double press settles the card; it acts once, and the card that comes next is not pressed by it."""
    await window.say("delete build")
    await window.button("Approve", window.cards).dblclick()
    await expect(window.settled).to_contain_text("Delete build? Approved")
    await expect(window.agent).to_have_text("deleted build")
    assert bare.script.effects == ["build"]


async def test_the_receipt_says_how_far_an_answer_has_come(window: Window, bare: Place) -> None:
    """Recorded, delivered, acted on: the last only when the run went on."""
    await window.say("then gate")
    await window.button("Approve", window.cards).click()
    await bare.script.at("gate").wait()
    await expect(window.page.locator(".steps")).to_have_text("delivered")
    bare.script.gate("gate").set()
    await expect(window.page.locator(".steps")).to_have_text("acted on")


async def test_enter_in_the_empty_box_approves_nothing(window: Window, bare: Place) -> None:
    """A card takes no focus, so a stray Enter has nothing to press."""
    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    await window.page.keyboard.press("Enter")
    await window.page.keyboard.press("Enter")
    await window.button("Deny", window.cards).click()
    await expect(window.agent).to_have_text("kept build")
    assert not bare.script.effects


@proves("C17", "page")
async def test_a_question_nobody_answered_closes_and_can_be_asked_again(window: Window, bare: Place) -> None:
    """The card says so, nothing ran, and Resume asks anew."""
    await window.say("soon 1")
    await expect(window.cards.locator(".deadline")).to_contain_text("left")
    await expect(window.settled).to_contain_text("Nobody answered in time")
    await expect(window.task).to_contain_text("Paused: nobody answered in time")
    assert not bare.script.effects
    await expect(window.button("Revert", window.task)).to_be_visible()
    await window.button("Resume", window.task).click()
    await expect(window.cards).to_be_visible()


@proves("C21", "page")
async def test_the_id_on_a_card_can_be_typed(window: Window, owner: User) -> None:
    """In capitals and with stray spaces, from another conversation."""
    await window.say("text please")
    id = await window.cards.locator(".card-id").inner_text()
    await window.conversation()
    asked = window.page.url
    await window.page.get_by_role("link", name="New conversation", exact=True).click()
    await window.say(f"/answer  {id.upper()}  Ada")
    await window.page.goto(asked)
    await expect(window.settled).to_contain_text("Answered “Ada”")
    await expect(window.agent).to_have_text("Ada")
    assert (await owner.get(f"/v1/requests/{id}"))["outcome"] == "accepted"


@proves("C24", "page")
async def test_a_second_question_leaves_the_first_one_alive(window: Window, bare: Place) -> None:
    """Each card answers its own question, the older one after the newer was shown."""
    await window.say("two")
    await expect(window.cards).to_have_count(2)
    await window.button("Approve", window.card("Delete list?")).click()
    await expect(window.cards).to_have_count(1)
    await window.button("Deny", window.card("Delete build?")).click()
    await expect(window.agent).to_have_text("deleted list, kept build")
    assert bare.script.effects == ["list"]


@proves("C34", "page")
async def test_a_reply_while_a_question_waits_is_the_answer(window: Window, bare: Place) -> None:
    """It resumes the same run; nothing speaks of an interruption."""
    await window.say("text please")
    await expect(window.cards).to_be_visible()
    await window.box.fill("Grace")
    await expect(window.page.locator("sayso-composer .caption")).to_have_text("Answers: What is your name?")
    await window.box.press("Enter")
    await expect(window.agent).to_have_text("Grace")
    await expect(window.settled).to_contain_text("Answered “Grace”")
    assert len(set(bare.script.turns)) == 1


@proves("C36", "page")
async def test_a_command_is_no_answer(window: Window) -> None:
    """`/pending` shows the list, `/cancel` cancels; the open text question took neither."""
    await window.say("text please")
    await expect(window.cards).to_be_visible()
    await window.conversation()
    place = window.page.url
    await window.say("/pending")
    await expect(window.page.locator("sayso-pending sayso-card.card-open")).to_be_visible()
    await window.page.goto(place)
    await window.say("/cancel")
    await expect(window.page.locator(".note")).to_have_text("Canceled.")
    await expect(window.cards).to_have_count(0)


async def test_text_that_is_no_option_is_kept_and_the_options_are_said(window: Window) -> None:
    """Nothing is consumed: the words are back in the box."""
    await window.say("choose")
    await expect(window.cards).to_be_visible()
    await window.say("purple")
    await expect(window.page.locator(".notice")).to_contain_text("1. red")
    await expect(window.box).to_have_value("purple")
    await window.say("2")
    await expect(window.agent).to_have_text("green")


@proves("C64", "page")
async def test_cancel_of_a_waiting_task_asks_once_and_closes_its_question(window: Window, owner: User) -> None:
    """Cancel discards, so it says so first; afterwards the card is closed and a second press hears the truth."""
    await window.say("delete build")
    await window.button("Cancel task", window.cards).click()
    await expect(window.cards).to_contain_text("Sure? What it did so far is discarded.")
    await window.button("Keep it", window.cards).click()
    await window.button("Cancel task", window.cards).click()
    await window.button("Yes, cancel the task", window.cards).click()
    await expect(window.page.locator(".note")).to_have_text("Canceled.")
    await expect(window.settled).to_contain_text("Closed, the task was canceled")
    shown = await owner.get(f"/v1/conversations/{await window.conversation()}")
    runs = shown["runs"]
    assert isinstance(runs, list)
    again = await owner.post(f"/v1/runs/{run_of(runs[0])}/cancel", status=409)
    assert again["detail"] == "already canceled"


def run_of(shown: object) -> str:
    """The id of a run as the API shows it."""
    assert isinstance(shown, dict)
    return str(shown["run"])  # pyright: ignore[reportUnknownArgumentType]  # JSON


async def test_a_working_task_is_paused_resumed_and_canceled(window: Window, bare: Place) -> None:
    """Pause keeps, Resume goes on, Cancel says what is left."""
    await window.say("wait gate")
    await bare.script.at("gate").wait()
    await window.button("Pause", window.task).click()
    await expect(window.task).to_contain_text("Paused")
    await expect(window.button("Resume", window.task)).to_be_visible()
    await expect(window.button("Revert", window.task)).to_have_count(0)  # it never asked
    await window.button("Resume", window.task).click()
    await expect(window.task).to_contain_text("Working")
    await window.button("Cancel task", window.task).click()
    await window.button("Yes, cancel the task", window.task).click()
    await expect(window.page.locator(".note")).to_contain_text("Canceled.")
    await expect(window.task).to_have_count(0)


@proves("C77", "page")
async def test_a_question_of_a_paused_task_is_answered_after_resume_only(window: Window, bare: Place) -> None:
    """An old tab that still shows the buttons hears `paused: resume first`; the action runs once in all."""
    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    old = await window.another()
    await expect(old.cards).to_be_visible()
    old.line.deaf = True
    await window.page.bring_to_front()
    await window.button("Abort (pause)", window.cards).click()
    withdrawn = window.page.locator("sayso-card.card-withdrawn")
    await expect(withdrawn).to_contain_text("Resume it first")
    await old.page.bring_to_front()
    await window.button("Approve", old.cards).click()
    await expect(old.cards).to_contain_text("paused: resume first")
    assert not bare.script.effects
    await window.page.bring_to_front()
    await window.button("Resume", withdrawn).click()
    await window.button("Approve", window.cards).click()
    await expect(window.agent).to_have_text("deleted build")
    assert bare.script.effects == ["build"]
    old.fine()


@proves("C86", "page")
async def test_closing_the_page_stops_nothing(window: Window, bare: Place) -> None:
    """The task goes on, and what it said is there on return."""
    await window.say("wait gate")
    await bare.script.at("gate").wait()
    await window.conversation()
    place = window.page.url
    await window.page.goto("about:blank")
    bare.script.gate("gate").set()
    await window.page.goto(place)
    await expect(window.agent).to_have_text("waited for gate")


@proves("C87", "page")
async def test_an_open_question_is_there_after_a_reload(window: Window, bare: Place) -> None:
    """Also when the browser has no live connection: it comes from the stored state."""
    await window.say("delete build")
    await expect(window.cards).to_be_visible()
    window.line.deaf = True
    await window.page.reload()
    await expect(window.cards).to_be_visible()
    assert await window.page.title() == "(1) delete build · Sayso"
    await window.say("hello?")
    await expect(window.page.locator(".notice")).to_contain_text("1. Approve")
    await window.button("Approve", window.cards).click()
    await expect(window.settled).to_contain_text("Approved")


async def test_a_steer_is_shown_as_one(window: Window, bare: Place) -> None:
    """What is said while a task works is marked as steering it."""
    await window.say("wait gate")
    await bare.script.at("gate").wait()
    await expect(window.box).to_have_attribute("placeholder", "Steer the running task")
    await window.say("be quick")
    await expect(window.page.locator(".is-steer .bubble")).to_have_text("be quick")
    await expect(window.page.locator(".is-waiting")).to_have_count(0)


@proves("C135", "page")
async def test_hostile_text_is_only_text_wherever_it_stands(window: Window, bare: Place) -> None:
    """Tool, result, message, file, question, option, name, error: live, after a reload, in the list; none of it acts.

    `fine` fails when the page opened a dialog or asked anybody but our server.
    """
    name = "<img src=x onerror=alert(1)>"
    assert isinstance(await bare.people.rename(OWNER.id, name), Person)
    page, evil = window.page, "<script>alert(1)</script>"

    async def inert() -> None:
        assert await page.locator("main img, main svg:not(.icon), main style, main script").count() == 0
        assert await page.locator("a[href^='javascript'], a[href^='data']").count() == 0
        assert await page.evaluate("() => document.cookie + Object.values(localStorage).join()") in ("", "{}")

    await window.say("hostile please")
    for _ in range(2):
        await expect(window.cards).to_contain_text(name)
        await expect(window.cards.get_by_role("heading")).to_contain_text("⟨U+202E⟩")
        await expect(window.agent.last).to_contain_text(evil)
        await expect(page.locator(".files .file-name")).to_contain_text("onerror=alert(1)")
        await inert()
        await page.reload()
    await page.get_by_role("link", name="Waiting for you").click()
    await expect(page.locator("sayso-pending sayso-card")).to_contain_text(evil)
    await inert()
    await page.go_back()
    await window.button("Approve", window.cards).click()
    for _ in range(2):
        await expect(window.settled.first).to_contain_text(name)
        await expect(window.cards.locator("button.option").first).to_contain_text(evil)
        await inert()
        await page.reload()
    await page.get_by_role("link", name="Waiting for you").click()
    await expect(page.locator("sayso-pending sayso-card button.option").first).to_contain_text(evil)
    await page.go_back()
    await window.cards.locator("button.option").first.click()
    for _ in range(2):
        await expect(window.task).to_contain_text(evil)
        await expect(window.settled.last).to_contain_text(evil)
        await inert()
        await page.reload()
    await page.get_by_role("link", name="Waiting for you").click()
    await expect(page.locator("sayso-pending")).to_contain_text("hostile please")
    await inert()


async def test_a_used_link_says_what_to_do(bare: Place, browser: Browser) -> None:
    """A code in the fragment is posted once; the second time the page says how to get a fresh link."""
    context = await browser.new_context()
    page = await context.new_page()
    code = await bare.accounts.link()
    await page.goto(f"{bare.url}/login#{code}")
    await page.wait_for_url(f"{bare.url}/")
    await context.clear_cookies()
    page = await context.new_page()  # the first tab is on its way out
    await page.goto(f"{bare.url}/pending")  # a place of the page is no code
    await expect(page.locator("#login")).to_contain_text("Sign in with a link.")
    await page.goto(f"{bare.url}/login#{code}")
    await expect(page.locator("#login")).to_contain_text("This link was used already.")
    await expect(page.locator("#login")).to_contain_text("sayso login")
    assert "#" not in page.url
    await page.goto(f"{bare.url}/login#{await bare.accounts.link()}")
    await page.wait_for_url(f"{bare.url}/")
    await context.close()
