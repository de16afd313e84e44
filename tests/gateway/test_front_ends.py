"""Front ends beside the web: found by their settings, told in words what they lack."""

from pathlib import Path

import pytest

from core.agent import NoAgent
from gateway import agents, opening
from gateway.cannot_start import CannotStart
from gateway.settings import SettingsError, load

NAMED = '[front_ends.outpost]\nuse = "tests.outpost"\nprefix = "op"\ntitle = "Outpost"\n'


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A person who named a front end of theirs, and set nothing else."""
    for name in ("REDIS_URL", "XDG_DATA_HOME", "OUTPOST_BOT_TOKEN", "OUTPOST_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sayso.toml").write_text(NAMED, "utf-8")
    return tmp_path


def test_a_front_end_without_its_token_is_not_started(here: Path) -> None:
    """Also when other things of it are set; asked for by name it says what it lacks."""
    (here / "sayso.toml").write_text(NAMED + '[outpost]\napi_url = "http://127.0.0.1:2"\n', "utf-8")
    assert opening.set_up(load()) == ()
    with pytest.raises(SettingsError) as told:
        opening.the(load(), "outpost")
    assert str(told.value).startswith("OUTPOST_BOT_TOKEN (bot_token in [outpost] of sayso.toml) is not set")


def test_a_token_in_the_environment_wins_over_the_one_in_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "sayso.toml").write_text(NAMED + '[outpost]\nbot_token = "old"\npatience = 2\n', "utf-8")
    monkeypatch.setenv("OUTPOST_BOT_TOKEN", "new")
    (front,) = opening.set_up(load())
    assert front.secrets() == ["new"]
    assert front.create().name == "Outpost"


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('bot_token = "x"\napi_url = "ftp://"', "OUTPOST_API_URL (api_url in [outpost] of sayso.toml): "),
        ('bot_token = "x"\nbot_tokn = "y"', "'bot_tokn' in [outpost] of sayso.toml is no setting. Those of Outpost: "),
    ],
)
def test_a_wrong_value_is_told_its_name_and_the_rule(here: Path, table: str, told: str) -> None:
    (here / "sayso.toml").write_text(f"{NAMED}[outpost]\n{table}\n", "utf-8")
    with pytest.raises(SettingsError) as error:
        opening.set_up(load())
    assert str(error.value).startswith(told)


def test_a_package_that_is_no_front_end_is_told_so(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is not there, too."""
    monkeypatch.setenv("OUTPOST_BOT_TOKEN", "x")
    for package, words in (("tests.nowhere", "No module"), ("tests.gateway", "cannot be loaded")):
        (here / "sayso.toml").write_text(NAMED.replace("tests.outpost", package), "utf-8")
        with pytest.raises(CannotStart, match=words):
            opening.set_up(load())


def test_a_table_of_nobody_is_still_an_error(here: Path) -> None:
    (here / "sayso.toml").write_text(NAMED + '[outpots]\nbot_token = "x"\n', "utf-8")
    with pytest.raises(SettingsError, match="outpots"):
        load()


def test_a_front_end_of_ones_own_has_a_default_agent(here: Path) -> None:
    """Like those of Sayso; one that is not there is told when a worker loads its agents."""
    more = 'agent = "second"\n[agents.second]\nuse = "adapters.agents.demo:demo"\n'
    (here / "sayso.toml").write_text(NAMED + more, "utf-8")
    assert agents.default(load(), "outpost") == "second"
    assert agents.default(load(), "web") == "demo"
    (here / "sayso.toml").write_text(NAMED + 'agent = "nobody"\n', "utf-8")
    with pytest.raises(NoAgent, match=r"front_ends\.outpost\.agent names 'nobody'"):
        agents.load_all(load())
