"""The seam between the kit and a platform: what a platform can show, what it declares, what became of a send.

A platform folder brings one class with the shape of `Platform`; everything else (rules, order, repeats, repair) is in
`relay`, `desk` and `core/life`. This file must not know any platform. `docs/adding-a-platform.md` walks through it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from core.listening import Accepts
from core.model import State, Value

if TYPE_CHECKING:
    from adapters.desk import Desk

# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


class Button(Value):
    """One button: it carries a payload (passed on unread) or opens an address, never both."""

    label: str
    payload: str | None = None
    url: str | None = None
    style: Literal["plain", "yes", "no", "danger"] = "plain"


class Block(Value):
    """A piece of a card. `title`, `text`, `state` and `small` are plain text; `code` is shown exactly and whole.

    `markdown` is what an agent wrote; a platform may format it. `quote` is a stranger's text, shown as text.
    """

    kind: Literal["title", "text", "markdown", "code", "quote", "state", "small"]
    text: str


class Prompt(Value):
    """An invitation to reply to this message with a text. person: whose reply is wanted, in a group."""

    placeholder: str = ""
    person: str | None = None


class Choice(Value):
    """One line of a menu, or of a question in a form. value: what a pick of it sends. picked: it is picked already."""

    label: str
    value: str
    description: str = ""
    picked: bool = False


class Menu(Value):
    """A list to pick from. Without a payload the value that was picked is pressed; with one, all are sent under it."""

    choices: tuple[Choice, ...]
    payload: str | None = None
    placeholder: str = ""
    least: int = 1
    most: int = 1


class Ask(Value):
    """One question of a form. kind: a `line`, a longer `text`, `one` or `many` of the choices, a `file` or several.

    least, most: how many picks, files or characters. value: what stands there already. types: endings of names of the
    files that are wanted (`.csv`), where those say all; none for any.
    """

    id: str
    label: str
    kind: Literal["line", "text", "one", "many", "file"]
    choices: tuple[Choice, ...] = ()
    description: str = ""
    placeholder: str = ""
    required: bool = True
    least: int = 0
    most: int = 0
    value: str = ""
    types: tuple[str, ...] = ()


class Form(Value):
    """Questions that are filled in together, away from the chat. payload: what its answers are sent under."""

    payload: str
    title: str
    asks: tuple[Ask, ...]


Tone = Literal["plain", "ask", "work", "yes", "no", "halt", "over"]
"""How a message looks at first sight: a question, something at work, a yes, a no, something paused, something past."""


class View(Value):
    """What a message shows: pieces from top to bottom, menus, rows of buttons, a prompt.

    of: the id of the request or run, for the platform's own bookkeeping. plain: send it without any formatting, because
    the platform refused the formatted one. only: whom alone it is shown to, where the platform can. asks: the account
    of who is asked, in a group; the only one who may be called by it.
    """

    blocks: tuple[Block, ...] = ()
    menus: tuple[Menu, ...] = ()
    rows: tuple[tuple[Button, ...], ...] = ()
    tone: Tone = "plain"
    prompt: Prompt | None = None
    of: str = ""
    plain: bool = False
    only: str | None = None
    asks: str | None = None

    @property
    def text(self) -> str:
        """All pieces as one plain text; what a platform without formatting sends."""
        return "\n\n".join(block.text for block in self.blocks if block.text)

    @property
    def buttons(self) -> tuple[Button, ...]:
        """All buttons, from the first row to the last."""
        return tuple(button for row in self.rows for button in row)


# ── what became of a send ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Sent:
    """The platform has it. message: the platform's id, or what was edited.

    instead: the place, and its own id of the message there, when it stands at another place than it was sent to.
    """

    message: str
    instead: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """Nobody knows whether the platform has it: the connection broke after the request was on its way."""

    reason: str = "no answer"


@dataclass(frozen=True, slots=True)
class Refused:
    """The platform surely does not have it.

    kind: `later` wait `retry_after` seconds (None: the relay's own growing pauses; wide: all chats of the bot) ·
    `markup` the formatting was refused, the same text plain may pass · `same` it shows exactly this already · `gone`
    the message is not there · `final` it will never pass (blocked, removed, forbidden, too long).
    """

    kind: Literal["later", "markup", "same", "gone", "final"]
    reason: str
    retry_after: float | None = None
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Migrated:
    """The chat has a new id; send there."""

    place: str


Outcome: TypeAlias = Sent | Unclear | Refused | Migrated

# ── how it is with the platform ──────────────────────────────────────────────────────────────────────────────────────


class NotLetIn(Exception):
    """The platform does not let us in; the text is one sentence: what is wrong, and what to do. Raised by `connect`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `Platform.check` found, in one sentence; with what to do when it is not ok."""

    ok: bool
    words: str


@dataclass(frozen=True, slots=True)
class Hook:
    """How updates come in when the platform calls us (a webhook) instead of being asked.

    path: of the route, `/telegram`; there is no secret in it. genuine: tells from the headers, with names in lower
    case, whether the platform sent it. take: brings one update, as it was sent, to the desk; it is called in the order
    of arrival, several at a time, and again with what it raised an error for.
    """

    path: str
    genuine: Callable[[Mapping[str, str]], bool]
    take: Callable[[bytes], Awaitable[None]]


# ── what a platform is ───────────────────────────────────────────────────────────────────────────────────────────────


class Limits(Value):
    """What a platform allows; checked where payloads are encoded, so that nothing is refused for its size.

    text_max: of one message, as `Platform.measure` counts. payload_max: bytes of UTF-8. label_max: characters.
    row_buttons, card_buttons: how many. file_max: bytes of an upload, 0 for none. notice_max: characters of an answer
    to a press. edit_gap: seconds between two streaming edits of a message. draft_gap: the same for drafts, which a
    private chat shows while a text is written; None where there are none. typing_every: seconds, 0 for none. repeats:
    it recognises a send that is repeated under the same nonce. whispers: it can show something to one person of a
    group. takes_secrets: what a person writes in a one-to-one chat can be deleted for both sides at once. menu_max:
    choices of a menu, 0 for no menus. form_max: questions of a form, 0 for no forms. form_files: a form can ask for
    files. take_max: bytes of a file that a person sends, 0 where none can be fetched. accept: kinds of fields that can
    be answered there, none named: all; a question of another kind is not shown there. send_timeout: seconds after which
    a call counts as unclear.
    """

    text_max: int
    payload_max: int = 64
    label_max: int = 40
    row_buttons: int = 5
    card_buttons: int = 25
    can_edit: bool = True
    can_delete: bool = True
    links: bool = True
    file_max: int = 0
    notice_max: int = 200
    edit_gap: float = 3.0
    draft_gap: float | None = None
    typing_every: float = 4.0
    repeats: bool = False
    whispers: bool = False
    takes_secrets: bool = False
    menu_max: int = 0
    form_max: int = 0
    form_files: bool = False
    take_max: int = 0
    accept: tuple[Accepts, ...] = ()
    send_timeout: float = 30.0


@runtime_checkable
class Platform(Protocol):
    """One front end's connection. Verbs return an `Outcome` for whatever the platform says and raise only for bugs.

    prefix: of its origins, `tg` of `tg-42.7`. name: as people call it.
    """

    prefix: str
    name: str
    limits: Limits

    def connect(self, desk: Desk) -> AbstractAsyncContextManager[None]:
        """Receive events while the context lasts and bring each to the desk; confirm it to the platform afterwards.

        Raises: `NotLetIn`; it is tried again, after growing pauses.
        """
        ...

    def hook(self) -> Hook | None:
        """Tell how updates come in over our web server; None where the platform is asked for them."""
        ...

    def alive(self) -> bool:
        """Tell whether the transport made progress lately; a deaf front end stops being a listener."""
        ...

    def trouble(self) -> str | None:
        """Tell what is wrong while we are connected, in one sentence with what to do; None when all is well."""
        ...

    async def check(self) -> tuple[Finding, ...]:
        """Look at token, rights and settings for `sayso doctor`, without being connected and without changing a thing.

        What a person needs to go on is a finding too: the bot's name, its invite link.
        """
        ...

    def measure(self, view: View) -> int:
        """Count a view's text in the platform's own units, after its own formatting."""
        ...

    def chat(self, place: str) -> str:
        """Tell to which chat a place belongs: order and rate limits are per chat, and a topic is in one."""
        ...

    def is_private(self, place: str) -> bool:
        """Tell whether a place is a one-to-one chat."""
        ...

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        """Send a message. nonce: the same for a repeat of the same send."""
        ...

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        """Make a message show a view; buttons that it does not name go away."""
        ...

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        """Show what is being written in a private chat, for a moment; the next one replaces it. of: the run's root.

        Only called with a `draft_gap`; a refusal that is final lets the chat see streaming edits instead.
        """
        ...

    async def remove(self, place: str, message: str) -> Outcome:
        """Delete a message, ours or a person's."""
        ...

    async def typing(self, place: str) -> None:
        """Show that something is being written; nobody minds when that fails."""
        ...

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str, asks: str | None = None) -> Outcome:
        """Send a file. asks: the account of whom it is for, in a group; it may be brought to them, as in a view."""
        ...


@runtime_checkable
class Marks(Protocol):
    """What a platform has besides where a place grows out of another one, as a thread does out of a channel."""

    async def mark(self, place: str, state: State) -> Outcome:
        """Mark how the task of a place ended, there where the place began; the same again changes nothing."""
        ...
