"""The adapter against an emulator by others, which shares no code and no opinion with our own Telegram."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from adapters.surface import Surface
from adapters.telegram import create
from core.agent import Run
from core.files import FileStore
from tests.adapters.telegram.called import called
from tests.adapters.telegram.ground import opened, settings, surface, way
from tests.contract.agents import what, where
from tests.standins.telegram.second import Second, Told, free_port, second_opinion
from tests.standins.telegram.wire import Json, Object
from tests.waiting import wait_until
from tests.workshop import QUICK, Workshop

ANN: Object = {"id": 7_000_001, "is_bot": False, "first_name": "Ann"}
CHAT: Object = {"id": 7_000_001, "type": "private", "first_name": "Ann"}


class Abroad:
    """Sayso at the emulator. Ann writes and presses, by updates that a test makes."""

    def __init__(self, second: Second, shop: Workshop, front: Surface) -> None:
        self.second = second
        self.shop = shop
        self.front = front
        self._number = 500

    async def says(self, text: str, reply_to: int | None = None) -> None:
        """Ann writes."""
        self._number += 1
        message: Object = {"message_id": self._number, "date": 1_790_000_000, "chat": CHAT, "from": ANN, "text": text}
        if text.startswith("/"):
            message["entities"] = [{"type": "bot_command", "offset": 0, "length": len(text.split()[0])}]
        if reply_to is not None:
            message["reply_to_message"] = self._of_the_bot(reply_to)
        await self.second.update(message=message)

    async def presses(self, card: Told, label: str) -> str:
        """Ann presses a button; returns the words that she is told."""
        self._number += 1
        id = f"q{self._number}"
        query: Object = {"id": id, "from": ANN, "chat_instance": "1", "data": card.payload(label)}
        await self.second.update(callback_query={**query, "message": self._of_the_bot(card.message)})
        found: list[Told] = []

        def answered() -> bool:
            found[:] = [one for one in self.told("answerCallbackQuery") if one.fields["callback_query_id"] == id]
            return bool(found)

        await wait_until(answered, 20)
        return found[0].text

    def _of_the_bot(self, number: int) -> Object:
        bot: Object = {"id": int(self.second.token.partition(":")[0]), "is_bot": True, "first_name": "Sayso"}
        return {"message_id": number, "date": 1_790_000_000, "chat": CHAT, "from": bot, "text": "?"}

    def told(self, method: str) -> list[Told]:
        """The calls of a method."""
        return [one for one in self.second.told if one.method == method]

    async def sees(self, words: str, method: str = "sendMessage") -> Told:
        """Wait for a message that says these words."""
        await wait_until(lambda: any(words in one.text for one in self.told(method)), 20)
        return next(one for one in self.told(method) if words in one.text)


@pytest.fixture(params=["asked for", "called"])
async def abroad(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Abroad]:
    """Everything at work, with polling and with a webhook; in the end nothing that was sent was refused."""
    port = free_port() if request.param == "called" else 0
    files = FileStore(tmp_path / "files", file_max=1_000_000, quota=10_000_000, keep=3600)
    async with AsyncExitStack() as stack:
        second = await stack.enter_async_context(second_opinion(tmp_path))
        broker = await stack.enter_async_context(opened(redis_url))
        shop = Workshop(broker, files=files)
        await stack.enter_async_context(shop.worker(QUICK))
        more: Mapping[str, Json] = way(port)
        platform = create(settings(second.url, second.token, **more))
        if port:
            await stack.enter_async_context(called(broker, platform, port))
        front = await stack.enter_async_context(surface(broker, platform, files))
        await wait_until(front.serving.is_set, 20)
        yield Abroad(second, shop, front)
        refused = [one for one in second.told if one.answer.get("ok") is not True]
    assert [one for one in refused if one.method not in ("getUpdates", "sendMessageDraft")] == []


async def test_a_question_is_answered_by_a_button(abroad: Abroad) -> None:
    abroad.shop.hire("it", where)
    await abroad.says("please")
    card = await abroad.sees("Where to?")
    assert await abroad.presses(card, "staging") == "Accepted."
    await abroad.sees("To staging.")
    final = await abroad.sees("Answered “staging” by Ann", "editMessageText")
    assert "inline_keyboard" not in str(final.fields.get("reply_markup", ""))


async def test_a_question_is_answered_by_a_reply_and_commands_are_heard(abroad: Abroad) -> None:
    abroad.shop.hire("it", what)
    await abroad.says("please")
    card = await abroad.sees("What is it?")
    await abroad.says("/status")
    await abroad.sees("Waiting")
    await abroad.says("a parrot", card.message)
    await abroad.sees("You said: a parrot.")


async def test_a_long_answer_comes_in_parts_and_a_file_after_it(abroad: Abroad) -> None:
    async def write(run: Run, message: str) -> str:
        await run.attach(b"a,b\n", "table.csv")
        return "\n\n".join(f"Paragraph {number} " + "word " * 200 for number in range(9))

    abroad.shop.hire("it", write)
    await abroad.says("please")
    await abroad.sees("Paragraph 8")
    assert len(abroad.told("sendDocument")) == 1
    assert all(len(one.text.encode("utf-16-le")) // 2 <= 4096 for one in abroad.told("sendMessage"))
