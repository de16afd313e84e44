"""The settings of the Telegram front end: `TELEGRAM_BOT_TOKEN` and its like, or `[telegram]` in `sayso.toml`."""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr

SERVER: Final = "https://api.telegram.org"
HOOK: Final = "/telegram"
MIB: Final = 1024 * 1024
CLOUD_DOWN: Final = 20 * MIB
CLOUD_UP: Final = 50 * MIB
LOCAL: Final = 2000 * MIB
Span = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseModel):
    """What the front end has to know; spans are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr = Field(min_length=1, description="the bot's token, from BotFather")
    webhook_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]+",
        description="the public address that Telegram calls with updates; without it Sayso asks for them",
    )
    api_url: str = Field(
        default=SERVER, pattern=r"^https?://[^\s/]+", description="the Bot API, where it is a server of your own"
    )
    proxy: str | None = Field(default=None, description="a proxy on the way to the Bot API: `http://127.0.0.1:3128`")
    poll: Annotated[float, Field(ge=1, le=50)] = Field(
        default=30.0, description="how long one question for updates lasts, in whole seconds"
    )
    slack: Span = Field(default=15.0, description="how much longer it may last before it counts as wedged")
    pause: Span = Field(default=1.0, description="the first pause after a failure; it doubles")
    longest: Span = Field(default=30.0, description="the longest pause after a failure")
    album_gap: Span = Field(default=0.7, description="how long the next file of an album is waited for")
    edit_gap: Span = Field(default=3.0, description="between two edits of a message that streams")
    draft_gap: Span = Field(default=0.8, description="between two drafts of a message that streams in a private chat")
    send_timeout: Span = Field(default=30.0, description="how long a call may take before its outcome is unclear")

    @property
    def is_local(self) -> bool:
        """Whether a Bot API server of one's own is used, which takes larger files."""
        return self.api_url.rstrip("/") != SERVER

    @property
    def largest_down(self) -> int:
        """Bytes of the largest file that the server gives us."""
        return LOCAL if self.is_local else CLOUD_DOWN

    @property
    def largest_up(self) -> int:
        """Bytes of the largest file that it takes."""
        return LOCAL if self.is_local else CLOUD_UP

    @property
    def hook_path(self) -> str:
        """The path of the route that Telegram calls."""
        return (urlsplit(self.webhook_url).path.rstrip("/") if self.webhook_url else "") or HOOK

    @property
    def hook_url(self) -> str | None:
        """The whole address that Telegram calls."""
        if self.webhook_url is None:
            return None
        parts = urlsplit(self.webhook_url)
        return f"{parts.scheme}://{parts.netloc}{self.hook_path}"

    @property
    def hook_secret(self) -> str:
        """What Telegram shows in the header of each call; the same after every restart."""
        key = self.bot_token.get_secret_value().encode()
        return hmac.new(key, b"sayso webhook", hashlib.sha256).hexdigest()
