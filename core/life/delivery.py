"""Accepted answers whose run did not take them yet: an index, worked out when a draft is closed.

undelivered   the request, since its answer was accepted; taken out by the turn that records it, or with its run

It may wait long for a good reason: another question of its run is open, another run of its conversation works, its run
is paused or being stopped. Without such a reason it is late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.life.decision import Owe, Settle
from core.model import Conversation, Run

if TYPE_CHECKING:
    from core.life.draft import Draft


def delivering(d: Draft) -> None:
    """Want the index to say which answers wait after this change."""
    was, is_ = list[str](), list[str]()
    for ref, after in d.puts.items():
        if ref[0] == "run":
            before = d.docs.get(ref)
            was += before.answered if isinstance(before, Run) else ()
            is_ += after.answered if isinstance(after, Run) else ()
    if was != is_:
        d.want(*(Owe("undelivered", id, d.now) for id in is_ if id not in was))
        d.want(*(Settle("undelivered", id) for id in was if id not in is_))


def could_be_taken(run: Run, conversation: Conversation) -> bool:
    """Tell whether nothing but the lack of somebody who works keeps a run from taking its answers."""
    if run.state not in ("queued", "waiting", "working") or set(run.requests) - set(run.answered):
        return False
    return conversation.live == run.id or (conversation.live is None and conversation.queue[:1] in ((), (run.id,)))
