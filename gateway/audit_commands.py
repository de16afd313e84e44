"""The command `sayso audit`: who decided what, filtered, as words or as JSON lines; and whether it is whole."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

import typer

from core.audit import Audit, Filter
from core.broker import Broker
from core.deed import Deed
from gateway.running import fail, quiet, with_broker

SPAN = re.compile(r"(\d+)([smhd])")
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def add(app: typer.Typer) -> None:
    """Let `sayso` know it."""
    app.command()(audit)


def audit(
    person: Annotated[str | None, typer.Option(help="Whose decisions: a person's id, as web:owner.")] = None,
    run: Annotated[str | None, typer.Option(help="About which run.")] = None,
    kind: Annotated[str | None, typer.Option(help="Which ones: answer, cancel, role, freeze …")] = None,
    since: Annotated[str | None, typer.Option(help="A span as 30m, 2h, 7d, or a date as 2030-01-31.")] = None,
    limit: Annotated[int, typer.Option(help="How many of the last ones.")] = 200,
    lines: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Look whether every line is as it was written.")] = False,
    head: Annotated[str | None, typer.Option(help="With --verify: a head that it printed earlier.")] = None,
) -> None:
    """Print who decided what, on what, where, when, after how long."""
    if verify:
        _verify(head)
        return
    now = datetime.now(UTC)
    wanted = Filter(person=person, run=run, kind=kind, since_ms=_since(since, now) if since else 0)

    async def read(broker: Broker) -> list[Deed]:
        return await Audit(broker).lines(wanted, limit=limit)

    for deed in with_broker(quiet(), read):
        typer.echo(deed.model_dump_json(exclude_defaults=True) if lines else _words(deed))


def _verify(head: str | None) -> None:
    faulty = False
    for chain in with_broker(quiet(), lambda broker: Audit(broker).verify(head)):
        typer.echo(f"{'BAD ' if chain.faults else 'ok  '} {chain.head}  {chain.lines} lines")
        for fault in chain.faults:
            faulty = True
            typer.echo(f"     {fault}")
    if faulty:
        raise typer.Exit(1)


def _since(text: str, now: datetime) -> int:
    span = SPAN.fullmatch(text.strip())
    if span is not None:
        return int((now.timestamp() - int(span[1]) * UNITS[span[2]]) * 1_000)
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1_000)
    except ValueError:
        fail(f"--since {text!r}: must be a span as 30m, 2h, 7d, or a date as 2030-01-31.")


def _words(deed: Deed) -> str:
    at = datetime.fromtimestamp(deed.at / 1_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    about = [part for part in (deed.request or deed.run or deed.conversation, deed.whom, deed.role) if part]
    what = [part for part in (deed.outcome, ", ".join(deed.picked), deed.tool, deed.reason) if part]
    digest = f"digest {deed.digest[:12]}" if deed.digest else ""
    after = f"after {deed.after_ms / 1_000:.1f} s" if deed.after_ms is not None else ""
    where = f"on {deed.where}" if deed.where else ""
    return "  ".join(part for part in (at, deed.by, deed.kind, *about, *what, digest, where, after) if part)
