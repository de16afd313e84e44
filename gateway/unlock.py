"""The vault's keys: from the settings, or from `vault.key` in the data folder, made when nothing is sealed yet.

A key that is gone is said in words at the start, before anybody gives a secret that nobody could open.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from core.broker import Broker
from core.errors import Full
from core.vault import KeyRefused, Vault, make_key, parsed, read_key
from gateway.cannot_start import CannotStart
from gateway.settings import Settings

FILE = "vault.key"
LOST = "Put the file back from your backup, or set SAYSO_VAULT_KEY; to give up what was sealed: `sayso vault --forget`."
_log = logging.getLogger("sayso.vault")


async def unlock(settings: Settings, broker: Broker) -> Vault:
    """The vault that every process of this installation shares.

    Raises: `CannotStart`.
    """
    path = settings.data_dir / FILE
    known = [mark for mark, _ in await broker.shelf.listing("key")]
    try:
        text = await asyncio.to_thread(read_key, path) if settings.vault_key is None else None
        if settings.vault_key is not None:
            text = settings.vault_key.get_secret_value()
        if text is None and known:
            raise CannotStart(f"the key of the vault is missing, secrets are sealed with {known[0]}", str(path), LOST)
        vault = Vault(parsed(text if text is not None else await asyncio.to_thread(make_key, path)))
    except KeyRefused as refused:
        raise CannotStart(f"the vault cannot be opened: {refused}", "SAYSO_VAULT_KEY", LOST) from None
    for mark in (mark for mark in known if mark not in vault.marks):
        _log.warning("secrets were sealed with key %s, which is not among the keys here; they cannot be opened", mark)
    if settings.redis_url is not None:  # others may share it, with a data folder of their own
        with suppress(Full):
            await broker.shelf.keep("key", vault.seals_with, "")
    return vault


async def forget(broker: Broker) -> int:
    """Give up what was sealed with keys that are gone; returns how many stored secrets were dropped."""
    for mark, _ in await broker.shelf.listing("key"):
        await broker.shelf.drop("key", mark)
    kept = await broker.shelf.listing("vault")
    for id, _ in kept:
        await broker.shelf.drop("vault", id)
    return len(kept)
