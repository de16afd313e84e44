"""Secrets as people give them: sealed at once, stored with the answer, kept by name for the next time when wanted.

    given ──▶ sealed to its run ──▶ dropped with the step that uses it, or with the run
        └──▶ kept under (person, agent, name) ──▶ offered when the same agent asks that person for that name again

A kept one is never used without a person's press. This file must not know how a page or a platform takes a secret in.
Source: DESIGN section 6 (Secrets), C126, C128.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from core.commit import Committer
from core.life import request as rules
from core.life.decision import Refusal
from core.life.event import Reply, Said
from core.life.result import Answered
from core.looks import Looks
from core.model import Json, Person, Run, Value, fresh, partition_of
from core.question import Accepted, Request, SecretField
from core.secret import Secret, SecretGone
from core.shelf import Shelf
from core.vault import Unreadable, Vault

LONGEST = 16_384
"""characters of one secret"""
NO_VAULT = Refusal("conflict", "secrets cannot be kept here: this process was given no vault")


class Kept(Value):
    """A secret in the vault. id: names it for people; nobody but its person ever sees that it is there."""

    id: str
    person: str
    agent: str
    name: str
    sealed: str
    since_ms: int
    used_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Gift:
    """What a person gives to a request. values: field → secret. stored: use what the vault holds under these names.

    store: whether to keep them for the next time, where the question offers that. submit: False for a form that is not
    complete.
    """

    request: str
    person: Person
    via: str
    values: Mapping[str, SecretStr] = field(default_factory=dict[str, SecretStr])
    stored: bool = False
    store: bool = True
    submit: bool = True
    key: str | None = None


class Safe:
    """Takes secrets in, keeps them, and hands them to the run they were given to."""

    def __init__(self, looks: Looks, committer: Committer, shelf: Shelf) -> None:
        self._looks = looks
        self._committer = committer
        self._shelf = shelf
        self.vault: Vault | None = None
        self._noted: set[str] = set()

    # ── a person's side ──────────────────────────────────────────────────────────────────────────────────────────────

    async def give(self, gift: Gift) -> Answered | Refusal:
        """Answer the secret fields of a request; the values are sealed in the very commit that answers.

        The first answer wins; nothing of a refused one is stored.
        """
        found, vault = await self._asked(gift.request, gift.person), self.vault
        if found is None:
            return rules.UNKNOWN
        if vault is None:
            return NO_VAULT
        request, run = found
        fields = secret_fields(request)
        kept = {one.id: one for one in await self.offered(request, gift.person)} if gift.stored else {}
        values = gift.values
        if gift.stored:
            try:
                values = {id: SecretStr(self._open(offer, vault)) for id, offer in kept.items()}
            except Unreadable as error:
                return Refusal("gone", f"the stored one cannot be opened: {error}; give it anew")
        bad = _problem(fields, values)
        if bad is not None:
            return bad
        answer, sealed = dict[str, Json](), dict[str, str]()
        for name, value in values.items():
            handle = fresh("y", partition_of(run.id))
            sealed[handle] = vault.seal(value.get_secret_value(), _place(run.root, handle))
            answer[name] = {"secret": handle}
        await self._note(vault)
        event = Reply(request.id, Accepted(values=answer), gift.person, gift.via, gift.key, gift.submit, sealed=sealed)
        told = await self._committer.carry(rules.reply, event, partition_of(request.id))
        if not isinstance(told, Refusal):
            await self._remember(fields, gift, run, values, vault)
        return told

    async def written(self, event: Said, id: str) -> Said | Refusal:
        """Seal what a person wrote to a request that asks for a secret: the event that answers it holds no text."""
        found, vault = await self._asked(id, event.person), self.vault
        if found is None:
            return rules.UNKNOWN
        if vault is None:
            return NO_VAULT
        request, run = found
        value = SecretStr(event.text.strip())
        bad = _problem(secret_fields(request), {one.id: value for one in secret_fields(request)})
        if bad is not None:
            return bad
        handle = fresh("y", partition_of(run.id))
        sealed = {handle: vault.seal(value.get_secret_value(), _place(run.root, handle))}
        await self._note(vault)
        return replace(event, text="", reply_to=None, secret=id, sealed=sealed)

    async def offered(self, request: Request, person: Person) -> list[Offer]:
        """What the vault holds for the secret fields of a request, for this person and the agent that asks."""
        run = await self._looks.peek(request.run)
        if run is None:
            return []
        found: list[Offer] = []
        for one in secret_fields(request):
            text = await self._shelf.fetch("vault", _shelf_id(person.id, run.agent, one.name))
            if text is not None:
                found.append(Offer(one.id, Kept.model_validate_json(text)))
        return found

    async def kept(self, person: Person) -> list[Kept]:
        """List what the vault keeps for a person, by agent and name."""
        found = [Kept.model_validate_json(text) for _, text in await self._shelf.listing("vault")]
        return sorted((one for one in found if one.person == person.id), key=lambda one: (one.agent, one.name))

    async def forget(self, person: Person, id: str) -> bool:
        """Take one of a person's secrets out of the vault; False when they have none with that id."""
        if not any(one.id == id for one in await self.kept(person)):
            return False
        return await self._shelf.drop("vault", id)

    # ── the run's side ───────────────────────────────────────────────────────────────────────────────────────────────

    async def secret(self, run: Run, name: str, handle: str, *, keep: bool = False) -> Secret:
        """The secret that was given to a run under a handle; one that was used up reveals nothing."""
        sealed, vault = await self._looks.store.secret(handle), self.vault
        if sealed is None:
            return Secret(name, handle, None)
        if vault is None:
            raise SecretGone(f"the secret {name!r} cannot be opened: this worker was given no vault")
        return Secret(name, handle, lambda: vault.open(sealed, _place(run.root, handle)), keep=keep)

    # ── below ────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _asked(self, id: str, person: Person) -> tuple[Request, Run] | None:
        request = await self._looks.request(id, person)
        run = await self._looks.peek(request.run) if request is not None else None
        return (request, run) if request is not None and run is not None else None

    async def _note(self, vault: Vault) -> None:
        """Let the next start know that something is sealed with this key, before it is."""
        if vault.seals_with not in self._noted:
            await self._shelf.keep("key", vault.seals_with, "")
            self._noted.add(vault.seals_with)

    async def _remember(
        self,
        fields: tuple[SecretField, ...],
        gift: Gift,
        run: Run,
        values: Mapping[str, SecretStr],
        vault: Vault,
    ) -> None:
        """Keep what was given, if the question offers that and the person wants it; note the use of what was kept."""
        now = self._looks.store.now()
        for one in fields:
            if one.id not in values or not (gift.stored or (one.store and gift.store)):
                continue
            id = _shelf_id(gift.person.id, run.agent, one.name)
            sealed = vault.seal(values[one.id].get_secret_value(), _kept_place(gift.person.id, run.agent, one.name))
            before = await self._shelf.fetch("vault", id) if gift.stored else None
            since = Kept.model_validate_json(before).since_ms if before is not None else now
            if gift.stored and before is None:
                continue
            kept = Kept(
                id=id,
                person=gift.person.id,
                agent=run.agent,
                name=one.name,
                sealed=sealed,
                since_ms=since,
                used_ms=now if gift.stored else None,
            )
            await self._shelf.keep("vault", id, kept.model_dump_json(exclude_none=True))

    @staticmethod
    def _open(offer: Offer, vault: Vault) -> str:
        kept = offer.kept
        return vault.open(kept.sealed, _kept_place(kept.person, kept.agent, kept.name))


