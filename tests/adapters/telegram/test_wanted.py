"""Files that are asked for: sent as documents, pictures or albums, in reply to the card or as the next message."""

from __future__ import annotations

from core.agent import Run
from tests.adapters.telegram.bench import Office
from tests.standins.telegram import Person, TelegramServer


async def table(run: Run, message: str) -> str:
    """Ask for a table."""
    file = await run.ask_file("Which table?", types=[".csv"])
    return f"Read {(await run.content(file)).decode()} of {file.name}, {file.size} bytes."


async def test_a_document_in_reply_to_the_card_is_the_answer(made: Office, ann: Person) -> None:
    made.hire(table)
    ann.says("please")
    card = await made.sees(ann, "Which table?")
    assert "from here; a larger one on the dashboard" in card.text
    ann.sends_file("table.csv", b"a,b", reply_to=card)
    await made.sees(ann, "Read a,b of table.csv, 3 bytes.")
    await made.ends(card, "Received “table.csv” by Ann")


async def test_the_limit_of_the_servers_of_telegram_is_named(made: Office, ann: Person) -> None:
    """20 MB, unless a Bot API server of one's own allows more."""
    assert f"{made.telegram.limits.take_max // (1024 * 1024)} MB" in (await _asked(made, ann))


async def _asked(made: Office, ann: Person) -> str:
    made.hire(table)
    ann.says("please")
    return (await made.sees(ann, "Which table?")).text


async def test_a_picture_as_the_next_message_is_the_answer(made: Office, ann: Person) -> None:
    async def picture(run: Run, message: str) -> str:
        file = await run.ask_file("A picture?", types=["image/*"])
        return f"Seen {file.size} bytes of {file.type}."

    made.hire(picture)
    ann.says("please")
    await made.sees(ann, "A picture?")
    ann.sends_file("me.jpg", b"x" * 40, photo=True, caption="me")
    await made.sees(ann, "Seen 40 bytes of image/jpeg.")


async def test_an_album_answers_with_all_its_files(made: Office, ann: Person) -> None:
    async def tables(run: Run, message: str) -> str:
        files = await run.ask_files("Which tables?", max_files=3)
        return "Read " + "+".join([(await run.content(file)).decode() for file in files])

    made.hire(tables)
    ann.says("please")
    await made.sees(ann, "Which tables?")
    ann.sends_album([("a.csv", b"one"), ("b.csv", b"two"), ("c.csv", b"three")], caption="all")
    await made.sees(ann, "Read one+two+three")


async def test_a_file_that_telegram_does_not_give_leaves_the_question_open(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    made.hire(table)
    ann.says("please")
    card = await made.sees(ann, "Which table?")
    ann.sends_file("huge.csv", b"x", claimed_size=3_000_000_000, reply_to=card)
    await made.sees(ann, "huge.csv: larger than the")
    ann.sends_file("film.mp4", b"x", reply_to=card)
    await made.sees(ann, "'film.mp4' is not of a kind that is wanted: send .csv")
    ann.sends_file("table.csv", b"a,b")
    await made.sees(ann, "Read a,b of table.csv, 3 bytes.")


async def test_a_text_is_told_what_is_wanted(made: Office, ann: Person) -> None:
    made.hire(table)
    ann.says("please")
    await made.sees(ann, "Which table?")
    ann.says("it is on my desk")
    await made.sees(ann, "A file (.csv) is wanted: send it as an attachment, or /cancel")


async def test_a_file_of_who_may_not_answer_is_not_fetched(
    made: Office, server: TelegramServer, ann: Person, bob: Person
) -> None:
    made.hire(table)
    group = server.group("Ops", [ann, bob])
    made.doors.set((f"tg:{ann.id}", f"tg:{bob.id}"))
    ann.says("@sayso_bot please", group)
    card = await made.sees(group, "Which table?")
    bob.sends_file("film.csv", b"what nobody fetches", group, reply_to=card)
    ann.sends_file("table.csv", b"a,b", group, reply_to=card)
    await made.sees(group, "Read a,b of table.csv, 3 bytes.")
    assert len(server.calls("getFile")) == 1
