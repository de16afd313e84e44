"""Files: both ways, albums as one, names and sizes."""

from __future__ import annotations

from core.agent import Run
from tests.adapters.telegram.bench import Office
from tests.adapters.telegram.ground import Ground
from tests.proves import proves
from tests.standins.telegram import Person, TelegramServer
from tests.standins.telegram.second import free_port
from tests.waiting import wait_until

NAMES = ("../../AGENT.md", "..\\..\\x", "/etc/cron.d/x", "n" * 200, "CON", ".env", "same.txt", "same.txt")
PICTURE = b"\x89PNG\r\n\x1a\n" + b"0" * 64


async def take(run: Run, message: str) -> str:
    """Tell what came."""
    contents = [(await run.content(file)).decode("latin-1") for file in run.attachments]
    assert all(set("/\\\0").isdisjoint(file.name) for file in run.attachments)
    return f"{message}: {len(contents)} with {'+'.join(contents)}"


@proves("C123", "telegram")
async def test_files_of_any_name_arrive_whole(made: Office, ann: Person) -> None:
    made.hire(take)
    for number, name in enumerate(NAMES):
        ann.sends_file(name, f"<{number}>".encode(), caption=f"file {number}")
        await made.sees(ann, f"file {number}: 1 with <{number}>")


async def test_an_album_is_one_message(made: Office, ann: Person, server: TelegramServer) -> None:
    made.hire(take)
    ann.sends_album([("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b"three")], caption="all")
    await made.sees(ann, "all: 3 with one+two+three")
    await wait_until(lambda: not server.pending)


async def test_an_album_that_telegram_calls_us_with_is_one_message_too(ground: Ground) -> None:
    """Its parts come in calls of their own; each is confirmed when it is stored, so the next one comes at once."""
    ground.port = free_port()
    ground.hire(take)
    ann = ground.telegram.person("Ann")
    async with ground.front(album_gap=1.0):
        ann.sends_album([("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b"three")], caption="all")
        await ground.says(ann, "all: 3 with one+two+three")
        await ground.settled()
    assert len(ground.texts(ann)) == 1


async def test_a_file_that_telegram_does_not_give_is_said_to_be_too_large(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    made.hire(take)
    ann.sends_file("huge.bin", b"x", claimed_size=3_000_000_000)
    await made.sees(ann, "huge.bin: larger than the 2000 MB")
    ann.sends_file("big.bin", b"x" * 1_000_001, caption="look")
    await made.sees(ann, "big.bin: ")
    await made.sees(ann, "look: 0 with")


async def test_a_file_goes_out_as_it_is_and_a_picture_is_seen(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    async def give(run: Run, message: str) -> str:
        await run.attach(b"content", "report.txt", text="The report")
        await run.attach(PICTURE, "chart.png")
        return "There."

    made.hire(give)
    ann.says("please")
    await made.sees(ann, "There.")
    await made.settled("tg")
    found = [(one.file.name, one.file.photo) for one in server.messages(ann) if one.file is not None]
    assert ("report.txt", False) in found
    assert ("chart.png", True) in found


async def test_a_file_answers_nothing_by_itself(made: Office, ann: Person) -> None:
    """With a question of text open, nothing of it is taken: half of what somebody says is not dropped in silence."""

    async def ask(run: Run, message: str) -> str:
        return f"You said: {await run.ask('What is it?')}."

    made.hire(ask)
    ann.says("please")
    await made.ask(ann, "What is it?")
    ann.sends_file("a.txt", b"x", caption="a parrot")
    await made.sees(ann, "No file is asked for")
    ann.says("a parrot")
    await made.sees(ann, "You said: a parrot.")
