"""What is shown over the wire: whole, readable, within Discord's limits; and what happens when it cannot be shown."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run
from core.model import Person
from core.question import Option
from tests.adapters.discord.wire import Wire, plain, wired
from tests.contract.agents import where
from tests.proves import proves
from tests.standins.discord import Channel, Message
from tests.waiting import wait_until

MARKUP = 'rm -rf `build_*` && echo "[a](b)" <b> & _x_ *y* ~z~ > # + - = | { } . ! \\ ``` @everyone <@1>'


def choices(message: Message) -> list[str]:
    """What its menus offer."""
    found: list[str] = []
    for one in message.selects:
        options = one.raw.get("options")
        found += [str(each["label"]) for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    return found


async def asked(wire: Wire, command: str) -> Message:
    """Let a command be approved; its card."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": command})
        return "Ran."

    wire.hire(ask)
    wire.ann.says(wire.ann.dm, "please")
    return await wire.card("")


@proves("C49", "discord")
@proves("C55", "discord")
async def test_long_options_are_whole_numbered_and_short_in_what_they_carry(redis_url: str, tmp_path: Path) -> None:
    long = "🦜 The same long beginning of every option, " * 4
    options = [f"{long}{n}" for n in range(9)]

    async def ask(run: Run, message: str) -> str:
        return f"Took …{(await run.choose('Ж' * 200, options))[-3:]}"

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Ж")
        said = "".join(plain(one) for one in wire.there.ours(wire.ann.dm))
        assert all(f"{number}. {option.strip()}" in said for number, option in enumerate(options, 1))
        assert [label[:2] for label in choices(card)] == [f"{n}." for n in range(1, 10)]
        assert all(len(one.custom_id) <= 64 for one in (*card.buttons, *card.selects))
        wire.ann.chooses(card, choices(card)[6])
        await wire.says("Took …, 6")


@proves("C50", "discord")
async def test_markup_is_shown_as_it_is_and_calls_nobody(redis_url: str, tmp_path: Path) -> None:
    async def ask(run: Run, message: str) -> str:
        await run.choose("Fine?", ["yes"], message=MARKUP)
        await run.confirm("May I?", tool="shell", arguments={"command": MARKUP})
        return f"said {MARKUP}"

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        wire.ann.says(wire.ann.dm, "please")
        first = await wire.card("Fine?")
        assert MARKUP.replace("\\", "") in plain(first)
        wire.ann.presses(first, "yes")
        card = await wire.card("May I?")
        assert MARKUP.replace("\\", "") in plain(card).replace("\u200b", "")
        wire.ann.presses(card, "Approve")
        last = await wire.says("said rm -rf")
        assert first.pinged | card.pinged | last.pinged <= {wire.ann.id}
        assert not any(one.everyone for one in (first, card, last))
        wire.there.fail_next("send", code=50035, times=100)
        wire.ann.says(wire.ann.dm, "please")
        ann = Person(id=f"dc:{wire.ann.id}")

        async def told() -> list[str]:
            return [why for one in (await wire.broker.pending(ann)).requests for why in one.not_shown.values()]

        await wait_until(told)
        assert (await told())[0].startswith("Discord refused it")


@proves("C51", "discord")
async def test_an_edit_to_the_same_changes_nothing(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire, "ls")
        ids = [one.custom_id for one in card.buttons]
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved")
        await wire.says("Ran.")
        await wait_until(lambda: "acted on" in plain(card) or "delivered" in plain(card))
        await wire.restart()
        target = await wire.broker.cards.target(f"dc-{wire.ann.dm.id}", card.id)
        assert target is not None
        before = plain(card)
        request = await wire.broker.request(target.of, Person(id=f"dc:{wire.ann.id}"))
        assert request is not None
        for id in request.cards.values():
            await wire.surface.relay.repair(id)
        assert plain(card) == before
        again = wire.ann.presses_id(card, next(one for one in ids if one.endswith(":o0")))
        await wire.told("Already answered")
        assert (again.acked, plain(card)) == (6, before)


