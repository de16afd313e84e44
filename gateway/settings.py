"""Every setting of Sayso, read once; the only place that looks at the environment.

The environment wins over `sayso.toml` in the current folder, that over the one in the data folder, that over the
defaults. What a front end needs to know is declared in its own folder; it is read here too (`given`).
"""

import difflib
import os
import sys
import tempfile
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from core.address import SCHEMES
from core.vault import KeyRefused, parsed
from gateway.front_ends import SHIPPED

FILE = "sayso.toml"
PREFIX = "SAYSO_"
AGENT = r"^([A-Za-z_][\w-]*|[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)$"
NAME = r"^[A-Za-z_][\w-]*$"
MODULE = r"^[A-Za-z_][\w.]*$"
MIB = 1024 * 1024
DAY = 86_400.0

Span: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class SettingsError(Exception):
    """A setting cannot be used; the text names it, the rule and what to do, one line for each."""


def default_folder() -> Path:
    """The data folder of a person who set none: `sayso` below `XDG_DATA_HOME`, else below `~/.local/share`."""
    home = os.environ.get("XDG_DATA_HOME", "")
    try:
        return (Path(home) if home.startswith("/") else Path.home() / ".local" / "share") / "sayso"
    except RuntimeError:
        raise SettingsError("SAYSO_DATA_DIR (data_dir in sayso.toml): this user has no home; name a folder.") from None


def runtime_dir() -> Path:
    """The folder for sockets of this user: `XDG_RUNTIME_DIR`, else the one for temporary files."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(given) if given and os.access(given, os.W_OK) else Path(tempfile.gettempdir())


def has_desktop() -> bool:
    """Whether a browser that is opened here is seen by the person who sits here."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class AgentEntry(BaseModel):
    """One table `[agents.<name>]` of `sayso.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    use: Annotated[str, Field(pattern=AGENT)] = Field(description="a name that Sayso ships, or `module:attribute`")
    title: str = Field(default="", description="what people see when they choose; the name when empty")


class FrontEndEntry(BaseModel):
    """One table `[front_ends.<name>]` of `sayso.toml`: a front end of yours."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    use: Annotated[str, Field(pattern=MODULE)] = Field(description="its package")
    prefix: Annotated[str, Field(pattern=r"^[a-z]{1,8}$")] = Field(description="of its origins")
    title: str = Field(default="", description="as people call it; the name when empty")
    agent: Annotated[str | None, Field(pattern=NAME)] = Field(default=None, description="what is talked to first there")
    match: str = Field(default="", description="which places' questions are shown, as `mx-team*`; all when empty")


class OwnTables(TomlConfigSettingsSource):
    """Our own settings in the files; a front end's table is its own."""

    def __call__(self) -> dict[str, object]:
        """Read all but the tables of front ends."""
        found: dict[str, object] = super().__call__()
        apart = {one.name for one in SHIPPED} | set(_as_table(found.get("front_ends")))
        return {name: value for name, value in found.items() if name not in apart}


