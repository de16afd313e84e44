"""Settings: where they come from, what wins, and what a wrong one is told."""

from pathlib import Path

import pytest

from gateway.settings import SettingsError, load, unknown_names


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A person with an empty home in an empty folder, who set nothing."""
    for name in ("REDIS_URL", "SAYSO_DATA_DIR", "SAYSO_PORT", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def test_nothing_set_means_a_private_store_on_loopback(tmp_path: Path) -> None:
    settings = load()
    assert (settings.host, settings.port, settings.agent, settings.redis_url) == ("127.0.0.1", 8765, "demo", None)
    assert settings.data_dir == tmp_path / "home/.local/share/sayso"


def test_the_data_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert load().data_dir == tmp_path / "xdg/sayso"


def test_the_environment_wins_over_the_file_here_which_wins_over_the_one_in_the_data_folder(
    monkeypatch: pytest.MonkeyPatch, bare: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sayso.toml").write_text('port = 1\nhost = "a"\nagent = "first"', "utf-8")
    (bare / "sayso.toml").write_text(f'data_dir = "{tmp_path}/data"\nport = 2\nhost = "b"', "utf-8")
    monkeypatch.setenv("SAYSO_PORT", "3")
    settings = load()
    assert (settings.port, settings.host, settings.agent) == (3, "b", "first")


def test_agents_are_tables_of_the_file(bare: Path) -> None:
    (bare / "sayso.toml").write_text('[agents.deploy]\nuse = "ours.agents:deploy"\ntitle = "Deploys"', "utf-8")
    assert load().agents["deploy"].use == "ours.agents:deploy"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("SAYSO_PORT", "99999", "must be less than or equal to 65535 (given: '99999')"),
        ("SAYSO_PORT", "web", "must be a valid integer"),
        ("SAYSO_LEASE", "0", "must be greater than 0"),
        ("SAYSO_LEASE", "nan", "must be"),
        ("SAYSO_AGENT", "a b", "must be a name or module:attribute"),
        ("SAYSO_REDIS_FSYNC", "never", "must be 'always' or 'everysec'"),
        ("SAYSO_PUBLIC_URL", "sayso.example", "must look like https://sayso.example"),
        ("REDIS_URL", "http://localhost", "must begin with redis://, rediss://, unix:// or"),
    ],
)
def test_a_wrong_value_is_told_its_name_and_the_rule_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, rule: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as told:
        load()
    line = str(told.value)
    assert line.startswith(f"{name} (")
    assert rule in line
    assert "\n" not in line


def test_every_wrong_value_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_PORT", "web")
    monkeypatch.setenv("SAYSO_AGENT", "a b")
    with pytest.raises(SettingsError) as told:
        load()
    assert len(str(told.value).splitlines()) == 2


def test_a_wrong_store_address_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "http://me:hunter2@localhost")
    with pytest.raises(SettingsError) as told:
        load()
    assert "hunter2" not in str(told.value)
    assert "hunter2" not in repr(told.value)


def test_a_name_that_is_no_setting_is_refused_in_the_file_with_the_nearest_one(bare: Path) -> None:
    (bare / "sayso.toml").write_text("prot = 80", "utf-8")
    with pytest.raises(SettingsError, match=r"'prot' in sayso.toml is no setting. Did you mean 'port'\?"):
        load()


def test_a_broken_file_is_named(bare: Path) -> None:
    (bare / "sayso.toml").write_text("port = ", "utf-8")
    with pytest.raises(SettingsError, match=r"here/sayso.toml: cannot be read"):
        load()


def test_a_misspelt_name_in_the_environment_can_be_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_PROT", "80")
    assert unknown_names() == ["SAYSO_PROT (SAYSO_PORT?)"]
