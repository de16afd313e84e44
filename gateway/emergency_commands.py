"""The commands of `sayso` for emergencies: freeze, thaw, stop. They carry out what an owner demands of everything."""

from __future__ import annotations

from typing import Annotated

import typer

from adapters.emergency import frozen_now, stopped_now
from core.accounts import OWNER
from core.emergency import Emergency
from core.leaks import Leaks
from core.life.decision import Refusal
from gateway.running import fail, quiet, refuse, with_broker

THAWED = "Thawed: what is queued starts. What the freeze paused waits for a resume; `sayso pending` lists it."


def add(app: typer.Typer) -> None:
    """Let `sayso` know these commands."""
    for command in (freeze, thaw, stop, settle):
        app.command()(command)


def freeze(reason: Annotated[str, typer.Option(help="Why; everybody reads it.")] = "") -> None:
    """Let no turn start and nothing that acts begin, and pause what works, until `sayso thaw`."""
    result = with_broker(quiet(), lambda broker: Emergency(broker).freeze(OWNER, reason, via="cli"))
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo(frozen_now(result).replace("/thaw", "`sayso thaw`"))


def thaw() -> None:
    """Let things begin again; what was paused waits for a resume."""
    result = with_broker(quiet(), lambda broker: Emergency(broker).thaw(OWNER, via="cli"))
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo("Nothing was frozen." if result.note == "already" else THAWED)


def stop(everything: Annotated[bool, typer.Option("--all", help="Every run of everybody.")] = False) -> None:
    """Cancel every unsettled run of everybody; `sayso cancel RUN` ends one."""
    if not everything:
        fail("This cancels every run of everybody: say --all if you mean that, or `sayso cancel RUN` for one.")
    result = with_broker(quiet(), lambda broker: Emergency(broker).stop_all(OWNER, via="cli"))
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo(stopped_now(result))


def settle(
    run: str,
    gone: Annotated[bool, typer.Option("--gone", help="Its work has ended: you say so, nobody saw it.")] = False,
) -> None:
    """Accept a run as stopped whose end nobody can see any more; it stands on record that you did."""
    if not gone:
        fail("Look whether it still works (`sayso doctor` says where it was), then say --gone: it has ended.")
    result = with_broker(quiet(), lambda broker: Leaks(broker).vouch(run.strip().casefold(), OWNER, via="cli"))
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo(f"{result.run}  {result.state}  accepted as stopped")
