"""What the Discord front end needs to know, as people give it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

API = "https://discord.com/api/v10"
Role = Literal["approver", "member"]
GATEWAY = "wss://gateway.discord.gg/"


class Settings(BaseModel):
    """The settings of the Discord front end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr = Field(min_length=1, description="the token of the bot, from Discord's developer portal")
    api_url: str = Field(default=API, description="where Discord's HTTP API is", pattern=r"^https?://")
    gateway_url: str = Field(default=GATEWAY, description="where Discord's gateway is", pattern=r"^wss?://")
    threads: bool = Field(default=True, description="whether each task in a channel gets a thread of its own")
    roles: dict[str, Role] = Field(
        default_factory=dict[str, Role],
        description="who is let in by a role of their server: its id, and `member` or `approver`; "
        "in the environment as `12345=approver, 67890=member`",
    )
    silence: float = Field(default=60.0, gt=0, description="seconds after which a gateway that says nothing is left")

    @field_validator("roles", mode="before")
    @classmethod
    def _by_commas(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        return {id.strip(): role.strip() for id, _, role in pairs}

    def role_of(self, roles: tuple[str, ...]) -> Role | None:
        """What somebody with these roles of a server is to us."""
        found = {self.roles[id] for id in roles if id in self.roles}
        return "approver" if "approver" in found else "member" if found else None
