"""The session with Discord breaks in every way: nothing is lost or taken twice, and people hear what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.discord.session import PAUSES
from core.agent import Run
from gateway import health
from gateway.front_ends import SHIPPED
from tests.adapters.discord.wire import Wire, plain, wired
from tests.contract.agents import deploy, what
from tests.proves import proves
from tests.standins.discord.world import BITS
from tests.waiting import wait_until


async def echo(run: Run, message: str) -> str:
    """Say what was said."""
    return f"heard {message}"


def heard(wire: Wire) -> list[str]:
    """What the agent said it heard, in order."""
    return [plain(one) for one in wire.there.ours(wire.ann.dm) if plain(one).startswith("heard")]


async def test_an_approval_over_the_wire(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        wire.ann.says(wire.ann.dm, "to production")
        card = await wire.card("Deploy?")
        press = wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert press.acked == 6


async def test_what_was_said_and_pressed_while_the_line_was_cut_is_replayed_and_taken_once(
    redis_url: str, tmp_path: Path
) -> None:
    """Discord replays by RESUME; an event that comes twice has its effect once."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        wire.ann.says(wire.ann.dm, "first")
        card = await wire.card("Deploy?")
        wire.there.gateway.drop()
        press = wire.ann.presses(card, "Approve")
        wire.there.gateway.repeat()
        await wire.final(card, "Approved by Ann on Discord")
        assert press.acked == 6
        assert (wire.there.gateway.seen["identify"], wire.there.gateway.seen["resume"]) == (1, 1)
        await wire.says("Deployed.")
        wire.shop.hire("it", echo)
        wire.there.gateway.drop()
        wire.ann.says(wire.ann.dm, "second")
        wire.there.gateway.repeat()
        await wire.says("heard second")
        wire.ann.says(wire.ann.dm, "third")
        await wire.says("heard third")
        assert heard(wire) == ["heard second", "heard third"]


