"""`sayso doctor`: looks at everything that a deployment needs and says of each, in words, what to do."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import socket
from urllib.parse import urlsplit

from core import cgroups
from core.agent import NoAgent
from core.broker import Broker
from core.errors import StoreError
from core.vault import KeyRefused, Vault, parsed, read_key
from gateway import agents, health, logging, opening, wiring
from gateway.cannot_start import CannotStart
from gateway.health import Check
from gateway.opening import Front
from gateway.served import served
from gateway.settings import Settings, SettingsError, unknown_names
from gateway.unavailable import RedisUnavailable, masked
from gateway.unlock import FILE, LOST

FREE = 256 * 1_024 * 1_024
FILES = 4_096
PATIENCE = 10.0


async def examine(settings: Settings) -> list[Check]:
    """Look at settings, folder, network, Redis, and at what runs on it."""
    found = [_names(), _folder(settings), _links(settings), _limit(), _agent(settings)]
    fronts, more = await _fronts(settings)
    found += more
    try:
        async with wiring.opened(settings, name="sayso-doctor", vault=False) as broker:
            found += await health.checks(broker, opening.known(settings), [one.of.name for one in fronts])
            found += [await _web(settings, broker)]
            found += [await _vault(settings, broker), await _groups(broker), await _ending(broker)]
            given = settings.redis_url
            words = masked(given.get_secret_value()) if given else "private, in the data folder"
            found.append(Check("store", True, words))
    except (RedisUnavailable, StoreError) as error:
        found.append(Check("redis", False, str(error)))
    return found


async def _fronts(settings: Settings) -> tuple[tuple[Front, ...], list[Check]]:
    """Which front ends were set up, and what their platforms say of token, rights and settings."""
    try:
        fronts = opening.set_up(settings)
    except (SettingsError, CannotStart) as error:
        return (), [Check("front ends", False, line) for line in str(error).splitlines()]
    logging.hide(secret for one in fronts for secret in one.secrets())
    return fronts, [check for one in fronts for check in await _platform(one)]


async def _platform(front: Front) -> list[Check]:
    title = front.of.title
    try:
        async with asyncio.timeout(PATIENCE):
            findings = await front.create().check()
    except TimeoutError:
        return [Check(front.of.name, False, f"{title} does not answer within {PATIENCE:g} s: is the network up?")]
    except Exception as error:  # noqa: BLE001  # whatever a platform's library raises; a doctor goes on to the rest
        words = logging.masked(str(error) or type(error).__name__)
        return [Check(front.of.name, False, f"{title} could not be asked: {words}")]
    return [Check(front.of.name, one.ok, logging.masked(one.words)) for one in findings]


async def _vault(settings: Settings, broker: Broker) -> Check:
    """Whether what people give as secrets can be sealed and opened."""
    known = [mark for mark, _ in await broker.shelf.listing("key")]
    path = settings.data_dir / FILE
    try:
        text = settings.vault_key.get_secret_value() if settings.vault_key else await asyncio.to_thread(read_key, path)
        marks = Vault(parsed(text)).marks if text is not None else ()
    except KeyRefused as refused:
        return Check("vault", False, str(refused))
    lost = [mark for mark in known if mark not in marks]
    if lost:
        return Check("vault", False, f"secrets are sealed with key {lost[0]}, which is not here. {LOST}")
    where = "SAYSO_VAULT_KEY" if settings.vault_key else str(path)
    return Check("vault", True, f"secrets are sealed with the key of {where}; keep a copy of it")


async def _groups(broker: Broker) -> Check:
    warnings = await wiring.people(broker).warnings()
    words = "; ".join(warnings) or "every group that is bound lists somebody"
    return Check("groups", not warnings, words + ("; choose with `sayso group`" if warnings else ""))


async def _ending(broker: Broker) -> Check:
    """By what means the processes of turns and commands are found and ended: as their workers say."""
    told = sorted({one.note for one in await health.live_workers(broker) if one.note})
    words = "; elsewhere ".join(told) if told else f"{cgroups.words()} (as seen from here, no worker lives)"
    return Check("processes", True, f"what turns and commands start is found and ended {words}")


def _names() -> Check:
    strangers = unknown_names()
    if strangers:
        return Check("settings", False, f"no such setting: {', '.join(strangers)}; the names are in docs/settings.md")
    return Check("settings", True, "every name is known and every value can be used")


def _folder(settings: Settings) -> Check:
    folder = settings.data_dir
    place = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if not os.access(place, os.W_OK):
        words = f"{folder} cannot be written: give this user the folder, or set SAYSO_DATA_DIR"
        return Check("data folder", False, words)
    free = shutil.disk_usage(place).free
    if free < FREE:
        return Check("data folder", False, f"{folder}: only {free // 1_048_576} MiB are free; make room on that disk")
    return Check("data folder", True, f"{folder}, {free // 1_048_576} MiB free")


def _links(settings: Settings) -> Check:
    if settings.public_url is None:
        words = "SAYSO_PUBLIC_URL is not set: chats get no link buttons; set it when Sayso can be reached from outside"
        return Check("public address", not wiring.is_public(settings), words)
    parts = urlsplit(settings.public_url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
        return Check(
            "public address", False, f"{settings.public_url} is not encrypted: put an HTTPS proxy before Sayso"
        )
    return Check("public address", True, settings.public_url)


async def _web(settings: Settings, broker: Broker) -> Check:
    """Whether the page is served, and whether it could be."""
    at = await served(settings, broker)
    if at.now:
        return Check("web", True, f"the page is served at {at.address}")
    if not settings.port or not await asyncio.to_thread(_is_taken, settings):
        return Check("web", True, "nobody serves the page here yet; `sayso up` does")
    words = f"another program listens on {settings.host}:{settings.port}: end it, or set SAYSO_PORT"
    return Check("web", False, words)


def _is_taken(settings: Settings) -> bool:
    try:
        with socket.create_connection((settings.host, settings.port), timeout=1.0):
            return True
    except OSError:
        return False


def _limit() -> Check:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        return Check("open files", False, f"only {hard} per process, each open page is one: raise `ulimit -n`")
    return Check("open files", True, "enough" if hard == resource.RLIM_INFINITY else f"up to {hard} per process")


def _agent(settings: Settings) -> Check:
    try:
        found = agents.load_all(settings)
    except NoAgent as error:
        return Check("agent", False, str(error))
    return Check("agent", True, f"{agents.first(settings)!r} answers first, of {len(found)}")