@proves("C52", "discord")
@proves("C118", "discord")
async def test_long_texts_come_whole_in_order_and_the_question_last(redis_url: str, tmp_path: Path) -> None:
    short = "".join(f"Line {n} of a text. " + "\n" for n in range(200))
    long = "```python\n" + "print('hello')\n" * 13_000 + "```\n"

    async def ask(run: Run, message: str) -> str:
        await run.say(short)
        await run.say(long)
        await run.say("!." * 2_000)
        await run.say("🦜" * 3_000)
        return f"To {await run.choose('Next?', ['on'], message='*word* ' * 1_500)}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        broken = wire.there.fail_next("send", cut="before")
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("")
        assert broken.reached.is_set()
        said = [plain(one) for one in wire.there.ours(wire.ann.dm)]
        joined = "\n".join(said)
        assert [joined.count(f"Line {n} of") for n in range(200)] == [1] * 200
        assert all(joined.index(f"Line {n} of") < joined.index(f"Line {n + 1} of") for n in range(199))
        await wait_until(lambda: sum(len(one.attachments) for one in wire.there.ours(wire.ann.dm)) == 3)
        files = [file.content for one in wire.there.ours(wire.ann.dm) for file in one.attachments]
        assert files[:2] == [long.encode(), ("🦜" * 3_000).encode()]
        assert [files[2].count(b"*word*"), joined.count("!.")] == [1_500, 2_000]
        assert [one for one in wire.there.ours(wire.ann.dm) if one.live] == wire.there.ours(wire.ann.dm)[-1:] == [card]
        wire.ann.presses(card, "on")
        await wire.says("To on.")


@proves("C56", "discord")
async def test_equal_options_stay_two_and_blank_ones_are_left_out(redis_url: str, tmp_path: Path) -> None:
    async def ask(run: Run, message: str) -> str:
        options = [
            Option(id="1", label="Yes"),
            Option(id="2", label="Yes"),
            Option(id="3", label=" \n"),
            Option(id="4", label="Seven", description="the number"),
        ]
        return f"Took {await run.choose('Which?', options)}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which?")
        yes = [one.custom_id for one in card.buttons if "Yes" in one.label]
        assert len(yes) == 2
        assert "3. Seven — the number" in plain(card)
        wire.ann.presses_id(card, yes[1])
        await wire.says("Took 2.")


