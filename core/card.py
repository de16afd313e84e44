"""Cards and posts: what a platform shows, as it is remembered, so that any process can edit it later.

A card is one showing of a request, or of a run's status, at one place. `posted` is how far the texts of a conversation
have been brought to its platform. Neither knows how anything looks.
"""

from __future__ import annotations

from typing import Literal

from core.model import Value


class Card(Value):
    """One showing of a request (`of`: its id) or of a run's status (`of`: the run's root) at one place.

    place: the origin where it is shown. messages: the platform's ids of the messages that carry it, newest last; an
    unclear send, or a press on a message nobody remembers, adds one. attempt: of the send that is under way. page,
    asking: how this showing is turned (pages of options, a form's field, "sure?"). turned: rises with each such turn.
    shown: the revision and the turn last shown. whole: all of the question can be read there, None if nobody knows yet.
    instead: the place where it stands, when the platform put it elsewhere. final: what it shows will not change any
    more.
    """

    id: str
    of: str
    kind: Literal["request", "status"]
    conversation: str
    place: str
    state: Literal["sending", "shown", "failed"]
    attempt: int = 1
    messages: tuple[str, ...] = ()
    shown: tuple[int, int] = (-1, 0)
    turned: int = 0
    page: int = 0
    asking: bool = False
    whole: bool | None = None
    instead: str | None = None
    final: bool = False
    reason: str | None = None
    since_ms: int


class Posted(Value):
    """How far the history of a conversation was brought to its platform.

    seq: everything up to this entry is done with. sending: the entry after it that is under way. parts: how many of
    its parts are known to have arrived; part `parts` was announced. unsent: it surely did not arrive. unclear: entries
    whose arrival is unknown; they are not sent again.
    """

    seq: int = 0
    sending: int | None = None
    parts: int = 0
    unsent: bool = False
    unclear: tuple[int, ...] = ()


class Pointer(Value):
    """To what a platform's message belongs: a request or a run, wherever that lives."""

    of: str
    conversation: str
