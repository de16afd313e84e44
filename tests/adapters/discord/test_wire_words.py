"""What people write over the wire: answers, small talk, commands, edits; in direct messages, channels and threads."""

from __future__ import annotations

from pathlib import Path

from adapters.doors import Linked
from core.agent import Run
from core.model import Person
from core.people import OWNER, People
from tests.adapters.discord.wire import acked, plain, wired
from tests.contract.agents import deploy, what, where
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until


async def echo(run: Run, message: str) -> str:
    """Say what was said."""
    return f"heard {message}"


@proves("C11", "discord")
@proves("C61", "discord")
async def test_a_task_has_its_thread_and_only_a_reply_of_its_people_answers_there(
    redis_url: str, tmp_path: Path
) -> None:
    """What others write in the thread, and what is written in the channel, is not the answer."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        room = wire.room()
        thread = await wire.thread(room, "a parrot question")
        assert thread.name == "a parrot question"
        card = await wire.card("What is it?", thread)
        assert card.pinged == {wire.ann.id}
        wire.eve.replies(card, "a lie")
        wire.eve.says(thread, "lunch?")
        wire.ann.says(room, "just talking")
        wire.ann.replies(card, "a parrot")
        await wire.says("You said: a parrot.", thread)
        assert not wire.there.ours(room)
        assert (await wire.run(thread)).state == "completed"


async def test_in_a_thread_of_others_the_bot_hears_only_what_mentions_it(redis_url: str, tmp_path: Path) -> None:
    """In one of its own it hears everything that people say there; it never hears another bot."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        robot = wire.there.person("robot")
        robot.account.bot = True
        room = wire.room(robot)
        theirs, ours = wire.there.thread(room, "our own talk", wire.ann), await wire.thread(room, "one")
        await wire.says("heard one", ours)
        for place in (theirs, ours):
            robot.says(place, f"{wire.there.mention} beep")
            wire.ann.says(place, "between us")
            wire.ann.says(place, f"{wire.there.mention} two")
            await wire.says("heard two", place)
        said = [[plain(one) for one in wire.there.ours(place)] for place in (theirs, ours)]
        assert said == [["heard two"], ["heard one", "heard between us", "heard two"]]


async def test_what_people_say_in_a_channel_is_context_for_the_tasks_that_begin_there(
    redis_url: str, tmp_path: Path
) -> None:
    """For each thread that grows from it, by a mention or a command; a thread of theirs has its own."""

    async def look(run: Run, message: str) -> str:
        return " · ".join(f"{line.by}: {line.text}" for line in await run.overheard()) or "nothing"

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(look)
        room = wire.room()
        theirs = wire.there.thread(room, "our own talk", wire.ann)
        wire.eve.says(room, f"the build is red, <@{wire.bob.id}>")
        wire.bob.says(room, "since noon")
        wire.eve.says(theirs, "pizza?")
        for who in (wire.ann, wire.bob):
            await wire.says("Eve: the build is red, @Bob · Bob: since noon", await wire.thread(room, "why?", who))
        wire.ann.says(theirs, f"{wire.there.mention} why?")
        await wire.says("Eve: pizza?", theirs)
        began = len(wire.there.threads(room))
        wire.ann.slash(room, "ask", text="and now?")
        await wait_until(lambda: len(wire.there.threads(room)) > began)
        await wire.says("since noon", wire.there.threads(room)[-1])
        assert all(plain(one).startswith("Ann: ") for one in wire.there.ours(room))


