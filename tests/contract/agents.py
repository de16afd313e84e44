"""Agents that ask: what the contract lets people answer."""

from __future__ import annotations

import asyncio

from core.agent import Run
from core.model import Json
from core.tool import Denied

DID: list[str] = []
"""What guarded code did, in order; emptied by the tests that look at it."""


async def deploy(run: Run, message: str) -> str:
    """Ask before it acts, and act once."""
    arguments: dict[str, Json] = {"to": "production"}
    try:
        await run.confirm("Deploy?", tool="deploy", arguments=arguments)
    except Denied as denied:
        return f"Left alone: {denied.reason}."
    async with run.tool("deploy", **arguments):
        DID.append(message)
    return "Deployed."


async def where(run: Run, message: str) -> str:
    """Ask to choose."""
    return f"To {await run.choose('Where to?', ['staging', 'production'])}."


async def what(run: Run, message: str) -> str:
    """Ask for text."""
    return f"You said: {await run.ask('What is it?')}."


async def two(run: Run, message: str) -> str:
    """Ask two things at once whose options look alike."""
    first, second = await asyncio.gather(run.choose("Which file?", ["A", "B"]), run.choose("Which branch?", ["A", "C"]))
    return f"file {first}, branch {second}."


async def both(run: Run, message: str) -> str:
    """Ask for two approvals at once."""
    listing, deleting = await asyncio.gather(approved(run, "list"), approved(run, "delete"))
    return f"list {listing}, delete {deleting}."


async def approved(run: Run, tool: str) -> bool:
    """Ask for one approval, and tell whether it was given."""
    try:
        await run.confirm(f"{tool.title()}?", tool=tool, arguments={"path": "build"})
    except Denied:
        return False
    return True
