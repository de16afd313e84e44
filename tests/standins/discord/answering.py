"""Routes of interactions: the first response within 3 seconds, then 15 minutes of edits and follow-ups.

Source: Discord developer page "Receiving and Responding to Interactions".
"""

from __future__ import annotations

from tests.standins.discord import forms, writing
from tests.standins.discord.calls import Call, answers
from tests.standins.discord.components import check_modal, numbered
from tests.standins.discord.refusals import Refusal, bad_form
from tests.standins.discord.shapes import Json, Obj, listed, number, section
from tests.standins.discord.world import EPHEMERAL, LOADING, Interaction, Message, Modal, World

FIRST = 3.0
WHOLE = 15 * 60.0
HOOK = "/webhooks/{webhook_id}/{webhook_token}"
ORIGINAL = f"{HOOK}/messages/@original"
LATER = f"{HOOK}/messages/{{message_id}}"
FITTING: dict[int, set[int]] = {2: {4, 5, 9}, 3: {4, 5, 6, 7, 9}, 4: {8}, 5: {4, 5, 6, 7}}
"""Which first responses fit which kind of interaction; 6 and 7 need a message that it came from."""


@answers("POST /interactions/{interaction_id}/{interaction_token}/callback")
def first_response(world: World, call: Call) -> Json:
    one = world.interactions.get(call.params["interaction_token"])
    if one is None or one.id != call.params["interaction_id"]:
        raise Refusal(10062)
    if one.acked is not None:
        raise Refusal(40060)
    if world.now - one.created > FIRST:
        raise Refusal(10062)
    kind, form = number(call.form, "type"), section(call.form, "data")
    if kind not in FITTING[one.kind] or (kind in {6, 7} and one.message is None):
        raise bad_form("type", "BASE_TYPE_CHOICES", f"Value must be one of {sorted(FITTING[one.kind])}.")
    shown = _respond(world, call, one, kind, form)
    one.acked, one.waiting = kind, kind == 5
    if call.query.get("with_response") not in {"1", "true"}:
        return None
    about: dict[str, Json] = {"id": one.id, "type": one.kind}
    if shown is not None:
        about |= {"response_message_id": shown.id, "response_message_loading": kind == 5}
        about["response_message_ephemeral"] = bool(shown.flags & EPHEMERAL)
        return {"interaction": about, "resource": {"type": kind, "message": forms.message(world, shown)}}
    return {"interaction": about, "resource": {"type": kind}}


def _respond(world: World, call: Call, one: Interaction, kind: int, form: Obj) -> Message | None:
    """Do what a first response says; return the message it made or changed."""
    match kind:
        case 4:
            one.original = _said(world, call, one, form)
        case 5:
            flags = number(form, "flags") & EPHEMERAL
            only = one.person if flags else None
            made = Message(world.snowflake(), one.channel, world.bot, created=world.now, only=only, cause=one)
            made.flags = flags | LOADING
            one.channel.messages[made.id] = one.original = made
            one.answers.append(made)
        case 6 | 7:
            one.original = one.message
            if kind == 7 and one.message is not None:
                writing.rewrite(world, one.message, form, writing.attach(world, one.channel, call.files))
        case 8:
            one.choices = listed(form, "choices")
        case _:
            check_modal(form)
            form = {**form, "components": numbered(listed(form, "components"))}
            one.modal = Modal(form, one.person, one.channel, one.message)
    return one.original


def _said(world: World, call: Call, one: Interaction, form: Obj) -> Message:
    """A message that answers an interaction; with the ephemeral flag one person sees it."""
    only = one.person if number(form, "flags") & EPHEMERAL else None
    files = writing.attach(world, one.channel, call.files)
    made = writing.write(world, one.channel, world.bot, form, files, only=only, cause=one)
    one.answers.append(made)
    return made


def _open(world: World, call: Call) -> Interaction:
    """The interaction of a token that still lives. Raises: `Refusal` 10015, 50027."""
    one = world.interactions.get(call.params["webhook_token"])
    if one is None or call.params["webhook_id"] != world.bot.id or one.acked is None:
        raise Refusal(10015)
    if world.now - one.created > WHOLE:
        raise Refusal(50027)
    return one


def _message(world: World, call: Call) -> tuple[Interaction, Message]:
    one = _open(world, call)
    id = call.params.get("message_id")
    found = one.original if id is None else next((each for each in one.answers if each.id == id), None)
    if found is None and one.original is not None and one.original.id == id:
        found = one.original
    if found is None or found.gone:
        raise Refusal(10008)
    return one, found


@answers(f"POST {HOOK}")
def follow_up(world: World, call: Call) -> Json:
    """One more message; the first after "thinking" takes the place of that one."""
    one = _open(world, call)
    if one.waiting and one.original is not None:
        return _filled(world, one, one.original, call)
    made = _said(world, call, one, call.form)
    return forms.message(world, made) if call.query.get("wait") in {"1", "true"} else None


def _filled(world: World, one: Interaction, found: Message, call: Call) -> Json:
    found.flags &= ~LOADING
    one.waiting = False
    writing.rewrite(world, found, call.form, writing.attach(world, found.channel, call.files))
    return forms.message(world, found)


@answers(f"PATCH {ORIGINAL}", f"PATCH {LATER}")
def edit_answer(world: World, call: Call) -> Json:
    one, found = _message(world, call)
    return _filled(world, one, found, call)


@answers(f"GET {ORIGINAL}", f"GET {LATER}")
def get_answer(world: World, call: Call) -> Json:
    return forms.message(world, _message(world, call)[1])


@answers(f"DELETE {ORIGINAL}", f"DELETE {LATER}")
def delete_answer(world: World, call: Call) -> Json:
    one, found = _message(world, call)
    if found.flags & EPHEMERAL and found is not one.original and found not in one.answers:
        raise Refusal(10008)
    writing.erase(world, found)
    return None
