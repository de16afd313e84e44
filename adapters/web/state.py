"""What every route of the web front end works with, made once per process by `app.create`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.core import Metric
from starlette.requests import HTTPConnection

from adapters.web.attached import Attached
from adapters.web.hooks import Called
from adapters.web.hub import Hub
from core.accounts import Accounts
from core.broker import Broker
from core.files import FileStore
from core.people import People
from core.ticket import Tickets


@dataclass(frozen=True)
class Options:
    """What the settings say about the web front end; sizes in bytes, spans in seconds.

    agents: the names that people may choose from, `agent` is the one they talk to first.
    """

    version: str
    agent: str = "demo"
    agents: tuple[str, ...] = ("demo",)
    host: str = "127.0.0.1"
    public_url: str | None = None
    login_days: int = 30
    body_max: int = 1_048_576
    file_max: int = 20_971_520


class Check(Protocol):
    """One thing that health is made of, in words."""

    @property
    def what(self) -> str:
        """Its name."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it works."""
        ...

    @property
    def words(self) -> str:
        """How it is, and what to do."""
        ...


@dataclass(frozen=True)
class Web:
    """The parts that routes use. checks: what the whole process knows about its health. called: what platforms call.

    owed: figures of what is owed, and of all processes.
    """

    broker: Broker
    accounts: Accounts
    hub: Hub
    files: FileStore
    attached: Attached
    options: Options
    render: Callable[[str], str]
    people: People
    tickets: Tickets
    checks: Callable[[], Awaitable[Sequence[Check]]]
    called: Sequence[Called] = ()
    owed: Callable[[], Awaitable[Sequence[Metric]]] | None = None


def state_of(connection: HTTPConnection) -> Web:
    """The parts, found from a request or a WebSocket."""
    found: object = connection.app.state.web
    assert isinstance(found, Web)
    return found
