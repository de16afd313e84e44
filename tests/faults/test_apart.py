"""Turns in processes of their own: whatever they do, they can be ended, and are `canceled` only when nothing lives."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import pytest

from core import cgroups, tree
from core.agent import Agent, goes_on
from core.broker import open_broker
from core.lease import Lease
from core.life.draft import Spans
from core.model import Run, Turn
from core.pace import Pace
from core.sweeper import Sweeper
from core.template import Template, command
from core.tree import living, stat
from core.worker import Worker
from tests.faults import stubborn
from tests.gateway.shell import BASE
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop

MILD, HARD = {"cooperative", "terminated", "killed"}, {"terminated", "killed"}
RESIST = {
    "cooperative": (MILD, 1),
    "busy": (HARD, 1),
    "swallow": (HARD, 1),
    "sigint": (HARD, 1),
    "deaf": ({"killed"}, 1),
    "thread": (HARD, 1),
    "child": (MILD, 2),
    "setsid": ({"killed"}, 2),
}
"""What a turn does -> by which steps it may end, and how many processes it has; `deaf` hears no SIGTERM either."""
GROUPS = pytest.mark.skipif(cgroups.home() is None, reason="no control group can be made here")
PACE = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=0.2, terminate=0.3, kill=1.0, verify=1.0, grace=0.2)


@pytest.fixture
async def template(tmp_path: Path) -> AsyncGenerator[Template]:
    """A template that knows the stubborn agent."""
    settings = {
        "SAYSO_AGENT": "tests.faults.stubborn:stubborn",
        "SAYSO_DATA_DIR": str(tmp_path / "data"),
        "SAYSO_HOT_WINDOW": "0.1",
        "SAYSO_INDEX_LOOK": "0.05",
        "SAYSO_STOP_COOPERATIVE": "0.2",
    }
    async with Template(command("gateway.template"), environment={**BASE, **settings}, patience=2.0) as made:
        yield made


@pytest.fixture
async def shop(redis_url: str, template: Template) -> AsyncGenerator[Workshop]:
    """A broker with a worker whose turns run apart."""
    apart = {"stubborn": goes_on(stubborn.stubborn)}
    async with (
        open_broker(redis_url, block=0.2, spans=Spans(free_ms=60_000, retry_ms=1)) as broker,
        Sweeper(broker, look=0.05, span=1.0),
    ):
        made = Workshop(broker, {"stubborn": stubborn.stubborn})
        async with (
            Lease(broker, "worker", prefixes=("chat-",)) as held,
            Worker(broker, held, made.find, pace=PACE, apart=apart, template=template),
        ):
            yield made


def lines(folder: Path, name: str) -> list[str]:
    """What was written into a file."""
    file = folder / name
    return file.read_text("utf-8").splitlines() if file.exists() else []


async def begun(folder: Path, count: int = 1) -> list[int]:
    """The processes of a turn, once they have begun."""
    await wait_until(lambda: len(lines(folder, "here")) >= count, timeout=20)
    return [int(line) for line in lines(folder, "here")]


def alive(pids: list[int]) -> set[int]:
    """Those that live."""
    return {pid for pid, _ in living()} & set(pids)


def is_template(pid: int) -> bool:
    """Whether a process is one from which turns are forked."""
    with suppress(OSError):
        return b"gateway.template" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return False


def groups() -> set[str]:
    """The control groups that there are beside this process."""
    above = cgroups.home()
    return {str(one) for one in above.iterdir()} if above is not None else set()


async def working(shop: Workshop, run: str) -> Turn:
    """The turn that works on a run."""
    turn = (await shop.record(run)).turn
    assert turn is not None
    return turn


async def canceled(shop: Workshop, run: str, pids: list[int]) -> Run:
    """Cancel, and wait for the end; at that moment nothing may live."""
    await shop.broker.cancel(run, ANN)
    ended = await shop.until(run, "canceled", timeout=20)
    assert not alive(pids)
    return ended


async def stays_ended(shop: Workshop, run: str, pids: list[int], target: Path) -> Run:
    """Cancel; nothing comes to the target after the end, although what was begun there would have by now."""
    ended = await canceled(shop, run, pids)
    seen = lines(target, "target")
    await asyncio.to_thread(stubborn.late, target / "now")
    assert lines(target, "now") == ["late"]
    assert lines(target, "target") == seen
    assert "late" not in seen
    return ended


async def test_a_turn_apart_asks_is_parked_and_goes_on_in_another_process(shop: Workshop, tmp_path: Path) -> None:
    run = await shop.say(f"confirm {tmp_path}", to="stubborn")
    await shop.until(run, "waiting", timeout=20)
    first = await begun(tmp_path)
    await wait_until(lambda: not alive(first), timeout=20)
    (template,) = {pid for pid, line in living() if line.parent == os.getpid() and is_template(pid)}
    os.kill(template, signal.SIGSTOP)  # it is replaced
    await shop.answer(await shop.question(), "Bob")
    await shop.until(run, "completed", timeout=20)
    assert lines(tmp_path, "target") == ["Bob"]
    assert len(set(lines(tmp_path, "here"))) == 2

    def told() -> bool:
        counted = shop.broker.committer.told()
        return (counted.ended, sum(counted.answers.counts)) == ({"completed": 1}, 1)

    await wait_until(told, timeout=20)  # the worker hears what a turn counted a moment after its last commit


async def test_turns_that_resist_are_ended_with_all_they_started(shop: Workshop, tmp_path: Path) -> None:
    runs: dict[str, tuple[str, list[int]]] = {}
    (tmp_path / "leaves").mkdir()
    leaves = await shop.say(f"leaves {tmp_path / 'leaves'}", to="stubborn", origin="chat-leaves")
    for how, (_, count) in RESIST.items():
        (tmp_path / how).mkdir()
        run = await shop.say(f"{how} {tmp_path / how}", to="stubborn", origin=f"chat-{how}")
        runs[how] = run, await begun(tmp_path / how, count)
    ended = await asyncio.gather(*(stays_ended(shop, run, pids, tmp_path / how) for how, (run, pids) in runs.items()))
    assert all(one.ended_by in by for one, (by, _) in zip(ended, RESIST.values(), strict=True)), ended
    await shop.until(leaves, "completed", timeout=20)
    left = await begun(tmp_path / "leaves", 2)
    await wait_until(lambda: not alive(left), timeout=20)  # what ignores SIGTERM does not outlive its turn for long


async def test_a_stopped_turn_is_killed(shop: Workshop, tmp_path: Path) -> None:
    run = await shop.say(f"cooperative {tmp_path}", to="stubborn")
    pids = await begun(tmp_path)
    os.kill(pids[0], signal.SIGSTOP)
    ended = await canceled(shop, run, pids)
    assert ended.ended_by in ("terminated", "killed")


@pytest.mark.parametrize(
    ("how", "grouped", "killed"),
    [
        ("escaped", False, ("keeper",)),
        ("forked", False, ("template", "keeper")),
        pytest.param("escaped", True, ("template", "keeper"), marks=GROUPS),
    ],
)
async def test_what_hides_ends_with_its_turn_although_who_keeps_it_is_killed(
    how: str, grouped: bool, killed: tuple[str, ...], shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`escaped`: twice forked, in a session of its own, without the mark, deaf for SIGTERM; only who keeps it, or its
    group, names it. The template is stopped, so that it ends nothing. `forked`: in a session of its own, and no program
    of its own; it carries the mark.
    """
    if not grouped:
        monkeypatch.setattr(cgroups, "name", str)
    run = await shop.say(f"{how} {tmp_path}", to="stubborn")
    pids = await begun(tmp_path, 2)
    code = tree.parsed((await working(shop, run)).code)
    keeper = stat(code.keeper) if code is not None else None
    assert code is not None
    assert keeper is not None
    os.kill(keeper.parent, signal.SIGSTOP)
    for who in killed:
        os.kill({"template": keeper.parent, "keeper": code.keeper}[who], signal.SIGKILL)
    await canceled(shop, run, pids)  # it may have been found before the cancel came
    assert not cgroups.members(code.cgroup)
    await wait_until(lambda: code.cgroup not in groups())


