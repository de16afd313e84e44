"""The stand-in's messages, threads and permissions, used by the real discord.py."""

from __future__ import annotations

import io

import aiohttp
import discord
import pytest
from discord.http import Route

from tests.standins.discord import DiscordStandin, standin
from tests.standins.discord.client import Listener, listening
from tests.standins.discord.faults import Scope
from tests.standins.discord.world import Channel
from tests.waiting import wait_until

SCOPES: list[Scope] = ["user", "shared", "global"]


def at(bot: Listener, where: Channel) -> discord.TextChannel | discord.Thread:
    found = bot.get_channel(int(where.id))
    assert isinstance(found, discord.TextChannel | discord.Thread)
    return found


async def refused(code: int, call: object) -> discord.HTTPException:
    """Await a call that must be refused with this code."""
    with pytest.raises(discord.HTTPException) as caught:
        await call  # pyright: ignore[reportGeneralTypeIssues] any awaitable of discord.py
    assert caught.value.code == code
    return caught.value


def card(words: str) -> discord.ui.LayoutView:
    view = discord.ui.LayoutView(timeout=None)
    row: discord.ui.ActionRow[discord.ui.LayoutView] = discord.ui.ActionRow()
    row.add_item(discord.ui.Button(label="Approve", custom_id="v1:a:yes", style=discord.ButtonStyle.success))
    row.add_item(discord.ui.Button(label="Docs", url="https://example.org"))
    view.add_item(discord.ui.Container(discord.ui.TextDisplay(words), row, accent_colour=0x00FF00))
    return view


async def test_a_card_is_sent_edited_and_deleted() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        async with listening(there) as bot:
            sent = await at(bot, room).send(view=card("Deploy?"))
            (shown,) = there.ours(room)
            assert (shown.text, shown.labels, shown.live) == ("Deploy?", ["Approve", "Docs"], ["Approve"])
            closed = discord.ui.LayoutView(timeout=None)
            closed.add_item(discord.ui.TextDisplay("Approved"))
            await sent.edit(view=closed)
            assert (shown.text, shown.live, shown.shown) == ("Approved", [], ["Deploy?", "Approved"])
            await sent.delete()
            assert not there.ours(room)
            await refused(10008, sent.edit(view=closed))


async def test_the_same_nonce_makes_one_message() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        user = await bot.fetch_user(int(ana.id))
        first, second = await user.send("once", nonce="d-1"), await user.send("once", nonce="d-1")
        assert first.id == second.id
        assert len(there.messages(ana.dm)) == 1
        there.passes(600)
        assert (await user.send("again", nonce="d-1")).id != first.id


async def test_only_allowed_mentions_ring() -> None:
    async with standin() as there:
        ana, ben = there.person("ana"), there.person("ben")
        room = there.channel(there.guild("home", ana, ben), "general")
        async with listening(there) as bot:
            words = f"<@{ana.id}> <@{ben.id}> @everyone"
            await at(bot, room).send(words)
            only = discord.AllowedMentions(everyone=False, roles=False, users=[discord.Object(int(ana.id))])
            await at(bot, room).send(words, allowed_mentions=only)
            assert [one.pinged for one in there.ours(room)] == [set(), {ana.id}]


async def test_what_is_too_long_or_too_much_is_refused() -> None:
    async with standin(forgive=True) as there, listening(there) as bot:
        user = await bot.fetch_user(int(there.person("ana").id))
        wrong = await refused(50035, user.send("x" * 2001))
        assert "2000" in str(wrong)
        await refused(50035, user.send(view=card("x" * 4001)))
        view = discord.ui.View()
        view.add_item(discord.ui.Button(label="x" * 81, custom_id="a"))
        assert "components.0.components.0.label" in str(await refused(50035, user.send(view=view)))
        twice = discord.ui.View()
        twice.add_item(discord.ui.Button(label="a", custom_id="same"))
        twice.add_item(discord.ui.Button(label="b", custom_id="same"))
        await refused(50035, user.send(view=twice))
        await refused(50006, user.send(" "))
        await refused(40005, user.send(file=discord.File(io.BytesIO(bytes(11 << 20)), "big.bin")))
        assert len(there.violations) == 6


