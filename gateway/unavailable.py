"""What a person is told when there is no store to work with; it knows no server and no lock."""

import re

from core.errors import StoreError

_LOGIN = re.compile(r"(?<=//).*@")


class RedisUnavailable(StoreError):
    """No usable Redis: what happened, where, and what to do about it."""

    def __init__(self, what: str, where: str, what_to_do: str) -> None:
        super().__init__(f"{what} ({masked(where)}). {what_to_do}")
        self.what = what
        self.where = masked(where)
        self.what_to_do = what_to_do


def masked(url: str) -> str:
    """The same address without user, password and options: `redis://***@host:6379/0`."""
    return _LOGIN.sub("***@", url).partition("?")[0] if "://" in url else url
