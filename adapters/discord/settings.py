"""What the Discord front end needs to know, as people give it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr

API = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"


class Settings(BaseModel):
    """The settings of the Discord front end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr = Field(min_length=1, description="the token of the bot, from Discord's developer portal")
    api_url: str = Field(default=API, description="where Discord's HTTP API is", pattern=r"^https?://")
    gateway_url: str = Field(default=GATEWAY, description="where Discord's gateway is", pattern=r"^wss?://")
    threads: bool = Field(default=True, description="whether each task in a channel gets a thread of its own")
    silence: float = Field(default=60.0, gt=0, description="seconds after which a gateway that says nothing is left")
