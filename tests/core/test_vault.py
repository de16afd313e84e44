"""The vault: what it seals opens at its place and with its key only; key files are made once and guarded."""

import secrets
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.vault import KeyRefused, Unreadable, Vault, fresh_key, make_key, parsed, read_key


def test_what_was_sealed_opens_only_at_its_place() -> None:
    vault = Vault([secrets.token_bytes(32)])
    sealed = vault.seal("value", "run|a|1")
    assert "value" not in sealed
    assert vault.open(sealed, "run|a|1") == "value"
    with pytest.raises(Unreadable):
        vault.open(sealed, "run|b|1")


def test_what_was_changed_opens_nowhere() -> None:
    vault = Vault([secrets.token_bytes(32)])
    sealed = vault.seal("value", "here")
    for broken in (sealed[:-6] + "AAAAA=", sealed[:20], "v1.x", "", sealed.replace("v1", "v2")):
        with pytest.raises(Unreadable):
            vault.open(broken, "here")


def test_after_a_rotation_old_seals_open_and_new_ones_use_the_new_key() -> None:
    old, new = fresh_key(), fresh_key()
    sealed = Vault(parsed(old)).seal("value", "here")
    rotated = Vault(parsed(f"{new}, {old}"))
    assert rotated.open(sealed, "here") == "value"
    assert rotated.stale(sealed)
    again = rotated.seal("value", "here")
    assert not rotated.stale(again)
    assert Vault(parsed(new)).open(again, "here") == "value"
    with pytest.raises(Unreadable, match="SAYSO_VAULT_KEY"):
        Vault(parsed(old)).open(again, "here")


@pytest.mark.parametrize(
    "text", ["", "short", "a" * 43 + "!", "Ya6WaAEzgEkcXuHxt2BbfePollXpoIW0kaIDx4lqzAg=,", "password" * 8]
)
def test_a_key_that_is_none_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(KeyRefused) as refused:
        parsed(text)
    assert not text or text not in str(refused.value)
    assert "openssl rand" in str(refused.value)


def test_a_key_file_is_made_once_whoever_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "data" / "vault.key"
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(make_key, [path] * 8))
    assert len(made) == 1
    assert read_key(path) == made.pop()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["vault.key"]


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vault.key"
    make_key(path)
    path.chmod(0o640)
    with pytest.raises(KeyRefused, match="chmod 600"):
        read_key(path)


def test_a_vault_shows_no_key() -> None:
    key = fresh_key()
    assert key not in repr(Vault(parsed(key)))
