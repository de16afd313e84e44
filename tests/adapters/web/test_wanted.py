"""Files that are asked for, over HTTP: answered by the ids of uploaded files, each refusal says what to do."""

import pytest

from core.model import Json
from tests.adapters.web.place import Place, User, plain


async def upload(user: User, name: str, content: bytes = b"a,b") -> str:
    stored = plain(await user.http.post("/v1/files", files={"file": (name, content, "text/csv")}), 201)
    return str(stored["id"])


def answer(*ids: str) -> dict[str, Json]:
    return {"outcome": "accepted", "values": {"file": [*ids]}}


async def test_the_id_of_an_uploaded_file_answers_and_the_settled_request_names_it(place: Place, owner: User) -> None:
    said = await owner.send("table")
    (card,) = await owner.asked(said.conversation)
    told = {"kind": "file", "id": "file", "label": "", "types": [".csv"], "max_files": 1, "max_bytes": 100}
    assert card["fields"] == [told | {"required": True}]
    id = await upload(owner, "table.csv")
    await owner.post(f"/v1/requests/{card['request']}/answer", answer(id))
    await owner.until(said.run, "completed")
    shown = await owner.get(f"/v1/requests/{card['request']}")
    assert shown["outcome"] == "accepted"
    history = str(await owner.get(f"/v1/conversations/{said.conversation}"))
    assert "read a,b of table.csv" in history


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("film.mp4", b"x", "'film.mp4' is not of a kind that is wanted: send .csv"),
        ("big.csv", b"x" * 101, "'big.csv' is too large: it has 101 bytes, and at most 100 are taken"),
    ],
)
async def test_a_file_that_does_not_fit_is_refused_and_the_request_stays_open(
    place: Place, owner: User, name: str, content: bytes, words: str
) -> None:
    said = await owner.send("table")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    told = plain(await owner.http.post(path, json=answer(await upload(owner, name, content))), 422)
    assert words in str(told)
    assert (await owner.get(f"/v1/requests/{card['request']}"))["state"] == "open"


async def test_a_file_of_somebody_else_is_none(place: Place, owner: User) -> None:
    """C12: whoever guesses an id, or was told one, can neither read the file nor hand it to an agent."""
    ben = await place.user("Ben")
    said = await owner.send("table")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    theirs = await upload(ben, "theirs.csv")
    for ids in ([theirs], ["f" + "0" * 24], ["../../x"], [await upload(owner, "a.csv"), await upload(owner, "b.csv")]):
        told = plain(await owner.http.post(path, json=answer(*ids)), 422)
        assert "upload it first" in str(told) or "at most 1 file is taken" in str(told)


async def test_a_message_with_a_file_answers_too(place: Place, owner: User) -> None:
    said = await owner.send("table")
    await owner.asked(said.conversation)
    body: dict[str, Json] = {
        "text": "here",
        "conversation": said.conversation,
        "attachments": [await upload(owner, "table.csv")],
    }
    await owner.post("/v1/send", body)
    await owner.until(said.run, "completed")
    assert "read a,b of table.csv" in str(await owner.get(f"/v1/conversations/{said.conversation}"))
