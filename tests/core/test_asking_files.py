"""Agents ask for files: what they get, over parks and replays, in forms, and when the file is gone."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.agent import Denied, File, NotAskable, Run, file_field, text_field
from core.audit import Audit, Filter
from core.broker import open_broker
from core.errors import FileRefused
from core.files import told_of
from core.life.event import Reply
from core.life.result import Answered
from core.question import Accepted, Request
from tests.workshop import ANN, Workshop, store


@pytest.fixture
async def shop(redis_url: str, tmp_path: Path) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker, store(tmp_path) as files:
        yield Workshop(broker, files=files)


async def put(shop: Workshop, content: bytes, name: str) -> File:
    assert shop.files is not None
    return await shop.files.put(content, name, owner=ANN.id, type="text/csv")


async def hand(shop: Workshop, request: Request, *files: File, **more: str) -> None:
    """Answer with files; in a form they are the first field."""
    values = {request.question.fields[0].id: [file.id for file in files], **more}
    stored = {file.id: told_of(file) for file in files}
    event = Reply(request.id, Accepted.model_validate({"values": values}), ANN, "chat", files=stored)
    told = await shop.broker.answer(event)
    assert isinstance(told, Answered), told


async def test_the_file_that_was_asked_for_is_the_same_after_every_park(shop: Workshop) -> None:
    """Each question is parked on, so the code is called again three times, and gets the same file each time."""
    seen: list[File] = []

    async def body(run: Run, message: str) -> str:
        table = await run.ask_file("Which table?", types=[".csv"])
        seen.append(table)
        more = await run.ask_files("And which others?", required=False)
        await run.ask("Sure?")
        read = [(await run.content(file)).decode() for file in (table, *more)]
        return f"{table.name} {table.type} {table.size}: {read}"

    shop.hire("it", body)
    one, two = await put(shop, b"a,b\n1,2\n", "one.csv"), await put(shop, b"c", "two.csv")
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        await hand(shop, await shop.question(), one)
        await shop.until(run, "waiting")
        await hand(shop, await shop.question(), two)
        await shop.until(run, "waiting")
        await shop.answer(await shop.question(), "yes")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["one.csv text/csv 8: ['a,b\\n1,2\\n', 'c']"]
    assert seen == [one, one, one]


async def test_a_form_gives_files_beside_its_other_values(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        given = await run.form("Import", file_field("table", "Table"), text_field("name", "Name"))
        [table] = given["table"] if isinstance(given["table"], list) else []
        assert isinstance(table, File)
        return f"{given['name']}: {(await run.content(table)).decode()}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await hand(shop, await shop.question(), await put(shop, b"x", "x.csv"), name="Rex")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["Rex: x"]


async def test_a_file_that_is_gone_still_has_its_name_and_says_so_when_it_is_read(shop: Workshop) -> None:
    """Files are kept for a while only; a run that waited longer finds words, not a crash of ours."""

    async def body(run: Run, message: str) -> str:
        table = await run.ask_file("Which table?")
        await run.ask("Sure?")
        try:
            await run.content(table)
        except FileRefused as gone:
            return f"{table.name} {table.size}: {gone}"
        return "read"

    shop.hire("it", body)
    file = await put(shop, b"x", "x.csv")
    async with shop.worker():
        run = await shop.say()
        await hand(shop, await shop.question(), file)
        await shop.until(run, "waiting")
        assert shop.files is not None
        (shop.files.path(file).parents[2] / "entries" / f"{file.id}.json").unlink()
        await shop.answer(await shop.question(), "yes")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["x.csv 1: the content of 'x.csv' is gone"]


async def test_a_person_may_refuse_to_give_a_file(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        try:
            await run.ask_file("Which table?")
        except Denied as denied:
            return f"none: {denied.reason}"
        return "one"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.deny(await shop.question(), "there is none")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["none: there is none"]


async def test_too_many_files_cannot_be_asked_for(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        with pytest.raises(NotAskable):
            await run.ask_files("All of them?", max_files=100)
        return "refused"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["refused"]


async def test_the_audit_keeps_no_name_of_a_file(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        return (await run.ask_file("Which table?")).name

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await hand(shop, await shop.question(), await put(shop, b"x", "hunter2.csv"))
        await shop.until(run, "completed")
    lines = await Audit(shop.broker).lines(Filter())
    assert [line.kind for line in lines] == ["answer"]
    assert "hunter2" not in lines[0].model_dump_json()
