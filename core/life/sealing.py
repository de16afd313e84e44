"""Sealed values of a run: stored in the commit that answers, gone with the step that used them or with their run.

    given ──▶ sealed under a handle, listed in the run ──▶ dropped: the step is done · replaced · the run is over

The rules see handles and sealed texts, never a value. These are pieces of `request.py`, `closing.py` and `place.py`.
Source: DESIGN section 6 (Secrets), C126.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.life.decision import Seal, Wipe
from core.life.draft import Draft
from core.model import Json, Run


def seal(d: Draft, run: Run, sealed: Mapping[str, str]) -> Run:
    """Store sealed values with the run that will use them."""
    if not sealed:
        return run
    d.want(*(Seal(handle, text) for handle, text in sealed.items()))
    return d.save_run(run, secrets=(*run.secrets, *sealed))


def drop(d: Draft, run: Run, handles: Iterable[str]) -> Run:
    """Drop sealed values of a run."""
    gone = set(handles) & set(run.secrets)
    if not gone:
        return run
    d.want(*(Wipe("secret", handle) for handle in sorted(gone)))
    return d.save_run(run, secrets=tuple(handle for handle in run.secrets if handle not in gone))


def handle_of(value: Json) -> str | None:
    """The handle in a secret field's value; None for anything else."""
    match value:
        case {"secret": str(handle)} if len(value) == 1:
            return handle
        case _:
            return None
