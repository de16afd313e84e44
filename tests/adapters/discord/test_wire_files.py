"""Files that are asked for, over the wire: chosen in a form, or attached to a reply."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run, file_field, text_field
from tests.adapters.discord.wire import Wire, plain, wired
from tests.proves import proves
from tests.standins.discord import Message, Modal
from tests.standins.discord.shapes import section, words
from tests.waiting import wait_until


async def table(run: Run, message: str) -> str:
    """Ask for a table."""
    file = await run.ask_file("Which table?", types=[".csv"])
    note = f"; {file.note}" if file.note else ""
    return f"Read {(await run.content(file)).decode()} of {file.name}, {file.size} bytes{note}."


async def asked(wire: Wire) -> Message:
    """A table is asked for in a direct message; the card."""
    wire.hire(table)
    wire.ann.says(wire.ann.dm, "please")
    return await wire.card("Which table?")


async def opened(wire: Wire, card: Message, button: str = "Choose a file") -> Modal:
    """Ann opens the form of a card."""
    before = len(wire.ann.modals)
    wire.ann.presses(card, button)
    await wait_until(lambda: len(wire.ann.modals) > before)
    return wire.ann.modals[-1]


async def test_a_file_is_chosen_in_a_form(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        assert "At most 20 MB from here" in plain(card)
        modal = await opened(wire, card)
        assert words(section(modal.tops[0], "component"), "file_types") == [".csv"]
        wire.ann.submits(modal, {modal.fields[0]: [("table.csv", b"a,b")]})
        await wire.says("Read a,b of table.csv, 3 bytes.")
        await wire.final(card, "Received “table.csv” by Ann")


async def test_a_file_of_another_kind_in_a_form_is_refused_and_can_be_chosen_anew(
    redis_url: str, tmp_path: Path
) -> None:
    """Discord's own filter knows endings of names only, so none is set for a media type."""

    async def any_text(run: Run, message: str) -> str:
        return (await run.ask_file("Which table?", types=["text/*"])).name

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(any_text)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        for name, told in (("film.png", "not of a kind that is wanted: send text/*"), ("table.csv", "")):
            modal = await opened(wire, card)
            assert not words(section(modal.tops[0], "component"), "file_types")
            wire.ann.submits(modal, {modal.fields[0]: [(name, b"a,b")]})
            if told:
                await wire.told(told)
                assert card.live
        await wire.says("table.csv")


async def test_a_file_that_is_too_large_for_us_is_refused_in_words(redis_url: str, tmp_path: Path) -> None:
    """The form is sent, the file is not kept, the question stays open."""
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        modal = await opened(wire, card)
        wire.ann.submits(modal, {modal.fields[0]: [("table.csv", b"x" * 1_000_001)]})
        await wire.told("I did not take the file")
        assert card.live


async def test_a_form_takes_files_beside_its_other_questions(redis_url: str, tmp_path: Path) -> None:
    async def form(run: Run, message: str) -> str:
        given = await run.form("Import", text_field("name", "Name"), file_field("tables", "Tables", max_files=3))
        files = given["tables"]
        assert isinstance(files, list)
        return f"{given['name']}: {len(files)}"

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(form)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("1 of 2: Name")
        modal = await opened(wire, card, "Fill in")
        name, tables = modal.fields
        wire.ann.submits(modal, {name: "Rex", tables: [("a.csv", b"1"), ("b.csv", b"2")]})
        await wire.says("Rex: 2")


@proves("C123", "discord")
async def test_a_file_attached_to_a_reply_answers_in_a_thread(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        thread = await wire.thread(wire.room())
        card = await wire.card("Which table?", thread)
        assert "as a reply to this message" in plain(card)
        wire.ann.replies(card, "the second sheet counts", files=[("../../table.csv", b"a,b")])
        await wire.says("Read a,b of table.csv, 3 bytes; the second sheet counts.", thread)


async def test_the_next_file_in_a_direct_chat_answers_and_a_restart_changes_nothing(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        modal = await opened(wire, card)
        await wire.restart()
        wire.ann.says(wire.ann.dm, "I have none")
        await wire.says("send it as an attachment")
        wire.ann.submits(modal, {modal.fields[0]: [("old.csv", b"old")]})
        await wire.says("Read old of old.csv, 3 bytes.")
        wire.ann.says(wire.ann.dm, "again")
        await wire.card("Which table?")
        wire.ann.sends_file(wire.ann.dm, "new.csv", b"new")
        await wire.says("Read new of new.csv, 3 bytes.")


async def test_a_file_in_a_form_is_loaded_from_discords_own_hosts_only(redis_url: str, tmp_path: Path) -> None:
    """C124: an address elsewhere, whoever put it there, is not opened."""
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        modal = await opened(wire, card)
        wire.there.world.cdn = wire.there.world.address.replace("127.0.0.1", "localhost")
        wire.ann.submits(modal, {modal.fields[0]: [("table.csv", b"a,b")]})
        await wire.told("it does not come from Discord")
        wire.there.world.cdn = ""
        assert card.live


async def test_files_of_who_may_not_answer_are_not_loaded(redis_url: str, tmp_path: Path) -> None:
    """A form of theirs is answered as a press of theirs; in a group nothing is said aloud."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.people = (*wire.people, f"dc:{wire.eve.id}")
        await wire.front()
        wire.hire(table)
        thread = await wire.thread(wire.room())
        card = await wire.card("Which table?", thread)
        wire.eve.replies(card, "", files=[("film.csv", b"what nobody loads")])
        modal = await opened(wire, card)
        modal.person = wire.eve.account
        wire.eve.submits(modal, {modal.fields[0]: [("film.csv", b"what nobody loads")]})
        await wire.told("not yours to answer", wire.eve)
        wire.bob.replies(card, "", files=[("table.csv", b"a,b")])
        await wire.says("Read a,b of table.csv, 3 bytes.", thread)
        assert wire.there.server.loaded == ["table.csv"]
