"""What the outpost needs to know."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Settings(BaseModel):
    """The settings, as a platform declares them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr = Field(min_length=1, description="what the outpost knows the bot by")
    api_url: str = Field(default="http://127.0.0.1:1", pattern="^https?://", description="where the outpost is")
    patience: Annotated[float, Field(gt=0)] = Field(default=1.0, description="how long one question for updates lasts")
    webhook_url: str | None = Field(default=None, description="where the outpost calls us; without it we ask")
