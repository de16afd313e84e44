"""What the one script promises: a word for every guard, an effect for every verb, all of a commit or nothing."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest

from core.errors import Full, ServerRefused
from core.link import Argument, Link, Outcome, Reply

A = "aaaaaaaaaaaaaaaa"
B = "bbbbbbbbbbbbbbbb"
C = "cccccccccccccccc"

Guard = tuple[str, str, str]
Operation = tuple[Argument, ...]


@dataclass(frozen=True)
class Script:
    """Calls the script with keys by name."""

    link: Link

    async def __call__(
        self,
        commit: str,
        *operations: Operation,
        guards: Sequence[Guard] = (),
        own: str = "none",
        own_list: str | None = None,
        span: tuple[int, int] = (0, 0),
        oom: bool = True,
    ) -> Outcome:
        keys: list[str] = []

        def index(key: Argument) -> str:
            keys.append(str(key))
            return str(len(keys))

        argv: list[Argument] = [commit, span[0], span[1], own, index(own_list) if own_list else "0", len(guards)]
        for kind, key, value in guards:
            argv += [kind, index(key), value]
        argv.append(len(operations))
        for verb, key, *arguments in operations:
            argv += [verb, index(key), len(arguments), *arguments]
        return await self.link.commit(keys, argv, oom=oom)


@pytest.fixture
async def link(redis_url: str) -> AsyncIterator[Link]:
    async with Link(redis_url, name="script") as link:
        yield link
        await link.call("FLUSHDB")


@pytest.fixture
def script(link: Link) -> Script:
    return Script(link)


async def entries(link: Link, key: str) -> Reply:
    return await link.call("LRANGE", key, 0, -1)


async def test_a_document_is_written_with_its_commit_fence_and_halt(link: Link, script: Script) -> None:
    assert (await script(A, ("put", "run", 3, 1, '{"x":1}', 0))).word == "OK"
    assert await link.call("GET", "run") == b'%s 3 1 {"x":1}' % A.encode()
    assert await link.call("PTTL", "run") == -1


async def test_a_settled_document_gets_its_life_time_in_the_same_commit(link: Link, script: Script) -> None:
    await script(A, ("put", "run", 0, 0, "{}", 60_000), ("value", "body", "text", 50_000))
    assert await link.call("PTTL", "run") in range(59_000, 60_001)
    assert await link.call("PTTL", "body") in range(49_000, 50_001)


async def test_contents_may_be_any_bytes(link: Link, script: Script) -> None:
    raw = bytes(range(256))
    await script(A, ("put", "run", 0, 0, raw, 0), ("value", "body", raw, 0), ("append", "steps", raw, 0, 0))
    replies = await link.many([("GET", "run"), ("GET", "body"), ("LINDEX", "steps", 0)])
    assert replies == [A.encode() + b" 0 0 " + raw, raw, b"1 " + A.encode() + b" " + raw]


@pytest.mark.parametrize(
    ("guard", "word"),
    [
        (("at", "run", A), "OK"),
        (("at", "run", B), "STALE"),
        (("at", "none", A), "GONE"),
        (("fence", "run", "3"), "OK"),
        (("fence", "run", "2"), "FENCED"),
        (("fence", "none", "3"), "GONE"),
        (("begin", "run", "3:1"), "OK"),
        (("begin", "run", "2:1"), "FENCED"),
        (("begin", "run", "3:0"), "HALTED"),
        (("begin", "none", "3:1"), "GONE"),
        (("length", "steps", "2"), "OK"),
        (("length", "steps", "1"), "STALE"),
        (("length", "none", "0"), "OK"),
        (("absent", "none", ""), "OK"),
        (("absent", "run", ""), "STALE"),
        (("exists", "run", ""), "OK"),
        (("exists", "none", ""), "GONE"),
    ],
)
async def test_each_guard_answers_in_its_word(link: Link, script: Script, guard: Guard, word: str) -> None:
    await script(A, ("put", "run", 3, 1, "{}", 0), ("append", "steps", "a", 0, 0), ("append", "steps", "b", 0, 0))
    found = await script(B, ("value", "written", "yes", 0), guards=[("absent", "other", ""), guard])
    assert found.word == word
    assert found.guard == (None if word == "OK" else 1)
    assert await link.call("EXISTS", "written") == (1 if word == "OK" else 0)


async def test_the_first_guard_that_fails_is_named(script: Script) -> None:
    found = await script(A, guards=[("absent", "x", ""), ("length", "x", "0"), ("exists", "x", ""), ("at", "x", A)])
    assert (found.word, found.guard) == ("GONE", 2)


async def test_seq_is_dense_and_starts_at_one(link: Link, script: Script) -> None:
    first = await script(
        A, ("append", "steps", "a", 0, 0), ("append", "steps", "b", 0, 0), ("append", "told", "c", 0, 0)
    )
    second = await script(B, ("append", "steps", "d", 0, 0))
    assert (first.seqs, second.seqs) == ((1, 2, 1), (3,))
    assert await entries(link, "steps") == [f"1 {A} a".encode(), f"2 {A} b".encode(), f"3 {B} d".encode()]


async def test_seq_goes_on_after_the_list_was_shortened(link: Link, script: Script) -> None:
    for text in "abcde":
        await script(A, ("append", "steps", text, 3, 0))
    assert await link.call("LLEN", "steps") == 3
    await script(B, ("trim", "steps", 1, 60_000))
    assert (await script(C, ("append", "steps", "f", 0, -1))).seqs == (6,)
    assert await link.call("PTTL", "steps") in range(59_000, 60_001)


async def test_an_append_to_a_list_that_works_again_takes_its_life_time_away(link: Link, script: Script) -> None:
    await script(A, ("append", "steps", "a", 0, 60_000))
    await script(B, ("append", "steps", "b", 0, 0))
    assert await link.call("PTTL", "steps") == -1


async def test_a_list_dropped_in_a_commit_starts_again_at_one(link: Link, script: Script) -> None:
    await script(A, ("append", "steps", "a", 0, 0))
    assert (await script(B, ("drop", "steps"), ("append", "steps", "b", 0, 0))).seqs == (1,)
    assert await entries(link, "steps") == [f"1 {B} b".encode()]


async def test_indexes_gain_and_lose_members(link: Link, script: Script) -> None:
    await script(
        A, ("zadd", "timers", 1_700_000_000_123, "a"), ("zadd", "timers", 2.5, "b"), ("zadd", "timers", 3, "c")
    )
    await script(
        B, ("zrem", "timers", "b"), ("zrem_at", "timers", "c", 4), ("zrem_at", "timers", "a", 1_700_000_000_123)
    )
    assert await link.call("ZRANGE", "timers", 0, -1, "WITHSCORES") == [b"c", b"3"]


async def test_life_times_are_set_and_taken_away(link: Link, script: Script) -> None:
    await script(A, ("value", "x", "1", 0), ("expire", "x", 60_000), ("value", "y", "1", 60_000), ("expire", "y", 0))
    assert await link.call("PTTL", "x") in range(59_000, 60_001)
    assert await link.call("PTTL", "y") == -1


async def test_a_hint_enters_the_feed(link: Link, script: Script) -> None:
    await script(A, ("feed", "feed", 1000, "run 0r1\nready 0r1"))
    match await link.call("XRANGE", "feed", "-", "+"):
        case [[_, fields]]:
            assert fields == [b"h", b"run 0r1\nready 0r1"]
        case other:
            raise AssertionError(other)


async def test_a_repeated_commit_of_a_document_takes_effect_once(link: Link, script: Script) -> None:
    await script(A, ("put", "run", 0, 0, "{}", 0))

    async def again() -> Outcome:
        operations = ("put", "run", 1, 0, "{}", 0), ("append", "steps", "x", 0, 0)
        return await script(B, *operations, guards=[("at", "run", A)], own="doc")

    assert [(await again()).word, (await again()).word] == ["OK", "OK"]
    assert await link.call("LLEN", "steps") == 1
    await script(C, ("put", "run", 2, 0, "{}", 0))
    assert (await again()).word == "STALE"


async def test_a_repeated_creation_takes_effect_once(script: Script) -> None:
    async def create() -> Outcome:
        return await script(A, ("put", "run", 0, 0, "{}", 0), guards=[("absent", "run", "")], own="doc")

    assert [(await create()).word, (await create()).word] == ["OK", "OK"]


async def test_a_repeated_append_takes_effect_once_and_tells_its_seqs(link: Link, script: Script) -> None:
    async def append(commit: str, own: str = "list") -> Outcome:
        operations = ("append", "steps", "x", 0, 0), ("append", "steps", "y", 0, 0)
        return await script(commit, *operations, own=own, own_list="steps")

    assert (await append(A)).seqs == (1, 2)
    assert (await append(B)).seqs == (3, 4)
    assert (await append(A)).seqs == (1, 2)
    for commit in range(10):
        await append(f"{commit:016}")
    assert (await append(A, own="seek")).seqs == (1, 2)
    assert await link.call("LLEN", "steps") == 24


async def test_an_own_commit_is_known_whatever_the_clock_says(script: Script) -> None:
    first = await script(A, ("put", "run", 0, 0, "{}", 0))
    again = await script(A, guards=[("at", "run", B)], own="doc", span=(0, first.now_ms - 1000))
    assert again.word == "OK"


async def test_a_decision_holds_only_in_its_interval(link: Link, script: Script) -> None:
    now = (await script(A)).now_ms
    write = ("value", "written", "yes", 0)
    assert (await script(A, write, span=(now + 60_000, 0))).word == "EARLY"
    assert (await script(A, write, span=(0, now - 1))).word == "LATE"
    assert (await script(A, write, span=(now + 60_000, 0), guards=[("exists", "none", "")])).word == "EARLY"
    assert await link.call("EXISTS", "written") == 0
    assert (await script(A, write, span=(now, now + 60_000))).word == "OK"


@pytest.mark.parametrize(
    "bad",
    [
        ("paint", "x"),
        ("put", "x", 0, 0, "{}"),
        ("put", "x", 0, 0, "{}", 0, 0),
        ("put", "x", "a", 0, "{}", 0),
        ("value", "x", "text", -1),
        ("append", "x", "text", 0, 1.5),
        ("append", "x", "text", -1, 0),
        ("trim", "x", 0, 0),
        ("zadd", "x", "soon", "member"),
        ("zadd", "x", "nan", "member"),
        ("zrem_at", "x", "member", "soon"),
        ("feed", "x", 0, "text"),
        ("append", "text", "entry", 0, 0),
    ],
)
async def test_a_malformed_call_writes_nothing(link: Link, script: Script, bad: Operation) -> None:
    await script(A, ("value", "text", "a string, not a list", 0))
    with pytest.raises(ServerRefused, match=r"MALFORMED|WRONGTYPE"):
        await script(B, ("value", "written", "yes", 0), bad)
    assert await link.call("KEYS", "*") == [b"text"]


@pytest.mark.parametrize(
    "argv",
    [
        [A, 0, 0, "none", 0, 0, 1, "value", 1, 2, "text", 0, "left over"],
        [A, 0, 0, "none", 0, 0, 1, "value", 2, 2, "text", 0],
        [A, 0, 0, "none", 0, 0, 2, "value", 1, 2, "text", 0],
        [A, 0, 0, "none", 0, 1, "like", 1, "x", 0],
        [A, 0, 0, "perhaps", 0, 0, 1, "value", 1, 2, "text", 0],
        [A, 0, 0, "doc", 0, 0, 1, "value", 1, 2, "text", 0],
        ["too short", 0, 0, "none", 0, 0, 1, "value", 1, 2, "text", 0],
        [A, "soon", 0, "none", 0, 0, 1, "value", 1, 2, "text", 0],
        [A],
    ],
)
async def test_a_call_with_wrong_arguments_writes_nothing(link: Link, argv: list[Argument]) -> None:
    with pytest.raises(ServerRefused, match="MALFORMED"):
        await link.commit(["x"], argv, oom=False)
    assert await link.call("DBSIZE") == 0


async def test_a_full_server_refuses_new_work_and_settles_the_old(link: Link, script: Script) -> None:
    await script(A, ("put", "run", 0, 0, "{}", 0))
    await link.call("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(Full):
            await script(B, ("put", "new", 0, 0, "{}", 0), oom=False)
        settled = await script(C, ("put", "run", 1, 0, "{}", 1000), ("append", "steps", "x", 0, 1000), oom=True)
    finally:
        await link.call("CONFIG", "SET", "maxmemory", "0")
    assert settled.word == "OK"
    assert await link.call("EXISTS", "new") == 0


async def test_a_script_that_the_server_forgot_is_loaded_again(link: Link, script: Script) -> None:
    await script(A, ("append", "steps", "x", 0, 0))
    await link.call("SCRIPT", "FLUSH")
    assert (await script(B, ("append", "steps", "x", 0, 0))).seqs == (2,)


async def test_something_that_is_no_document_is_never_taken_for_one(link: Link, script: Script) -> None:
    await link.call("SET", "run", "rubbish")
    with pytest.raises(ServerRefused, match="MALFORMED not a document"):
        await script(A, ("value", "written", "yes", 0), guards=[("at", "run", A)])
    assert await link.call("EXISTS", "written") == 0
