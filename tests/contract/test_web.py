"""The contract in the web's own form: what the page does in another way than platforms, for the same reasons."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest_asyncio
from playwright.async_api import Locator, Route

from adapters.desk import Open
from adapters.surface import Surface
from core.agent import Run
from core.lease import identity
from core.life.living import Hold
from core.model import Json, Person, fresh
from core.people import OWNER
from core.question import ChoiceField, ConfirmField, Option, Question, TextField
from gateway import wiring
from tests.adapters.web.page.window import Window, expect
from tests.adapters.web.place import plain
from tests.contract.agents import both, deploy, what, where
from tests.contract.bench import HOME, wide
from tests.contract.conftest import Late
from tests.contract.web import WebBench, web_bench
from tests.fakes import FakePlatform
from tests.proves import proves
from tests.waiting import wait_until

INNER = "http://127.0.0.1:1/x.png"


@pytest_asyncio.fixture(loop_scope="session")
async def web(redis_url: str, tmp_path: Path, late: Late) -> AsyncGenerator[WebBench]:
    """The page, with everything behind it at work."""
    async with web_bench(redis_url, tmp_path, await late.browser()) as one:
        yield one


def window(web: WebBench) -> Window:
    """The owner's tab."""
    assert web.window is not None
    return web.window


def shown(web: WebBench, text: str) -> Locator:
    """The open card of a question."""
    return window(web).cards.filter(has_text=text)


@asynccontextmanager
async def program(web: WebBench, name: str | None = None) -> AsyncGenerator[httpx.AsyncClient]:
    """A program of the owner, or of somebody else who came in."""
    assert web.settings is not None
    people = wiring.people(web.broker)
    person = await people.person(OWNER.id) if name is None else await people.add(name, "approver")
    assert isinstance(person, Person)
    token, _ = await wiring.accounts(web.settings, web.broker).token(person, ("read", "send", "answer", "run"), "")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=wiring.address(web.settings), headers=headers, timeout=20) as http:
        yield http


@proves("C45", "page")
async def test_every_control_of_the_page_wakes_the_run(web: WebBench) -> None:
    """A button, boxes to tick, a form with all its fields, a text: each answer resumes the run."""

    async def ask(run: Run, message: str) -> str:
        one = await run.choose("One?", ["red", "green"])
        several = await run.choose("Several?", ["ham", "egg", "jam"], multiple=True, min=2)
        size = ChoiceField(
            id="size", label="Size", options=(Option(id="s", label="small"), Option(id="l", label="large"))
        )
        form = await run.form("A form", size, TextField(id="name", label="Name"))
        return f"{one} {'+'.join(several)} {form['size']} {form['name']} {await run.ask('Why?')}"

    web.hire(ask)
    page = window(web)
    await web.write("please")
    await page.button("green", shown(web, "One?")).click()
    several = shown(web, "Several?")
    await several.get_by_label("ham").check()
    await page.button("Done", several).click()
    await expect(several.locator(".wrong")).to_contain_text("2")
    await several.get_by_label("jam").check()
    await page.button("Done", several).click()
    form = shown(web, "A form")
    await form.get_by_label("large").check()
    await form.get_by_label("Name").fill("Zoë")
    await page.button("Submit", form).click()
    why = shown(web, "Why?")
    await why.get_by_role("textbox").fill("because")
    await page.button("Answer", why).click()
    await web.says("green ham+jam l Zoë because")


@proves("C07", "page")
@proves("C11", "page")
async def test_another_person_presses_and_nothing_changes(web: WebBench) -> None:
    """Somebody else who signs in presses, writes, cancels: it looks as if nothing were there, and Ann's card stays."""
    web.hire(what)
    await web.write("please")
    card = await web.card("What is it?")
    request = (await web.pending())[0]
    before = (card.text, card.labels)
    async with program(web, "Bob") as bob:
        said: dict[str, Json] = {"outcome": "accepted", "values": {"text": "lunch?"}}
        for path, body in (
            (f"/v1/requests/{request.id}/answer", said),
            (f"/v1/requests/{request.id}/answer", {"outcome": "declined"}),
            ("/v1/send", {"text": "lunch?", "conversation": request.conversation}),
            ("/v1/send", {"text": f"/answer {request.id} lunch?"}),
            (f"/v1/runs/{request.run}/cancel", {}),
        ):
            assert (await bob.post(path, json=body)).status_code == 404, path
    assert [one.id for one in await web.pending()] == [request.id]
    assert (card.text, card.labels) == before
    await web.write("a parrot")
    await web.says("You said: a parrot.")
    assert len(await web.runs()) == 1


