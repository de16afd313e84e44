"""What can go wrong on the way: refusals, silence, cut connections, answers of a proxy, answers held back.

`accepted` says whether the server did what was asked before it went wrong: that is what a client cannot know.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Literal

from tests.standins.telegram.wire import Fields, Refusal, too_many

How = Literal["answer", "silence", "cut", "half", "bad gateway", "rubbish"]
"""`answer`: as usual; `silence`: never; `cut`: the connection ends without a byte; `half`: in the middle of the answer;
`bad gateway`: a 502 page; `rubbish`: a 200 that is not JSON."""


@dataclass(eq=False)
class Fault:
    """One thing that goes wrong, so often. method: `*` is every one but getUpdates, `all` is every one."""

    how: How = "answer"
    refusal: Refusal | None = None
    accepted: bool = False
    held: bool = False
    method: str = "*"
    chat: int | None = None
    left: int = 1
    reached: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def meets(self, method: str, call: Fields) -> bool:
        """Whether it is meant for this call."""
        ours = self.method in ("all", method) or (self.method == "*" and method != "getUpdates")
        return self.left > 0 and ours and (self.chat is None or call.number("chat_id") == self.chat)

    def release(self) -> None:
        """Let a held call go on."""
        self.released.set()


def refusing(refusal: Refusal, *, accepted: bool = False) -> Fault:
    """An error of the Bot API."""
    return Fault(refusal=refusal, accepted=accepted)


def flood(seconds: int) -> Fault:
    """429 with `retry_after`; the chat of the call is paused for so long."""
    return Fault(refusal=too_many(seconds))


def server_error(*, accepted: bool = False) -> Fault:
    """500 in the words of the Bot API."""
    return Fault(refusal=Refusal(500, "Internal Server Error"), accepted=accepted)


def bad_gateway(*, accepted: bool = False) -> Fault:
    """A 502 with a page of HTML, before or after the server took the call."""
    return Fault("bad gateway", accepted=accepted)


def silence(*, accepted: bool = True) -> Fault:
    """The connection stays open and no answer ever comes."""
    return Fault("silence", accepted=accepted)


def cut(*, accepted: bool = False) -> Fault:
    """The connection is reset instead of an answer."""
    return Fault("cut", accepted=accepted)


def half(*, accepted: bool = True) -> Fault:
    """The connection ends in the middle of the answer."""
    return Fault("half", accepted=accepted)


def rubbish(*, accepted: bool = False) -> Fault:
    """200 with something that is not JSON, as captive portals do."""
    return Fault("rubbish", accepted=accepted)


def slow(*, accepted: bool = True) -> Fault:
    """The usual answer, but not before `release()`. accepted: done at once, or when released."""
    return Fault(held=True, accepted=accepted)