@proves("C58", "discord")
async def test_the_whole_subject_is_shown_or_attached_before_there_is_an_approve(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        command = "echo " + "x" * 3_000 + " && rm -rf / --no-preserve-root"
        await asked(wire, command)
        shown = "".join(plain(one) for one in wire.there.ours(wire.ann.dm))
        assert command[-40:] in shown
        card = next(one for one in wire.there.ours(wire.ann.dm) if one.live)
        assert "Approve" in card.labels
        wire.ann.presses(card, "Deny")
        await wire.final(card)
        await asked(wire, "x" * 100_000)
        files = [file.content for one in wire.there.ours(wire.ann.dm) for file in one.attachments]
        assert files[0].decode().count("x") >= 100_000


@proves("C63", "discord")
async def test_a_question_that_cannot_be_shown_is_answered_elsewhere(redis_url: str, tmp_path: Path) -> None:
    """The person closed their direct messages, or the bot lost its rights in a thread: said once."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("Where to?")
        wire.ann.presses(card, "staging")
        await wire.says("To staging.")
        wire.ann.blocks_dms()
        wire.ann.says(wire.ann.dm, "again")
        ann = Person(id=f"dc:{wire.ann.id}")

        async def told() -> bool:
            return any(request.not_shown for request in (await wire.broker.pending(ann)).requests)

        await wait_until(told)
        (request,) = (await wire.broker.pending(ann)).requests
        assert "does not take direct messages" in next(iter(request.not_shown.values()))
        wire.ann.slash(wire.ann.dm, "answer", id=request.id, text="production")
        await wire.told("Accepted.")


async def test_an_archived_thread_is_opened_for_an_edit_and_a_locked_one_is_said_to_be_so(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        thread = await wire.thread(wire.room())
        card = await wire.card("Where to?", thread)
        wire.there.archive(thread)
        ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
        (request,) = (await wire.broker.pending(ann)).requests
        wire.ann.slash(thread, "answer", id=request.id, text="staging")
        await wire.final(card, "staging")


async def test_what_discord_limits_is_waited_for_and_comes_once(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        wire.there.fail_next("send", retry_after=0.2)
        wire.ann.says(wire.ann.dm, "go")
        await wire.card("Where to?")
        wire.there.fail_next("send", cut="after")
        wire.ann.presses(wire.there.ours(wire.ann.dm)[-1], "staging")
        await wire.says("To staging.")
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("To staging.") == 1


async def test_a_server_where_no_thread_may_be_begun_is_answered_in_the_channel_and_said(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        room = wire.room()
        wire.there.deny(room, "create_public_threads")
        wire.ann.says(room, f"{wire.there.mention} go")
        card = await wire.card("Where to?", room)
        wire.ann.replies(card, "staging")
        await wire.says("To staging.", room)


async def test_a_front_end_killed_between_send_and_ledger_shows_no_second_card(redis_url: str, tmp_path: Path) -> None:
    """Discord had the message when we died: sent again under its nonce it is the same one, and its buttons work."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        held = wire.there.fail_next("send", held="late")
        wire.ann.says(wire.ann.dm, "go")
        await held.reached.wait()
        await wait_until(lambda: wire.there.ours(wire.ann.dm))
        await wire.down()
        held.release()
        await wire.up()
        await wait_until(lambda: len(wire.there.calls("send")) >= 2)
        (card,) = wire.there.ours(wire.ann.dm)
        wire.ann.presses(card, "staging")
        await wire.final(card, "staging")
        await wire.says("To staging.")


async def test_a_question_for_a_locked_thread_goes_to_the_person_directly(redis_url: str, tmp_path: Path) -> None:
    async def ask(run: Run, message: str) -> str:
        await run.choose("Where to?", ["staging", "production"])
        return f"At {await run.choose('When?', ['now', 'later'])}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        thread = await wire.thread(wire.room())
        await wire.card("Where to?", thread)
        card = await locked_out(wire, thread)
        wire.ann.presses(card, "now")
        await wire.final(card, "Answered “now” by Ann on Discord")
        assert (await wire.run(thread)).state == "completed"
        said = await wire.says("At now.")
        assert f"<#{thread.id}>" in said.text


async def test_what_was_found_comes_directly_when_the_bot_was_thrown_out(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        room = wire.room()
        thread = await wire.thread(room)
        await wire.card("Where to?", thread)
        await wait_until(lambda: "answer" in wire.there.commands)
        (request,) = (await wire.broker.pending(Person(id=f"dc:{wire.ann.id}"))).requests
        guild = room.guild
        assert guild is not None
        wire.there.kick(guild)
        wire.ann.slash(wire.ann.dm, "answer", id=request.id, text="staging")
        await wire.says("To staging.")


async def locked_out(wire: Wire, thread: Channel) -> Message:
    """A question for a thread that was locked meanwhile: the card that its person gets directly."""
    ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
    await wait_until(lambda: "answer" in wire.there.commands)
    (request,) = (await wire.broker.pending(ann)).requests
    wire.there.archive(thread, locked=True)
    wire.ann.slash(wire.ann.dm, "answer", id=request.id, text="staging")
    return await wire.card("When?")


async def test_a_reply_to_a_question_that_went_to_the_person_directly_answers_it(
    redis_url: str, tmp_path: Path
) -> None:
    """Also one that is given while nobody listens; what else is written there is no answer to it."""

    async def ask(run: Run, message: str) -> str:
        await run.choose("Where to?", ["staging", "production"])
        return f"At {await run.ask('When?')}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        thread = await wire.thread(wire.room())
        await wire.card("Where to?", thread)
        card = await locked_out(wire, thread)
        wire.ann.says(wire.ann.dm, "another task")
        await wire.card("Where to?")
        assert card.live
        await wire.down()
        wire.ann.replies(card, "at noon")
        await wire.up()
        await wire.final(card, "Answered “at noon” by Ann on Discord")
