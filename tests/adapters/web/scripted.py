"""An agent whose every move a test decides: what it does depends on the first word of the message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from core.agent import Agent, Completed, Denied, Failed, FunctionAgent, Run, file_field, text_field

__all__ = ["Script", "scripted"]


@dataclass
class Script:
    """What the agent did, and the gates at which it waits. effects: what it really did to the world."""

    effects: list[str] = field(default_factory=list[str])
    turns: list[str] = field(default_factory=list[str])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    reached: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def gate(self, name: str) -> asyncio.Event:
        """The gate of that name, closed at first."""
        return self.gates.setdefault(name, asyncio.Event())

    def at(self, name: str) -> asyncio.Event:
        """Set when the agent stands before that gate."""
        return self.reached.setdefault(name, asyncio.Event())

    def agent(self) -> Agent:
        """The agent."""
        return FunctionAgent(self._body, "scripted")

    async def _body(self, run: Run, message: str) -> str | Completed | Failed | None:
        self.turns.append(run.id)
        word, _, rest = message.partition(" ")
        match word:
            case "delete":
                return await self._delete(run, rest)
            case "two":
                return ", ".join(await asyncio.gather(self._delete(run, "list"), self._delete(run, "build")))
            case "restricted":
                await run.confirm("Wipe the disk?", tool="wipe", arguments={}, restricted=True)
                async with run.tool("wipe"):
                    self.effects.append("wiped")
                return "wiped"
            case "approver":
                await run.confirm("Deploy?", responders=[rest])
                return "deployed"
            case "choose":
                return await run.choose("Which one?", ["red", "green", "blue"])
            case "other":
                return await run.choose("Which one?", ["red"], allow_other=True)
            case "number":
                return str((await run.form("How many?", text_field("people", "People", format="integer")))["people"])
            case "text":
                return await run.ask("What is your name?")
            case "twice":
                return " and ".join([await run.ask("First?"), await run.ask("Second?")])
            case "wait":
                self.at(rest).set()
                await self.gate(rest).wait()
                return f"waited for {rest}"
            case "tool":
                await run.status("about to act")
                async with run.tool("saw", wood=rest):
                    self.at(rest).set()
                    await self.gate(rest).wait()
                return f"sawed {rest}"
            case "then":
                await run.confirm("Go on?")
                self.at(rest).set()
                await self.gate(rest).wait()
                self.effects.append(rest)
                return f"went on to {rest}"
            case "count":
                for number in range(int(rest)):
                    await run.status(f"{number}")
                return "counted"
            case "stream":
                async with run.stream() as out:
                    for letter in rest:
                        await out.write(letter)
                return None
            case "secret" | "stored":
                token = await run.secret("token", store=word == "stored")
                await run.step("use", lambda: self.effects.append(token.reveal()))
                return f"used {token}"
            case "table":
                table = await run.ask_file("Which table?", types=[".csv"], max_bytes=100)
                return f"read {(await run.content(table)).decode()} of {table.name}"
            case "import":
                given = await run.form(
                    "Import", file_field("tables", "Tables", max_files=2), text_field("name", "Name")
                )
                tables = given["tables"]
                return f"imported {len(tables) if isinstance(tables, list) else 0} as {given['name']}"
            case "fail":
                return Failed("it did not work")
            case _:
                return f"you said **{message}**"

    async def _delete(self, run: Run, what: str) -> str:
        try:
            await run.confirm(f"Delete {what}?", tool="delete", arguments={"what": what})
            async with run.tool("delete", what=what):
                self.effects.append(what)
        except Denied:
            return f"kept {what}"
        return f"deleted {what}"


scripted = Script().agent()
"""One for worker processes of their own: `SAYSO_AGENT=tests.adapters.web.scripted:scripted`."""
