"""The web page as a platform of the contract: one browser tab that outlives every process of ours.

What a test sees is what stands on the page, in Chromium: the page tells of each change of its lines, and they are kept
as messages beside those of the fake platforms. A person types into the page's box and presses the page's buttons.
"""

from __future__ import annotations

import re

from playwright.async_api import Page
from pydantic import BaseModel, TypeAdapter

from adapters.outcomes import Notice
from adapters.platform import Button, View
from core.model import Json, Person
from tests.fakes import FakeChats, FakePlatform, Message, Wrote
from tests.waiting import wait_until

__all__ = ["MIRROR", "Line", "Tab", "TabChats"]

MIRROR = """
() => {
  if (top !== window) return;
  const seen = (node) => node.getClientRects().length > 0;
  const words = (node) => (node.innerText || node.getAttribute("aria-label") || "").trim();
  const act = (button, card) => {
    if (!card) return null;
    const field = card.fields?.[0], said = words(button), run = `/v1/runs/${card.run}`;
    const at = `/v1/requests/${card.request}`;
    const options = field?.options ?? [];
    const rows = [...(button.closest(".options")?.querySelectorAll("button.option") ?? [])];
    const option = rows.length ? options[rows.indexOf(button)] : options.find((one) => one.label === said);
    if (option?.effect === "deny") return { path: `${at}/answer`, body: { outcome: "declined" } };
    if (option) return { path: `${at}/answer`, body: { outcome: "accepted", values: { [field.id]: option.id } } };
    if (said === "Yes, cancel the task") return { path: `${run}/cancel`, body: {} };
    if (said === "Abort (pause)") return { path: `${at}/abort`, body: {} };
    if (said === "Resume") return { path: `${run}/resume`, body: {} };
    return null;
  };
  const line = (node, key) => {
    const part = node.querySelector(".prose, .bubble");
    const left = node.querySelector(".deadline")?.innerText.trim();
    const whole = node.innerText.replace(left || /^$/, "").trim();
    const files = [...node.querySelectorAll(".files .file-name")].map(words);
    const buttons = [...node.querySelectorAll("button")].filter((one) => seen(one));
    return {
      key, text: [part ? part.innerText.trim() : whole, ...files].filter(Boolean).join("\\n"),
      buttons: part ? [] : buttons.map((one) => ({ label: words(one), payload: JSON.stringify(act(one, node.card)) })),
    };
  };
  const look = () => {
    const lines = [...document.querySelectorAll("sayso-timeline .lines > [data-key]:not(.is-waiting)")];
    const runs = [...document.querySelectorAll("sayso-run-bar .run")];
    const notices = [...document.querySelectorAll("#notices .notice")];
    return [
      ...lines.map((one) => line(one, one.dataset.key)),
      ...runs.map((one, at) => ({ key: `run ${at}`, text: one.innerText.trim(), buttons: [] })),
      ...notices.map((one) => ({ key: `notice ${one.dataset.words}`, text: one.innerText.trim(), buttons: [] })),
    ];
  };
  let due = false, last = "";
  const tell = () => {
    due = false;
    const now = JSON.stringify(look());
    if (now !== last) window.__seen(now);
    last = now;
  };
  const soon = () => { if (!due) { due = true; setTimeout(tell, 0); } };
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(soon).observe(document, all);
}
"""
SEND = """
async ({ path, body, key }) => {
  const headers = { "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  return await response.text();
}
"""
HIDDEN = {"Always": re.compile("ask again")}
"""buttons that stand in a panel, by the one that opens it"""


class Control(BaseModel):
    """A button of the page, and the call that it makes."""

    label: str
    payload: str


class Line(BaseModel):
    """A line of the page."""

    key: str
    text: str
    buttons: list[Control] = []


LINES: TypeAdapter[list[Line]] = TypeAdapter(list[Line])
OBJECT: TypeAdapter[dict[str, Json]] = TypeAdapter(dict[str, Json])


