"""With sixteen partitions a press, a reply and a command find their request wherever it lives."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run
from core.question import ConfirmField, Question, TextField
from tests.contract.agents import where
from tests.contract.bench import ANN, HOME, bench, wide
from tests.waiting import wait_until

ELSEWHERE = [f"fa-{number}" for number in range(70, 90)]


async def test_copies_are_answered_from_other_partitions(redis_url: str, tmp_path: Path) -> None:
    """By a press, by a reply to the card, by a command with the id."""
    chats = wide()
    copies = ELSEWHERE[:3]

    async def ask(run: Run, message: str) -> str:
        answers: list[str] = []
        for number, place in enumerate(copies):
            kind = ConfirmField() if number != 1 else TextField()
            question = Question(title=f"Question {number}?", fields=(kind,), copies=(place,))
            accepted = await run._ask("ask", question)  # pyright: ignore[reportPrivateUsage] copies come from the API
            answers.append(str(accepted.values[kind.id]))
        return f"Done: {', '.join(answers)}."

    async with bench(redis_url, tmp_path, [chats], partitions=16) as made:
        assert len({made.broker.store.place(place) for place in (HOME, *copies)}) > 1
        made.hire(ask)
        await made.write("please")
        first = await made.card("Question 0?", place=copies[0])
        await made.press(first, "Approve")
        await made.final(first, "Approved by Ann")
        second = await made.says("Question 1?", place=copies[1])
        await made.write("my words", place=copies[1], reply_to=second)
        await made.says("Question 2?", place=copies[2])
        request = (await made.broker.pending(ANN)).requests[0]
        await made.write(f"/approve {request.id}", place=copies[2])
        await made.says("Done: once, my words, once.")
        await made.settled()


async def test_every_place_has_its_own_run_in_its_own_partition(redis_url: str, tmp_path: Path) -> None:
    async with bench(redis_url, tmp_path, [wide()], partitions=16) as made:
        made.hire(where)
        for place in ELSEWHERE:
            await made.write("please", place=place)
        cards = [await made.card("Where to?", place=place) for place in ELSEWHERE]
        for card in cards:
            await made.press(card, "staging")
        for card in cards:
            await made.final(card, "staging")
        await wait_until(lambda: all("To staging." in made.chats[0].texts(place) for place in ELSEWHERE))
        await made.settled()
