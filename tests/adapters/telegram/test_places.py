"""Groups, topics, moved chats: everything lands where it belongs, and who may is who may."""

from __future__ import annotations

from adapters.desk import Open
from adapters.outcomes import Notice
from core.agent import Run
from core.model import Person as Account
from tests.adapters.telegram.bench import Office
from tests.contract.agents import deploy, what, where
from tests.proves import proves
from tests.standins.telegram import Person, TelegramServer
from tests.waiting import wait_until
from tests.workshop import Gate


class Approvers(Open):
    """Doors that let everybody in as one who may approve."""

    async def admit(self, person: Account, place: str, private: bool) -> Account | Notice:
        """Say who somebody is."""
        return person.changed(role="approver")


@proves("C61", "telegram")
async def test_everything_of_a_task_stays_in_its_topic(
    made: Office, server: TelegramServer, ann: Person, bob: Person
) -> None:
    """What streams, asks, types, a file, an error, a refusal and an end nobody answered: none lands elsewhere."""
    gate = Gate()

    async def work(run: Run, message: str) -> str:
        if message == "break":
            raise ValueError("it broke")
        async with run.stream() as stream:
            await stream.write("half a word")
            await gate()
        await run.attach(b"content", "report.txt", text="The report")
        return f"You said: {await run.ask('What is it?')}."

    ops = server.group("Ops", [ann, bob], forum=True)
    topic = server.topic(ops, "ops")
    made.doors.set((f"tg:{ann.id}", f"tg:{bob.id}"))
    made.hire(work)
    for surface in made.surfaces:
        surface.relay._quiet_ms = 0  # pyright: ignore[reportPrivateUsage] a status card at once
    ann.says("@sayso_bot go", ops, topic=topic)
    await made.sees(ops, "half a word", topic=topic)
    await wait_until(lambda: (ops.id, "typing") in server.state.actions, 15.0)
    gate.opened.set()
    card = await made.ask(ops, "What is it?", topic=topic)
    await wait_until(lambda: any(one.file is not None for one in server.messages(ops, topic=topic)))
    query = bob.presses(card, "Cancel task")
    await wait_until(lambda: query.answers)
    ann.says("a parrot", ops, reply_to=card)
    await made.sees(ops, "You said: a parrot.", topic=topic)
    ann.says("@sayso_bot break", ops, topic=topic)
    await made.sees(ops, "it broke", topic=topic)
    ann.says("/status", ops, topic=topic)
    await made.sees(ops, "Paused", topic=topic)
    await made.settled("tg")
    assert [one.text for one in server.messages(ops) if one.topic is not topic] == []
    assert all(call.fields.number("message_thread_id") == topic.id for call in server.calls("sendChatAction", ops))


@proves("C63", "telegram")
async def test_a_group_that_becomes_a_supergroup_goes_on_with_its_question(
    made: Office, server: TelegramServer, ann: Person
) -> None:
    small = server.group("Ops", [ann], small=True)
    made.doors.set((f"tg:{ann.id}",))
    made.hire(what)
    ann.says("@sayso_bot go", small)
    await made.ask(small, "What is it?")
    large = server.migrate(small)
    card = await made.ask(large, "What is it?")
    ann.says("a parrot", large, reply_to=card)
    await made.sees(large, "You said: a parrot.")
    await made.ends(card, "a parrot")


@proves("C63", "telegram")
async def test_a_bot_that_was_thrown_out_leaves_its_question_to_be_answered_elsewhere(
    made: Office, server: TelegramServer, ann: Person
) -> None:
    """It is a fact on the question, not tried in a loop, and other chats go on."""
    ops = server.group("Ops", [ann])
    made.doors.set((f"tg:{ann.id}",))
    gate = Gate()

    async def late(run: Run, message: str) -> str:
        await gate()
        return f"To {await run.choose('Where to?', ['staging'])}."

    made.hire(late)
    ann.says("@sayso_bot go", ops)
    await made.run_of(ann, ops)
    server.kick_bot(ops)
    gate.opened.set()

    async def said() -> bool:
        return any(f"tg-{ops.id}" in one.not_shown for one in await made.open(ann))

    await wait_until(said)
    assert (await made.open(ann))[0].not_shown[f"tg-{ops.id}"] == "the bot was removed from the group"
    await made.settled("tg")
    calls = len(server.calls("sendMessage", ops))
    ann.says("go")
    await made.ask(ann, "Where to?")
    assert len(server.calls("sendMessage", ops)) == calls


