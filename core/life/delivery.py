"""Accepted answers whose run did not take them yet: an index, worked out when a draft is closed.

undelivered   the request, since its answer was accepted; taken out by the turn that records it, or with its run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.life.decision import Owe, Settle
from core.model import Run

if TYPE_CHECKING:
    from core.life.draft import Draft


def delivering(d: Draft) -> None:
    """Want the index to say which answers wait after this change."""
    was, is_ = dict[str, None](), dict[str, None]()
    for ref, after in d.puts.items():
        before = d.docs.get(ref) if ref[0] == "run" else None
        was |= dict.fromkeys(before.answered if isinstance(before, Run) else ())
        is_ |= dict.fromkeys(after.answered if isinstance(after, Run) else ())
    d.want(*(Owe("undelivered", id, d.now) for id in is_ if id not in was))
    d.want(*(Settle("undelivered", id) for id in was if id not in is_))
