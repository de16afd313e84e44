"""What the bot hears, once and in order: polls, webhooks, privacy, service messages, drafts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import pytest

from tests.standins.telegram import Rates, TelegramServer, flood
from tests.standins.telegram.probe import Probe
from tests.standins.telegram.spec import SPEC
from tests.standins.telegram.wire import Json, Object, as_objects
from tests.waiting import wait_until

OTHER = "409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
ACTIVE = (
    "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


PORTS = "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"


@pytest.fixture(autouse=True)
def whole(telegram: TelegramServer) -> Generator[None]:
    """Whatever people did, the updates are as the specification has them."""
    yield
    sent = [one.json for one in telegram.updates if one.kind in SPEC.types["Update"]]
    assert [wrong for one in sent for wrong in SPEC.check("Update", one, "update")] == []


async def polled(probe: Probe, **fields: Json) -> list[Object]:
    return as_objects(await probe.result("getUpdates", **fields))


def kinds(updates: list[Object]) -> list[str]:
    return [name for one in updates for name in one if name != "update_id"]


def texts(updates: list[Object]) -> list[Json]:
    return [body.get("text") for one in updates for body in one.values() if isinstance(body, dict)]


async def test_an_update_comes_until_it_is_confirmed(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    for word in ("one", "two", "three"):
        ann.says(word)
    first = await polled(probe)
    assert await polled(probe) == first
    second = first[1]["update_id"]
    assert texts(await polled(probe, offset=second)) == ["two", "three"]
    assert texts(await polled(probe, offset=second, limit=1)) == ["two"]
    assert texts(await polled(probe, offset=-1)) == ["three"]
    assert len(telegram.pending) == 1


async def test_a_poll_waits_for_news(telegram: TelegramServer, probe: Probe) -> None:
    waiting = asyncio.create_task(polled(probe, timeout=50))
    await wait_until(lambda: telegram.polling)
    telegram.person("Ann").says("hello")
    assert texts(await waiting) == ["hello"]
    assert not telegram.polling


async def test_what_was_asked_for_once_stays_asked_for(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    wanted: list[Json] = ["callback_query"]
    await polled(probe, allowed_updates=wanted)
    ann.says("unheard")
    assert await polled(probe) == []
    wanted = []
    await polled(probe, allowed_updates=wanted)
    ann.reacts(ann.says("heard"), "👍")
    assert kinds(await polled(probe)) == ["message"]


async def test_a_second_poll_ends_the_first(telegram: TelegramServer, probe: Probe) -> None:
    first = asyncio.create_task(probe.refused("getUpdates", timeout=50))
    await wait_until(lambda: telegram.polling)
    second = asyncio.create_task(polled(probe, timeout=50))
    assert await first == OTHER
    telegram.person("Ann").says("hello")
    assert texts(await second) == ["hello"]


async def test_a_foreign_webhook_ends_polling(telegram: TelegramServer, probe: Probe) -> None:
    first = asyncio.create_task(probe.refused("getUpdates", timeout=50))
    await wait_until(lambda: telegram.polling)
    await probe.result("setWebhook", url="https://elsewhere.example/hook")
    assert await first == "409 Conflict: terminated by setWebhook request"
    assert await probe.refused("getUpdates") == ACTIVE
    info = await probe.result("getWebhookInfo")
    assert isinstance(info, dict)
    assert info["url"] == "https://elsewhere.example/hook"
    assert SPEC.check("WebhookInfo", info, "info") == []
    await probe.result("deleteWebhook")
    assert await polled(probe) == []


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"url": "http://sayso.example/hook"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        (
            {"url": "https://sayso.example:9000/"},
            "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
        ),
        ({"url": "https://sayso.example/", "secret_token": "a b"}, "secret token contains unallowed characters"),
        ({"url": "https://sayso.example/", "secret_token": "x" * 257}, "secret token is too long"),
    ],
)
async def test_a_webhook_has_to_be_right(probe: Probe, fields: Object, refusal: str) -> None:
    assert await probe.refused("setWebhook", **fields) == f"400 Bad Request: {refusal}"


# ── the webhook ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Hook:
    """Somewhere that takes updates. answers: the statuses to give, then 200."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.heads: list[str] = []
        self.bodies: list[str] = []
        self.port = 0

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        self.heads.append(head)
        self.bodies.append((await reader.readexactly(length)).decode())
        status = self.answers.pop(0) if self.answers else 200
        writer.write(b"HTTP/1.1 %d Said\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        """Its address."""
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"


async def test_a_webhook_gets_each_update_with_the_secret_until_it_takes_it(
    telegram: TelegramServer, probe: Probe
) -> None:
    hook, ann = Hook(), telegram.person("Ann")
    hook.answers = [500, 503]
    async with hook.open() as url:
        await probe.result("setWebhook", url=url, secret_token="s3cret")
        ann.says("one")
        ann.says("two")
        await wait_until(lambda: not telegram.pending)
        assert ['"one"' in body for body in hook.bodies] == [True, True, True, False]
        assert all("x-telegram-bot-api-secret-token: s3cret" in head for head in hook.heads)
        telegram.repeat(telegram.updates[0])
        await wait_until(lambda: len(hook.bodies) == 5)
        assert hook.bodies[4] == hook.bodies[0]
        assert telegram.webhook is not None
        assert telegram.webhook.error == "Wrong response from the webhook: 503 Said"
        await wait_until(lambda: not telegram.pending)
        await probe.result("deleteWebhook")


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_privacy_lets_only_what_is_meant_for_the_bot_through(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Ops", [ann])
    await probe.result("sendMessage", chat_id=group.id, text="What now?")
    ann.says("just talking", group)
    ann.says("/status", group)
    ann.says("/status@other_bot", group)
    ann.says("/status@sayso_bot", group)
    ann.says("@sayso_bot deploy", group)
    ann.says("yes", group, reply_to=telegram.messages(group)[0])
    heard = ["/status", "/status@sayso_bot", "@sayso_bot deploy", "yes"]
    updates = await polled(probe)
    assert texts(updates) == heard
    telegram.can.reads_all = True
    ann.says("just talking", group)
    assert texts((await polled(probe))[len(heard) :]) == ["just talking"]


async def test_an_anonymous_administrator_is_nobody(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Ops", [ann])
    ann.says("/cancel", group, anonymous=True)
    (update,) = await polled(probe)
    message = update["message"]
    assert isinstance(message, dict)
    assert isinstance(message["from"], dict)
    assert (message["from"]["username"], message["sender_chat"]) == ("GroupAnonymousBot", group.json)


async def test_changes_of_a_chat_are_told(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    small = telegram.group("Small", [ann], small=True)
    forum = telegram.group("Ops", [ann], forum=True)
    ann.blocks_bot()
    telegram.promote_bot(forum)
    telegram.topic(forum, "deploys")
    telegram.migrate(small)
    telegram.kick_bot(forum)
    told = ["my_chat_member", "my_chat_member", "message", "message", "message", "my_chat_member"]
    assert kinds(await polled(probe)) == told


async def test_albums_and_edits_come_as_several_updates(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    first, _ = ann.sends_album([("a.txt", b"a"), ("b.txt", b"b")], caption="both")
    ann.edits(first, "both of them")
    updates = await polled(probe)
    assert kinds(updates) == ["message", "message", "edited_message"]


# ── drafts and messages for one person ───────────────────────────────────────────────────────────────────────────────


async def test_a_draft_is_seen_for_thirty_seconds_and_can_be_stopped(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Ops", [ann])
    assert "400" in await probe.refused("sendMessageDraft", chat_id=group.id, draft_id=5, text="no")
    assert "400" in await probe.refused("sendMessageDraft", chat_id=ann.id, draft_id=0, text="no")
    await probe.result("sendMessageDraft", chat_id=ann.id, draft_id=5, text="Let me", can_stop=True)
    await probe.result("sendMessageDraft", chat_id=ann.id, draft_id=5, text="Let me see", can_stop=True)
    (draft,) = telegram.drafts(ann)
    assert draft.shown == ["Let me", "Let me see"]
    wanted: list[Json] = ["message", "stopped_message_generation"]
    await polled(probe, allowed_updates=wanted)
    ann.stops_draft()
    (update,) = await polled(probe)
    assert update["stopped_message_generation"] == {"chat": ann.chat.json, "draft_id": 5}
    telegram.clock.advance(31)
    assert telegram.drafts(ann) == []


async def test_a_message_for_one_person_needs_a_fresh_tap(telegram: TelegramServer, probe: Probe) -> None:
    ann, bob = telegram.person("Ann"), telegram.person("Bob")
    group = telegram.group("Ops", [ann, bob])
    markup: Object = {"inline_keyboard": [[{"text": "Go", "callback_data": "x"}]]}
    await probe.result("sendMessage", chat_id=group.id, text="?", reply_markup=markup)
    query = ann.presses(telegram.messages(group)[0], "Go")
    only: Object = {"receiver_user_id": ann.id, "callback_query_id": query.id}
    await probe.result("sendMessage", chat_id=group.id, text="psst", ephemeral_message_parameters=only)
    assert telegram.messages(group)[-1].only == ann.id
    telegram.clock.advance(16)
    assert "400" in await probe.refused("sendMessage", chat_id=group.id, text="late", ephemeral_message_parameters=only)


# ── rates ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_pause_holds_for_one_chat_and_calls_within_it_are_noted(telegram: TelegramServer, probe: Probe) -> None:
    ann, bob = telegram.person("Ann"), telegram.person("Bob")
    telegram.fail_next("sendMessage", flood(35), ann)
    answer = await probe.ask("sendMessage", chat_id=ann.id, text="hi")
    assert (answer["error_code"], answer["parameters"]) == (429, {"retry_after": 35})
    assert answer["description"] == "Too Many Requests: retry after 35"
    await probe.result("sendMessage", chat_id=bob.id, text="hi")
    assert telegram.violations == []
    telegram.clock.advance(1)
    assert "429" in await probe.refused("sendChatAction", chat_id=ann.id, action="typing")
    assert len(telegram.violations) == 1
    telegram.clock.advance(35)
    await probe.result("sendMessage", chat_id=ann.id, text="hi")


async def test_the_published_rates_can_be_enforced(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Ops", [ann])
    telegram.limit_rates(Rates(burst=2, penalty=7))
    for _ in range(2):
        await probe.result("sendMessage", chat_id=ann.id, text="hi")
    assert await probe.refused("sendMessage", chat_id=ann.id, text="hi") == "429 Too Many Requests: retry after 7"
    telegram.limit_rates(Rates(burst=100))
    for _ in range(20):
        await probe.result("sendMessage", chat_id=group.id, text="hi")
    assert "429" in await probe.refused("sendMessage", chat_id=group.id, text="hi")
    telegram.clock.advance(61)
    await probe.result("sendMessage", chat_id=group.id, text="hi")


async def test_in_a_topic_everything_replies_to_its_beginning(telegram: TelegramServer, probe: Probe) -> None:
    """A library that takes `reply_to_message` at its word would think that all of it is meant for whoever opened it."""
    ann = telegram.person("Ann")
    forum = telegram.group("Ops", [ann], forum=True)
    topic = telegram.topic(forum, "deploys")
    ann.says("/status", forum, topic=topic)
    update = (await polled(probe))[-1]
    message = update["message"]
    assert isinstance(message, dict)
    assert message["message_thread_id"] == topic.id
    above = message["reply_to_message"]
    assert isinstance(above, dict)
    assert (above["message_id"], "forum_topic_created" in above) == (topic.id, True)
