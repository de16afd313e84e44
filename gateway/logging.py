"""How log lines look: text for people on a terminal, one JSON object a line elsewhere; tokens and passwords masked."""

import json
import logging
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from gateway.settings import Settings

_SECRET: Final = re.compile(r"(sayso_)[A-Za-z0-9_-]{16,}|(?<=//)[^/@\s]*@|(login#)[\w-]+|(?i:(bearer) +)\S+")
_HIDDEN: Final[set[str]] = set()
_OURS: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_DIM, _RED, _YELLOW, _PLAIN = "\033[2m", "\033[31m", "\033[33m", "\033[0m"


def masked(text: str) -> str:
    """The same text without tokens, login codes and passwords in addresses, and without what was hidden."""
    for secret in _HIDDEN:
        text = text.replace(secret, "***")
    return _SECRET.sub(_stars, text)


def hide(secrets: Iterable[str]) -> None:
    """Let these texts, also as they stand in addresses, be in no line of this process from now on."""
    for secret in secrets:
        if secret:
            _HIDDEN.update({secret, quote(secret, safe=""), json.dumps(secret)[1:-1]})


def _stars(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] or found[3] or ''}***{'@' if found[0].endswith('@') else ''}"


class Text(logging.Formatter):
    """A line for people: time, level, what happened, where."""

    def __init__(self, *, colours: bool) -> None:
        super().__init__()
        self._colours = colours

    def format(self, record: logging.LogRecord) -> str:
        """Write a record down."""
        at = datetime.fromtimestamp(record.created, UTC).astimezone().strftime("%H:%M:%S")
        words = record.getMessage() + "".join(f" {name}={value}" for name, value in _extras(record).items())
        lines = [words, *([self.formatException(record.exc_info)] if record.exc_info else [])]
        text = masked("\n".join(lines))
        if not self._colours:
            return f"{at} {record.levelname.lower():7} {text} ({record.name})"
        colour = _RED if record.levelno >= logging.ERROR else _YELLOW if record.levelno >= logging.WARNING else ""
        return f"{_DIM}{at}{_PLAIN} {colour}{record.levelname.lower():7}{_PLAIN} {text} {_DIM}({record.name}){_PLAIN}"


class Lines(logging.Formatter):
    """A line for machines: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record down."""
        plain: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info:
            plain["traceback"] = self.formatException(record.exc_info)
        return masked(json.dumps(plain, ensure_ascii=False, default=str))


def set_up(settings: Settings, *, quiet: bool = False) -> None:
    """Send every log line of this process to standard error. quiet: only warnings."""
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    sink = logging.StreamHandler()
    sink.setFormatter(Text(colours=sys.stderr.isatty()) if text else Lines())
    root = logging.getLogger()
    root.handlers[:] = [sink]
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    root.setLevel(max(logging.WARNING, level) if quiet else level)
    for noisy in ("uvicorn", "uvicorn.error", "asyncio", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    if text and settings.log_level != "debug":
        logging.getLogger("sayso.access").setLevel(logging.WARNING)


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _OURS}
