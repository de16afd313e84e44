"""Files that are asked for, over the wire: chosen in a form, or attached to a reply."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run, file_field, text_field
from tests.adapters.discord.wire import plain, wired
from tests.waiting import wait_until


async def table(run: Run, message: str) -> str:
    """Ask for a table."""
    file = await run.ask_file("Which table?", types=[".csv"])
    return f"Read {(await run.content(file)).decode()} of {file.name}, {file.size} bytes."


async def test_a_file_is_chosen_in_a_form(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        assert "At most 20 MB from here" in plain(card)
        wire.ann.presses(card, "Choose a file")
        await wait_until(lambda: wire.ann.modals)
        modal = wire.ann.modals[-1]
        wire.ann.submits(modal, {modal.fields[0]: [("table.csv", b"a,b")]})
        await wire.says("Read a,b of table.csv, 3 bytes.")
        await wire.final(card, "Received “table.csv” by Ann")


async def test_a_file_of_another_kind_in_a_form_is_refused_and_can_be_chosen_anew(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        for name, words in (("film.mp4", "not of a kind that is wanted: send .csv"), ("table.csv", "")):
            before = len(wire.ann.modals)
            wire.ann.presses(card, "Choose a file")
            await wait_until(lambda seen=before: len(wire.ann.modals) > seen)
            modal = wire.ann.modals[-1]
            wire.ann.submits(modal, {modal.fields[0]: [(name, b"a,b")]})
            if words:
                await wire.told(words)
                assert card.live
        await wire.says("Read a,b of table.csv, 3 bytes.")


async def test_a_file_that_is_too_large_for_us_is_refused_in_words(redis_url: str, tmp_path: Path) -> None:
    """The form is sent, the file is not kept, the question stays open."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        wire.ann.presses(card, "Choose a file")
        await wait_until(lambda: wire.ann.modals)
        modal = wire.ann.modals[-1]
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
        wire.ann.presses(card, "Fill in")
        await wait_until(lambda: wire.ann.modals)
        modal = wire.ann.modals[-1]
        name, tables = modal.fields
        wire.ann.submits(modal, {name: "Rex", tables: [("a.csv", b"1"), ("b.csv", b"2")]})
        await wire.says("Rex: 2")


async def test_a_file_attached_to_a_reply_answers_in_a_thread(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        thread = await wire.thread(wire.room())
        card = await wire.card("Which table?", thread)
        assert "as a reply to this message" in plain(card)
        wire.ann.replies(card, "", files=[("table.csv", b"a,b")])
        await wire.says("Read a,b of table.csv, 3 bytes.", thread)


async def test_the_next_file_in_a_direct_chat_answers_and_a_restart_changes_nothing(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(table)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        wire.ann.presses(card, "Choose a file")
        await wait_until(lambda: wire.ann.modals)
        await wire.restart()
        modal = wire.ann.modals[-1]
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
        wire.hire(table)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("Which table?")
        wire.ann.presses(card, "Choose a file")
        await wait_until(lambda: wire.ann.modals)
        modal = wire.ann.modals[-1]
        wire.there.world.cdn = wire.there.world.address.replace("127.0.0.1", "localhost")
        wire.ann.submits(modal, {modal.fields[0]: [("table.csv", b"a,b")]})
        await wire.told("it does not come from Discord")
        wire.there.world.cdn = ""
        assert card.live
