"""The composition root: settings become a Redis, a broker and what stands on it. It knows no rule and no route."""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from core.accounts import Accounts
from core.broker import Broker, open_broker
from core.files import FileStore
from core.keys import Retention
from core.life.draft import Spans
from core.pace import Pace
from core.people import People
from core.reaper import Reaper
from core.ticket import Tickets
from gateway.open_redis import open_redis
from gateway.settings import DAY, Settings
from gateway.unlock import unlock


def version() -> str:
    """The version of this program."""
    try:
        return importlib.metadata.version("sayso")
    except importlib.metadata.PackageNotFoundError:
        return "0 (from source)"


@asynccontextmanager
async def opened(settings: Settings, *, name: str = "sayso", vault: bool = True) -> AsyncGenerator[Broker]:
    """The broker on the Redis that the settings mean, for as long as the block lasts.

    vault: also unlock the vault, as every process needs that takes secrets in or hands them to agents.

    Raises: `RedisUnavailable`, `StoreError`, `CannotStart`.
    """
    async with open_redis(settings) as url, at(settings, url, name=name) as broker:
        if vault:
            broker.safe.vault = await unlock(settings, broker)
        yield broker


@asynccontextmanager
async def at(settings: Settings, url: str, *, name: str, hears: bool = True) -> AsyncGenerator[Broker]:
    """The broker on a Redis at an address. hears: whether it reads hints itself.

    Raises: `StoreError`.
    """
    spans = Spans(
        held_grace_ms=_ms(settings.pickup_grace),
        free_ms=_ms(settings.free_after_stop),
        retry_ms=_ms(settings.retry_pause),
        journal_keep_ms=_ms(settings.journal_keep),
    )
    retention = Retention(
        conversation_ms=_ms(settings.history_days * DAY),
        stub_ms=_ms(settings.stub_keep),
        seen_ms=_ms(settings.key_keep),
        forestalled_ms=_ms(settings.early_cancel_keep),
        history_cap=settings.history_cap,
    )
    async with open_broker(
        url,
        retention=retention,
        spans=spans,
        confirm_ms=_ms(settings.confirm_deadline),
        name=name,
        block=settings.feed_block,
        hears=hears,
    ) as broker:
        yield broker


def accounts(settings: Settings, broker: Broker) -> Accounts:
    """Logins and tokens."""
    return Accounts(
        broker.shelf,
        login_link=settings.login_link,
        login=settings.login_days * DAY,
        current=people(broker).person,
    )


def people(broker: Broker) -> People:
    """Who people are."""
    return People(broker)


def tickets(settings: Settings, broker: Broker) -> Tickets:
    """Links to give a secret."""
    return Tickets(broker, people(broker).person, public_url=settings.public_url, life=settings.secret_link)


def pace(settings: Settings) -> Pace:
    """The spans of turns."""
    return Pace(
        hot=settings.hot_window,
        look=settings.index_look,
        cooperative=settings.stop_cooperative,
        terminate=settings.stop_terminate,
        kill=settings.stop_kill,
        verify=0.0,
        grace=settings.stop_grace,
    )


def reaper(settings: Settings, broker: Broker) -> Reaper:
    """Who ends what its worker does not."""
    return Reaper(broker, pace=pace(settings), handover=settings.stop_handover)


def files(settings: Settings) -> FileStore:
    """The files of this installation."""
    return FileStore(
        settings.data_dir / "files",
        file_max=settings.file_max,
        quota=settings.file_quota,
        keep=settings.file_days * DAY,
    )


def address(settings: Settings, port: int | None = None) -> str:
    """Where people open the page."""
    if settings.public_url:
        return settings.public_url
    host = settings.host
    if host in ("0.0.0.0", "::", ""):  # nothing is bound to it here
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port or settings.port}"


def login_link(settings: Settings, code: str, port: int) -> str:
    """The link that signs somebody in, once; the code stands behind `#`, which no server and no log gets to see."""
    return f"{address(settings, port)}/login#{code}"


def is_public(settings: Settings) -> bool:
    """Whether the page can be reached from other machines."""
    name = urlsplit(settings.public_url).hostname if settings.public_url else settings.host
    return name not in ("127.0.0.1", "localhost", "::1")


def _ms(seconds: float) -> int:
    return int(seconds * 1_000)
