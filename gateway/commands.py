"""The commands of `sayso`: each parses words, calls the wiring, and prints; none knows a rule.

What goes wrong before the work begins is one line on standard error (what, where, what to do) and exit status 2; what a
rule refuses is its words and exit status 1.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from core.accounts import OWNER, SCOPES, Scope
from core.broker import Broker
from core.life.decision import Refusal
from core.life.event import Reply
from core.life.handing import OR_CANCEL
from core.life.words import text_answer
from core.model import Json, Person
from core.question import Accepted, Declined, Request
from gateway import audit_commands, emergency_commands, file_arguments, logging, people_commands, wiring
from gateway.file_arguments import Stored
from gateway.front_ends import SHIPPED, FrontEnd
from gateway.running import NAME, fail, quiet, read_settings, refuse, run_to_end, show_link, where, with_broker
from gateway.served import Served
from gateway.settings import Settings
from gateway.signals import on_signals

app = typer.Typer(
    name=NAME,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
people_commands.add(app)
emergency_commands.add(app)
audit_commands.add(app)
VIA = "cli"


@app.callback()
def about() -> None:
    """Your agents act on your say-so, wherever you are."""


# ── roles ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def up(
    open: Annotated[bool | None, typer.Option("--open/--no-open", help="Open a browser, or never do.")] = None,
) -> None:
    """Run everything: page, agent, and a private Redis when none is given."""
    from gateway.up import up as run_everything  # the web framework is loaded by the roles that need it

    settings = read_settings()
    logging.set_up(settings)
    run_to_end(run_everything(settings, browser=open, say=typer.echo))


@app.command()
def web() -> None:
    """Run the web role: page, API, and the watch over deadlines."""
    from gateway.up import raise_file_limit
    from gateway.web import serve

    settings = read_settings()
    logging.set_up(settings)
    raise_file_limit()

    async def run() -> None:
        stop = asyncio.Event()
        on_signals(stop)
        async with wiring.opened(settings, name="sayso-web") as broker:
            await serve(settings, broker, stop, lambda port: typer.echo(f"Listening on {_listening(settings, port)}"))

    run_to_end(run())


@app.command()
def worker(
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run a worker: it starts runs and lets them go on."""
    from gateway.work import work

    settings = read_settings()
    logging.set_up(settings)
    run_to_end(work(settings, until_stdin_closes=until_stdin_closes))


