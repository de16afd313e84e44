"""Makes the pictures of docs/discord.md anew: real cards and forms, drawn by simcord's preview in Chromium.

    python -m tests.adapters.discord.pictures [FOLDER]          (make pictures)

It needs the extra `simcord[preview]`. Look at the pictures before you keep them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, FloatRect

from core.agent import Run
from core.asking import choice_field, text_field
from core.question import Option
from tests.adapters.discord.sim import Sim, simulated
from tests.adapters.web.page.window import chromium, expect
from tests.house.sources import ROOT
from tests.redis_server import running_server

PLACE = FloatRect(x=256, y=124, width=680, height=0)
"""the chat alone, without what the preview puts around it"""
SIZES = [Option(id="s", label="small", description="2 cores"), Option(id="l", label="large", description="16 cores")]
PICTURES = {
    "approval": ("deploy 2.4.1", "Deploy to production?", "", 640),
    "menu": ("restart some services", "Which services?", "", 338),
    "form": ("add a server", "A new server", "Fill in…", 640),
    "secret": ("log in to the registry", "The token of the registry", "Enter it here…", 500),
}
"""By name: what Ann writes, what the card says that is drawn, what is pressed on it before, and the height."""


async def body(run: Run, message: str) -> str:
    """Ask what the picture shows."""
    match message.partition(" ")[0]:
        case "deploy":
            arguments = {"env": "production", "version": "2.4.1"}
            words = "All checks are green. The last deploy was two days ago."
            await run.confirm("Deploy to production?", tool="deploy", arguments={**arguments}, message=words)
        case "restart":
            services = [Option(id=str(n), label=f"service-{n}", description="runs in eu-west") for n in range(12)]
            await run.choose("Which services?", services, multiple=True, min=1, max=4)
        case "add":
            await run.form(
                "A new server",
                text_field("name", "Name"),
                choice_field("size", "Size", SIZES),
                choice_field("with", "With", ["backups", "monitoring", "IPv6"], multiple=True, required=False),
            )
        case _:
            await run.secret("registry token", "The token of the registry")
    return "Done."


async def draw(sim: Sim, browser: Browser, name: str, path: Path) -> None:
    """Draw one picture, in a chat of its own."""
    said, words, pressed, height = PICTURES[name]
    ann = sim.env.create_user("ann")
    await ann.send_dm(said)
    await sim.says(ann.dm_channel, words)
    async with sim.env.preview(ann.dm_channel, viewers=[ann], layout="channel", width=900, height=760) as shown:
        page = await browser.new_page(viewport={"width": 1_000, "height": 840})
        await page.goto(shown.url)
        await expect(page.get_by_text(words).last).to_be_visible()
        if pressed:
            await page.get_by_text(pressed, exact=True).last.click()
            await expect(page.get_by_role("dialog").get_by_text("Submit", exact=True)).to_be_visible()
        await page.screenshot(path=path, clip={**PLACE, "height": height}, animations="disabled")
        await page.close()


async def main(folder: Path) -> None:
    """Draw all of them into a folder."""
    with running_server() as server, tempfile.TemporaryDirectory() as files:
        async with chromium() as browser, simulated(server.url, Path(files), first="ops") as sim:
            sim.env.backend.edit_bot_profile("Sayso")
            sim.hire(body, guarded=("deploy",))
            for name in PICTURES:
                await draw(sim, browser, name, folder / f"discord-{name}.png")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"))