class TabChats(FakeChats):
    """What stands on the page, kept by its own reports; all of it is at one place."""

    def __init__(self, place: str) -> None:
        super().__init__(prefix="chat")
        self.place = place

    def seen(self, report: str) -> None:
        """Take in what the page shows now."""
        lines = LINES.validate_json(report)
        before, self.messages = self.messages, {}
        for line in lines:
            made = before.pop(line.key, None) or Message(line.key, self.place, "")
            made.rows = tuple((Button(label=one.label, payload=one.payload),) for one in line.buttons)
            made.view = View(rows=made.rows)
            if made.text != line.text:
                made.text = line.text
                made.shown.append(line.text)
            made.gone = False
            self.messages[line.key] = made
        for old in before.values():
            old.gone, old.rows = True, ()

    def notices(self) -> list[str]:
        """What the page says above the box."""
        return [one.text for one in self.messages.values() if one.id.startswith("notice")]


class Tab(FakePlatform):
    """The person at the page."""

    def __init__(self, chats: TabChats, page: Page, person: Person) -> None:
        super().__init__(chats)
        self.tab = chats
        self.page = page
        self.person = person

    async def wrote(self, wrote: Wrote) -> Notice | None:
        """Type into the box and send; a reply to a card, and what is sent again, go by the page's own calls."""
        assert (wrote.person, wrote.place) == (self.person, self.tab.place)
        assert not wrote.files
        assert not wrote.links
        text, reply_to, key = wrote.text, wrote.reply_to, wrote.key
        if reply_to is not None or key is not None:
            conversation = self.page.url.partition("#")[2]
            replied = {"reply_to": reply_to.id.removeprefix("q:")} if reply_to is not None else {}
            body: dict[str, Json] = {"text": text, **replied}
            if conversation:
                body["conversation"] = conversation
            answer = await self._post("/v1/send", body, key)
            if not conversation and "conversation" in answer:
                await self.page.evaluate("id => { location.hash = id; }", answer["conversation"])
            return _notice(answer)
        box = self.page.get_by_role("textbox", name="Message")
        await box.fill(text)
        async with self.page.expect_response(lambda one: one.url.endswith("/v1/send")) as sending:
            await box.press("Enter")
        await (await sending.value).finished()
        await self.page.evaluate("() => new Promise((next) => setTimeout(next, 0))")
        said = self.tab.notices()
        return Notice(text=said[-1]) if said else None

    async def press(self, person: Person, message: Message, label: str, *, key: str | None = None) -> Notice:
        """Press the page's button, and wait until the page shows that something came of it."""
        before = (message.text, message.labels, self.tab.notices())
        node = self.page.locator(f'[data-key="{message.id}"]')
        if label in HIDDEN:
            await node.get_by_role("button", name=HIDDEN[label]).click()
        await node.get_by_role("button", name=label, exact=label in message.labels).first.click()

        def heard() -> bool:
            return (message.text, message.labels, self.tab.notices()) != before and "Sending…" not in message.text

        await wait_until(heard)
        return Notice(text=" ".join([*self.tab.notices(), message.text]))

    async def send(self, person: Person, message: Message, payload: str, *, key: str | None = None) -> Notice:
        """The call of a button, whatever the page shows by now: an old tab, a press that comes again."""
        act = OBJECT.validate_json(payload)
        body = act["body"]
        assert isinstance(body, dict)
        return _notice(await self._post(str(act["path"]), body, key)) or Notice(text="Accepted.")

    async def _post(self, path: str, body: dict[str, Json], key: str | None) -> dict[str, Json]:
        return OBJECT.validate_json(await self.page.evaluate(SEND, {"path": path, "body": body, "key": key}))


def _notice(answer: dict[str, Json]) -> Notice | None:
    """What the answer to a call tells the person."""
    if answer.get("repeat") is True:
        return Notice(text="Already answered: that is the answer that stands.")
    detail = answer.get("detail")
    if not isinstance(detail, str):
        return None
    return Notice(text=detail[:1].upper() + detail[1:])
