"""What a process does now and then beside its work."""

from pathlib import Path

from core.files import FileStore
from gateway.upkeep import files_kept
from tests.waiting import wait_until


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_files_whose_time_is_over_go_while_a_process_runs(tmp_path: Path) -> None:
    """Nobody has to ask for it, and it is done again and again."""
    files = FileStore(tmp_path, file_max=1_000, quota=10_000, keep=0.001)
    await files.put(b"old", "old.txt", owner="web:ann")
    assert kept(tmp_path)
    async with files_kept(files, every=0.01):
        await wait_until(lambda: not kept(tmp_path))