@proves("C09", "page")
@proves("C26", "page")
async def test_a_bare_word_answers_one_confirmation_and_never_one_of_two(web: WebBench) -> None:
    """A conversation of the web has one person: a yes counts while one question is open; for two it asks which."""
    web.hire(both)
    await web.write("please")
    listing, deleting = await web.card("List?"), await web.card("Delete?")
    answer = await web.write("yes")
    assert answer is not None
    assert "which" in answer.text.casefold()
    assert len(await web.pending()) == 2
    await expect(window(web).box).to_have_value("yes")
    await web.press(listing, "Deny")
    await web.write("yes")
    await web.final(deleting, "Approved by Ann")
    await web.says("list False, delete True.")


@proves("C38", "api")
async def test_what_was_said_cannot_be_said_otherwise(web: WebBench) -> None:
    """A repeat with its key is the same event; another text under that key is refused, and the first one stands."""
    web.hire(what)
    async with program(web) as http:
        key = {"Idempotency-Key": "k-1"}
        sent = plain(await http.post("/v1/send", json={"text": "please"}, headers=key), 200)
        again = plain(await http.post("/v1/send", json={"text": "please"}, headers=key), 200)
        assert again["run"] == sent["run"]
        await web.the_run()
        for text in ("/cancel", "yes", "please!"):
            other = await http.post("/v1/send", json={"text": text}, headers=key)
            assert other.status_code == 409, other.text
        for method in ("PUT", "PATCH"):
            path = f"/v1/conversations/{sent['conversation']}/messages/1"
            assert (await http.request(method, path, json={"text": "x"})).status_code in (404, 405)

        async def waits() -> bool:
            return [run.state for run in await web.runs()] == ["waiting"]

        await wait_until(waits)


async def test_another_agent_is_chosen_on_the_page(web: WebBench) -> None:
    """From the next task on; a name that is none is refused in words."""
    assert web.settings is not None
    web.settings = web.settings.model_copy(
        update={"agents": type(web.settings).model_validate({"agents": {"curious": {"use": "x:curious"}}}).agents}
    )
    web.hire(where)
    web.hire(what, name="curious")
    await web.restart()
    await window(web).page.reload()
    await web.write("please")
    await web.press(await web.card("Where to?"), "staging")
    await web.says("To staging.")
    answer = await web.write("/agent")
    assert answer is not None
    assert "it, curious" in answer.text
    await web.write("/agent CURIOUS")
    await web.write("please")
    await web.says("What is it?")


@proves("C16", "api")
async def test_a_late_answer_is_late_although_nobody_swept(web: WebBench) -> None:
    """Another process holds the broom and does nothing: the deadline counts in the answer's own commit."""
    broom = identity(fresh("w", 0), "singleton", web.broker.store.now() + 3_600_000)
    await web.down()
    settings = web.settings
    assert settings is not None
    async with wiring.opened(settings) as broker:
        await broker.hold(Hold("sweeper", broom), 0)
    await web.up()

    async def brief(run: Run, message: str) -> str:
        await run.confirm("Quick?", tool="deploy", arguments={}, timeout=1.0)
        return "Ran."

    web.hire(brief)
    async with program(web) as http:
        await http.post("/v1/send", json={"text": "please"})

        async def asked() -> bool:
            return bool(await web.pending())

        await wait_until(asked)
        request = (await web.pending())[0]
        await wait_until(lambda: web.broker.store.now() > (request.deadline_ms or 0))
        path, yes = f"/v1/requests/{request.id}/answer", {"outcome": "accepted", "values": {"confirm": "once"}}
        late = await http.post(path, json=yes)
        assert (late.status_code, late.json()["code"]) == (409, "expired"), late.text
        assert await web.pending()
        await web.broker.hold(Hold("sweeper", broom.changed(until_ms=0)), 0)

        async def swept() -> bool:
            return not await web.pending()

        await wait_until(swept)
        assert (await http.get(f"/v1/requests/{request.id}")).json()["outcome"] == "expired"


