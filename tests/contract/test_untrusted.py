"""What models, tools, files, people and addresses say is only text: nothing of it acts, and nothing of it is opened."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from core.agent import Run
from core.life.card import Reshow
from core.model import Person
from tests.contract.bench import ANN, HOME, Bench
from tests.fakes import Message
from tests.proves import proves
from tests.waiting import wait_until

IMAGE, SCRIPT = "<img src=x onerror=alert(1)>", "<script>alert(1)</script>"
LINK, VECTOR, STYLE = "[here](javascript:alert(1))", "<svg onload=alert(1)>", "<style>*{display:none}</style>"
EVIL = f"{IMAGE} {SCRIPT} {LINK} {VECTOR} {STYLE}"
PIECES = (IMAGE, SCRIPT, VECTOR, STYLE, "javascript:alert(1)")
MALLORY = Person(id=ANN.id, name=f"{IMAGE}{SCRIPT}", role="owner")


def only_text(message: Message, whole: str = EVIL, *, kinds: str = "title text code state small quote") -> None:
    """What a message says stands there as it is, in blocks without format, with no button but the card's own."""
    assert [piece for piece in PIECES if piece in whole and piece not in message.text] == [], message.text
    assert not [button for button in message.view.buttons if button.url is not None or button.payload is None]
    assert {block.kind for block in message.view.blocks} <= set(kinds.split())


@proves("C135", "kit", "telegram")
async def test_untrusted_text_is_shown_as_text(made: Bench) -> None:
    """Question, option, tool, file name, who answered, reply and error: live, shown anew and in the list."""

    async def ask(run: Run, message: str) -> str:
        await run.choose(EVIL, [IMAGE, SCRIPT, "fine"], message=EVIL)
        await run.confirm("May I?", tool=SCRIPT, arguments={IMAGE: EVIL})
        await run.attach(b"content", f"{IMAGE}.txt", text=EVIL)
        await run.say(f"So: {EVIL}")
        raise ValueError(EVIL)

    made.hire(ask)
    await made.write(EVIL, person=MALLORY)
    card = await made.card("q0")
    only_text(card)
    listed = await made.write("/pending", person=MALLORY)
    assert listed is not None
    assert IMAGE in listed.text
    await made.settled()
    made.quiet = 0.0
    await made.restart()
    (request,) = await made.pending()
    await made.broker.cards.reshow(Reshow(request.id, HOME))

    def shown() -> list[Message]:
        return [one for one in made.chats[0].cards(HOME) if STYLE in one.text]

    await wait_until(lambda: len(shown()) == 2)
    again = shown()[-1]
    only_text(again)
    await made.press(again, SCRIPT[:12], person=MALLORY)
    for one in (card, again):
        await made.final(one, "Answered")
        only_text(one, f"{SCRIPT} {IMAGE}")
    approval = await made.card("May I?")
    only_text(approval)
    await made.press(approval, "Approve", person=MALLORY)
    await made.final(approval, f"Approved by {IMAGE}")
    only_text(await made.says("So: "), kinds="markdown text")
    broke = await made.card("it broke")
    only_text(broke, f"{IMAGE} {SCRIPT}")
    await wait_until(lambda: any(".txt" in f"{one.name} {one.text}" for one in made.chats[0].at(HOME)))
    for one in made.chats[0].at(HOME):
        assert not [button for button in one.view.buttons if button.url is not None], one.text


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────────────

ASKED: list[str] = []
"""What this process connected to, and which names it looked up, while somebody looks."""
LOOKING: list[None] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if LOOKING and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        ASKED.append(str(arguments[-1] if event == "socket.connect" else arguments[0]))


sys.addaudithook(_hear)


@contextmanager
def looking() -> Generator[list[str]]:
    """Note every connection and every look-up of this process."""
    ASKED.clear()
    LOOKING.append(None)
    try:
        yield ASKED
    finally:
        LOOKING.pop()


@asynccontextmanager
async def inner() -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server on this machine that redirects to itself; yields its port and what it was asked."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard


def addresses(port: int) -> list[str]:
    """Ways to name a place inside; also by names, which a resolver could answer today so and tomorrow otherwise."""
    hosts = ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433", "127.1", "localhost", "localhost.")
    far = ("169.254.169.254", "10.0.0.5", "100.100.100.200", "[fd00::1]", "inner.invalid", "rebinding.invalid")
    named = [f"http://{host}:{port}/x.png" for host in hosts] + [f"https://{host}/x.png" for host in far]
    back = f"http://redirecting.invalid/?to=http://127.0.0.1:{port}/"
    return [
        *named,
        back,
        f"http://ann:pw@127.0.0.1:{port}/",
        "file:///etc/passwd",
        "ftp://10.0.0.5/x",
        "data:,x",
    ]


@proves("C124", "kit", "telegram")
async def test_addresses_are_refused_in_words_and_never_fetched(made: Bench) -> None:
    """Nothing in the kit opens an address, whatever it leads to: not one from a person, not one that an agent says.

    So no hop has to be looked at: nothing connects to any of them, and none of their names is looked up.
    """

    async def link(run: Run, message: str) -> str:
        await run.say(" ".join(f"![image]({one}) [page]({one}) <img src='{one}'>" for one in addresses(port)))
        return f"See {addresses(port)[0]}"

    made.hire(link)
    async with inner() as (port, heard):
        with looking() as asked:
            for address in addresses(port):
                answer = await made.platform.write(ANN, HOME, "see", links=(address,))
                assert answer is not None
                assert answer.text.startswith("I do not open links")
                assert len(answer.text) <= 200
            await made.says(f"See {addresses(port)[0]}")
            await made.settled()
            there = [one for one in asked if str(port) in one or "invalid" in one or "localhost" in one]
            assert (heard, there) == ([], [])
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            assert [one for one in asked if str(port) in one], "a connection would have been seen"
            writer.close()
