"""How a front end is opened: which ones were set up, what their settings are, and the platform made from these.

A platform's code is loaded only where somebody set it up. It knows no platform.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from adapters.platform import Platform
from gateway.cannot_start import CannotStart
from gateway.front_ends import SHIPPED, FrontEnd
from gateway.settings import FILE, Settings, SettingsError, given, rule_of

_GUIDE: Final = "docs/adding-a-platform.md says what a front end has to bring."


@dataclass(frozen=True)
class Front:
    """A front end that was set up, with its settings."""

    of: FrontEnd
    settings: BaseModel

    def create(self) -> Platform:
        """Make the platform; nothing is connected yet.

        Raises: `CannotStart` when its package cannot do that.
        """
        made: object = _called(_load(self.of.module, self.of), self.settings)
        if not isinstance(made, Platform) or made.prefix != self.of.prefix:
            what = f"create of {self.of.module} gives no platform with the prefix {self.of.prefix!r}"
            raise CannotStart(what, self.of.title, _GUIDE)
        return made

    @property
    def is_called(self) -> bool:
        """Whether the platform calls us: then the web role needs it too, for its route."""
        return bool(getattr(self.settings, "webhook_url", None))

    def secrets(self) -> list[str]:
        """What of its settings may be in no log."""
        values: list[object] = [getattr(self.settings, name) for name in type(self.settings).model_fields]
        return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]


def known(settings: Settings) -> tuple[FrontEnd, ...]:
    """Every front end there is beside the web, those that were named in the settings too."""
    named = (
        FrontEnd(name, one.title or name, one.prefix, one.use, one.match) for name, one in settings.front_ends.items()
    )
    return (*SHIPPED, *named)


def set_up(settings: Settings) -> tuple[Front, ...]:
    """Those whose required settings are given; they are what `sayso up` starts.

    Raises: `SettingsError`, `CannotStart`.
    """
    found = (_front(one, missing_is_wrong=False) for one in known(settings))
    return tuple(one for one in found if one is not None)


def the(settings: Settings, name: str) -> Front:
    """The one with this name.

    Raises: `SettingsError` when something is missing, `CannotStart`.
    """
    for one in known(settings):
        if one.name == name and (front := _front(one, missing_is_wrong=True)) is not None:
            return front
    names = ", ".join(one.name for one in known(settings)) or "there is none"
    raise CannotStart(f"There is no front end {name!r}", f"known: {names}", "Name one of them.")


def settings_of(front: FrontEnd) -> type[BaseModel]:
    """What its settings are made of.

    Raises: `CannotStart`.
    """
    found: object = getattr(_load(f"{front.module}.settings", front), "Settings", None)
    if not isinstance(found, type) or not issubclass(found, BaseModel):
        raise CannotStart(f"{front.module}.settings has no model called Settings", front.title, _GUIDE)
    return found


def required(model: type[BaseModel]) -> list[str]:
    """The settings without which there is nothing to start."""
    return [name for name, field in model.model_fields.items() if field.is_required()]


def env_of(front: FrontEnd, field: str) -> str:
    """The name of a setting in the environment: `bot_token` of `telegram` is `TELEGRAM_BOT_TOKEN`."""
    return f"{front.name}_{field}".upper()


def _front(front: FrontEnd, *, missing_is_wrong: bool) -> Front | None:
    """Read its settings; None when it was not set up and may stay so."""
    if not missing_is_wrong and not given(front.name, f"{front.name}_".upper()):
        return None
    model = settings_of(front)
    values = given(front.name, f"{front.name}_".upper(), [*model.model_fields])
    missing = [name for name in required(model) if not values.get(name)]
    if missing and not missing_is_wrong:
        return None
    if missing:
        raise SettingsError("\n".join(_missing(front, model, name) for name in missing))
    try:
        return Front(front, model.model_validate(values))
    except ValidationError as error:
        raise SettingsError("\n".join(_in_words(front, model, detail) for detail in error.errors())) from None


def _missing(front: FrontEnd, model: type[BaseModel], field: str) -> str:
    what = model.model_fields[field].description
    place = f"{field} in [{front.name}] of {FILE}"
    return f"{env_of(front, field)} ({place}) is not set, so {front.title} cannot start. It is: {what}."


def _in_words(front: FrontEnd, model: type[BaseModel], detail: ErrorDetails) -> str:
    field = str(detail["loc"][0]) if detail["loc"] else ""
    if field not in model.model_fields:
        names = ", ".join(model.model_fields)
        wrong = f"{field!r} in [{front.name}] of {FILE} is no setting" if field else detail["msg"]
        return f"{wrong}. Those of {front.title}: {names}."
    setting = model.model_fields[field]
    shown = "" if "SecretStr" in str(setting.annotation) else f" (given: {detail['input']!r})"
    where = f"{env_of(front, field)} ({field} in [{front.name}] of {FILE})"
    return f"{where}: {rule_of(detail)}{shown}. It is: {setting.description}."


def _load(module: str, front: FrontEnd) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what_to_do = "Install what is missing." if re.match("No module", str(error)) else _GUIDE
        raise CannotStart(f"{front.title} cannot be loaded: {error}", module, what_to_do) from None


def _called(module: ModuleType, settings: BaseModel) -> object:
    create: object = getattr(module, "create", None)
    return create(settings) if callable(create) else None
