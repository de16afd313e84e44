"""The vault: seals texts with keys that never stand in Redis, and opens them again at the place they were sealed for.

A sealed text is `v1.<key>.<nonce and ciphertext>` (AES-256-GCM); its place is authenticated with it, so that a sealed
text that is moved elsewhere opens nowhere. The first key seals, all of them open. It knows no secret's meaning and
nothing of Redis. This is the only file that imports `cryptography`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.errors import SaysoError

SIZE = 32
NONCE = 12
FORM = "v1"


class KeyRefused(SaysoError):
    """A key cannot be used; the text says which and what to do, never the key."""


class Unreadable(SaysoError):
    """A sealed text cannot be opened: its key is not here, or it was moved or changed."""


class Vault:
    """Seals and opens. keys: 32 bytes each; the first one seals."""

    def __init__(self, keys: Iterable[bytes]) -> None:
        ciphers = {mark(key): AESGCM(key) for key in keys}
        if not ciphers:
            raise KeyRefused("the vault needs a key")
        self._ciphers = ciphers
        self.seals_with = next(iter(ciphers))

    def __repr__(self) -> str:
        return f"Vault({', '.join(self._ciphers)})"

    @property
    def marks(self) -> tuple[str, ...]:
        """The names of the keys, the sealing one first; they tell nothing of the keys."""
        return tuple(self._ciphers)

    def seal(self, text: str, place: str) -> str:
        """Seal a text for a place, under the first key."""
        nonce = secrets.token_bytes(NONCE)
        sealed = self._ciphers[self.seals_with].encrypt(nonce, text.encode(), place.encode())
        return f"{FORM}.{self.seals_with}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, place: str) -> str:
        """Open what was sealed for exactly this place.

        Raises: `Unreadable`.
        """
        form, _, rest = sealed.partition(".")
        name, _, text = rest.partition(".")
        cipher = self._ciphers.get(name)
        if form != FORM or cipher is None:
            raise Unreadable(f"it was sealed with key {name!r}, which is not in SAYSO_VAULT_KEY or vault.key here")
        try:
            plain = base64.urlsafe_b64decode(text)
            return cipher.decrypt(plain[:NONCE], plain[NONCE:], place.encode()).decode()
        except (InvalidTag, ValueError):
            raise Unreadable("it was sealed for another place, or changed since") from None

    def stale(self, sealed: str) -> bool:
        """Tell whether it was sealed under another key than the first one."""
        return sealed.split(".", 2)[1:2] != [self.seals_with]


def mark(key: bytes) -> str:
    """Name a key without telling anything of it."""
    return hashlib.sha256(b"sayso vault key" + key).hexdigest()[:8]


def fresh_key() -> str:
    """Make a key, as it stands in `SAYSO_VAULT_KEY` and `vault.key`."""
    return base64.urlsafe_b64encode(secrets.token_bytes(SIZE)).decode()


def parsed(texts: str) -> list[bytes]:
    """Read keys that are separated by commas: base64 of 32 bytes each.

    Raises: `KeyRefused`.
    """
    keys: list[bytes] = []
    for number, text in enumerate((part.strip() for part in texts.split(",")), 1):
        try:
            key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
        except binascii.Error:
            key = b""
        if len(key) != SIZE:
            raise KeyRefused(
                f"vault key {number} is not base64 of {SIZE} bytes: make one with `openssl rand -base64 {SIZE}`"
            )
        keys.append(key)
    return keys


def read_key(path: Path) -> str | None:
    """Read the keys of a file that only its owner may read; None when there is none.

    Raises: `KeyRefused`.
    """
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(4_096).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeyRefused(f"{path}: cannot be read: {error.strerror}") from None
    if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
        raise KeyRefused(f"{path}: others may read it: chmod 600 {path}")
    if not text:
        raise KeyRefused(f"{path}: is empty: put the key back from your backup, or remove the file to make a new one")
    return text


def make_key(path: Path) -> str:
    """Make a key file that is complete when it is there; one that is there already is read, never overwritten.

    Raises: `KeyRefused`.
    """
    made = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, f"{fresh_key()}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(FileExistsError):
            os.link(made, path)
    except OSError as error:
        raise KeyRefused(f"{path}: cannot be made: {error.strerror}") from None
    finally:
        made.unlink(missing_ok=True)
    text = read_key(path)
    if text is None:
        raise KeyRefused(f"{path}: was removed while it was made")
    return text
