"""The front end's process is killed hard between two steps; another one goes on with old buttons and old forms."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests import forked
from tests.adapters.discord.wire import Wire, plain, wired
from tests.contract.agents import deploy, what
from tests.forked import Forked
from tests.waiting import wait_until


@asynccontextmanager
async def doomed(wire: Wire, point: str = "never") -> AsyncGenerator[Forked]:
    """The front end in a process of its own, that serves."""
    there, module = wire.there, "tests.adapters.discord.doomed"
    place = wire.url, str(wire.folder), there.api, there.gateway_url, there.token
    process = await forked.start(module, *place, wire.people[0], point)
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        await process.wait()


async def kill(process: Forked) -> None:
    """End it as the kernel does."""
    process.kill()
    assert await process.wait() == -signal.SIGKILL


async def test_killed_between_send_and_ledger_the_question_is_shown_once(redis_url: str, tmp_path: Path) -> None:
    """Discord has the card, nobody wrote that down; whoever comes after sends it again under the same nonce."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(deploy, guarded=("deploy",))
        async with doomed(wire) as process:
            held = wire.there.fail_next("send", held="late")
            wire.ann.says(wire.ann.dm, "to production")
            await held.reached.wait()
            await kill(process)
        held.release()
        (card,) = wire.there.ours(wire.ann.dm)
        await wire.front()
        await wait_until(lambda: len(wire.there.calls("send")) == 2)
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert [one for one in wire.there.ours(wire.ann.dm) if "Deploy?" in plain(one)] == [card]


async def test_killed_between_click_and_commit_the_button_still_works(redis_url: str, tmp_path: Path) -> None:
    """It was acknowledged and not stored: the card is as it was, and pressing again is one answer."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        wire.ann.says(wire.ann.dm, "to production")
        card = await wire.card("Deploy?")
        await wire.down()
        await wire.up(served=False)
        async with doomed(wire, "decide") as process:
            lost = wire.ann.presses(card, "Approve")
            await wait_until(lambda: lost.acked == 6)
            await kill(process)
        await wire.front()
        assert "Approve" in card.live
        again = wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        assert again.acked == 6
        await wire.says("Deployed.")
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1


async def test_killed_before_the_card_is_changed_the_next_one_changes_it(redis_url: str, tmp_path: Path) -> None:
    """The answer is stored, the edit never arrived."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(deploy, guarded=("deploy",))
        async with doomed(wire) as process:
            wire.ann.says(wire.ann.dm, "to production")
            card = await wire.card("Deploy?")
            held = wire.there.fail_next("edit", held="early")
            wire.ann.presses(card, "Approve")
            await held.reached.wait()
            await kill(process)
        held.release()
        await wire.front()
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1


async def test_a_form_of_a_killed_process_is_taken_by_the_next(redis_url: str, tmp_path: Path) -> None:
    """It stands open on the person's screen meanwhile."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.hire(what)
        async with doomed(wire) as process:
            wire.ann.says(wire.ann.dm, "go")
            card = await wire.card("What is it?")
            wire.ann.presses(card, "Answer")
            await wait_until(lambda: wire.ann.modals)
            await kill(process)
        await wire.front()
        (form,) = wire.ann.modals
        wire.ann.submits(form, {form.fields[0]: "a fish"})
        await wire.says("You said: a fish.")
        await wire.final(card)
