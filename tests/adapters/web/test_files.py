"""Files over HTTP: stored under an id, sent back as attachments, never shown in our name or to others."""

from pathlib import Path

from core.model import Json
from tests.adapters.web.place import Place, User, plain
from tests.adapters.web.sse import stream
from tests.proves import proves


async def test_a_file_comes_back_as_it_was_and_only_as_an_attachment(bare: Place, owner: User) -> None:
    """A page that somebody uploaded never runs in our name."""
    hostile = b"<script>alert(1)</script>"
    stored = plain(await owner.http.post("/v1/files", files={"file": ("a.html", hostile, "text/html")}), 201)
    assert (stored["name"], stored["size"]) == ("a.html", len(hostile))
    back = await owner.http.get(f"/v1/files/{stored['id']}")
    assert back.content == hostile
    assert back.headers["content-disposition"].startswith("attachment;")
    assert back.headers["x-content-type-options"] == "nosniff"
    assert "html" not in back.headers["content-type"]
    assert "sandbox" in back.headers["content-security-policy"]


async def test_a_hostile_name_is_only_text(bare: Place, owner: User) -> None:
    """No name becomes a path or a header."""
    for name in ("../../etc/passwd", 'a".html', "ä ö\u202e.exe", "x" * 500, "CON", "a\r\nb: c"):
        stored = plain(await owner.http.post("/v1/files", files={"file": (name, b"x")}), 201)
        assert "/" not in str(stored["name"])
        back = await owner.http.get(f"/v1/files/{stored['id']}")
        assert back.content == b"x"
        assert "b" not in back.headers


@proves("C123", "api")
async def test_files_keep_apart_whatever_they_are_called(place: Place, owner: User, tmp_path: Path) -> None:
    """Climbing, absolute, empty-ended, endless, reserved, hidden, twice the same: each is stored by what it holds."""
    climbing = ["../../AGENT.md", "..\\..\\x", "/etc/cron.d/x", "a\0b", "n" * 300]
    names = [*climbing, "CON", ".env", "same.txt", "same.txt"]
    inside = tmp_path / "files"

    def elsewhere() -> set[Path]:
        return {path for path in tmp_path.parent.rglob("*") if path != inside and inside not in path.parents}

    before = elsewhere()
    ids: list[Json] = []
    for number, name in enumerate(names):
        stored = plain(await owner.http.post("/v1/files", files={"file": (name, str(number).encode())}), 201)
        assert not {"/", "\\", "\0"} & set(str(stored["name"]))
        ids.append(stored["id"])
    assert len(set(map(str, ids))) == len(names)
    said = await owner.send("look", attachments=ids)
    await owner.until(said.run, "completed")
    contents = [(await owner.http.get(f"/v1/files/{id}")).content for id in ids]
    assert contents == [str(number).encode() for number in range(len(names))]
    assert elsewhere() == before


async def test_a_file_of_somebody_else_is_unknown(bare: Place, owner: User) -> None:
    """Also as an attachment of what they say."""
    other = await bare.user("bob")
    stored = plain(await owner.http.post("/v1/files", files={"file": ("a.txt", b"x")}), 201)
    theirs = await other.get(f"/v1/files/{stored['id']}", 404)
    nobodys = await other.get("/v1/files/f" + "0" * 24, 404)
    assert theirs == nobodys
    await other.post("/v1/send", {"text": "look", "attachments": [stored["id"]]}, 422)
    await owner.post("/v1/send", {"text": "look", "attachments": [stored["id"]]})


async def test_what_is_attached_is_shown_by_name(place: Place, owner: User) -> None:
    """In the history and in events, with size and type."""
    stored = plain(await owner.http.post("/v1/files", files={"file": ("a.txt", b"x", "text/plain")}), 201)
    said = await owner.send("look", attachments=[stored["id"]])
    await owner.until(said.run, "completed")
    shown = {"id": stored["id"], "name": "a.txt", "size": 1, "type": "text/plain"}
    assert (await owner.history(said.conversation))[0]["files"] == [shown]
    async with stream(owner, said.conversation) as events:
        assert (await events.next()).plain["files"] == [shown]


async def test_a_file_that_is_too_large_is_refused_in_words(redis_url: str, bare: Place, owner: User) -> None:
    """Before all of it was stored."""
    too_large = b"x" * (bare.settings.file_max + 1)
    refused = plain(await owner.http.post("/v1/files", files={"file": ("a.bin", too_large)}), 413)
    assert "bytes" in str(refused["detail"])
    assert (await owner.http.post("/v1/files", json={"file": "x"})).status_code == 415
    plain(await owner.http.post("/v1/files", files={"other": ("a.txt", b"x")}), 422)
    two = [("file", ("a.txt", b"x")), ("file", ("b.txt", b"y"))]
    assert "must be one" in str(plain(await owner.http.post("/v1/files", files=two), 422)["errors"])
