"""Texts on a platform: what agents said and what we note, in order, each at most once; long ones in parts or as a file.

Works conversation by conversation from the outbox. A part is announced before it is sent; where its arrival is unclear
it is not sent again, unless the platform recognises a repeat. What a place with several people never takes is sent once
more, addressed to who began the task: a platform may bring it to them. It knows no platform. Source: C117, C118.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from adapters.platform import Block, Outcome, Refused, Sent, Unclear, View
from adapters.sending import Sending
from adapters.text import cut
from core.broker import Broker
from core.card import Posted
from core.errors import FileRefused
from core.files import FileStore
from core.life.debt import TOLD, prefix
from core.life.decision import Refusal
from core.life.posting import Arrived, Brought, Posting, Unsent
from core.model import Entry
from core.people import People
from core.trace import emit

_log = logging.getLogger(__name__)
BATCH = 100
OLD_MS = 2 * 86_400_000
"""Where nothing is known of what was posted, older texts are not brought up again."""

PAUSE = 2.0
DOUBT = "⚠ A message may not have reached this chat. It stands on the dashboard."
ANSWER = "answer.md"


@dataclass(frozen=True, slots=True)
class Piece:
    """One send of a text: a message or a file."""

    view: View | None = None
    file: str | None = None
    name: str = ANSWER
    content: bytes = b""


class Texts:
    """The bringing of texts to one platform. again: called with the seconds after which to look again."""

    def __init__(
        self, broker: Broker, sending: Sending, files: FileStore | None, again: Callable[[float], None]
    ) -> None:
        self._broker = broker
        self._people = People(broker)
        self._sending = sending
        self._files = files
        self._again = again

    async def bring(self, conversation: str, place: str) -> float | None:
        """Bring everything that a conversation's platform does not have yet; returns how long the chat must rest."""
        posted = await self._broker.cards.posted(conversation)
        old = self._broker.store.now() - OLD_MS if posted == Posted() else 0
        cursor = posted.seq
        while True:
            end = await self._broker.store.end("history", conversation)
            while cursor < end:
                last = min(end, cursor + BATCH)
                for seq, entry in await self._broker.store.history(conversation, last=last - cursor, before=last + 1):
                    wanted = entry.role in TOLD and entry.text.strip() and entry.at >= old
                    rest = await self._one(conversation, place, seq, entry) if wanted and seq > cursor else None
                    if rest is not None:
                        self._again(rest)
                        return rest
                cursor = last
            done = await self._broker.cards.brought(Brought(conversation, place, end))
            if not isinstance(done, Refusal):
                return None

    async def _one(self, conversation: str, place: str, seq: int, entry: Entry) -> float | None:
        """Send what is missing of one entry."""
        posted = await self._broker.cards.posted(conversation)
        begin = posted.parts if posted.sending == seq else 0
        unclear = doubt = False
        pieces = await self._pieces(entry)
        for number in range(begin, len(pieces)):
            repeat = self._sending.limits.repeats
            said = await self._broker.cards.posting(Posting(conversation, place, seq, number, again=repeat))
            if isinstance(said, Refusal):
                unclear = doubt = True
                continue
            outcome = await self._send(place, pieces[number], f"{entry.id}.{number}", entry.run)
            if isinstance(outcome, Unclear) and repeat:
                return PAUSE
            if isinstance(outcome, Refused) and outcome.kind == "later":
                await self._broker.cards.unsent(Unsent(conversation, seq))
                return PAUSE if outcome.retry_after is None else outcome.retry_after
            if not isinstance(outcome, Sent):
                unclear = True
                doubt = doubt or isinstance(outcome, Unclear)
                words = "may not have taken" if isinstance(outcome, Unclear) else "did not take"
                _log.warning("%s %s part %d of text %s: %r", place, words, number, entry.id, outcome)
                emit("text.unclear" if isinstance(outcome, Unclear) else "text.refused", place=place, text=entry.id)
        if entry.run is not None and self._sending.marks:
            await self._sending.mark(await self._broker.peek(entry.run))
        await self._broker.cards.arrived(Arrived(conversation, place, seq, unclear))
        if doubt:
            view = View(blocks=(Block(kind="state", text=DOUBT),), of=entry.id)
            await self._sending.post(place, view, f"{entry.id}.doubt")
        emit("text.posted", place=place, text=entry.id, unclear=unclear)
        return None

    async def _send(self, place: str, piece: Piece, nonce: str, run: str | None) -> Outcome:
        outcome = await self._once(place, piece, nonce)
        final = isinstance(outcome, Refused) and outcome.kind == "final" and not self._sending.is_private(place)
        begun = await self._broker.peek(run) if final and run is not None else None
        who = await self._people.account(begun.starter.id, prefix(place)) if begun is not None else None
        if who is None:
            return outcome
        return await self._once(place, piece, nonce, who)

    async def _once(self, place: str, piece: Piece, nonce: str, asks: str | None = None) -> Outcome:
        if piece.view is None:
            return await self._sending.upload(place, piece.name, piece.content, nonce, asks=asks)
        return await self._sending.post(place, piece.view.changed(asks=asks), nonce)

    async def _pieces(self, entry: Entry) -> list[Piece]:
        """Cut an entry into sends: parts, or a beginning and a file; then its attachments."""
        limits, measure = self._sending.limits, self._sending.measure
        kind = "markdown" if entry.role == "agent" else "state"
        found = cut(entry.text, limits.text_max, lambda text: measure(View(blocks=(Block(kind=kind, text=text),))))
        texts = [part.text for part in found.parts]
        file: list[Piece] = []
        content = entry.text.encode()
        if found.more and 0 < len(content) <= limits.file_max:
            file = [Piece(name=ANSWER, content=content)]
        elif found.more:
            whole = cut(
                entry.text,
                limits.text_max,
                lambda text: measure(View(blocks=(Block(kind=kind, text=text),))),
                most=10_000,
            )
            texts = [part.text for part in whole.parts]
        views = [View(blocks=(Block(kind=kind, text=text),), of=entry.id) for text in texts]
        return [*(Piece(view=view) for view in views), *file, *await self._attachments(entry)]

    async def _attachments(self, entry: Entry) -> list[Piece]:
        ids = entry.data.get("attachments")
        pieces: list[Piece] = []
        for id in ids if isinstance(ids, list) and self._files is not None else []:
            file = await self._files.get(id) if isinstance(id, str) and self._files is not None else None
            if file is None or self._files is None:
                continue
            if file.size > self._sending.limits.file_max:
                words = f"The file {file.name} is too large to be sent here; it stands on the dashboard."
                pieces.append(Piece(view=View(blocks=(Block(kind="state", text=words),))))
                continue
            try:
                pieces.append(Piece(name=file.name, content=await self._files.content(file)))
            except FileRefused as gone:
                _log.warning("attachment %s of text %s: %s", id, entry.id, gone)
        return pieces