@proves("C131", "page")
async def test_always_says_its_scope_and_is_taken_back_on_the_page(web: WebBench) -> None:
    """The scope stands beside the button; the same call runs, any other asks, and Permissions takes it back."""

    async def shell(run: Run, message: str) -> str:
        await run.confirm("Run it?", tool="shell", arguments={"command": message})
        async with run.tool("shell", command=message):
            return f"Ran {message}"

    web.hire(shell, guarded=("shell",))
    page, command = window(web), "git status && rm -rf ./tmp"
    await web.write(command)
    card = shown(web, command)
    await card.get_by_role("button", name="ask again").click()
    await expect(card).to_contain_text("exactly this call (same tool, same arguments)")
    await page.button("Always approve exactly this", card).click()
    await expect(page.agent).to_have_text(f"Ran {command}")
    await expect(page.settled).to_contain_text("Approved, always")
    await web.write(command)
    await expect(page.agent).to_have_count(2)
    for other in ("rm -rf /", "git push --force"):
        await web.write(other)
        await page.button("Deny", shown(web, other)).click()
        await expect(page.cards).to_have_count(0)
    await page.page.get_by_role("button", name="Permissions").click()
    dialog = page.page.get_by_role("dialog")
    await expect(dialog).to_contain_text(command)
    await dialog.get_by_role("button", name="Ask me again").click()
    await expect(dialog).to_contain_text("every call that needs you asks")
    await dialog.get_by_role("button", name="Close").click()
    await web.write(command)
    await expect(shown(web, command)).to_be_visible()


@proves("C49", "page")
async def test_names_of_any_length_come_back_as_they_are(web: WebBench) -> None:
    long = "🦜 " * 100 + "Ж" * 60
    got: list[str] = []

    async def ask(run: Run, message: str) -> str:
        got.append(await run.choose("Ж" * 200, [long, long + "2"], message=long))
        return "Taken."

    web.hire(ask)
    await web.write("please")
    await shown(web, "ЖЖЖ").locator("button.option").nth(1).click()
    await web.says("Taken.")
    assert got == [long + "2"]


@proves("C55", "page")
async def test_every_option_stands_there_in_full(web: WebBench) -> None:
    """However long and however many; nothing is cut away, and the whole text is what the run gets."""
    start = "The same long beginning of every option " * 3
    options = [f"{start}number {n}" for n in range(1, 21)]

    async def ask(run: Run, message: str) -> str:
        return f"…{(await run.choose('Which?', options))[-9:]}"

    web.hire(ask)
    await web.write("please")
    card = await web.card("Which?")
    assert [label for label in card.labels if label.startswith("The same")] == options
    await window(web).button(options[-1], shown(web, "Which?")).click()
    await web.says("…number 20")


@proves("C56", "page")
async def test_equal_options_stay_two_and_blank_ones_are_left_out(web: WebBench) -> None:
    async def ask(run: Run, message: str) -> str:
        options = [
            Option(id="1", label="Yes"),
            Option(id="2", label="Yes"),
            Option(id="3", label=" \n"),
            Option(id="4", label="Seven", description="the number"),
        ]
        return f"Took {await run.choose('Which?', options)}."

    web.hire(ask)
    await web.write("please")
    rows = shown(web, "Which?").locator("button.option")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2)).to_contain_text("the number")
    await rows.nth(1).click()
    await web.says("Took 2.")


@proves("C58", "page")
async def test_a_subject_of_any_length_is_whole_before_it_can_be_approved(web: WebBench) -> None:
    """100,000 characters: while they are loaded there is no Approve; then all of them stand there."""
    command = "x" * 99_960 + " && rm -rf / --no-preserve-root --please"
    held: list[Route] = []

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": command})
        return "Ran."

    async def hold(route: Route) -> None:
        held.append(route)

    web.hire(ask)
    page = window(web)
    await page.page.route("**/v1/requests/q*", hold)
    await web.write("please")
    card = shown(web, "May I?")
    await expect(card).to_contain_text("only when all of it is shown")
    await expect(page.button("Approve", card)).to_have_count(0)
    await wait_until(lambda: held)
    await page.page.unroute("**/v1/requests/q*", hold)
    await page.page.reload()
    await page.button("Approve", card).click()
    await web.says("Ran.")
    assert any(command in text for one in web.chats[0].messages.values() for text in one.shown)