async def test_files_go_both_ways() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        ana.sends_file(ana.dm, "notes.txt", b"hello", "look")
        await wait_until(lambda: bot.heard)
        assert await bot.heard[0].attachments[0].read() == b"hello"
        await bot.heard[0].channel.send("back", file=discord.File(io.BytesIO(b"there"), "answer.md"))
        (sent,) = there.ours(ana.dm)
        assert [(one.name, one.content) for one in sent.attachments] == [("answer.md", b"there")]


async def test_history_is_read_from_a_message_on() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        known, *_ = (ana.says(room, f"{place}") for place in range(4))
        async with listening(there) as bot:
            after = discord.Object(int(known.id))
            assert [one.content async for one in at(bot, room).history(after=after)] == ["1", "2", "3"]
            assert [one.content async for one in at(bot, room).history(limit=2)] == ["3", "2"]


async def test_a_blocked_bot_cannot_write_directly() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        user = await bot.fetch_user(int(ana.id))
        ana.blocks_dms()
        await refused(50007, user.send("hello"))


async def test_permissions_are_taken_and_given() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        async with listening(there) as bot:
            place = at(bot, room)
            there.deny(room, "send_messages")
            await refused(50013, place.send("hello"))
            there.deny(room, "view_channel")
            await refused(50001, place.send("hello"))
            there.deny(room)
            await place.send("hello")
            there.removes(room)
            await refused(10003, place.send("hello"))


async def test_a_thread_is_opened_archived_locked_and_woken() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        async with listening(there) as bot:
            ana.says(room, f"{there.mention} go")
            await wait_until(lambda: bot.heard)
            thread = await bot.heard[0].create_thread(name="run")
            (known,) = there.threads(room)
            await refused(160004, bot.heard[0].create_thread(name="again"))
            sent = await thread.send("working")
            there.archive(known)
            await refused(50083, sent.edit(content="done"))
            await thread.send("this wakes it")
            assert not known.archive.archived
            there.archive(known)
            await thread.edit(archived=False)
            await sent.edit(content="done")
            there.archive(known, locked=True)
            await refused(160005, thread.send("no"))
            await refused(50013, thread.edit(archived=False))


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_429_is_waited_for(scope: Scope) -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        user = await bot.fetch_user(int(ana.id))
        await user.create_dm()
        there.fail_next("send", retry_after=0.05, scope=scope)
        await user.send("late")
        assert [one.status for one in there.calls("send")] == [429, 200]
        assert there.invalid_calls == (scope != "shared")


async def test_a_429_of_the_proxy_is_raised() -> None:
    async with standin() as there, listening(there) as bot:
        user = await bot.fetch_user(int(there.person("ana").id))
        there.fail_next("send", retry_after=5, via=False)
        with pytest.raises(discord.HTTPException) as caught:
            await user.send("no")
        assert caught.value.status == 429


async def test_a_bucket_lets_so_many_through_and_delays_the_rest() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        user = await bot.fetch_user(int(ana.id))
        there.limit("send", calls=2, per=0.1)
        for place in range(5):
            await user.send(str(place))
        assert [one.text for one in there.messages(ana.dm)] == ["0", "1", "2", "3", "4"]


async def test_a_call_may_take_effect_although_the_line_breaks() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        user = await bot.fetch_user(int(ana.id))
        for cut, seen in (("before", 0), ("after", 1)):
            fault = there.fail_next("send", cut="before" if cut == "before" else "after")
            with pytest.raises(aiohttp.ClientError):
                await user.send(cut, nonce=cut)
            assert fault.reached.is_set()
            assert len(there.messages(ana.dm)) == seen
        assert (await user.send("after", nonce="after")).content == "after"
        assert len(there.messages(ana.dm)) == 1


async def test_a_field_that_discord_does_not_know_is_a_violation() -> None:
    async with standin(forgive=True) as there, listening(there) as bot:
        await refused(50035, bot.http.request(_route(there), json={"content": "x", "contnet": "y"}))
        assert "contnet" in there.violations[0]


def _route(there: DiscordStandin) -> Route:
    dm = there.person("ana").dm
    return Route("POST", "/channels/{channel_id}/messages", channel_id=int(dm.id))
