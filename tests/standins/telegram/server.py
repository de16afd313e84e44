"""A Telegram of our own on loopback: the Bot API over HTTP, people who use it, and everything that can go wrong.

The server runs in a thread with its own event loop; a test calls these methods from its own. README.md shows how.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Self

import uvicorn

from tests.standins.telegram import places
from tests.standins.telegram.app import App
from tests.standins.telegram.clock import Clock
from tests.standins.telegram.delivery import Delivery
from tests.standins.telegram.faults import Fault, cut, silence
from tests.standins.telegram.limits import ALL, Limiter, Rates
from tests.standins.telegram.people import Person
from tests.standins.telegram.polling import Polling
from tests.standins.telegram.state import Abilities, Call, State
from tests.standins.telegram.transport import Breakable
from tests.standins.telegram.updates import Update, Updates, Webhook
from tests.standins.telegram.wire import Object
from tests.standins.telegram.world import Chat, Draft, Member, Message, Query, Topic, User

TOKEN = "4242:AAG0standin-token-of-forty-characters-x"
FOREVER = 1_000_000_000


class TelegramServer:
    """One Telegram with one bot."""

    def __init__(self, *, token: str = TOKEN, username: str = "sayso_bot", frozen: bool = False) -> None:
        self.token = token
        self.clock = Clock(frozen=frozen)
        bot = User(int(token.partition(":")[0]), "Sayso", username, is_bot=True)
        updates = Updates(self._changed)
        self.state = State(token, bot, self.clock, Limiter(self.clock), updates)
        self.state.users[bot.id] = bot
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._closing = asyncio.Event()
        self._polling = Polling(self.state)
        self._delivery = Delivery(self.state)

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._main, name="telegram", daemon=True)
        self._thread.start()
        assert self._ready.wait(20), "the stand-in for Telegram did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.heal()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(20)
        assert not self._thread.is_alive(), "the stand-in for Telegram did not stop"

    def _main(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        app = App(self.state, self._polling, self._closing)
        config = uvicorn.Config(
            app.asgi,
            interface="asgi3",
            http=Breakable,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        server = uvicorn.Server(config)
        delivery = asyncio.ensure_future(self._delivery.run())
        serving = asyncio.ensure_future(server.serve([self._socket]))
        self._ready.set()
        await self._closing.wait()
        delivery.cancel()
        server.should_exit = True
        server.force_exit = True
        await asyncio.gather(delivery, serving, return_exceptions=True)

    def _changed(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        with self.state.lock:
            self._polling.wake()
        self._delivery.news.set()

    # ── where it is ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What the library puts the token behind."""
        return f"{self.url}/bot"

    @property
    def base_file_url(self) -> str:
        """The same for files."""
        return f"{self.url}/file/bot"

    @property
    def bot(self) -> User:
        """The bot as a user."""
        return self.state.bot

    @property
    def can(self) -> Abilities:
        """What bot and server can do; a test may change it."""
        return self.state.can

    # ── people and places ────────────────────────────────────────────────────────────────────────────────────────────

    def person(self, name: str, id: int | None = None, *, username: str | None = None, started: bool = True) -> Person:
        """Somebody with a Telegram account. started: they pressed Start long ago, so the bot may write to them."""
        with self.state.lock:
            user = User(id or 7_000_000 + next(self.state.numbers), name, username)
            self.state.users[user.id] = user
            return Person(self.state, user, started=started)

    def group(self, title: str, members: list[Person], *, forum: bool = False, small: bool = False) -> Chat:
        """A group with the bot in it; the first member owns it. small: a basic group that is not a supergroup yet."""
        with self.state.lock:
            number = next(self.state.numbers)
            made = (
                Chat(-4_000 - number, "group", title)
                if small
                else Chat(-1_000_000_000_000 - number, "supergroup", title)
            )
            made.forum = forum
            for place, one in enumerate(members):
                made.members[one.id] = Member(one.user, "creator" if place == 0 else "member")
            made.members[self.bot.id] = Member(self.bot, "member")
            return self.state.chat(made)

    def topic(self, chat: Chat, name: str, by: Person | None = None) -> Topic:
        """Open a forum topic, the first member's doing unless said otherwise."""
        with self.state.lock:
            owner = next(iter(chat.members.values())).user if chat.members else chat.person
            assert owner is not None
            return places.open_topic(self.state, chat, name, by.user if by is not None else owner)

    def close_topic(self, chat: Chat, topic: Topic) -> None:
        """Close a topic: only administrators write there."""
        with self.state.lock:
            topic.closed = True
            places.tell(self.state, chat, self._owner(chat), {"forum_topic_closed": {}}, topic)

    def delete_topic(self, chat: Chat, topic: Topic) -> None:
        """Delete a topic with everything in it; bots are not told."""
        with self.state.lock:
            for message in chat.in_topic(topic):
                message.deleted = True
            topic.deleted = True

    def promote_bot(self, chat: Chat, *, can_delete: bool = True, can_manage_topics: bool = True) -> None:
        """Make the bot an administrator."""
        with self.state.lock:
            me = chat.members[self.bot.id]
            me.can_delete, me.can_manage_topics = can_delete, can_manage_topics
            places.set_my_status(self.state, chat, "administrator", self._owner(chat))

    def kick_bot(self, chat: Chat) -> None:
        """Throw the bot out."""
        with self.state.lock:
            places.set_my_status(self.state, chat, "kicked", self._owner(chat))

    def add_bot(self, chat: Chat) -> None:
        """Let the bot in again."""
        with self.state.lock:
            places.set_my_status(self.state, chat, "member", self._owner(chat))

    def mute(self, chat: Chat, *, muted: bool = True) -> None:
        """Let only administrators write in a group."""
        with self.state.lock:
            chat.muted = muted

    def migrate(self, chat: Chat) -> Chat:
        """Upgrade a small group; the new chat has another id and its own message ids."""
        with self.state.lock:
            return places.migrate(self.state, chat, self._owner(chat))

    def delete_chat(self, chat: Chat) -> None:
        """Delete a group."""
        with self.state.lock:
            chat.deleted = True

    def _owner(self, chat: Chat) -> User:
        return next(iter(chat.members.values())).user

    # ── what is seen ─────────────────────────────────────────────────────────────────────────────────────────────────

    def messages(self, chat: Chat | Person, *, from_bot: bool = True, topic: Topic | None = None) -> list[Message]:
        """The messages of a chat as they are now, oldest first; those of the bot, or everybody's."""
        with self.state.lock:
            place = chat.chat if isinstance(chat, Person) else chat
            found = place.messages if topic is None else place.in_topic(topic)
            return [one for one in found if one.sender is self.bot or not from_bot]

    def drafts(self, person: Person) -> list[Draft]:
        """The drafts that a person sees."""
        with self.state.lock:
            live = self.clock.now() - self.can.draft_life
            return [one for one in self.state.drafts.values() if one.chat is person.chat and one.at >= live]

    def calls(self, method: str | None = None, chat: Chat | None = None) -> list[Call]:
        """Every request, or those of one method or one chat, in order."""
        with self.state.lock:
            id = chat.id if chat is not None else None
            return [one for one in self.state.calls if method in (None, one.method) and id in (None, one.chat)]

    @property
    def queries(self) -> list[Query]:
        """Every press, in order."""
        return list(self.state.queries.values())

    @property
    def violations(self) -> list[str]:
        """What no good client does; a test ends with none."""
        return self.state.violations

    @property
    def pending(self) -> list[Update]:
        """Updates that the bot has not confirmed."""
        with self.state.lock:
            return list(self.state.updates.waiting)

    @property
    def polling(self) -> bool:
        """Whether somebody waits in a long poll."""
        return self.state.updates.poll is not None

    @property
    def webhook(self) -> Webhook | None:
        """The webhook that is set."""
        return self.state.updates.webhook

    # ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────

    def fail_next(self, method: str, fault: Fault, chat: Chat | Person | None = None, *, times: int = 1) -> Fault:
        """Let the next calls of a method (`*`: any but getUpdates; `all`: any) go wrong, perhaps of one chat only."""
        with self.state.lock:
            fault.method, fault.left = method, times
            fault.chat = (chat.chat.id if isinstance(chat, Person) else chat.id) if chat is not None else None
            self.state.faults.append(fault)
            return fault

    def wedge_polls(self) -> Fault:
        """Leave every poll without an answer from now on, those that wait included, while all else works."""
        fault = self.fail_next("getUpdates", silence(accepted=False), times=FOREVER)
        with self.state.lock:
            self.state.updates.poll = None
        return fault

    def black_hole(self) -> Fault:
        """Answer nothing at all from now on."""
        return self.fail_next("all", silence(accepted=False), times=FOREVER)

    def unreachable(self) -> Fault:
        """Reset every connection from now on."""
        return self.fail_next("all", cut(), times=FOREVER)

    def heal(self) -> None:
        """Let everything work again; held calls go on."""
        with self.state.lock:
            for fault in self.state.faults:
                fault.left = 0
                fault.release()
            self.state.faults.clear()

    def flood(self, chat: Chat | Person | None, seconds: float) -> None:
        """Let every call to a chat (None: of the bot) be refused with 429 for so long."""
        with self.state.lock:
            id = ALL if chat is None else chat.chat.id if isinstance(chat, Person) else chat.id
            self.state.limiter.pause(id, seconds)

    def limit_rates(self, rates: Rates | None = None) -> None:
        """Enforce the published limits from now on."""
        self.state.limiter.rates = rates or Rates()

    # ── updates by hand ──────────────────────────────────────────────────────────────────────────────────────────────

    def update(self, kind: str, body: Object, lane: int = 0) -> Update:
        """Queue an update of any kind and shape, an unknown or a poisonous one too."""
        with self.state.lock:
            return self.state.updates.raw(kind, body, lane)

    def poison(self, chat: Chat | Person) -> Update:
        """Queue a message that no library parses: its sender and its date are missing."""
        place = chat.chat if isinstance(chat, Person) else chat
        return self.update("message", {"message_id": "x", "chat": place.json}, place.id)

    def repeat(self, update: Update) -> None:
        """Let an update come again, under the same id, although it was confirmed."""
        with self.state.lock:
            if update not in self.state.updates.waiting:
                self.state.updates.put(update)

    @property
    def updates(self) -> list[Update]:
        """Every update there ever was."""
        return self.state.updates.log

    def retry_webhook(self) -> None:
        """Cut the pause before the next try short."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._delivery.again.set)


@contextmanager
def telegram_server(
    *, token: str = TOKEN, username: str = "sayso_bot", frozen: bool = False
) -> Generator[TelegramServer]:
    """A server that runs; at the end nothing may have been wrong with what it was asked."""
    with TelegramServer(token=token, username=username, frozen=frozen) as server:
        yield server
    assert not server.violations, server.violations
