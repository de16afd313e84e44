"""Commands about people: invite, list, remove, pair chat accounts, bind groups; and giving up the vault's lost keys."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from core.broker import Broker
from core.life.decision import Refusal
from core.model import Person
from core.pairing import Locked, Paired, Wrong
from core.people import OWNER, PLACE, ROLES, People, Role
from core.removals import being_removed
from gateway import wiring
from gateway.running import fail, quiet, refuse, show_link, where, with_broker
from gateway.served import Served
from gateway.unlock import forget


def add(app: typer.Typer) -> None:
    """Give these commands to the program."""
    for command in (invite, people, remove, pair, unpair, group, vault):
        app.command()(command)


def invite(name: str, role: Annotated[str, typer.Option(help=f"One of {', '.join(ROLES)}.")] = "member") -> None:
    """Print a link that lets somebody in as a new person, once, for a day."""
    known = _role(role)
    settings = quiet()

    async def make(broker: Broker) -> tuple[Served, str] | Refusal:
        at = await where(settings, broker)
        made = await wiring.people(broker).by(OWNER, "cli").invite(name, known, OWNER.id)
        return made if isinstance(made, Refusal) else (at, made[0])

    made = with_broker(settings, make)
    if isinstance(made, Refusal):
        refuse(made)
    show_link(made[0], f"/invite#{made[1]}")


def people() -> None:
    """List people with their roles and linked chat accounts, and the chat accounts that wait for a code."""

    async def lines(broker: Broker) -> list[str]:
        found = wiring.people(broker)
        everybody = [
            f"{one.person.id}  {one.person.name}  {one.person.role}  {' '.join(one.identities)}".rstrip()
            for one in await found.all()
        ]
        invited = [f"invited  {one.name}  {one.role}" for one in await found.invitations()]
        waiting = [f"waits for its code  {one.identity}  {one.name}" for one in await found.waiting()]
        groups = [f"group {one.place}  {' '.join(one.people) or 'nobody'}" for one in await found.groups()]
        return [*everybody, *invited, *waiting, *groups]

    for line in with_broker(quiet(), lines):
        typer.echo(line)


def remove(person: str) -> None:
    """Take somebody's rights on every surface, and sign them out everywhere."""
    settings = quiet()

    async def take(broker: Broker) -> Person | Refusal:
        known = await wiring.people(broker).find(person)
        half = await being_removed(broker, person) if known is None else None
        id = half or (await _who(wiring.people(broker), person)).id
        gone = await wiring.people(broker).by(OWNER, "cli").remove(id)
        if isinstance(gone, Person):
            accounts = wiring.accounts(settings, broker)
            await accounts.sign_out_everywhere(gone)
            for token in await accounts.tokens(gone):
                await accounts.revoke(gone, token.id)
        return gone

    gone = with_broker(settings, take)
    if isinstance(gone, Refusal):
        refuse(gone)
    typer.echo(f"{gone.id}  removed")


def pair(
    code: str,
    person: Annotated[str, typer.Option(help="Whose chat account it is: a name of `sayso people`.")] = "owner",
    role: Annotated[str | None, typer.Option(help="Make a new person of that name with this role.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Link the chat account that shows a code to a person."""
    wanted = _role(role) if role is not None else None
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Whoever shows this code will act as {person!r} from now on. Right?", abort=True)

    async def link(broker: Broker) -> Paired | Wrong | Locked | Refusal:
        found = wiring.people(broker)
        owner = await found.add(person, wanted, OWNER.id) if wanted is not None else await _who(found, person)
        return owner if isinstance(owner, Refusal) else await found.by(OWNER, "cli").pair(code, owner.id)

    match with_broker(quiet(), link):
        case Paired() as paired:
            typer.echo(f"{paired.identity}  {paired.name!r} is {paired.person.name} now")
        case Wrong(left=left):
            fail(f"No account shows this code (any more); {left} more tries until the lock.")
        case Locked():
            fail("Too many wrong codes: for an hour none is taken.")
        case Refusal() as refusal:
            refuse(refusal)


def unpair(account: str) -> None:
    """Make a chat account (`tg:42`) a stranger's again."""
    if not with_broker(quiet(), lambda broker: wiring.people(broker).by(OWNER, "cli").unpair(account)):
        fail(f"{account!r} is linked to nobody; `sayso people` lists the accounts.")
    typer.echo(f"{account}  unlinked")


def group(
    place: str, person: Annotated[list[str] | None, typer.Argument(help="Names; none means that nobody may.")] = None
) -> None:
    """Say who may talk to the agent in a group (`tg--1001234567890`, `dc-981234567890123456`)."""
    if not PLACE.fullmatch(place):
        fail(f"{place!r} is no group; `sayso people` lists those where the bot was spoken to.")

    async def bind(broker: Broker) -> list[str] | Refusal:
        found = wiring.people(broker)
        listed = [await _who(found, name) for name in person or ()]
        bound = await found.by(OWNER, "cli").bind(place, [one.id for one in listed])
        return bound if isinstance(bound, Refusal) else [one.name for one in listed]

    names = with_broker(quiet(), bind)
    if isinstance(names, Refusal):
        refuse(names)
    typer.echo(f"{place}  {', '.join(names) or 'nobody may talk to the agent there'}")


def vault(
    lost: Annotated[bool, typer.Option("--forget", help="Give up all stored secrets: the key is gone.")] = False,
) -> None:
    """Say with which keys secrets are sealed; or give up what was sealed with keys that are gone."""

    async def look(broker: Broker) -> list[str]:
        if lost:
            return [f"{await forget(broker)} stored secrets were given up; the next start makes a new key"]
        keys = [mark for mark, _ in await broker.shelf.listing("key")]
        return [*(f"key {mark}" for mark in keys), f"{len(await broker.shelf.listing('vault'))} stored secrets"]

    for line in with_broker(quiet(), look):
        typer.echo(line)


async def _who(people: People, name: str) -> Person:
    found = await people.find(name)
    if found is None:
        fail(f"There is nobody called {name!r}; `sayso people` lists everybody.")
    return found


def _role(text: str) -> Role:
    known: Role | None = next((role for role in ROLES if role == text), None)
    return known if known is not None else fail(f"--role {text!r}: must be one of {', '.join(ROLES)}.")
