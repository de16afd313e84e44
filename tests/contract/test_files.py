"""Files come in under safe names and go out as files."""

from __future__ import annotations

import pytest

from core.agent import Run
from core.errors import FileRefused
from tests.contract.bench import ANN, HOME, Bench
from tests.proves import proves
from tests.waiting import wait_until

NAMES = ("../../AGENT.md", "..\\..\\x", "/etc/cron.d/x", "a\0b", "n" * 300, "CON", ".env", "same.txt", "same.txt")


@proves("C123", "kit", "telegram")
async def test_files_are_kept_under_safe_names_and_none_overwrites_another(made: Bench) -> None:
    got: list[bytes] = []

    async def take(run: Run, message: str) -> str:
        got.extend([await run.content(file) for file in run.attachments])
        assert all("/" not in file.name and "\\" not in file.name and "\0" not in file.name for file in run.attachments)
        return f"Took {len(run.attachments)}."

    made.hire(take)
    desk = made.platform.desk
    assert desk is not None
    before = {path for path in made.folder.parent.rglob("*") if made.folder not in path.parents}
    ids = [await desk.file(HOME, name, str(number).encode(), ANN) for number, name in enumerate(NAMES)]
    await made.platform.write(ANN, HOME, "here", files=tuple(ids))
    await made.says(f"Took {len(NAMES)}.")
    assert got == [str(number).encode() for number in range(len(NAMES))]
    assert {path for path in made.folder.parent.rglob("*") if made.folder not in path.parents} == before


async def test_a_file_that_is_too_large_is_refused_in_words(made: Bench) -> None:
    desk = made.platform.desk
    assert desk is not None
    with pytest.raises(FileRefused, match="larger than"):
        await desk.file(HOME, "big", b"x" * 1_000_001, ANN)


async def test_a_file_of_an_agent_arrives_as_a_file_or_is_said_to_be_elsewhere(made: Bench) -> None:
    async def give(run: Run, message: str) -> str:
        await run.attach(b"content", "report.txt", text="The report")
        return "There."

    made.hire(give)
    await made.write("please")
    await made.says("There.")
    await made.settled()
    files = [(one.name, one.file) for one in made.chats[0].at(HOME) if one.file is not None]
    if made.chats[0].limits.file_max:
        assert files == [("report.txt", b"content")]
    else:
        await wait_until(lambda: any("report.txt" in text for text in made.chats[0].texts(HOME)))
