"""Roles of a server over the wire, of people whose account is linked too and who stand on no list."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.doors import Linked
from core.life.decision import Refusal
from core.life.event import Reply
from core.model import Conversation, Person
from core.people import OWNER, People
from core.question import Accepted
from tests.adapters.discord.wire import Wire, plain, wired
from tests.contract.agents import deploy
from tests.proves import proves
from tests.standins.discord import Channel, Guild, Message, Role
from tests.waiting import wait_until


async def link_bob(wire: Wire) -> None:
    """Let Bob's account be the owner's."""
    wire.bob.says(wire.bob.dm, "hello")
    code = plain(await wire.says("Your code is", wire.bob.dm)).split("code is ")[1].split(":")[0]
    await People(wire.broker).pair(code, OWNER.id)


async def serve(wire: Wire) -> None:
    """Serve with real doors."""
    wire.other = Linked(People(wire.broker))
    await wire.front()


async def ruled_by_roles(wire: Wire) -> tuple[Guild, Channel, Role]:
    """A server whose roles let Ann in and make Bob, who is linked too, an approver; a channel; Bob's role."""
    guild = wire.there.guild("home", wire.ann, wire.bob)
    room = wire.there.channel(guild, "general")
    crew, leads = wire.there.role(guild, "crew", wire.ann), wire.there.role(guild, "leads", wire.bob)
    wire.roles = {crew.id: "member", leads.id: "approver"}
    await serve(wire)
    wire.hire(deploy, guarded=("deploy",))
    await link_bob(wire)
    return guild, room, leads


async def seen(wire: Wire, card: Message) -> None:
    """Bob presses what only an approver may press, and is let in."""
    before = len(wire.bob.modals)
    wire.bob.presses(card, "Deny with a reason")
    await wait_until(lambda: len(wire.bob.modals) > before)


async def refused(wire: Wire, card: Message) -> None:
    """Bob presses Approve, and hears that it is not his."""
    wire.bob.presses(card, "Approve")
    await wire.told("This is not yours to answer.", wire.bob)
    assert card.live


async def listed(wire: Wire, thread: Channel) -> tuple[str, ...]:
    """Who may answer in a thread, as it is stored."""
    id, store = (await wire.run(thread)).conversation, wire.broker.store
    at = store.partition(id)
    assert at is not None
    model = (await store.read(at, [("conversation", id)]))["conversation", id].model
    assert isinstance(model, Conversation)
    return model.people


@proves("C07", "discord")
@pytest.mark.parametrize("began", ["while served", "before a restart"])
async def test_who_is_linked_and_lost_the_role_approves_nothing_more_in_any_thread(
    redis_url: str, tmp_path: Path, began: str
) -> None:
    """What the role let in was stored; the next event of its person ends it before it has an effect."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        guild, room, leads = await ruled_by_roles(wire)
        one, two = await wire.thread(room, "one"), await wire.thread(room, "two")
        first, second = await wire.card("Deploy?", one), await wire.card("Deploy?", two)
        await seen(wire, first)
        await seen(wire, second)
        if began == "before a restart":
            await wire.down()
            await wire.up(served=False)
            await serve(wire)
        guild.members[wire.bob.id].remove(leads)
        await refused(wire, first)
        if began == "while served":
            assert OWNER.id not in await listed(wire, two)
        await refused(wire, second)
        guild.members[wire.bob.id].append(leads)
        wire.bob.presses(second, "Approve")
        await wire.final(second, "Approved by")


@proves("C08", "discord")
async def test_who_is_taken_off_the_list_does_nothing_more_to_their_own_task(redis_url: str, tmp_path: Path) -> None:
    """They began it, and their account is linked: the list of people comes first."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        people = People(wire.broker)
        await serve(wire)
        wire.hire(deploy, guarded=("deploy",))
        await link_bob(wire)
        ann = await people.add("Ann", "member")
        assert isinstance(ann, Person)
        wire.ann.says(wire.ann.dm, "hello")
        code = plain(await wire.says("Your code is", wire.ann.dm)).split("code is ")[1].split(":")[0]
        await people.pair(code, ann.id)
        room = wire.room()
        await people.bind(f"dc-{room.id}", (ann.id, OWNER.id))
        thread = await wire.thread(room, "to production")
        card = await wire.card("Deploy?", thread)
        await people.bind(f"dc-{room.id}", (OWNER.id,))
        for label in ("Approve", "Deny", "Abort", "Cancel task"):
            told = len(wire.ann.notices)
            wire.ann.presses(card, label)
            await wait_until(lambda told=told: len(wire.ann.notices) > told)
            assert plain(wire.ann.notices[-1]) == "This is not yours to answer."
        assert card.live
        wire.bob.presses(card, "Approve")
        await wire.says("Deployed.", thread)


@proves("C07", "discord")
@pytest.mark.parametrize("how", ["the role is taken", "they leave"])
async def test_who_lost_the_role_and_does_nothing_on_discord_may_answer_nowhere(
    redis_url: str, tmp_path: Path, how: str
) -> None:
    """Discord tells of it where the portal lets it: the dashboard refuses them at once."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        guild, room, leads = await ruled_by_roles(wire)
        thread = await wire.thread(room, "one")
        card = await wire.card("Deploy?", thread)
        await seen(wire, card)
        assert OWNER.id in await listed(wire, thread)
        if how == "they leave":
            wire.there.leaves(guild, wire.bob)
        else:
            wire.there.takes(leads, guild, wire.bob)

        async def ended() -> bool:
            return OWNER.id not in await listed(wire, thread)

        await wait_until(ended)
        (request,) = (await wire.broker.pending(Person(id=f"dc:{wire.ann.id}"))).requests
        refused = await wire.broker.answer(Reply(request.id, Accepted(values={"confirm": "once"}), OWNER, "chat"))
        assert isinstance(refused, Refusal)
        assert card.live


async def test_without_the_intent_that_tells_of_roles_the_check_says_what_follows(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.there.world.portal.members = False
        wire.roles = {"12345": "approver"}
        await wire.front()
        assert any("Server Members Intent" in one.words for one in await wire.platform.check())
        assert not wire.there.gateway.closed
