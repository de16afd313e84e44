"""The stand-in's gateway, used by the real discord.py."""

from __future__ import annotations

import discord
import pytest

from tests.standins.discord import standin
from tests.standins.discord.client import Listener, listening
from tests.waiting import wait_until


async def test_a_message_in_a_direct_channel_reaches_the_bot() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        ana.says(ana.dm, "hello")
        await wait_until(lambda: bot.texts == ["hello"])
        assert isinstance(bot.heard[0].channel, discord.DMChannel)


async def test_a_guild_with_channels_and_threads_is_known_to_the_bot() -> None:
    async with standin() as there:
        ana, guild = (who := there.person("ana")), there.guild("home", who)
        room = there.channel(guild, "general")
        thread = there.thread(room, "talk", ana)
        async with listening(there) as bot:
            known = bot.get_guild(int(guild.id))
            assert known is not None
            assert known.get_channel(int(room.id)) is not None
            assert known.get_thread(int(thread.id)) is not None
            ana.says(thread, f"{there.mention} start")
            await wait_until(lambda: bot.heard)
            assert bot.user in bot.heard[0].mentions
            assert isinstance(bot.heard[0].author, discord.Member)


async def test_what_was_said_while_the_line_was_cut_arrives_once_by_resume() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        ana.says(ana.dm, "before")
        await wait_until(lambda: bot.texts == ["before"])
        there.gateway.drop()
        ana.says(ana.dm, "meanwhile")
        await wait_until(lambda: bot.resumes)
        ana.says(ana.dm, "after")
        await wait_until(lambda: "after" in bot.texts)
        assert bot.texts == ["before", "meanwhile", "after"]
        assert there.gateway.seen["identify"] == 1


async def test_a_session_that_is_lost_is_begun_anew_and_misses_what_was_said() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        there.gateway.forget()
        there.gateway.drop(4000)
        ana.says(ana.dm, "nobody hears this")
        await wait_until(lambda: there.gateway.seen["identify"] == 2 and there.gateway.connected)
        ana.says(ana.dm, "after")
        await wait_until(lambda: bot.texts == ["after"])
        assert not bot.resumes


async def test_invalid_session_while_connected_leads_to_a_new_one() -> None:
    async with standin() as there, listening(there):
        there.gateway.invalidate()
        await wait_until(lambda: there.gateway.seen["identify"] == 2 and there.gateway.connected)


async def test_a_request_to_reconnect_is_answered_by_resume() -> None:
    async with standin() as there, listening(there) as bot:
        there.gateway.reconnect()
        await wait_until(lambda: bot.resumes == 1)
        assert there.gateway.seen["identify"] == 1


async def test_a_silent_line_is_left_and_what_was_said_is_replayed() -> None:
    async with standin() as there, listening(there, silence=0.3) as bot:
        there.gateway.silence()
        ana = there.person("ana")
        ana.says(ana.dm, "can you hear me?")
        await wait_until(lambda: bot.texts == ["can you hear me?"])
        assert bot.resumes == 1


async def test_the_server_going_down_and_up_loses_nothing() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        await there.goes_down()
        ana.says(ana.dm, "while it was away")
        await there.comes_up()
        await wait_until(lambda: bot.texts == ["while it was away"])


async def test_a_wrong_token_is_refused_at_login() -> None:
    async with standin() as there:
        with there.pointed(), pytest.raises(discord.LoginFailure):
            async with Listener() as bot:
                await bot.start("wrong")


async def test_a_token_that_is_reset_closes_the_line_for_good() -> None:
    async with standin() as there, listening(there) as bot:
        there.reset_token()
        await wait_until(lambda: bot.is_closed())
        assert there.gateway.closed == [4004]


async def test_an_intent_that_is_not_enabled_is_refused_in_words() -> None:
    async with standin() as there:
        there.world.portal.message_content = False
        with there.pointed(), pytest.raises(discord.PrivilegedIntentsRequired):
            async with Listener() as bot:
                await bot.start(there.token)
        assert there.gateway.closed == [4014]


async def test_without_the_content_intent_only_mentions_and_direct_messages_have_text() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        async with listening(there, content=False) as bot:
            ana.says(room, "not for you")
            ana.says(room, f"{there.mention} for you")
            ana.says(ana.dm, "for you too")
            await wait_until(lambda: len(bot.heard) == 3)
            assert bot.texts == ["", f"{there.mention} for you", "for you too"]


async def test_the_same_event_can_come_twice() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        ana.says(ana.dm, "once")
        there.gateway.repeat()
        await wait_until(lambda: bot.texts == ["once", "once"])


async def test_members_are_told_when_asked_for() -> None:
    async with standin() as there:
        ana, ben = there.person("ana"), there.person("ben")
        guild = there.guild("home", ana, ben)
        async with listening(there) as bot:
            known = bot.get_guild(int(guild.id))
            assert known is not None
            found = await known.query_members("be")
            assert [one.name for one in found] == ["ben"]
