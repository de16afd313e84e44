"""People, invitations, pairing codes and groups, on a real server."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.event import Said
from core.life.result import Sent
from core.model import Person
from core.pairing import LETTERS, Locked, Paired, TooMany, Wrong
from core.people import INVITED_S, OWNER, People, Role
from tests.everything import everything
from tests.proves import proves
from tests.redis_server import RedisServer


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def broker(redis_url: str) -> AsyncGenerator[Broker]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield broker


@pytest.fixture
def people(broker: Broker, clock: Clock) -> People:
    return People(broker, now=clock)


async def added(people: People, name: str) -> Person:
    made = await people.add(name, "member")
    assert isinstance(made, Person), made
    return made


async def invited(people: People, name: str, role: Role = "member") -> str:
    made = await people.invite(name, role, OWNER.id)
    assert not isinstance(made, Refusal), made
    return made[0]


async def paired_code(people: People, identity: str, name: str = "Ann") -> str:
    code = await people.pairing(identity, name, "tg-1")
    assert isinstance(code, str), code
    return code


# ── persons ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_owner_is_there_from_the_start_and_stays(people: People) -> None:
    assert await people.person(OWNER.id) == OWNER
    assert isinstance(await people.remove(OWNER.id), Refusal)
    assert isinstance(await people.change_role(OWNER.id, "member"), Refusal)
    renamed = await people.rename(OWNER.id, "Ada")
    assert isinstance(renamed, Person)
    assert await people.person(OWNER.id) == Person(id=OWNER.id, name="Ada", role="owner")


async def test_a_change_of_role_and_a_removal_count_at_once(people: People) -> None:
    ann = await added(people, "Ann")
    await people.change_role(ann.id, "approver")
    assert (await people.person(ann.id)) == ann.changed(role="approver")
    await people.remove(ann.id)
    assert await people.person(ann.id) is None
    assert [one.person.id for one in await people.all()] == [OWNER.id]


async def test_a_name_given_again_is_another_person(people: People) -> None:
    ann = await added(people, "Ann")
    await people.remove(ann.id)
    assert (await added(people, "Ann")).id != ann.id


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\u202eb", "OWNER"])
async def test_a_name_that_misleads_is_refused(people: People, name: str) -> None:
    assert isinstance(await people.add(name, "member"), Refusal)


# ── invitations ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_invitation_makes_one_person_whoever_races_for_it(people: People, redis: RedisServer) -> None:
    code = await invited(people, "Ann", "approver")
    assert code not in everything(redis)
    came = await asyncio.gather(*(people.accept(code) for _ in range(5)))
    assert [one.role for one in came if isinstance(one, Person)] == ["approver"]
    again = await people.accept(code)
    assert isinstance(again, Refusal)
    assert again.code == "ended"


async def test_an_invitation_ends_after_a_day_or_when_it_is_taken_back(people: People, clock: Clock) -> None:
    old, back = await invited(people, "Ann"), await invited(people, "Ben")
    listed = {one.name: one.id for one in await people.invitations()}
    assert await people.uninvite(listed["Ben"])
    clock.now += INVITED_S + 1
    for code in (old, back, "guess"):
        assert isinstance(await people.accept(code), Refusal)
    assert await people.invitations() == []


# ── chat accounts ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_stranger_becomes_the_person_who_enters_the_code(people: People, redis: RedisServer) -> None:
    ann = await added(people, "Ann")
    code = await paired_code(people, "tg:42")
    assert len(code) == 8
    assert set(code) <= set(LETTERS)
    assert code not in everything(redis)
    assert await people.who("tg:42", "Ann") is None
    paired = await people.pair(f" {code[:4].lower()}-{code[4:]} ", ann.id)
    assert isinstance(paired, Paired)
    assert await people.who("tg:42", "Ann") == ann
    assert isinstance(await people.pair(code, ann.id), Wrong)
    assert (await people.all())[1].identities == ("tg:42",)
    assert await people.unpair("tg:42")
    assert await people.who("tg:42", "Ann") is None


async def test_a_newer_code_replaces_the_older_one_and_an_hour_ends_it(people: People, clock: Clock) -> None:
    old = await paired_code(people, "tg:42")
    new = await paired_code(people, "tg:42")
    assert isinstance(await people.pair(old, OWNER.id), Wrong)
    clock.now += 3_601
    assert isinstance(await people.pair(new, OWNER.id), Wrong)


async def test_a_fourth_account_of_a_platform_has_to_wait(people: People) -> None:
    for number in range(3):
        await paired_code(people, f"tg:{number}")
    assert isinstance(await people.pairing("tg:9", "Eve", "tg-9"), TooMany)
    assert isinstance(await people.pairing("dc:9", "Eve", "dc-9"), str)
    assert isinstance(await people.pairing("tg:1", "Ann", "tg-1"), str)


async def test_an_account_that_asks_again_and_again_gets_no_more_codes(people: People) -> None:
    for _ in range(5):
        await paired_code(people, "tg:42")
    assert isinstance(await people.pairing("tg:42", "Ann", "tg-1"), TooMany)


async def test_five_wrong_codes_lock_the_door_also_for_the_right_one(people: People) -> None:
    """Guesses side by side count like guesses in a row."""
    code = await paired_code(people, "tg:42")
    tries = await asyncio.gather(*(people.pair(f"AAAAAAA{letter}", OWNER.id) for letter in LETTERS[:8]))
    assert sum(isinstance(one, Wrong) for one in tries) <= 5
    assert isinstance(await people.pair(code, OWNER.id), Locked)
    assert isinstance(await people.pairing("tg:1", "Eve", "tg-1"), Locked)
    assert await people.who("tg:42", "") is None


async def test_a_right_code_costs_none_of_the_tries(people: People) -> None:
    """However many people are linked in an hour, the door is shut by wrong codes alone."""
    for number in range(4):
        code = await paired_code(people, f"tg:{number}")
        assert isinstance(await people.pair("AAAAAAAA", OWNER.id), Wrong)
        assert isinstance(await people.pair(code, OWNER.id), Paired)


async def test_of_two_that_enter_the_same_code_one_is_linked(people: People) -> None:
    ann, ben = await added(people, "Ann"), await added(people, "Ben")
    code = await paired_code(people, "tg:42")
    came = await asyncio.gather(people.pair(code, ann.id), people.pair(code, ben.id))
    winners = [one.person for one in came if isinstance(one, Paired)]
    assert len(winners) == 1
    assert await people.who("tg:42", "") == winners[0]


async def test_a_removed_person_is_a_stranger_on_every_surface(people: People) -> None:
    ann = await added(people, "Ann")
    await people.pair(await paired_code(people, "tg:42"), ann.id)
    await people.bind("tg-99", [ann.id])
    await people.remove(ann.id)
    assert await people.who("tg:42", "Ann") is None
    assert await people.group("tg-99") == ()


# ── places with several people ───────────────────────────────────────────────────────────────────────────────────────


@proves("C08", "broker")
async def test_a_group_without_a_list_is_nobodys_and_is_warned_about(people: People, broker: Broker) -> None:
    """Its owner in private still works."""
    ann = await added(people, "Ann")
    assert await people.group("tg-99") == ()
    assert [(one.place, one.bound) for one in await people.groups()] == [("tg-99", False)]
    assert await people.warnings() == []
    await people.bind("tg-99", [])
    assert len(await people.warnings()) == 1
    said = Said("tg-99", "hello", ann, "demo", private=False, people=await people.group("tg-99"))
    refused = await broker.said(said)
    assert isinstance(refused, Refusal)
    assert isinstance(await broker.said(Said("tg-1", "hello", ann, "demo")), Sent)


@proves("C07", "broker")
async def test_a_change_of_the_list_counts_for_what_is_open_in_the_group_and_its_topics(
    people: People, broker: Broker
) -> None:
    ann, ben = await added(people, "Ann"), await added(people, "Ben")
    await people.bind("tg-99", [ann.id, ben.id])
    listed = await people.group("tg-99.7")
    assert listed == (ann.id, ben.id)
    sent = await broker.said(Said("tg-99.7", "hello", ann, "demo", private=False, people=listed))
    assert isinstance(sent, Sent)
    assert await broker.conversation(sent.conversation, ben) is not None
    await people.bind("tg-99", [ann.id])
    assert await broker.conversation(sent.conversation, ben) is None
    refused = await broker.said(Said("tg-99.7", "me too", ben, "demo", private=False, people=(ann.id,)))
    assert isinstance(refused, Refusal)


async def test_strangers_cannot_be_put_on_a_list(people: People) -> None:
    assert isinstance(await people.bind("tg-99", ["web:nobody"]), Refusal)
