"""What owners read of health over HTTP, and that nobody else does."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from adapters.web.health import ELSEWHERE
from core.accounts import SCOPES
from core.model import Json, Person
from core.people import Role
from core.tally import Tally, tell
from tests.adapters.web.place import Place, User


async def told(user: User) -> list[dict[str, Json]]:
    """The checks, as an owner gets them."""
    checks = (await user.get("/v1/health"))["checks"]
    assert isinstance(checks, list)
    return [check for check in checks if isinstance(check, dict)]


async def words_of(user: User, what: str) -> str:
    """What one check says."""
    (found,) = [check for check in await told(user) if check["what"] == what]
    return str(found["words"])


async def test_an_owner_reads_what_needs_somebody_first(bare: Place, owner: User) -> None:
    """All that `/health` says, trouble first, with 200 either way; with a worker nothing is left to do."""
    report = await owner.get("/v1/health")
    assert report["status"] == "degraded"
    first, *others = await told(owner)
    assert (first["what"], first["ok"]) == ("worker", False)
    assert "start `sayso worker`" in str(first["words"])
    assert all(check["ok"] for check in others)
    public = (await owner.http.get("/health")).json()["checks"]
    assert sorted(str(check["what"]) for check in public) == sorted(str(check["what"]) for check in (first, *others))
    await bare.worker()
    assert (await owner.get("/v1/health"))["status"] == "ok"
    assert all(check["ok"] for check in await told(owner))


@pytest.mark.parametrize("role", ["approver", "member"])
async def test_who_is_no_owner_reads_nothing_of_it(bare: Place, role: Role) -> None:
    """Whatever their token may do; a token of an owner needs the scope, and a stranger has to sign in."""
    assert isinstance(await bare.people.add("Ben", role), Person)
    ben = await bare.user("Ben")
    refused = await ben.get("/v1/health", status=403)
    assert refused["code"] == "role"
    assert "checks" not in refused
    limited = await bare.user(scopes=tuple(scope for scope in SCOPES if scope != "admin"))
    assert (await limited.get("/v1/health", status=403))["code"] == "scope"
    ben.http.headers.pop("Authorization")
    await ben.get("/v1/health", status=401)


async def test_an_accepted_answer_is_told_until_its_run_takes_it(bare: Place, owner: User) -> None:
    async with AsyncExitStack() as first:
        await bare.worker(first)
        said = await owner.send("delete build")
        (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "once")
    assert (await words_of(owner, "answers")).startswith(
        "1 accepted answer waits to be taken by a run, the oldest for "
    )
    await bare.worker()
    await owner.until(said.run, "completed")
    assert await words_of(owner, "answers") == "every accepted answer was delivered"


async def test_what_processes_counted_is_told_in_words(bare: Place, owner: User) -> None:
    """Late writes that were refused, and runs that paused without anybody's wish, with each reason."""
    assert await words_of(owner, "interrupted") == "no run was interrupted"
    assert await words_of(owner, "fenced") == "no write came late"
    lost = Tally(role="worker", fenced=1, ended={"worker_lost": 2, "user_paused": 5, "completed": 9})
    await tell(bare.broker.shelf, "w0one", lost)
    await tell(bare.broker.shelf, "w0two", Tally(role="worker", ended={"turn_failed": 1}))
    interrupted = "3 runs paused: 2 because their worker was lost, 1 because an error stopped them"
    assert await words_of(owner, "interrupted") == interrupted
    assert (await words_of(owner, "fenced")).startswith("1 write of work that was not to go on any more was refused")


async def test_a_stranger_from_elsewhere_hears_what_is_wrong_but_no_words(redis_url: str, tmp_path: Path) -> None:
    """Words name runs, hosts and people. They are for who asks on this machine, by its own address."""
    async with Place(redis_url, tmp_path, public_url="https://sayso.example") as place:
        url = await place.web()
        async with httpx.AsyncClient(base_url=url) as stranger:
            here = (await stranger.get("/health")).json()
            there = (await stranger.get("/health", headers={"Host": "sayso.example"})).json()
    assert (here["status"], there["status"]) == ("degraded", "degraded")
    assert [one["what"] for one in here["checks"]] == [one["what"] for one in there["checks"]]
    assert any("sayso worker" in one["words"] for one in here["checks"])
    assert not [one for one in there["checks"] if one["ok"] and one["words"]]
    assert {one["words"] for one in there["checks"] if not one["ok"]} == {ELSEWHERE}