@proves("C110", "discord")
async def test_after_a_lost_session_answers_are_read_back_where_a_question_is_open_each_once(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.says("What is it?")
        wire.there.gateway.forget()
        wire.there.gateway.drop(4000)
        wire.ann.replies(card, "an answer that nobody heard")
        await wire.says("You said: an answer that nobody heard.")
        assert wire.there.gateway.seen["identify"] == 2
        wire.there.gateway.invalidate()
        await wait_until(lambda: wire.there.gateway.seen["identify"] == 3 and wire.there.gateway.connected)
        wire.ann.says(wire.ann.dm, "go on")
        await wire.card("What is it?")
        said = [plain(one) for one in wire.there.ours(wire.ann.dm) if plain(one).startswith("You said")]
        assert said == ["You said: an answer that nobody heard."]


@proves("C110", "discord")
async def test_an_answer_among_hundreds_of_missed_messages_is_read(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        thread = await wire.thread(wire.room())
        card = await wire.card("What is it?", thread)
        await wire.down()
        for n in range(230):
            wire.eve.says(thread, f"not meant for the bot {n}")
        wire.ann.replies(card, "a parrot")
        await wire.up()
        await wire.final(card, "a parrot")
        await wire.says("You said: a parrot.", thread)


async def test_a_request_to_reconnect_costs_nothing(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        wire.there.gateway.reconnect()
        wire.ann.says(wire.ann.dm, "meanwhile")
        await wire.says("heard meanwhile")
        assert wire.there.gateway.seen["identify"] == 1


async def test_a_silent_gateway_is_left_and_what_was_said_into_it_is_heard(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path, silence=2.0) as wire:
        wire.hire(echo)
        wire.there.gateway.silence()
        wire.ann.says(wire.ann.dm, "can you hear me?")
        await wire.says("heard can you hear me?")


async def test_a_gateway_that_answers_heartbeats_but_no_resume_is_left(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path, silence=1.0) as wire:
        wire.hire(echo)
        wire.there.gateway.heartbeat = 0.2
        wire.there.gateway.ignore()
        wire.there.gateway.drop()
        await wait_until(lambda: wire.there.gateway.seen["resume"])
        await wait_until(lambda: wire.there.gateway.seen["identify"] == 2 and wire.platform.alive())
        wire.ann.says(wire.ann.dm, "and now?")
        await wire.says("heard and now?")


async def test_discord_being_away_for_a_while_loses_nothing(redis_url: str, tmp_path: Path) -> None:
    """What the agent says meanwhile is shown when Discord is back."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        await wire.there.goes_down()
        wire.ann.says(wire.ann.dm, "while it was away")
        await wire.there.comes_up()
        await wire.says("heard while it was away")


async def test_a_message_that_comes_with_the_first_session_is_heard(redis_url: str, tmp_path: Path) -> None:
    """Between READY and the end of the library's own preparations there are seconds in which people write."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(echo)
        wire.pauses = PAUSES
        wire.there.guild("home", wire.ann)
        await wire.begin()
        await wait_until(lambda: wire.there.gateway.connected)
        wire.ann.says(wire.ann.dm, "early")
        await wire.says("heard early")


async def test_an_early_press_is_acknowledged(redis_url: str, tmp_path: Path) -> None:
    """A button of before the restart, pressed while the new session prepares itself.

    What the library tells of the old one, when that is over, is heard by nobody and breaks nothing.
    """
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        wire.there.guild("home", wire.ann)
        wire.ann.says(wire.ann.dm, "to production")
        card = await wire.card("Deploy?")
        wire.pauses = PAUSES
        over = wire.platform.session.bot
        assert over is not None
        await wire.down()
        over.dispatch("ready")
        before = wire.there.gateway.seen["identify"]
        await wire.up(served=False)
        await wire.begin()
        await wait_until(lambda: wire.there.gateway.seen["identify"] > before)
        press = wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        assert press.acked == 6


async def test_a_wrong_token_is_told_and_the_right_one_is_taken_up(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path, served=False) as wire:
        right, wire.there.world.portal.token = wire.there.token, "another"
        await wire.begin()
        wire.there.world.portal.token = "something else"
        await wait_until(lambda: "DISCORD_BOT_TOKEN" in (wire.surface.trouble() or ""))
        assert right not in (wire.surface.trouble() or "")
        (found,) = await wire.platform.check()
        assert not found.ok
        assert "DISCORD_BOT_TOKEN" in found.words
        wire.there.world.portal.token = "another"
        await wait_until(wire.surface.serving.is_set)
        await wait_until(lambda: wire.surface.trouble() is None)


async def test_a_token_that_was_reset_is_told(redis_url: str, tmp_path: Path) -> None:
    """Discord closes with 4004 and refuses every call; the front end goes on trying, and serves once it may."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        right = wire.there.token
        wire.there.reset_token()
        await wait_until(lambda: "DISCORD_BOT_TOKEN" in (wire.surface.trouble() or ""))
        assert 4004 in wire.there.gateway.closed
        wire.there.world.portal.token = right
        await wait_until(lambda: wire.platform.alive() and wire.surface.trouble() is None)
        wire.ann.says(wire.ann.dm, "now")
        await wire.says("heard now")


async def test_an_intent_that_is_not_switched_on_is_told(redis_url: str, tmp_path: Path) -> None:
    """4014 at IDENTIFY; once it is allowed, the front end serves."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(echo)
        wire.there.gateway.refuse(4014)
        await wire.begin()
        await wait_until(lambda: "Message Content Intent" in (wire.surface.trouble() or ""))
        await wait_until(wire.surface.serving.is_set)
        wire.ann.says(wire.ann.dm, "now")
        await wire.says("heard now")


async def test_a_permission_that_the_bot_lacks_is_told_everywhere(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log, to the doctor and on `/health`; of a server that Discord itself cannot reach nothing is known."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(echo)
        home, gone = (wire.there.guild(name, wire.bob) for name in ("home", "gone"))
        home.roles[0].permissions &= ~BITS["attach_files"]
        gone.away = True
        await wire.front()
        told = "In the server 'home' the bot lacks Attach Files:"

        async def known() -> bool:
            checks = await health.front_ends(wire.broker, SHIPPED, ["discord"])
            return checks[0].words.startswith(told)

        await wait_until(known)
        assert [one.ok for one in await wire.platform.check() if one.words.startswith(told)] == [False]
        assert caplog.text.count(told) == 1
        wire.ann.says(wire.ann.dm, "all the same")
        await wire.says("heard all the same")


async def test_without_the_content_intent_the_bot_works_and_says_what_it_misses(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.there.world.portal.message_content = False
        wire.hire(echo)
        await wire.front()
        wire.ann.says(wire.ann.dm, "hello")
        await wire.says("heard hello")
        assert any("Message Content Intent" in one.words for one in await wire.platform.check())
        assert not wire.there.gateway.closed


async def test_a_session_that_worked_is_begun_anew_soon_however_often_it_ends(redis_url: str, tmp_path: Path) -> None:
    """Pauses grow only while nothing works at all."""
    async with wired(redis_url, tmp_path) as wire:
        for times in range(2, 6):
            wire.there.gateway.drop(4010)
            await wait_until(lambda times=times: wire.there.gateway.seen["identify"] == times)
            await wait_until(wire.platform.alive)


@pytest.mark.parametrize(("code", "words"), [(4004, "DISCORD_BOT_TOKEN"), (4014, "Message Content Intent")])
async def test_health_says_why_discord_does_not_let_us_in(
    redis_url: str, tmp_path: Path, code: int, words: str
) -> None:
    """Any process can tell: the words stand beside the hold of the bot."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.there.gateway.refuse(code, times=3)
        await wire.begin()

        async def told() -> bool:
            checks = await health.front_ends(wire.broker, SHIPPED, ["discord"])
            return [one.ok for one in checks] == [False] and words in checks[0].words

        await wait_until(told)
        assert code in wire.there.gateway.closed


@proves("C110", "discord")
async def test_what_was_said_in_ten_minutes_without_a_connection_is_taken_once_in_every_place(
    redis_url: str, tmp_path: Path
) -> None:
    """In a direct message, a channel and a thread; oldest first, of permitted people only; a press is made again."""

    async def body(run: Run, message: str) -> str:
        return await (deploy(run, message) if message == "deploy" else what(run, message))

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(body, guarded=("deploy",))
        room = wire.room()
        thread = await wire.thread(room)
        wire.there.deny(room, "create_public_threads")
        wire.ann.says(room, f"{wire.there.mention} go")
        wire.ann.says(wire.ann.dm, "go")
        wire.bob.says(wire.bob.dm, "deploy")
        places = (wire.ann.dm, room, thread)
        cards = [await wire.card("What is it?", place) for place in places]
        approval = await wire.card("Deploy?", wire.bob.dm)
        await wire.there.goes_down()
        wire.there.gateway.forget()
        for card in cards[1:]:
            wire.eve.replies(card, "a lie")
        for number, card in enumerate(cards):
            wire.ann.replies(card, f"first {number}")
            wire.ann.replies(card, f"second {number}")
        lost = wire.bob.presses(approval, "Approve")
        wire.there.passes(600)
        await wire.there.comes_up()
        for number, (card, place) in enumerate(zip(cards, places, strict=True)):
            await wire.final(card, f"first {number}")
            await wire.says(f"You said: first {number}.", place)
        assert lost.acked is None
        assert "Approve" in approval.live
        wire.there.gateway.invalidate()
        await wait_until(lambda: wire.there.gateway.seen["identify"] == 3 and wire.there.gateway.connected)
        wire.bob.presses(approval, "Approve")
        await wire.says("Deployed.", wire.bob.dm)
        for number, place in enumerate(places):
            said = [plain(one) for one in wire.there.ours(place) if plain(one).startswith("You said")]
            assert said == [f"You said: first {number}."]
