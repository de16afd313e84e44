"""Who may come in: login links, browser sessions, API tokens, proofs of presence. It knows no header and no route.

Of a link, a session or a token only the SHA-256 is kept, so that what stands in Redis lets nobody in. A session lives
as long as its second mark (`….live`) does, which use renews; signing out removes the session itself, so that a renewal
under way cannot bring it back. What was looked up is believed for `TRUST` seconds: a revocation works within 5 s.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from pydantic import ValidationError

from core.deed import Deed
from core.model import Person, Value
from core.shelf import Shelf

V = TypeVar("V", bound=Value)
Scope = Literal["read", "send", "answer", "run", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "send", "answer", "run", "admin")
OWNER = Person(id="web:owner", name="owner", role="owner")
PREFIX = "sayso_"
TRUST = 2.0
OLDEST = 365 * 86_400.0
"""seconds after which a session ends whatever its use"""
CODE = 300.0
"""seconds that a one-time code counts"""
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_RENEW = 3_600.0
_MOST_KNOWN = 4_096


class Known(Value):
    """Somebody who was let in. by: how; credential: the SHA-256 of what they showed, to look again later."""

    person: Person
    scopes: tuple[Scope, ...]
    by: Literal["session", "token"]
    credential: str


class Login(Value):
    """A link that lets a person in, once. used: it did already."""

    person: Person
    until_ms: int
    used: bool = False


class Session(Value):
    """A browser that is signed in."""

    person: Person
    created_ms: int


class Token(Value):
    """What an API token may do, and for whom. id: names it for people, cannot be used to come in."""

    id: str
    name: str
    person: Person
    scopes: tuple[Scope, ...]
    created_ms: int


Refused = Literal["unknown", "used", "expired"]


class Accounts:
    """Lets people and programs in, and out again.

    login_link, login: seconds. current: tells who a person is now, None for nobody; without it, who they were.
    """

    def __init__(
        self,
        shelf: Shelf,
        *,
        login_link: float,
        login: float,
        current: Callable[[str], Awaitable[Person | None]] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._shelf = shelf
        self._current = current
        self._login_link = login_link
        self._login = login
        self._now = now
        self._known: dict[str, tuple[float, Known | None]] = {}
        self._renewed: dict[str, float] = {}

    # links

    async def link(self, person: Person = OWNER) -> str:
        """Make a code that lets a person in once, for `login_link` seconds."""
        code = secrets.token_urlsafe(24)
        login = Login(person=person, until_ms=self._ms(self._login_link))
        await self._shelf.keep("login", _mark(code), login.model_dump_json(), 2 * self._login_link + 3_600)
        return code

    async def redeem(self, code: str) -> tuple[str, Known] | Refused:
        """Trade a code for a session's secret; of two that bring the same code one gets it."""
        mark = _mark(code)
        text = await self._shelf.take("login", mark)
        if text is None:
            return "unknown"
        login = Login.model_validate_json(text)
        used = login.model_copy(update={"used": True})
        await self._shelf.keep("login", mark, used.model_dump_json(), self._login_link + 3_600)
        if login.used:
            return "used"
        if self._ms() > login.until_ms:
            return "expired"
        person = await self._current(login.person.id) if self._current is not None else login.person
        return "unknown" if person is None else await self.sign_in(person)

    async def sign_in(self, person: Person) -> tuple[str, Known]:
        """Make a session; returns its secret, which is kept nowhere else."""
        secret = secrets.token_urlsafe(32)
        mark = _mark(secret)
        session = Session(person=person, created_ms=self._ms())
        await self._shelf.keep("session", f"{mark}.live", "1", self._login)
        await self._shelf.keep("session", mark, session.model_dump_json(), OLDEST)
        self._renewed[mark] = self._now()
        return secret, Known(person=person, scopes=SCOPES, by="session", credential=mark)

    async def sign_out(self, known: Known) -> None:
        """End one session; a second call changes nothing."""
        self._known.pop(known.credential, None)
        await self._shelf.drop("session", known.credential)
        await self._shelf.drop("session", f"{known.credential}.live")

    async def sign_out_everywhere(self, person: Person) -> int:
        """End every session of a person; returns how many there were. API tokens stay."""
        ended = 0
        for mark, text in await self._shelf.listing("session"):
            if not mark.endswith(".live") and Session.model_validate_json(text).person.id == person.id:
                await self.sign_out(Known(person=person, scopes=(), by="session", credential=mark))
                ended += 1
        return ended

    # tokens

    async def token(self, person: Person, scopes: tuple[Scope, ...], name: str) -> tuple[str, Token]:
        """Make an API token; its text is kept nowhere."""
        text = PREFIX + secrets.token_urlsafe(32)
        mark = _mark(text)
        token = Token(id=mark[:12], name=name, person=person, scopes=scopes, created_ms=self._ms())
        deed = Deed(kind="token", at=self._ms(), by=person.id, whom=person.id, scopes=scopes, reason=token.id)
        await self._shelf.keep("token", mark, token.model_dump_json(), None, deed=deed)
        return text, token

    async def tokens(self, person: Person) -> list[Token]:
        """List a person's tokens, oldest first."""
        found = [Token.model_validate_json(text) for _, text in await self._shelf.listing("token")]
        return sorted((one for one in found if one.person.id == person.id), key=lambda one: one.created_ms)

    async def revoke(self, person: Person, id: str) -> bool:
        """Take a person's token back; False when they have none with that id."""
        for mark, text in await self._shelf.listing("token"):
            token = Token.model_validate_json(text)
            if token.id == id and token.person.id == person.id:
                deed = Deed(kind="revoke", at=self._ms(), by=person.id, whom=person.id, reason=token.id)
                await self._shelf.drop("token", mark, deed=deed)
                self._known.pop(mark, None)
                return True
        return False

    # proofs

    async def code(self, person: Person = OWNER) -> str:
        """Make a one-time code: whoever can have it made is there, as restricted requests ask besides."""
        letters = "".join(secrets.choice(_LETTERS) for _ in range(8))
        await self._shelf.keep("login", _proof(person, letters), "proof", CODE)
        return f"{letters[:4]}-{letters[4:]}"

    async def prove(self, person: Person, code: str) -> bool:
        """Use up a person's code; of two that bring it one has proved to be there."""
        return await self._shelf.take("login", _proof(person, code)) is not None

    async def give_back(self, person: Person, code: str) -> None:
        """Make a code count again that was used for nothing."""
        await self._shelf.keep("login", _proof(person, code), "proof", CODE)

    # looking

    async def session(self, secret: str) -> Known | None:
        """Tell whose session a secret opens."""
        return await self.look("session", _mark(secret))

    async def bearer(self, text: str) -> Known | None:
        """Tell whom a token stands for."""
        return await self.look("token", _mark(text)) if text.startswith(PREFIX) else None

    async def look(self, by: Literal["session", "token"], mark: str) -> Known | None:
        """Tell whether a credential still counts; what was seen within `TRUST` seconds is believed."""
        seen = self._known.get(mark)
        if seen is not None and self._now() - seen[0] < TRUST:
            return seen[1]
        at = self._now()
        known = await (self._look_session(mark) if by == "session" else self._look_token(mark))
        if known is not None and self._current is not None:
            person = await self._current(known.person.id)
            known = known.changed(person=person) if person is not None else None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[mark] = (at, known)
        return known

    async def _look_session(self, mark: str) -> Known | None:
        text, live = await self._shelf.fetch("session", mark), await self._shelf.fetch("session", f"{mark}.live")
        session = _read(Session, text) if live is not None else None
        if session is None:
            return None
        if self._now() - self._renewed.get(mark, 0.0) > min(_RENEW, self._login / 4):
            if len(self._renewed) >= _MOST_KNOWN:
                self._renewed.clear()
            self._renewed[mark] = self._now()
            await self._shelf.keep("session", f"{mark}.live", "1", self._login)
        return Known(person=session.person, scopes=SCOPES, by="session", credential=mark)

    async def _look_token(self, mark: str) -> Known | None:
        token = _read(Token, await self._shelf.fetch("token", mark))
        if token is None:
            return None
        return Known(person=token.person, scopes=token.scopes, by="token", credential=mark)

    def _ms(self, ahead: float = 0.0) -> int:
        return int((self._now() + ahead) * 1_000)


def _read(kind: type[V], text: str | None) -> V | None:
    try:
        return kind.model_validate_json(text) if text is not None else None
    except ValidationError:
        return None


def _proof(person: Person, code: str) -> str:
    letters = "".join(letter for letter in code.casefold() if letter in _LETTERS)
    return "proof-" + _mark(f"{person.id}|{letters}")


def _mark(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
