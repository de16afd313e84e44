"""The one script as Python sees it: its two twins, their digests, and what it answers.

It does not call it (that is for `core.link`) and does not know what a commit means.
"""

from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from core.errors import ServerRefused
from core.wire import Argument, Reply, pack

Word: TypeAlias = Literal["OK", "STALE", "FENCED", "HALTED", "GONE", "EARLY", "LATE"]

_WORDS: dict[bytes, Word] = {
    b"OK": "OK",
    b"STALE": "STALE",
    b"FENCED": "FENCED",
    b"HALTED": "HALTED",
    b"GONE": "GONE",
    b"EARLY": "EARLY",
    b"LATE": "LATE",
}
_OWN = 3  # the place in ARGV that says how the own commit is recognised
_BODY = Path(__file__).with_name("commit.lua").read_text(encoding="utf-8").partition("\n")[2]

TWINS = tuple(f"{first}\n{_BODY}".encode() for first in ("#!lua", "#!lua flags=allow-oom"))
"""The script as a full server refuses it, and as it runs it all the same."""

_DIGESTS = tuple(sha1(twin, usedforsecurity=False).hexdigest().encode() for twin in TWINS)


class Outcome(NamedTuple):
    """What the script answered.

    now_ms: the server's clock. seqs: given to the appends, in order (for a commit that had already taken effect, those
    found; perhaps none). guard: 0-based index of the guard that failed, if one did.
    """

    word: Word
    now_ms: int
    seqs: tuple[int, ...]
    guard: int | None


def packed_call(keys: Sequence[str], argv: Sequence[Argument], *, oom: bool) -> bytes:
    """Return the call of the script's right twin in the form in which it travels."""
    return pack((b"EVALSHA", _DIGESTS[oom], len(keys), *keys, *argv))


def packed_repeat(keys: Sequence[str], argv: Sequence[Argument]) -> bytes:
    """Return the call to send when the first one's outcome is unknown.

    It looks further back for its own id and runs on a full server, too: if the first took effect, that has to be said.
    """
    own = "seek" if argv[_OWN] in ("list", b"list") else argv[_OWN]
    return packed_call(keys, (*argv[:_OWN], own, *argv[_OWN + 1 :]), oom=True)


def outcome(reply: Reply) -> Outcome:
    """Read the script's reply.

    Raises: ServerRefused if it is none.
    """
    match reply:
        case [bytes(word), int(now_ms), list(seqs), *rest]:
            guard = rest[0] if rest and isinstance(rest[0], int) else None
            return Outcome(_WORDS[word], now_ms, tuple(seq for seq in seqs if isinstance(seq, int)), guard)
        case _:
            raise ServerRefused("MALFORMED", f"the script answered {reply!r}")
