"""A burst of presses on Telegram: all in effect once and in order, each acknowledged soon. Telegram is a stand-in.

The front end and the worker are processes of their own, `python -m bench.telegram ROLE URL FOLDER SERVER TOKEN`.
Each chat gets a question with several picks and five presses at once: pick, pick, pick, take one back, done. The answer
shows whether one was lost, repeated, or came before another.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvloop

from adapters import telegram
from adapters.desk import Open
from adapters.surface import Surface
from adapters.telegram.settings import Settings
from bench.ground import private_server
from bench.table import Ground, Row, measurement
from core.agent import Agent, Run, agent
from core.broker import open_broker
from core.files import FileStore
from core.lease import Lease
from core.model import Json
from core.vault import Vault, fresh_key, parsed
from core.worker import Worker
from gateway.collector import calm_collector
from tests.standins.telegram import Message, Person, TelegramServer
from tests.waiting import wait_until

CHATS = 200
PICKS = ("Alpha", "Bravo", "Charlie", "Alpha", "Done")
LEFT = "You picked Bravo, Charlie."
LIMIT = 300.0
BOUND_MS = 1000.0
GLANCE = 0.2
GIVEN_UP = 6.0
"""seconds after which no acknowledgement comes any more"""


class Burst(NamedTuple):
    """Milliseconds until presses were acknowledged, seconds until all was in effect, and how many chats went wrong."""

    acks: list[float]
    whole: float
    wrong: int
    refused: int


@measurement
def burst_on_telegram(ground: Ground) -> list[Row]:
    """Five presses in each of 200 chats, all at once."""
    chats = CHATS // 10 if ground.quick else CHATS
    with (
        private_server("everysec") as url,
        tempfile.TemporaryDirectory(prefix="sayso-bench-", ignore_cleanup_errors=True) as folder,
        TelegramServer() as server,
    ):
        server.can.query_life = LIMIT
        burst = uvloop.run(_press(url, folder, server, chats))
    acks = sorted(burst.acks)
    name = f"{chats * len(PICKS):,} presses in {chats} chats at once"
    return [
        Row(f"{name}: acknowledged, p50", acks[len(acks) // 2], "ms"),
        Row(f"{name}: acknowledged, p99", acks[int(len(acks) * 0.99)], "ms", target=BOUND_MS),
        Row(f"{name}: all in effect", burst.whole, "s"),
        Row("chats with a press lost, repeated or out of order", burst.wrong, "", target=0),
        Row("presses without an acknowledgement", chats * len(PICKS) - len(acks), "", target=0),
        Row("requests that Telegram had to refuse", burst.refused, "", target=0),
    ]


async def _press(url: str, folder: str, server: TelegramServer, chats: int) -> Burst:
    words = (url, folder, server.url, server.token)
    async with _process("worker", *words), _process("front", *words):
        people = [server.person(f"Person {number}") for number in range(chats)]
        for one in people:
            one.says("go")
        await _until(lambda: all(_says(server, one, "Which?") for one in people))
        cards = [_says(server, one, "Which?")[-1] for one in people]
        data = [_payloads(card.buttons) for card in cards]
        begun = time.monotonic()
        for pick in PICKS:
            for person, card, payloads in zip(people, cards, data, strict=True):
                person.presses_data(card, payloads[pick])
        queries = {query.id: query.at for query in server.queries}
        await _until(lambda: all(_says(server, one, "You picked") for one in people))
        whole = time.monotonic() - begun
        with suppress(AssertionError):
            await wait_until(lambda: all(query.answers for query in server.queries), GIVEN_UP)
        told = [call for call in server.calls("answerCallbackQuery") if call.ok]
        answered = {call.fields.text("callback_query_id"): call.at for call in told}
        acks = [1000 * (answered[id] - at) for id, at in queries.items() if id in answered]
        wrong = sum([one.text for one in _says(server, person, "You picked")] != [LEFT] for person in people)
        return Burst(acks, whole, wrong, len(server.violations))


async def _until(there: Callable[[], bool]) -> None:
    """Wait with long pauses: looking costs what Telegram, which runs in this process, would need."""
    async with asyncio.timeout(LIMIT):
        while not there():  # noqa: ASYNC110  # nothing tells: what is waited for is what people see
            await asyncio.sleep(GLANCE)


def _says(server: TelegramServer, person: Person, words: str) -> list[Message]:
    return [one for one in server.messages(person) if words in one.text]


def _payloads(buttons: list[dict[str, Json]]) -> dict[str, str]:
    """The payload of each pick, by the word in its label."""
    found = {str(button["text"]): str(button.get("callback_data", "")) for button in buttons}
    return {pick: next(data for label, data in found.items() if pick in label) for pick in PICKS}


@asynccontextmanager
async def _process(role: str, *words: str) -> AsyncGenerator[None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.telegram", role, *words, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        await process.wait()


# ── the other processes ──────────────────────────────────────────────────────────────────────────────────────────────


@agent("it")
async def it(run: Run, message: str) -> str:
    """Let a person pick several."""
    picked = await run.choose("Which?", sorted({*PICKS} - {"Done"}), multiple=True)
    return f"You picked {', '.join(sorted(picked))}."


def find(name: str) -> Agent:
    """The only agent there is."""
    del name
    return it


async def front(url: str, folder: str, server: str, token: str) -> None:
    """Serve Telegram."""
    files = FileStore(Path(folder), file_max=1_000_000, quota=10_000_000, keep=3600)
    platform = telegram.create(Settings.model_validate({"bot_token": token, "api_url": server}))
    async with open_broker(url, name="bench-front") as broker:
        broker.safe.vault = Vault(parsed(fresh_key()))
        async with Surface(broker, platform, agents=["it"], doors=Open(()), files=files) as surface:
            await surface.serving.wait()
            calm_collector()
            await _ready()


async def worker(url: str) -> None:
    """Work."""
    async with (
        open_broker(url, name="bench-worker") as broker,
        Lease(broker, "worker", prefixes=("chat-",)) as lease,
        Worker(broker, lease, find, slots=CHATS),
    ):
        await _ready()


async def _ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    role, *words = sys.argv[1:]
    uvloop.run(front(*words) if role == "front" else worker(words[0]))
