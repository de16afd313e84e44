"""While a task works: what it writes grows as a draft with Telegram's own Stop, in groups as an edited message."""

from __future__ import annotations

from core.agent import Run
from tests.adapters.telegram.bench import Office
from tests.standins.telegram import Person, TelegramServer
from tests.waiting import wait_until
from tests.workshop import Gate


async def test_a_draft_grows_and_its_stop_pauses_the_task(made: Office, ann: Person, server: TelegramServer) -> None:
    gate = Gate()

    async def write(run: Run, message: str) -> str:
        async with run.stream() as stream:
            await stream.write("Once **upon**")
            await gate()
        return "Never."

    made.hire(write)
    ann.says("please")
    await wait_until(lambda: any("Once upon" in one.text for one in server.drafts(ann)))
    run = await made.run_of(ann)
    ann.stops_draft()
    await made.shop.until(run.id, "paused")
    await wait_until(lambda: not server.pending)


async def test_a_server_without_drafts_gets_edits(made: Office, ann: Person, server: TelegramServer) -> None:
    gate = Gate()

    async def write(run: Run, message: str) -> str:
        async with run.stream() as stream:
            await stream.write("Once upon")
            await gate()
        return "The end."

    server.can.drafts = False
    made.hire(write)
    for surface in made.surfaces:
        surface.relay._quiet_ms = 0  # pyright: ignore[reportPrivateUsage] a status card at once
    ann.says("please")
    await made.ask(ann, "Once upon")
    gate.opened.set()
    await made.sees(ann, "The end.")


async def test_a_text_comes_once_and_stays(made: Office, ann: Person, server: TelegramServer) -> None:
    async def write(run: Run, message: str) -> str:
        async with run.stream() as stream:
            await stream.write("Once upon a time")
        return "The end."

    made.hire(write)
    ann.says("please")
    await made.sees(ann, "The end.")
    await made.settled("tg")
    assert [one.text for one in server.messages(ann)].count("Once upon a time") == 1
    assert all(not call.fields.flag("link_preview_options") for call in server.calls("sendMessage"))
    assert all(not one.preview for one in server.messages(ann))