@proves("C118", "page")
async def test_a_reply_of_any_length_is_one_message(web: WebBench) -> None:
    """200,000 characters with code: whole, once, and the question after it is there to be answered."""
    long = "```python\n" + "print('hello')\n" * 13_000 + "```\n"

    async def ask(run: Run, message: str) -> str:
        await run.say("A line of text.\n" * 1_900)
        await run.say(long)
        return f"To {await run.choose('Next?', ['on'])}."

    web.hire(ask)
    page = window(web)
    await web.write("please")
    await expect(shown(web, "Next?")).to_be_visible()
    await expect(page.agent).to_have_count(2)
    for _ in range(2):
        texts = await page.agent.all_inner_texts()
        assert (texts[0].count("A line of text."), texts[1].count("print('hello')")) == (1_900, 13_000)
        await page.page.reload()
        await expect(page.agent).to_have_count(2)
    await page.button("on", shown(web, "Next?")).click()
    await web.says("To on.")


@proves("C51", "page")
async def test_a_page_that_hears_everything_again_shows_it_once(web: WebBench) -> None:
    """After a restart the page follows again; nothing it shows changes, nothing stands there twice."""
    web.hire(deploy)
    await web.write("please")
    card = await web.card("Deploy?")
    await web.press(card, "Approve")
    await web.says("Deployed.")
    await web.final(card, "acted on")
    before = [(one.id, one.text) for one in web.chats[0].at(HOME)]
    for _ in range(2):
        await web.restart()
        await window(web).page.reload()
        await web.final(await web.says("Deployed."))
        await expect(window(web).settled).to_have_count(1)
    assert len(await window(web).agent.all()) == 1
    assert [id for id, _ in before if id.startswith("q:")] == [card.id]


@proves("C124", "page")
async def test_no_address_is_fetched_by_the_page_or_the_server(web: WebBench) -> None:
    """Addresses of people and of agents are text and links; `fine` fails when the page asks anybody but our server."""
    addresses = [INNER, "http://169.254.169.254/x", "file:///etc/passwd", "ftp://10.0.0.5/x", "http://0x7f000001/"]

    async def link(run: Run, message: str) -> str:
        return " ".join(f"![image]({one}) [page]({one}) <img src='{one}'>" for one in addresses)

    web.hire(link)
    page = window(web)
    await web.write(" ".join(addresses))
    await expect(page.agent).to_contain_text("image")
    assert await page.page.locator("main img").count() == 0
    hrefs = await page.agent.locator("a").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert not [one for one in hrefs if not str(one).startswith(("http://", "https://"))]
    rel = await page.agent.locator("a").evaluate_all("all => all.map((one) => one.rel)")
    assert all("noreferrer" in str(one) for one in rel)


@proves("C107", "page")
async def test_a_call_that_is_told_to_wait_counts_once_when_it_passes(web: WebBench) -> None:
    """A proxy says 429: nothing is shown as given, the retry carries the same key and takes effect once."""
    web.hire(deploy)
    await web.write("please")
    card, page = shown(web, "Deploy?"), window(web)
    keys: list[str] = []
    tries = count()

    async def busy(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if next(tries) < 2:
            await route.fulfill(status=429, headers={"Retry-After": "1"}, body="")
        else:
            await route.continue_()

    await page.page.route("**/answer", busy)
    await page.button("Approve", card).click()
    for _ in range(2):
        await expect(card).to_contain_text("Not sent")
        await page.button("Retry", card).click()
    await web.says("Deployed.")
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert web.chats[0].texts(HOME).count("Deployed.") == 1


@proves("C63", "page")
async def test_what_a_platform_could_not_show_is_answered_on_the_page(web: WebBench) -> None:
    """A copy goes to a chat whose bot is blocked: the card says so, it can be tried again there, and answered here."""
    chats = wide()
    chats.blocked.add(HOME)

    async def ask(run: Run, message: str) -> str:
        question = Question(title="Both?", fields=(ConfirmField(),), copies=(HOME,))
        await run._ask("confirm", question)  # pyright: ignore[reportPrivateUsage] copies come from the API
        return "Done."

    web.hire(ask)
    surface = Surface(web.broker, FakePlatform(chats), agents=["it"], doors=Open(), look=0.1)
    async with surface:
        await surface.serving.wait()
        await web.write("please")
        card = shown(web, "Both?")
        await expect(card).to_contain_text("Not shown on fa-7 (bot was blocked by the user). It can be answered here.")
        await window(web).page.reload()
        await expect(card).to_contain_text("Not shown on fa-7")
        calls = chats.calls["post"]
        assert calls == 1
        chats.blocked.clear()
        await window(web).button("Try fa-7 again", card).click()
        there = await web.card("Both?", chats=chats)
        await expect(card).not_to_contain_text("Not shown")
        await window(web).button("Approve", card).click()
        await web.says("Done.")
        await web.final(there, "Approved by Ann on the dashboard")