@app.command()
def front(
    name: Annotated[str | None, typer.Argument(help="Which; all that were set up when left out.")] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run front ends: they bring questions to chat platforms, and answers back."""
    from gateway import opening
    from gateway.front import serve, serve_all

    settings = read_settings()
    logging.set_up(settings)

    async def run() -> None:
        if name is None:
            await serve_all(settings)
        else:
            await serve(settings, opening.the(settings, name), until_stdin_closes=until_stdin_closes)

    run_to_end(run())


def _named_front(one: FrontEnd) -> None:
    app.command(one.name, help=f"Run the front end {one.title}.")(lambda: front(one.name))


for _one in SHIPPED:
    _named_front(_one)


@app.command()
def doctor() -> None:
    """Check everything and say in words what to do; exit status 1 when something is wrong."""
    from gateway.doctor import examine

    settings = read_settings()
    logging.set_up(settings, quiet=True)
    ok = True
    for check in run_to_end(examine(settings)):
        typer.echo(f"{'ok  ' if check.ok else 'BAD '} {check.what}: {check.words}")
        ok = ok and check.ok
    if not ok:
        raise typer.Exit(1)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(wiring.version())


# ── who may come in ──────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def token(
    scope: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(SCOPES)}; all when left out.")] = None,
    name: Annotated[str, typer.Option(help="What you call it in lists.")] = "",
    person: Annotated[str, typer.Option(help="Whom it stands for.")] = "owner",
) -> None:
    """Print a new API token, and nothing else."""
    scopes: tuple[Scope, ...] = tuple(known for known in SCOPES if scope is None or known in scope)
    if scope is not None and (wrong := [one for one in scope if one not in SCOPES]):
        fail(f"--scope {wrong[0]!r}: must be one of {', '.join(SCOPES)}.")
    settings = quiet()

    async def make(broker: Broker) -> str:
        text, _ = await wiring.accounts(settings, broker).token(await _named(broker, person), scopes, name)
        return text

    typer.echo(with_broker(settings, make))


@app.command()
def login(person: Annotated[str, typer.Option(help="Whom it signs in.")] = "owner") -> None:
    """Print a fresh link that signs a browser in, once."""
    settings = quiet()

    async def make(broker: Broker) -> tuple[Served, str]:
        who = await _named(broker, person)
        return await where(settings, broker), await wiring.accounts(settings, broker).link(who)

    at, code = with_broker(settings, make)
    show_link(at, f"/login#{code}")


@app.command()
def code(person: Annotated[str, typer.Option(help="Whose answer it proves.")] = "owner") -> None:
    """Print a one-time code: the proof that restricted requests ask for besides an answer."""
    settings = quiet()

    async def make(broker: Broker) -> str:
        return await wiring.accounts(settings, broker).code(await _named(broker, person))

    typer.echo(with_broker(settings, make))


async def _named(broker: Broker, name: str) -> Person:
    found = await wiring.people(broker).find(name)
    if found is None:
        fail(f"There is nobody called {name!r}: invite them with `sayso invite {name}`, or see `sayso people`.")
    return found


# ── what waits ───────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def pending() -> None:
    """List the questions that wait for you, and the runs that can be resumed."""
    settings = quiet()
    found = with_broker(settings, lambda broker: broker.pending(OWNER))
    for request in found.requests:
        typer.echo(f"{request.id}  {_title(request)}  [{_how(request)}]")
    for run in found.runs:
        typer.echo(f"{run.id}  paused ({run.cause})  {run.message[:60]!r}")
    if not found.requests and not found.runs:
        typer.echo("Nothing waits for you.")


@app.command()
def cancel(
    run: str, now: Annotated[bool, typer.Option("--now", help="Do not wait for it to stop by itself.")] = False
) -> None:
    """End a run, in any state, and discard what could be resumed."""
    settings = quiet()
    id = run.strip().casefold()
    result = with_broker(settings, lambda broker: broker.cancel(id, OWNER, urgent=now, via="cli"))
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo(f"{result.run}  {result.state}")


@app.command()
def answer(
    request: str,
    value: Annotated[list[str] | None, typer.Argument(help="The answer; for a form `field=value` each.")] = None,
    deny: Annotated[bool, typer.Option("--deny", help="Say no.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why not.")] = None,
    file: Annotated[list[str] | None, typer.Option(help="The path of a file; for a form `field=PATH`.")] = None,
) -> None:
    """Answer a question: an option's number or label, `yes`, or text; or give the files that it asks for."""
    if deny == bool(value or file):
        fail("Say either a value, or --file, or --deny.")
    settings = quiet()

    async def give(broker: Broker) -> str | Refusal:
        found = await broker.request(request.strip().casefold(), OWNER)
        if found is None:
            return Refusal("unknown", "there is no such request; `sayso pending` lists those that are open")
        form = len(found.question.fields) > 1
        stored = await file_arguments.stored(wiring.files(settings), file or (), named=form)
        if isinstance(stored, Refusal):
            return stored
        given = Declined(reason=reason) if deny else _given(found, value or [], stored)
        if isinstance(given, Refusal):
            return given
        result = await broker.answer(Reply(found.id, given, OWNER, VIA, files=file_arguments.by_id(stored)))
        return result if isinstance(result, Refusal) else result.run

    result = with_broker(settings, give)
    if isinstance(result, Refusal):
        refuse(result)
    typer.echo(f"{result}  goes on with your answer")


def _given(request: Request, words: list[str], files: Stored) -> Accepted | Declined | Refusal:
    fields = {field.id for field in request.question.fields}
    if len(fields) == 1:
        given = text_answer(request, " ".join(words), tuple(file_arguments.by_id(files)))
        if isinstance(given, Refusal):  # these words are for chats
            instead = f", or end the task with `sayso cancel {request.run}`"
            text = given.text.replace("send it as an attachment", "give it with --file PATH")
            return Refusal(given.code, text.replace(OR_CANCEL, instead), given.standing)
        return given
    values: dict[str, Json] = {name: [file.id for file in given] for name, given in files.items()}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or name not in fields:
            return Refusal("invalid", f"{word!r}: this is a form, write field=value with {', '.join(sorted(fields))}")
        values[name] = text
    return Accepted(values=values)


def _title(request: Request) -> str:
    subject = request.question.subject
    return request.question.title or (subject.tool if subject is not None else "a question")


def _how(request: Request) -> str:
    return ", ".join(field.kind for field in request.question.fields)


def _listening(settings: Settings, port: int) -> str:
    return f"http://{settings.host}:{port}"
