"""Conversations over HTTP: listed, paged, under their older name, with several agents."""

from tests.adapters.web.place import Place, User


async def test_a_long_history_is_read_in_pages(place: Place, owner: User) -> None:
    """From its end backwards, each entry once."""
    said = await owner.send("hello 0")
    await owner.until(said.run, "completed")
    for number in range(1, 6):
        await owner.until((await owner.send(f"hello {number}", said.conversation)).run, "completed")
    path = f"/v1/conversations/{said.conversation}"
    texts: list[str] = []
    before = ""
    while True:
        page = (await owner.get(f"{path}?limit=4{before}"))["history"]
        assert isinstance(page, list)
        entries = [entry for entry in page if isinstance(entry, dict)]
        if not entries:
            break
        texts = [str(entry["text"]) for entry in entries] + texts
        before = f"&before={entries[0]['seq']}"
    assert texts[::2] == [f"hello {number}" for number in range(6)]
    assert len(texts) == 12


async def test_an_older_client_calls_conversations_sessions(place: Place, owner: User) -> None:
    """Same paths under the older name, and `session` for `conversation`."""
    sent = await owner.post("/v1/send", {"text": "text please"})
    (card,) = await owner.asked(str(sent["conversation"]))
    again = await owner.post("/v1/send", {"text": "Ann", "session": sent["conversation"]})
    assert (again["kind"], again["request"]) == ("answered", card["request"])
    await owner.until(str(sent["run"]), "completed")
    assert (await owner.get(f"/v1/sessions/{sent['conversation']}"))["conversation"]
    (listed,) = [(await owner.get("/v1/sessions"))["conversations"]]
    assert isinstance(listed, list)
    assert len(listed) == 1


async def test_a_command_in_the_text_is_a_command(place: Place, owner: User) -> None:
    """Also while a question is open; one that only shows something says which."""
    said = await owner.send("delete build")
    await owner.asked(said.conversation)
    told = await owner.post("/v1/send", {"text": "/pending", "conversation": said.conversation})
    assert (told["kind"], told["command"]) == ("told", "pending")
    stopped = await owner.post("/v1/send", {"text": "/cancel", "conversation": said.conversation})
    assert (stopped["kind"], stopped["run"]) == ("stopped", said.run)
    await owner.until(said.run, "canceled")


async def test_what_is_said_while_it_works_steers_the_run(place: Place, owner: User) -> None:
    """The same run, and no second one."""
    said = await owner.send("wait x")
    await place.script.at("x").wait()
    more = await owner.post("/v1/send", {"text": "hurry", "conversation": said.conversation})
    assert (more["run"], more["steer"]) == (said.run, True)
    place.script.gate("x").set()
    await owner.until(said.run, "completed")