@proves("C33", "discord")
@proves("C35", "discord")
async def test_a_text_that_is_no_option_consumes_nothing(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("Where to?")
        for number, words in enumerate(("to the moon", "hello?", "status"), 2):
            wire.ann.says(wire.ann.dm, words)
            await wait_until(lambda count=number: len(wire.there.ours(wire.ann.dm)) == count)
            assert "Pick one" in plain(wire.there.ours(wire.ann.dm)[-1])
        assert card.live
        for words, answer in (("2", "production"), ("staging", "staging"), ("PRODUCTION", "production")):
            wire.ann.says(wire.ann.dm, words)
            await wire.final(card, f"Answered “{answer}”")
            await wait_until(lambda to=f"To {answer}.": plain(wire.there.ours(wire.ann.dm)[-1]) == to)
            wire.ann.says(wire.ann.dm, "once more")
            card = await wire.card("Where to?")


@proves("C36", "discord")
async def test_commands_are_commands_also_while_a_question_is_open(redis_url: str, tmp_path: Path) -> None:
    """Slash commands answer the one who gave them alone; typed ones are known, too; other slashes are text."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("What is it?")
        await wait_until(lambda: "status" in wire.there.commands)
        given = wire.ann.slash(wire.ann.dm, "status")
        await wire.told("Waiting for you")
        assert given.acked == 5
        wire.ann.slash(wire.ann.dm, "help")
        await wire.told("/cancel")
        wire.ann.says(wire.ann.dm, "/pending")
        await wire.says("/answer")
        assert card.live
        wire.ann.replies(card, "/etc/passwd")
        await wire.says("You said: /etc/passwd.")
        wire.ann.says(wire.ann.dm, "again")
        for command, words in (("new", ""), ("cancel", "canceled")):
            card = await wire.card("### What is it?")
            wire.ann.slash(wire.ann.dm, command)
            await wire.final(card, words)
            wire.ann.says(wire.ann.dm, "and again")


@proves("C38", "discord")
async def test_an_edit_changes_nothing_and_says_so_where_the_text_is_another(redis_url: str, tmp_path: Path) -> None:
    """Of the message that began a task, of a command and of an answer; an hour later, and after a restart."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        ann, dm = wire.ann, wire.ann.dm
        began, command = ann.says(dm, "to staging"), ann.says(dm, "/help")
        await wire.says("/pending")
        await wire.card("Deploy?")
        answer = ann.says(dm, "yes")
        await wire.says("Deployed.")
        ann.says(dm, "once more")
        card = await wire.card("Deploy?")
        before, said = await wire.run(dm), len(wire.there.ours(dm))
        wire.there.passes(3_600)
        for message in (began, command, answer):
            ann.edits(message, message.content)
        for number, (message, words) in enumerate([(began, "/cancel"), (command, "/new"), (answer, "no")], 1):
            ann.edits(message, words)
            await wait_until(lambda count=said + number: len(wire.there.ours(dm)) == count)
        await wire.restart()
        wire.there.passes(1)
        ann.edits(answer, "yes")
        await wait_until(lambda: len(wire.there.ours(dm)) == said + 4)
        told = [plain(one) for one in wire.there.ours(dm)[said:]]
        assert all("I do not read edits" in words for words in told), told
        assert (await wire.run(dm)).id == before.id
        assert "Approve" in card.live
        ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann")


@proves("C38", "discord")
async def test_an_edit_of_what_began_a_thread_is_answered_there(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        room = wire.room()
        thread = await wire.thread(room, "one")
        await wire.says("heard one", thread)
        wire.ann.edits(room.seen[0], f"{wire.there.mention} two")
        await wire.says("I do not read edits", thread)
        assert not wire.there.ours(room)


@proves("C110", "discord")
async def test_replies_given_while_nobody_listened_are_taken_once_oldest_first(redis_url: str, tmp_path: Path) -> None:
    """In a direct message and in a thread, from permitted people only, also over a restart of ours."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        thread = await wire.thread(wire.room())
        asked = await wire.card("What is it?", thread)
        wire.ann.says(wire.ann.dm, "go")
        mine = await wire.card("What is it?")
        await wire.down()
        wire.eve.replies(asked, "a lie")
        wire.ann.replies(asked, "first")
        wire.ann.replies(asked, "second")
        wire.ann.says(wire.ann.dm, "in private")
        await wire.up()
        await wire.final(asked, "first")
        await wire.says("You said: first.", thread)
        await wire.final(mine, "in private")
        await wire.says("You said: in private.")
        await wire.restart()
        wire.hire(echo)
        wire.ann.says(wire.ann.dm, "on we go")
        await wire.says("heard on we go")
        for place in (thread, wire.ann.dm):
            assert len([one for one in wire.there.ours(place) if plain(one).startswith("You said")]) == 1


async def test_a_task_is_begun_by_a_command_in_a_thread_of_its_own(redis_url: str, tmp_path: Path) -> None:
    async def ask(run: Run, message: str) -> str:
        await run.ask("Ready?")
        return message

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        room = wire.room()
        await wait_until(lambda: "ask" in wire.there.commands)
        wire.ann.slash(room, "ask", text="from a command")
        await wait_until(lambda: wire.there.threads(room))
        thread = wire.there.threads(room)[0]
        card = await wire.card("Ready?", thread)
        await wire.told("Started in")
        wire.ann.replies(card, "yes")
        await wire.says("from a command", thread)
        wire.there.deny(room, "send_messages")
        wire.ann.slash(room, "ask", text="where the bot may not write")
        await wire.told("the bot lacks a permission here")


async def test_a_stranger_gets_a_code_and_a_known_person_enters_it(redis_url: str, tmp_path: Path) -> None:
    """Through the doors that Sayso uses: nothing is done for an account that nobody knows."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        people = People(wire.broker)
        wire.other = Linked(people)
        await wire.front()
        wire.hire(echo)
        wire.ann.says(wire.ann.dm, "hello")
        code = plain(await wire.says("Your code is")).split("code is ")[1].split(":")[0]
        await people.pair(code, OWNER.id)
        wire.ann.says(wire.ann.dm, "again")
        await wire.says("heard again")
        room = wire.room()
        wire.eve.slash(room, "pair")
        told = await wire.told("Your code is", wire.eve)
        wire.ann.slash(wire.ann.dm, "pair")
        await wait_until(lambda: wire.ann.modals)
        eves = plain(told).split("code is ")[1].split(":")[0]
        wire.ann.submits(wire.ann.modals[-1], {"The code that it shows": eves})
        await wire.told("Linked: Eve is you from now on.")
        assert await people.who(f"dc:{wire.eve.id}") == Person(id="web:owner", name="owner", role="owner")


@proves("C47", "discord")
async def test_pairing_is_acknowledged_before_redis_answers(redis: RedisServer, tmp_path: Path) -> None:
    """A stranger is shown the code all the same; who is known is asked to give the command again, for its form."""
    async with Proxy(redis.socket) as proxy, wired(proxy.url, tmp_path, served=False) as wire:
        people = People(wire.broker)
        wire.other = Linked(people)
        await wire.front()
        await wait_until(lambda: "pair" in wire.there.commands)
        proxy.replies.clear()
        await acked(wire.ann.slash(wire.ann.dm, "pair"))
        proxy.replies.set()
        code = plain(await wire.told("Your code is")).split("code is ")[1].split(":")[0]
        await people.pair(code, OWNER.id)
        proxy.replies.clear()
        await acked(wire.ann.slash(wire.ann.dm, "pair"))
        proxy.replies.set()
        await wire.told("Sayso is slow just now: give the command again.")
        wire.ann.slash(wire.ann.dm, "pair")
        await wait_until(lambda: wire.ann.modals)


async def test_a_role_of_the_server_lets_in_and_approves_until_it_is_taken(redis_url: str, tmp_path: Path) -> None:
    """Nobody is on the list and nobody is linked; what the role says counts from the next press on."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.other = Linked(People(wire.broker))
        guild = wire.there.guild("home", wire.ann, wire.bob, wire.eve)
        room = wire.there.channel(guild, "general")
        member, approver = wire.there.role(guild, "crew", wire.ann), wire.there.role(guild, "leads", wire.bob)
        wire.roles = {member.id: "member", approver.id: "approver"}
        await wire.front()
        wire.hire(deploy, guarded=("deploy",))
        wire.eve.says(room, f"{wire.there.mention} let me in")
        thread = await wire.thread(room, "to production")
        card = await wire.card("Deploy?", thread)
        wire.eve.presses(card, "Approve")
        await wire.told("This is not yours to answer.", wire.eve)
        wire.bob.presses(card, "Deny with a reason")
        await wait_until(lambda: len(wire.bob.modals) == 1)
        guild.members[wire.bob.id].remove(approver)
        wire.bob.presses(card, "Approve")
        await wire.told("This is not yours to answer.", wire.bob)
        assert card.live
        guild.members[wire.bob.id].append(approver)
        wire.bob.presses(card, "Approve")
        await wire.final(card, "Approved by Bob on Discord")
        await wire.says("Deployed.", thread)
        assert len(wire.there.threads(room)) == 1


async def test_the_end_of_a_task_is_marked_where_it_began(redis_url: str, tmp_path: Path) -> None:
    """Nothing else is said in the channel; the next task of the thread has the mark anew."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        room = wire.room()
        thread = await wire.thread(room, "a parrot question")
        begun = room.seen[0]
        card = await wire.card("What is it?", thread)
        assert not begun.reactions
        wire.ann.replies(card, "a parrot")
        await wait_until(lambda: begun.reactions == ["✅"])
        wire.ann.says(thread, f"{wire.there.mention} and now?")
        card = await wire.card("What is it?", thread)
        wire.ann.slash(thread, "cancel", id=(await wire.run(thread)).id)
        await wait_until(lambda: begun.reactions == ["🛑"])
        assert not wire.there.ours(room)


async def test_a_mark_that_is_not_allowed_keeps_nothing_back(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        room = wire.room()
        wire.there.deny(room, "add_reactions")
        thread = await wire.thread(room, "one")
        await wire.says("heard one", thread)
        wire.ann.says(thread, f"{wire.there.mention} two")
        await wire.says("heard two", thread)
        assert not room.seen[0].reactions