async def test_a_right_that_is_missing_is_said_in_one_sentence_until_it_is_given(
    made: Office, server: TelegramServer, ann: Person
) -> None:
    ops = server.group("Ops", [ann])
    made.doors.set((f"tg:{ann.id}",))
    made.hire(where)
    front = made.surfaces[0]
    server.mute(ops)
    ann.says("@sayso_bot go", ops)
    await wait_until(lambda: front.trouble())
    assert front.trouble() == f"The bot may not write in tg-{ops.id}: give it the right to send messages there."
    server.mute(ops, muted=False)
    ann.says("/status", ops)
    await made.sees(ops, "Waiting for you")
    await wait_until(lambda: front.trouble() is None)


async def test_a_person_who_blocked_the_bot_is_no_loop_either(
    made: Office, server: TelegramServer, ann: Person
) -> None:
    gate = Gate()

    async def late(run: Run, message: str) -> str:
        await gate()
        return f"To {await run.choose('Where to?', ['staging'])}."

    made.hire(late)
    ann.says("go")
    await made.run_of(ann)
    ann.blocks_bot()
    gate.opened.set()

    async def said() -> bool:
        return any("blocked" in why for one in await made.open(ann) for why in one.not_shown.values())

    await wait_until(said)
    await made.settled("tg")


@proves("C02", "telegram")
async def test_two_people_press_different_buttons_together_and_one_wins(
    made: Office, server: TelegramServer, ann: Person, bob: Person
) -> None:
    """Twice through real HTTP; the race itself is run by the hundred against the broker."""
    ops = server.group("Ops", [ann, bob])
    made.doors.set((f"tg:{ann.id}", f"tg:{bob.id}"))
    made.hire(where)
    made.let_in_by(Approvers(made.people))
    for turn in range(2):
        ann.says("@sayso_bot go", ops)
        card = await made.ask(ops, "Where to?")
        with server.state.lock:
            presses = [ann.presses(card, "staging"), bob.presses(card, "production")]
        await wait_until(lambda presses=presses: all(one.answers for one in presses))
        told = sorted(str(one.notice) for one in presses)
        assert [
            words.startswith(start) for words, start in zip(told, ("Accepted.", "Already answered by"), strict=True)
        ]
        await made.ends(card, "Answered")
        await wait_until(lambda turn=turn: sum("To " in one.text for one in server.messages(ops)) == turn + 1)
        won = "staging" if presses[0].notice == "Accepted." else "production"
        assert f"To {won}." in [one.text for one in server.messages(ops)]


async def test_an_administrator_without_a_name_is_asked_to_press(
    made: Office, server: TelegramServer, ann: Person
) -> None:
    gate = Gate()

    async def work(run: Run, message: str) -> str:
        await gate()
        return "Never."

    ops = server.group("Ops", [ann])
    made.doors.set((f"tg:{ann.id}",))
    made.hire(work)
    ann.says("@sayso_bot go", ops)
    run = await made.run_of(ann, ops)
    ann.says("/cancel@sayso_bot", ops, anonymous=True)
    card = await made.ask(ops, "I cannot see who you are")
    await made.presses(ann, card, "Pause")
    await made.shop.until(run.id, "paused")


async def test_what_people_said_among_themselves_is_context_with_their_names(
    made: Office, server: TelegramServer, ann: Person, bob: Person
) -> None:
    """Within its topic, once, also for a task that works already; a group that nobody bound is not listened to."""
    gate = Gate()

    async def look(run: Run, message: str) -> str:
        await gate()
        return " · ".join(f"{line.by}: {line.text}" for line in await run.overheard())

    server.can.reads_all = True
    ops = server.group("Ops", [ann, bob], forum=True)
    here, there = server.topic(ops, "builds"), server.topic(ops, "lunch")
    made.hire(look)
    made.doors.set(())
    bob.says("nobody hears this", ops, topic=here)
    await wait_until(lambda: not server.pending)
    await made.taken()
    made.doors.set((f"tg:{ann.id}",))
    bob.says("the build is red", ops, topic=here)
    ann.says("pizza?", ops, topic=there)
    ann.says("@sayso_bot why?", ops, topic=here)
    await made.run_at(f"tg-{ops.id}.{here.id}", ann)
    bob.says("since noon", ops, topic=here)
    ann.says("@sayso_bot look closely", ops, topic=here)
    await wait_until(lambda: not server.pending)
    await made.taken()
    gate.opened.set()
    answer = await made.sees(ops, "since noon", topic=here)
    assert answer.text == "Bob: the build is red · Bob: since noon"


async def test_what_people_say_among_themselves_starts_nothing(
    made: Office, server: TelegramServer, ann: Person, bob: Person
) -> None:
    server.can.reads_all = True
    ops = server.group("Ops", [ann, bob])
    made.doors.set((f"tg:{ann.id}",))
    made.hire(deploy)
    bob.says("ok", ops)
    ann.says("yes", ops)
    await wait_until(lambda: not server.pending)
    assert server.messages(ops) == []
