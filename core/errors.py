"""Every error of ours that a caller may catch, in one tree. It knows no cause: who raises says what happened.

SaysoError
├── FileRefused             a file is too large, or there is no room for it
└── StoreError              Redis did not do it
    ├── LinkLost            the connection broke while it was under way: the outcome is unknown
    ├── LinkDown            there was no connection: surely nothing was sent, nothing is stored
    ├── ServerRefused       Redis answered with an error (`code`, `text`)
    ├── Full                Redis has no memory left for new work
    ├── TooNew              a newer Sayso wrote this
    └── TooOld              the server, or what it holds, is older than what Sayso can work with
"""


class SaysoError(Exception):
    """Whatever Sayso raises on purpose."""


class FileRefused(SaysoError):
    """A file cannot be stored or read; the text says why."""


class StoreError(SaysoError):
    """Redis did not do what was asked."""


class LinkLost(StoreError):
    """The connection broke while the command was under way; whether it took effect is unknown."""


class LinkDown(StoreError):
    """Redis could not be reached or did not take commands; surely nothing was stored."""


class ServerRefused(StoreError):
    """Redis answered with an error; `code` is its first word ("WRONGTYPE"), `text` the rest."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code
        self.text = text


class Full(StoreError):
    """Redis is at its memory limit: new work is refused, what is under way can still be settled."""


class TooNew(StoreError):
    """A document was written by a newer version of Sayso than this one."""


class TooOld(StoreError):
    """The server or a document is older than what this version of Sayso can work with."""
