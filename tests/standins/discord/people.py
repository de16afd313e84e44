"""What people do: write, reply, press, choose, fill in forms, use commands. All of it happens at once, without waiting.

A person's client checks what a real one checks (a pressed button is there and enabled, a select's bounds, required
fields of a form); `interact` sends what no honest client would.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tests.standins.discord import components as parts
from tests.standins.discord import forms, telling, writing
from tests.standins.discord.shapes import Json, Obj, listed, number, section, text, words
from tests.standins.discord.world import Channel, Interaction, Message, Modal, User, World

File: TypeAlias = tuple[str, bytes]
Given: TypeAlias = str | bool | Sequence[str] | Sequence[File]
"""What is put into a field: text, a tick, the labels chosen, files."""


class Human:
    """Somebody at a Discord client."""

    def __init__(self, world: World, account: User) -> None:
        self.world = world
        self.account = account

    @property
    def id(self) -> str:
        return self.account.id

    @property
    def dm(self) -> Channel:
        """Their direct channel with the bot."""
        return self.world.dm(self.account)

    @property
    def notices(self) -> list[Message]:
        """The ephemeral messages they see now, oldest first."""
        every = [one for place in self.world.channels.values() for one in place.messages.values()]
        mine = [one for one in every if one.only is self.account and not one.gone]
        return sorted(mine, key=lambda one: int(one.id))

    @property
    def modals(self) -> list[Modal]:
        """The forms that were shown to them, oldest first."""
        mine = [one.modal for one in self.world.interactions.values() if one.person is self.account]
        return [one for one in mine if one is not None]

    # ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def says(self, where: Channel, words: str, *, files: Sequence[File] = ()) -> Message:
        """They write a message. `<@id>` in it mentions."""
        return self._write(where, {"content": words}, files)

    def replies(self, to: Message, words: str, *, ping: bool = True, files: Sequence[File] = ()) -> Message:
        """They reply to a message; without `ping` the author is not mentioned."""
        allowed: Obj = {"parse": ["users", "roles", "everyone"], "replied_user": ping}
        body: Obj = {"content": words, "message_reference": {"message_id": to.id}, "allowed_mentions": allowed}
        return self._write(to.channel, body, files)

    def sends_file(self, where: Channel, name: str, content: bytes, words: str = "") -> Message:
        return self._write(where, {"content": words}, [(name, content)])

    def _write(self, where: Channel, body: Obj, files: Sequence[File]) -> Message:
        assert self.world.may(where, self.account, "send_messages"), f"{self.account.name} may not write here"
        if where.is_thread and where.archive.archived:
            assert not where.archive.locked, "the thread is locked"
            where.archive.archived = False
            telling.channel_changed(self.world, where, "UPDATE")
        kept = writing.attach(self.world, where, [(str(place), *one) for place, one in enumerate(files)])
        return writing.write(self.world, where, self.account, body, kept)

    def edits(self, message: Message, words: str) -> None:
        """They change what they wrote."""
        assert message.author is self.account
        writing.rewrite(self.world, message, {"content": words})

    def deletes(self, message: Message) -> None:
        """They delete a message of theirs."""
        assert message.author is self.account
        writing.erase(self.world, message)

    def blocks_dms(self, blocked: bool = True) -> None:
        """The bot may write to them no more, or again."""
        self.account.open = not blocked

    # ── components and forms ─────────────────────────────────────────────────────────────────────────────────────────

    def presses(self, message: Message, label: str) -> Interaction:
        """They press the button whose label has these words."""
        fits = [one for one in message.buttons if one.custom_id and label in one.label]
        exact = [one for one in fits if one.label == label] or fits
        assert exact, f"no button {label!r} among {message.labels}"
        assert not exact[0].disabled, f"the button {label!r} is disabled"
        return self.interact(3, message.channel, _pressed(2, exact[0].custom_id), message)

    def presses_id(self, message: Message, custom_id: str) -> Interaction:
        """They press a button that the message may not show any more: a client that has not heard of the edit."""
        return self.interact(3, message.channel, _pressed(2, custom_id), message)

    def chooses(self, message: Message, *labels: str, select: str = "") -> Interaction:
        """They choose options by label, and confirm. select: its placeholder, where there is more than one."""
        fits = [one for one in message.selects if select in one.label]
        assert fits, f"no select {select!r} in {message.text!r}"
        raw = fits[0].raw
        assert not fits[0].disabled, "the select is disabled"
        assert number(raw, "min_values", 1) <= len(labels) <= number(raw, "max_values", 1), "too few or too many"
        pressed = _pressed(number(raw, "type"), fits[0].custom_id)
        return self.interact(3, message.channel, {**pressed, "values": parts.picked(raw, labels)}, message)

    def submits(self, modal: Modal, answers: Mapping[str, Given] | None = None) -> Interaction:
        """They fill in a form by the labels of its fields and submit it; what is not named keeps what was preset."""
        assert modal.person is self.account
        given, files = dict(answers or {}), dict[str, Json]()
        filled = [self._filled(one, given, files, modal.channel) for one in modal.tops]
        assert not given, f"no field {list(given)} among {modal.fields}"
        modal.submitted = True
        body: dict[str, Json] = {"custom_id": modal.custom_id, "components": filled}
        if files:
            body["resolved"] = {"attachments": files}
        return self.interact(5, modal.channel, body, modal.message)

    def _filled(self, one: Obj, given: dict[str, Given], files: dict[str, Json], where: Channel) -> Obj:
        made: dict[str, Json] = {"type": number(one, "type"), "id": number(one, "id")}
        match number(one, "type"):
            case parts.LABEL:
                name = text(one, "label")
                field = section(one, "component")
                made["component"] = self._field(field, name, given.pop(name, None), files, where)
            case parts.ROW:
                inputs = [(each, text(each, "label")) for each in listed(one, "components")]
                fields = [self._field(each, name, given.pop(name, None), files, where) for each, name in inputs]
                made["components"] = fields
            case _:
                pass
        return made

    def _field(self, one: Obj, name: str, given: Given | None, files: dict[str, Json], where: Channel) -> Obj:
        kind, needed = number(one, "type"), one.get("required") is not False
        made: dict[str, Json] = {"type": kind, "id": number(one, "id"), "custom_id": text(one, "custom_id")}
        if kind == parts.INPUT:
            value = given if isinstance(given, str) else text(one, "value")
            least = max(number(one, "min_length"), int(needed))
            most = number(one, "max_length", 4000)
            assert (not value and not needed) or least <= len(value) <= most, f"{name}: {len(value)} characters"
            return made | {"value": value}
        if kind == parts.CHECK:
            return made | {"value": given if isinstance(given, bool) else one.get("default") is True}
        if kind == parts.UPLOAD:
            made["values"] = chosen = self._uploaded(given, files, where, words(one, "file_types"))
        else:
            labels = [given] if isinstance(given, str) else given if isinstance(given, Sequence) else None
            named = [each for each in labels or () if isinstance(each, str)]
            chosen = parts.preset(one) if labels is None else parts.picked(one, named)
            if kind == parts.RADIO:
                assert chosen or not needed, f"{name}: nothing chosen"
                return made | {"value": chosen[0] if chosen else None}
            made["values"] = chosen
        most = number(one, "max_values", len(listed(one, "options")) if kind == parts.CHECKS else 1)
        least = number(one, "min_values", 1)
        assert (not chosen and not needed) or least <= len(chosen) <= most, f"{name}: {len(chosen)} chosen"
        return made

    def _uploaded(self, given: Given | None, files: dict[str, Json], where: Channel, types: list[str]) -> list[str]:
        sent = [one for one in given if isinstance(one, tuple)] if isinstance(given, Sequence) else []
        odd = [name for name, _ in sent if types and not name.lower().endswith(tuple(types))]
        assert not odd, f"{odd} cannot be chosen, only {types}"
        kept = writing.attach(self.world, where, [(str(place), *one) for place, one in enumerate(sent)])
        files |= {one.id: forms.attachment(one) for one in kept}
        return [one.id for one in kept]

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def slash(self, where: Channel, name: str, **options: str | int | bool) -> Interaction:
        """They use a slash command that was synced; `grants revoke` is a sub-command."""
        return self.interact(2, where, self._command(where, name, options))

    def types(self, where: Channel, name: str, option: str, words: str) -> Interaction:
        """They type into an option that completes itself; see `choices` of what is returned."""
        return self.interact(4, where, self._command(where, name, {option: words}, focused=option))

    def picks(self, message: Message, name: str) -> Interaction:
        """They pick a command from the menu of a message."""
        command = self._registered(message.channel, name, 3)
        seen: Obj = {message.id: forms.message(self.world, message)}
        about: dict[str, Json] = {"id": text(command, "id"), "name": name, "type": 3, "target_id": message.id}
        return self.interact(2, message.channel, {**about, "resolved": {"messages": seen}})

    def _registered(self, where: Channel, name: str, kind: int) -> Obj:
        scopes = [where.guild.id if where.guild else "", ""]
        every = [one for scope in scopes for one in self.world.commands.get(scope, [])]
        fits = [one for one in every if text(one, "name") == name and number(one, "type", 1) == kind]
        assert fits, f"no command {name!r} among {sorted(text(one, 'name') for one in every)}"
        return fits[0]

    def _command(self, where: Channel, name: str, given: Mapping[str, str | int | bool], *, focused: str = "") -> Obj:
        top, *below = name.split()
        command = self._registered(where, top, 1)
        level, path = command, list[Obj]()
        for part in below:
            level = next(one for one in listed(level, "options") if text(one, "name") == part)
            path.append(level)
        known = {text(one, "name"): one for one in listed(level, "options")}
        assert set(given) <= set(known), f"no option {sorted(set(given) - set(known))} of {name!r}"
        missing = [key for key, one in known.items() if one.get("required") is True and key not in given]
        assert focused or not missing, f"{name!r} needs {missing}"
        options: list[Json] = []
        for key, value in given.items():
            one: dict[str, Json] = {"name": key, "type": number(known[key], "type"), "value": value}
            options.append(one | ({"focused": True} if key == focused else {}))
        for step in reversed(path):
            options = [{"name": text(step, "name"), "type": number(step, "type"), "options": options}]
        return {"id": text(command, "id"), "name": top, "type": 1, "options": options}

    # ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def interact(self, kind: int, where: Channel, content: Obj, message: Message | None = None) -> Interaction:
        """An interaction reaches the bot, whatever it holds. kind: 2 command, 3 component, 4 completion, 5 form."""
        world = self.world
        made = Interaction(world.snowflake(), secrets.token_hex(24), kind, self.account, where, world.now, message)
        world.interactions[made.token] = made
        telling.interacted(world, made, {**content})
        return made


def _pressed(kind: int, custom_id: str) -> dict[str, Json]:
    return {"component_type": kind, "custom_id": custom_id, "id": 1}