async def test_a_turn_that_kills_its_keeper_is_set_aside_after_three_times(shop: Workshop, tmp_path: Path) -> None:
    run = await shop.say(f"orphan {tmp_path}", to="stubborn")
    aside = await shop.until(run, "paused", timeout=40)
    assert "set aside" in (aside.error or "")
    pids = await begun(tmp_path, 3)
    assert len(pids) == 3
    assert not alive(pids)


async def test_a_turn_whose_process_dies_is_paused_with_the_reason(shop: Workshop, tmp_path: Path) -> None:
    """Also when its keeper was stopped, which then would hold the turn's place for ever: it is woken."""
    run = await shop.say(f"cooperative {tmp_path}", to="stubborn")
    (pid,) = await begun(tmp_path)
    code = tree.parsed((await working(shop, run)).code)
    assert code is not None
    os.kill(code.keeper, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    paused = await shop.until(run, "paused", timeout=20)
    assert paused.cause == "turn_failed"
    assert "SIGKILL" in (paused.error or "")


async def test_an_agent_says_itself_how_long_each_step_may_take(redis_url: str, tmp_path: Path) -> None:
    """The settings would wait for a minute; the turn is terminated as soon as its agent says, and its record knows."""
    slow = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=60.0, terminate=60.0, kill=1.0, verify=1.0, grace=0.2)
    agents: dict[str, Agent] = {"hurried": stubborn.hurried}
    settings = {"SAYSO_AGENT": "tests.faults.stubborn:hurried", "SAYSO_DATA_DIR": str(tmp_path / "data")}
    ladders = {"hurried": slow.of(stubborn.hurried).ladder_ms}
    async with (
        open_broker(redis_url, block=0.2) as broker,
        Template(command("gateway.template"), environment={**BASE, **settings}) as template,
        Lease(broker, "worker", prefixes=("chat-",)) as held,
        Worker(
            *(broker, held, agents.__getitem__), pace=slow, apart={"hurried": True}, template=template, ladders=ladders
        ),
    ):
        shop = Workshop(broker, agents)
        run = await shop.say(f"busy {tmp_path}", to="hurried")
        pids = await begun(tmp_path)
        assert (await working(shop, run)).ladder_ms == 2_500
        assert (await canceled(shop, run, pids)).ended_by == "terminated"


async def test_each_further_press_takes_the_next_step_at_once(
    redis_url: str, template: Template, tmp_path: Path
) -> None:
    slow = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=60.0, terminate=60.0, kill=1.0, verify=1.0, grace=0.2)
    async with open_broker(redis_url, block=0.2) as broker:
        shop = Workshop(broker, {"stubborn": stubborn.stubborn})
        async with (
            Lease(broker, "worker", prefixes=("chat-",)) as held,
            Worker(broker, held, shop.find, pace=slow, apart={"stubborn": True}, template=template),
        ):
            run = await shop.say(f"deaf {tmp_path}", to="stubborn")
            pids = await begun(tmp_path)
            await broker.cancel(run, ANN)
            assert (await shop.record(run)).shown == "canceling"
            await broker.cancel(run, ANN, urgent=True)
            await broker.cancel(run, ANN, urgent=True)
            ended = await shop.until(run, "canceled", timeout=20)
            assert ended.ended_by == "killed"
            assert not alive(pids)