class Settings(BaseSettings):
    """All settings; spans are in seconds, sizes in bytes."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix=PREFIX, populate_by_name=True)

    data_dir: Path = Field(default_factory=default_folder, description="folder for the private store and for files")
    host: str = Field(default="127.0.0.1", min_length=1, description="address that the web server listens on")
    port: int = Field(
        default=8765, ge=0, le=65_535, description="port that the web server listens on; 0 takes a free one"
    )
    public_url: str | None = Field(
        default=None,
        description="what links in chats point to: `https://sayso.example`; without it there are no link buttons",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="addresses, separated by commas, whose `X-Forwarded-*` headers are believed"
    )
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("REDIS_URL", "redis_url"),
        description="a Redis or Valkey >= 7.0 to use; without it Sayso keeps a private one in the data folder",
    )
    redis_fsync: Literal["always", "everysec"] = Field(
        default="always", description="when the private store writes to disk: before each reply, or once a second"
    )
    agent: Annotated[str, Field(pattern=AGENT)] = Field(
        default="demo", description="the agent people talk to first: a name, or `module:attribute`"
    )
    agents: dict[str, AgentEntry] = Field(
        default_factory=dict[str, AgentEntry], description="more agents, as tables `[agents.<name>]` in `sayso.toml`"
    )

    front_ends: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")], FrontEndEntry] = Field(
        default_factory=dict[str, FrontEndEntry],
        description="front ends of yours, as tables `[front_ends.<name>]` in `sayso.toml`",
    )
    agent_web: Annotated[str | None, Field(pattern=NAME)] = Field(
        default=None, description="the agent that new conversations on the page are with; `agent` when empty"
    )
    agent_telegram: Annotated[str | None, Field(pattern=NAME)] = Field(
        default=None, description="the same for Telegram chats"
    )
    agent_discord: Annotated[str | None, Field(pattern=NAME)] = Field(
        default=None, description="the same for Discord channels"
    )
    agent_terminal: Annotated[str | None, Field(pattern=NAME)] = Field(
        default=None, description="the same for terminals"
    )
    vault_key: SecretStr | None = Field(
        default=None,
        description="seals secrets: base64 of 32 bytes; several with commas, the first seals, all open; "
        "without it `vault.key` in the data folder",
    )

    runs_at_once: int = Field(default=64, ge=1, description="turns that one worker process runs at the same time")
    hot_window: Span = Field(default=2.0, description="how long a run that asks is held in memory before it is parked")
    pickup_grace: Span = Field(
        default=1.0, description="how long an answer waits for the holder before any worker may take it"
    )
    lease: Span = Field(default=30.0, description="how long a silent process is believed to live")
    singleton_lease: Span = Field(default=3.0, description="the same for sweepers and bots, of which there is one each")
    listener_lease: Span = Field(default=30.0, description="how long a silent front end counts as listening")
    retry_pause: Span = Field(default=0.25, description="how long a run rests that lost its worker, then 8 times that")
    free_after_stop: Span = Field(
        default=15.0, description="when a stopped run frees its conversation, whatever it does"
    )
    stop_cooperative: Span = Field(default=5.0, description="how long a cancelled turn may take to end by itself")
    stop_terminate: Span = Field(default=5.0, description="how long its processes may take to end after SIGTERM")
    stop_kill: Span = Field(default=4.0, description="how long they may take to vanish after SIGKILL")
    turn_start: Span = Field(default=10.0, description="how long a template may take to fork the process of a turn")
    stop_grace: Span = Field(default=5.0, description="how long turns may go on when their worker is told to end")
    stop_handover: Span = Field(default=15.0, description="how long a stuck worker has to hand its other runs over")
    confirm_deadline: Span = Field(default=1_800.0, description="how long a confirmation waits for its answer")
    sweep_look: Span = Field(default=0.25, description="the longest pause between two looks at the timers")
    index_look: Span = Field(default=2.0, description="the longest pause between two looks at what is owed")
    feed_block: Span = Field(default=2.0, description="how long one blocking read of the feed lasts")

    journal_keep: Span = Field(default=600.0, description="how long events stay whole after a run parks or ends")
    stub_keep: Span = Field(default=DAY, description="how long a settled request still tells its outcome")
    text_keep: Span = Field(
        default=DAY, description="the longest that texts of settled requests wait for their last card"
    )
    early_cancel_keep: Span = Field(default=3_600.0, description="how long a cancel before its start is remembered")
    key_keep: Span = Field(default=2 * DAY, description="how long an event is remembered, so that it acts once")
    history_days: int = Field(default=90, ge=1, description="days that the history of a conversation is kept")
    history_cap: int = Field(default=10_000, ge=1, description="entries that the history of a conversation keeps")

    body_max: int = Field(default=MIB, ge=1_024, description="the largest body of an API call, uploads apart")
    file_max: int = Field(default=20 * MIB, ge=1, description="the largest single file")
    file_quota: int = Field(default=2_048 * MIB, ge=1, description="the space that all stored files may take together")
    file_days: int = Field(default=90, ge=1, description="days that a stored file is kept")
    login_link: Span = Field(default=600.0, description="how long a login link can be used, once")
    secret_link: Span = Field(default=900.0, description="how long a link to give a secret can be used, once")
    audit_days: int = Field(default=400, ge=1, description="days that the audit keeps who decided what")
    audit_cap: int = Field(default=200_000, ge=1_000, description="lines that the audit keeps")
    login_days: int = Field(default=30, ge=1, description="days that a browser stays signed in")

    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="least that is logged")
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto", description="how log lines look; `auto`: text on a terminal, JSON elsewhere"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the files; no `.env`, no secret folders."""
        return init_settings, env_settings, OwnTables(settings_cls, toml_file=_files())

    @field_validator("data_dir")
    @classmethod
    def _whole_path(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _by_commas(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("must look like https://sayso.example, without ? or #")
        return value.rstrip("/")

    @field_validator("vault_key")
    @classmethod
    def _keys(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value().strip():
            return None
        try:
            parsed(value.get_secret_value())
        except KeyRefused as refused:
            raise ValueError(str(refused)) from None
        return value

    @field_validator("redis_url")
    @classmethod
    def _store_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value():
            return None
        if urlsplit(value.get_secret_value()).scheme not in SCHEMES:
            raise ValueError("must begin with redis://, rediss://, unix:// or, for Sentinels, redis+sentinel://")
        return value


def load() -> Settings:
    """Read all settings.

    Raises: `SettingsError` with one line for each value that cannot be used.
    """
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("\n".join(_in_words(detail) for detail in error.errors())) from None


def unknown_names() -> list[str]:
    """Names in the environment that look like ours but are no setting, as `"SAYSO_PROT (SAYSO_PORT?)"`."""
    known = [env_name(name) for name in Settings.model_fields]
    strangers = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    return [name + "".join(f" ({near}?)" for near in difflib.get_close_matches(name, known, 1)) for name in strangers]


def env_name(field: str) -> str:
    """The name of a setting in the environment: `port` is `SAYSO_PORT`."""
    return "REDIS_URL" if field == "redis_url" else PREFIX + field.upper()


def shown_default(name: str) -> str:
    """The default of a setting as people read it."""
    if name == "data_dir":
        return "`~/.local/share/sayso`"
    default = Settings.model_fields[name].get_default(call_default_factory=True, validated_data={})
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`" if default else "none"


def given(table: str, prefix: str, fields: Collection[str] | None = None) -> dict[str, object]:
    """What was given for a front end: its table in the files, under what the environment says.

    prefix: of its names in the environment. fields: which names to look for there, in lower case; None: all.
    """
    found: dict[str, object] = {}
    for file in _files():
        found |= _as_table(_parsed(file).get(table))
    there = {name.removeprefix(prefix).lower(): value for name, value in os.environ.items() if name.startswith(prefix)}
    return found | {name: value for name, value in there.items() if fields is None or name in fields}


def _as_table(value: object) -> dict[str, object]:
    return TypeAdapter(dict[str, object]).validate_python(value) if isinstance(value, dict) else {}


def _files() -> list[Path]:
    """The files to read, the strongest last; the data folder may itself be named by the other two places."""
    here = Path.cwd() / FILE
    named = os.environ.get("SAYSO_DATA_DIR") or _parsed(here).get("data_dir")
    data_dir = Path(str(named)).expanduser() if named else default_folder()
    files = [data_dir / FILE, here]
    for file in files:
        _parsed(file)
    return files


def _parsed(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file}: cannot be read: {error}. Correct the file or move it away.") from None


def rule_of(detail: ErrorDetails) -> str:
    """The rule that a value breaks, in words."""
    return detail["msg"].removeprefix("Value error, ").replace("Input should be", "must be")


def _in_words(detail: ErrorDetails) -> str:
    place = [str(part) for part in detail["loc"]]
    field = "redis_url" if place[0].lower().endswith("redis_url") else place[0]
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(field, list(Settings.model_fields), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{'.'.join(place)!r} in {FILE} is no setting.{hint} The names are in docs/settings.md."
    rule = "must be a name or module:attribute" if detail["type"] == "string_pattern_mismatch" else rule_of(detail)
    setting = Settings.model_fields[field]
    given = "" if "SecretStr" in str(setting.annotation) else f" (given: {detail['input']!r})"
    where = ".".join([field, *place[1:]])
    default = shown_default(field).strip("`")
    return (
        f"{env_name(field)} ({where} in {FILE}): {rule}{given}. It is: {setting.description}. "
        f"Correct it, or leave it out for {default}."
    )
