"""The Discord front end in a process of its own, to be killed.

    python -m tests.adapters.discord.doomed REDIS_URL FOLDER API_URL GATEWAY_URL TOKEN PERSON POINT

POINT: `never`, or `decide`: what people do is acknowledged and then stands still before it is decided. It says `ready`
when it serves.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic import SecretStr

from adapters.desk import Open
from adapters.discord.adapter import Discord
from adapters.discord.session import Pauses
from adapters.discord.settings import Settings
from adapters.outcomes import Notice
from adapters.surface import Surface
from core.broker import open_broker
from core.files import FileStore
from core.model import Person

SPAN = 1.0
"""seconds for which a dead process still holds the bot"""


class Slow(Open):
    """Doors before which everybody stands for ever, once `shut`."""

    def __init__(self, person: str, *, shut: bool) -> None:
        super().__init__((person,))
        self._shut = shut

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        if self._shut:
            await asyncio.Event().wait()
        return await super().admit(person, place, private)


async def serve(url: str, folder: str, api: str, gateway: str, token: str, person: str, point: str) -> None:
    """Serve until killed."""
    settings = Settings(bot_token=SecretStr(token), api_url=api, gateway_url=gateway)
    files = FileStore(Path(folder), file_max=1_000_000, quota=10_000_000, keep=3600)
    async with (
        open_broker(url, block=0.2) as broker,
        Surface(
            broker,
            Discord(settings, pauses=Pauses(servers=0.05)),
            agents=["it"],
            doors=Slow(person, shut=point == "decide"),
            files=files,
            span=SPAN,
            look=0.1,
            quiet=3600.0,
        ) as surface,
    ):
        await surface.serving.wait()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
