"""A file is asked for on a card, and given by a message with a file; who cannot send one here is told where."""

from __future__ import annotations

from core.agent import Run, file_field, text_field
from core.model import Person
from tests.contract.bench import ANN, BOB, GROUP, HOME, Bench
from tests.fakes import Message


async def ask(run: Run, message: str) -> str:
    """Ask for a table."""
    table = await run.ask_file("Which table?", types=[".csv"], max_bytes=200)
    return f"Read {(await run.content(table)).decode()} of {table.name}. {table.note}"


async def send(
    made: Bench, name: str, content: bytes = b"a,b", *, text: str = "here", person: Person = ANN, **where: Message | str
) -> str:
    """Send a file; returns what the person hears."""
    place, target = where.get("place", HOME), where.get("reply_to")
    assert isinstance(place, str)
    desk = made.platform.desk
    assert desk is not None
    id = await desk.file(place, name, content, person, "text/csv")
    card = target if isinstance(target, Message) else None
    answer = await made.platform.write(person, place, text, reply_to=card, files=(id,))
    return answer.text if answer is not None else ""


async def test_the_card_says_what_is_wanted_and_how_large_it_may_be(made: Bench) -> None:
    """Before anybody tries; where the platform gives us no files, it says where to give one."""
    made.hire(ask)
    await made.write("please")
    card = await made.says("Which table?")
    assert "a file (.csv)" in card.text
    if made.chats[0].limits.take_max:
        assert "At most 200 bytes." in card.text
    else:
        assert "on the dashboard" in card.text


async def test_a_larger_limit_of_the_agent_is_cut_to_what_fits_through(made: Bench) -> None:
    async def large(run: Run, message: str) -> str:
        return (await run.ask_file("Which film?")).name

    made.hire(large)
    await made.write("please")
    card = await made.says("Which film?")
    assert "larger one on the dashboard" in card.text or not made.chats[0].limits.take_max


async def test_the_next_message_with_a_file_is_the_answer_in_private(made: Bench) -> None:
    made.hire(ask)
    await made.write("please")
    card = await made.says("Which table?")
    assert await send(made, "table.csv", text="here it is") == ""
    await made.says("Read a,b of table.csv. here it is")
    await made.final(card, "Received “table.csv (here it is)” by Ann")


async def test_in_a_group_a_reply_to_the_card_is_the_answer_and_nothing_else(made: Bench) -> None:
    """C11: somebody's next picture is not the answer."""
    made.hire(ask)
    await made.write("please", place=GROUP)
    card = await made.says("Which table?", place=GROUP)
    request = (await made.pending())[0]
    await send(made, "other.csv", text="look", person=BOB, place=GROUP)
    assert (await made.request(request.id)).state == "open"
    await send(made, "table.csv", place=GROUP, reply_to=card)
    await made.says("Read a,b of table.csv.", place=GROUP)
    await made.final(card, "Received “table.csv (here)” by Ann")


async def test_what_does_not_fit_is_refused_in_words_and_the_question_stays_open(made: Bench) -> None:
    made.hire(ask)
    await made.write("please")
    card = await made.says("Which table?")
    request = (await made.pending())[0]
    assert "'film.mp4' is not of a kind that is wanted: send .csv" in await send(made, "film.mp4")
    assert "'big.csv' is too large" in await send(made, "big.csv", b"x" * 201)
    answer = await made.write("table.csv", reply_to=card)
    assert answer is not None
    assert "send it as an attachment" in answer.text
    assert (await made.request(request.id)).state == "open"
    await send(made, "table.csv")
    await made.says("Read a,b of table.csv.")


async def test_what_is_optional_is_skipped_by_a_press(made: Bench) -> None:
    async def maybe(run: Run, message: str) -> str:
        return f"Got {len(await run.ask_files('Any pictures?', required=False))}."

    made.hire(maybe)
    await made.write("please")
    card = await made.card("Any pictures?")
    assert made.accepted(await made.press(card, "Skip"))
    await made.says("Got 0.")
    await made.final(card, "Skipped by Ann")


async def test_a_form_takes_a_file_where_its_card_asks_for_it(made: Bench) -> None:
    """The card goes on to the next field, and its summary names the file."""

    async def form(run: Run, message: str) -> str:
        given = await run.form("Import", file_field("table", "Table"), text_field("name", "Name"))
        files = given["table"]
        assert isinstance(files, list)
        return f"{given['name']}: {len(files)}"

    made.hire(form)
    await made.write("please")
    card = await made.card("1 of 2: Table")
    await send(made, "table.csv", reply_to=card)
    card = await made.card("2 of 2: Name")
    await made.write("Rex", reply_to=card)
    card = await made.card("Table: table.csv")
    assert made.accepted(await made.press(card, "Submit"))
    await made.says("Rex: 1")
