"""The stand-in as a test holds it: one object with the world, the people in it, the server, and what went wrong.

`README.md` shows it on one page. Everything a test does takes effect at once; what the bot does is waited for with
`tests.waiting.wait_until`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Literal

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.standins.discord import answering, places, telling, writing
from tests.standins.discord.calls import TABLE, Call
from tests.standins.discord.faults import Bucket, Fault, Scope
from tests.standins.discord.gateway import Gateway
from tests.standins.discord.people import Human
from tests.standins.discord.server import PREFIX, Server
from tests.standins.discord.shapes import text
from tests.standins.discord.world import BITS, EVERYONE_MAY, Channel, Guild, Message, Permission, Role, User, World

SHORT = {
    "send": "POST /channels/{channel_id}/messages",
    "edit": "PATCH /channels/{channel_id}/messages/{message_id}",
    "delete": "DELETE /channels/{channel_id}/messages/{message_id}",
    "list": "GET /channels/{channel_id}/messages",
    "thread": "POST /channels/{channel_id}/messages/{message_id}/threads",
    "channel": "PATCH /channels/{channel_id}",
    "dm": "POST /users/@me/channels",
    "typing": "POST /channels/{channel_id}/typing",
    "callback": "POST /interactions/{interaction_id}/{interaction_token}/callback",
    "follow-up": "POST /webhooks/{webhook_id}/{webhook_token}",
    "original": "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original",
    "commands": "PUT /applications/{application_id}/commands",
    "me": "GET /users/@me",
}
"""Short names of the routes that tests spoil and count."""


class DiscordStandin:
    """Discord on loopback. Use `standin()`."""

    def __init__(self) -> None:
        self.world = World()
        self.gateway = Gateway(self.world)
        self.server = Server(self.world, self.gateway)
        self.up = AsyncExitStack()

    # ── where it is ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def api(self) -> str:
        """For `discord.http.Route.BASE`."""
        return self.world.address + PREFIX

    @property
    def gateway_url(self) -> str:
        """For `discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY`."""
        return self.world.address.replace("http://", "ws://") + "/gateway"

    @property
    def token(self) -> str:
        return self.world.portal.token

    @contextmanager
    def pointed(self) -> Generator[None]:
        """Let discord.py in this process talk to the stand-in; afterwards to whatever it was pointed at before."""
        before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = self.api, yarl.URL(self.gateway_url)
        try:
            yield
        finally:
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before

    async def goes_down(self) -> None:
        """Refuse connections and cut those there are; what Discord knows stays."""
        await self.up.aclose()

    async def comes_up(self) -> None:
        """Listen again, on the same port."""
        await self.up.enter_async_context(self.server.listening())

    # ── people and places ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def bot(self) -> User:
        return self.world.bot

    @property
    def mention(self) -> str:
        """What people write to mention the bot."""
        return f"<@{self.world.bot.id}>"

    def person(self, name: str, *, bot: bool = False) -> Human:
        """Somebody new; perhaps another bot."""
        return Human(self.world, self.world.user(name, bot=bot))

    def guild(self, name: str, *people: Human, bot: bool = True) -> Guild:
        """A new server with these people, the first of them its owner, and the bot."""
        world = self.world
        owner = people[0].account if people else world.user(f"owner-of-{name}")
        made = Guild(world.snowflake(), name, owner, joined=world.now)
        made.roles.append(Role(made.id, "@everyone", EVERYONE_MAY))
        for one in (owner, *(each.account for each in people)):
            made.members[one.id] = []
        world.guilds[made.id] = made
        if bot:
            self.invite(made)
        return made

    def channel(self, guild: Guild, name: str) -> Channel:
        """A new text channel."""
        made = Channel(self.world.snowflake(), 0, name, guild)
        self.world.channels[made.id] = made
        if self.bot.id in guild.members:
            telling.channel_changed(self.world, made, "CREATE")
        return made

    def role(self, guild: Guild, name: str, *people: Human) -> Role:
        """A new role for these people."""
        made = Role(self.world.snowflake(), name, EVERYONE_MAY)
        guild.roles.append(made)
        for one in people:
            guild.members[one.id].append(made)
        telling.guild_there(self.world, guild)
        return made

    def thread(self, parent: Channel, name: str, owner: Human, at: Message | None = None) -> Channel:
        """A thread that somebody opened; at: from which message it grows."""
        made = Channel(
            at.id if at is not None else self.world.snowflake(),
            11,
            name,
            parent.guild,
            parent,
            [owner.account],
            owner.account,
        )
        self.world.channels[made.id] = made
        if at is not None:
            at.thread = made
        telling.channel_changed(self.world, made, "CREATE")
        return made

    def invite(self, guild: Guild) -> None:
        """The bot joins."""
        guild.members[self.bot.id] = []
        telling.guild_there(self.world, guild)

    def kick(self, guild: Guild) -> None:
        """The bot is thrown out."""
        telling.guild_gone(self.world, guild)
        del guild.members[self.bot.id]

    def joins(self, guild: Guild, one: Human) -> None:
        guild.members[one.id] = []
        telling.member_changed(self.world, guild, one.id, "ADD")

    def leaves(self, guild: Guild, one: Human) -> None:
        telling.member_changed(self.world, guild, one.id, "REMOVE")
        del guild.members[one.id]

    def takes(self, role: Role, guild: Guild, one: Human) -> None:
        """Somebody has a role no more, and does nothing."""
        guild.members[one.id].remove(role)
        telling.member_changed(self.world, guild, one.id, "UPDATE")

    def deny(self, channel: Channel, *names: Permission, who: Human | Role | None = None) -> None:
        """Take permissions in a channel, from the bot unless said otherwise; none at all gives all back."""
        id = who.id if who is not None else self.bot.id
        channel.denied[id] = sum(BITS[name] for name in names)
        telling.channel_changed(self.world, channel, "UPDATE")

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """A thread goes to sleep; a locked one is only woken by moderators."""
        thread.archive.archived, thread.archive.locked, thread.archive.at = True, locked, self.world.now
        telling.channel_changed(self.world, thread, "UPDATE")

    def removes(self, gone: Channel | Message) -> None:
        """A moderator deletes a channel, a thread or a message."""
        if isinstance(gone, Message):
            writing.erase(self.world, gone)
            return
        gone.gone = True
        telling.channel_changed(self.world, gone, "DELETE")

    def passes(self, seconds: float) -> None:
        """Move the clock: interactions, tokens, nonces. Rates go by real time."""
        self.world.now += seconds

    # ── what is seen ─────────────────────────────────────────────────────────────────────────────────────────────────

    def messages(self, where: Channel) -> list[Message]:
        """What everybody sees in a channel now, oldest first."""
        return where.seen

    def ours(self, where: Channel) -> list[Message]:
        """Those of them that the bot wrote."""
        return [one for one in where.seen if one.author is self.bot]

    def threads(self, parent: Channel) -> list[Channel]:
        return [one for one in self.world.channels.values() if one.parent is parent and not one.gone]

    @property
    def commands(self) -> list[str]:
        """Names of the global commands."""
        return [text(one, "name") for one in self.world.commands.get("", [])]

    @property
    def violations(self) -> list[str]:
        """What the bot must never have sent; empty after every test."""
        return self.server.violations

    def calls(self, route: str) -> list[Call]:
        """All calls of a route, by its short name or as `POST /channels/{channel_id}/messages`."""
        wanted = _route(route)
        return [one for one in self.server.calls if one.route == wanted]

    # ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────

    def fail_next(
        self,
        route: str,
        *,
        code: int | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        scope: Scope = "user",
        via: bool = True,
        cut: Literal["before", "after"] | None = None,
        held: Literal["early", "late"] | None = None,
        times: int = 1,
    ) -> Fault:
        """Spoil the next calls of a route; see `Fault`."""
        made = Fault(_route(route), code, status, retry_after, scope, via, cut, held, times)
        self.server.faults.append(made)
        return made

    def limit(self, route: str, calls: int, per: float) -> None:
        """Give a route a real bucket per channel. per: seconds."""
        self.server.limits.rules[_route(route)] = calls, per

    def limit_all(self, calls: int, per: float) -> None:
        """Limit all calls but those of interactions."""
        self.server.limits.everything = Bucket(calls, per)

    @property
    def invalid_calls(self) -> int:
        """Calls that count towards the ban of an address."""
        return self.server.limits.invalid

    def reset_token(self, token: str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GsTand.another-one") -> None:
        """The token of the portal changes: calls answer 401, lines close with 4004."""
        self.world.portal.token = token
        self.gateway.drop(4004)


ROUTES_OF = (places, answering)
"""Loading them fills the table of routes."""


def _route(name: str) -> str:
    route = SHORT.get(name, name)
    assert route in TABLE, f"no route {name!r}; short names are {sorted(SHORT)}"
    return route


@asynccontextmanager
async def standin(*, forgive: bool = False) -> AsyncGenerator[DiscordStandin]:
    """Discord, until the end of the context; then the bot must not have sent anything wrong. forgive: it may have."""
    made = DiscordStandin()
    await made.comes_up()
    try:
        yield made
    finally:
        await made.goes_down()
    assert forgive or not made.violations, made.violations
