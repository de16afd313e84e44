"""Files: whatever a sender calls them, they are stored apart, under safe names, within their limits."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.errors import FileRefused
from core.files import FileStore, safe_name

HOSTILE = ["../../AGENT.md", "..\\..\\x", "/etc/cron.d/x", "a\0", "a" * 300, "CON", ".env", "", "..", "\u202egpj.exe"]


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "files", file_max=1_000, quota=2_500, keep=3_600)


@pytest.mark.parametrize("name", [*HOSTILE, "é" * 200 + ".txt", "con.txt", "a b\nc.md"])
def test_a_safe_name_is_one_plain_word(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert len(safe.encode()) <= 121
    assert not set(safe) & set('/\\\0:*?"<>|\n\u202e ')
    assert not safe.startswith(".")
    assert safe.casefold().split(".")[0] not in {"con", "nul"}


def test_a_usual_name_stays_as_it_is() -> None:
    assert safe_name("Report-2026.pdf") == "Report-2026.pdf"


def names(folder: Path) -> list[str]:
    """What stands in a folder."""
    return sorted(place.name for place in folder.iterdir())


async def test_hostile_names_leave_the_folder_as_it_was(files: FileStore, tmp_path: Path) -> None:
    """Each is stored apart, none overwrites another, the original name is kept as text. Source: C123."""
    (tmp_path / "AGENT.md").write_text("mine")
    stored = [await files.put(f"content of {number}".encode(), name, owner="c") for number, name in enumerate(HOSTILE)]
    assert len({file.id for file in stored}) == len(HOSTILE)
    for number, file in enumerate(stored):
        assert await files.content(file) == f"content of {number}".encode()
        assert file.original == HOSTILE[number]
        assert files.path(file).is_relative_to(tmp_path / "files")
    assert (tmp_path / "AGENT.md").read_text() == "mine"
    assert names(tmp_path) == ["AGENT.md", "files"]


async def test_two_files_of_one_name_and_one_content_of_two_names(files: FileStore) -> None:
    one = await files.put(b"one", "same.txt", owner="c")
    two = await files.put(b"two", "same.txt", owner="c")
    again = await files.put(b"one", "other.txt", owner="d")
    assert await files.content(one) == b"one"
    assert await files.content(two) == b"two"
    assert files.path(again) == files.path(one)
    found = await files.get(again.id)
    assert found == again


async def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(files: FileStore, tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 400

    with pytest.raises(FileRefused, match="larger than the 1000 bytes"):
        await files.put(pieces(), "big.bin", owner="c")
    assert not [place for place in (tmp_path / "files").rglob("*") if place.is_file()]


async def test_all_files_together_have_a_limit(files: FileStore) -> None:
    for number in range(2):
        await files.put(bytes([number]) * 1_000, "a", owner="c")
    with pytest.raises(FileRefused, match="no room"):
        await files.put(b"z" * 1_000, "c", owner="c")


async def test_a_file_on_disk_is_copied(files: FileStore, tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("words")
    file = await files.put(source, "source.txt", owner="c", type="text/plain")
    source.unlink()
    assert await files.content(file) == b"words"
    assert (file.type, file.size) == ("text/plain", 5)


@pytest.mark.parametrize("id", ["", "../x", "f" + "0" * 24, "entries", "f" + "z" * 24])
async def test_an_unknown_id_is_nothing(files: FileStore, id: str) -> None:
    assert await files.get(id) is None


async def test_sweeping_removes_what_is_too_old_and_keeps_the_rest(tmp_path: Path) -> None:
    files = FileStore(tmp_path, file_max=1_000, quota=10_000, keep=3_600)
    old, new = await files.put(b"old", "a", owner="c"), await files.put(b"new", "b", owner="c")
    entry = tmp_path / "entries" / f"{old.id}.json"
    aged = old.model_copy(update={"created_ms": int((time.time() - 7_200) * 1000)})
    await asyncio.to_thread(entry.write_text, aged.model_dump_json())
    assert await files.sweep() == 1
    assert await files.get(old.id) is None
    assert await files.content(new) == b"new"