@dataclass(frozen=True, slots=True)
class Offer:
    """A field of a request for which the vault holds something."""

    id: str
    kept: Kept


def secret_fields(request: Request) -> tuple[SecretField, ...]:
    """The fields of a request that ask for a secret."""
    return tuple(field for field in request.question.fields if isinstance(field, SecretField))


def _problem(fields: tuple[SecretField, ...], values: Mapping[str, SecretStr]) -> Refusal | None:
    """Refuse what is no secret of this request; a refusal never repeats a value."""
    known = {one.id for one in fields}
    if not known:
        return _bad("request", "this question asks for no secret")
    if not values:
        return _bad(next(iter(sorted(known))), "a value is required")
    for name, value in values.items():
        if name not in known:
            return _bad(name, f"there is no such secret field; the fields are {sorted(known)!r}")
        text = value.get_secret_value()
        if not text.strip():
            return _bad(name, "must not be empty")
        if len(text) > LONGEST:
            return _bad(name, f"must not be longer than {LONGEST} characters")
    return None


def _bad(name: str, rule: str) -> Refusal:
    return Refusal("invalid", f"{name!r}: {rule}", {"field": name, "rule": rule})


def _place(root: str, handle: str) -> str:
    return f"run|{root}|{handle}"


def _kept_place(person: str, agent: str, name: str) -> str:
    return json.dumps(["vault", person, agent, name])


def _shelf_id(person: str, agent: str, name: str) -> str:
    return hashlib.sha256(_kept_place(person, agent, name).encode()).hexdigest()[:24]
