"""What people do in their Telegram: write, press, edit, send files, block, found groups.

Everything a person does becomes the update that Telegram would send. It must not know what the bot makes of it.
"""

from __future__ import annotations

from tests.standins.telegram import places
from tests.standins.telegram.state import State
from tests.standins.telegram.text import marked
from tests.standins.telegram.wire import Json, Object, Upload
from tests.standins.telegram.world import ANONYMOUS_ADMIN, Chat, Message, Query, StoredFile, Topic, User

MIMES = {"png": "image/png", "jpg": "image/jpeg", "txt": "text/plain", "md": "text/markdown", "pdf": "application/pdf"}


class Person:
    """One person with a phone. `chat` is their private chat with the bot."""

    def __init__(self, state: State, user: User, *, started: bool = True) -> None:
        self.user = user
        self.id = user.id
        self._state = state
        self._started = started
        if started:
            places.private_chat(state, user)

    @property
    def chat(self) -> Chat:
        """The private chat with the bot.

        Raises: `KeyError` before they pressed Start.
        """
        return self._state.chats[self.id]

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def starts(self, parameter: str = "") -> Message:
        """Press Start, perhaps from a link with a parameter."""
        with self._state.lock:
            places.private_chat(self._state, self.user)
            return self.says(f"/start {parameter}".strip())

    def says(
        self,
        text: str,
        chat: Chat | None = None,
        *,
        topic: Topic | None = None,
        reply_to: Message | None = None,
        entities: list[Json] | None = None,
        anonymous: bool = False,
        deliver: bool = True,
    ) -> Message:
        """Write into a chat, the private one unless it is named. anonymous: as the group itself."""
        with self._state.lock:
            message = self._message(chat, topic, reply_to, anonymous)
            message.text, message.entities = text, marked(text) if entities is None else entities
            return self._send(message, deliver)

    def sends_file(
        self,
        name: str,
        content: bytes,
        chat: Chat | None = None,
        *,
        caption: str = "",
        photo: bool = False,
        topic: Topic | None = None,
        reply_to: Message | None = None,
        claimed_size: int | None = None,
    ) -> Message:
        """Send a document or a photo. claimed_size: what Telegram says of its size."""
        with self._state.lock:
            message = self._message(chat, topic, reply_to, False)
            message.text, message.entities = caption, marked(caption)
            message.file = self._file(name, content, photo)
            message.file.claimed_size = claimed_size
            return self._send(message)

    def sends_album(
        self, files: list[tuple[str, bytes]], chat: Chat | None = None, *, caption: str = "", photo: bool = False
    ) -> list[Message]:
        """Send several files at once: a message each, under one album id; the caption stands on the first."""
        with self._state.lock:
            album = f"1337{next(self._state.numbers)}"
            sent: list[Message] = []
            for place, (name, content) in enumerate(files):
                message = self._message(chat, None, None, False)
                message.text, message.album = caption if place == 0 else "", album
                message.file = self._file(name, content, photo)
                sent.append(self._send(message))
            return sent

    def edits(self, message: Message, text: str) -> Message:
        """Change what they wrote."""
        with self._state.lock:
            message.text, message.entities = text, marked(text)
            message.edited_at = self._state.clock.now()
            message.shown.append(text)
            places.deliver(self._state, message, "edited_message")
            return message

    def deletes(self, message: Message) -> None:
        """Take a message away; bots are not told."""
        with self._state.lock:
            message.deleted = True

    # ── pressing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def presses(self, message: Message, label: str, *, accessible: bool = True) -> Query:
        """Press the button whose label holds these words, as the message stands now."""
        with self._state.lock:
            for button in message.buttons:
                data = button.get("callback_data")
                if label in str(button["text"]) and isinstance(data, str):
                    return self.presses_data(message, data, accessible=accessible)
            raise AssertionError(f"no button {label!r} on {message.labels} of {message.text!r}")

    def presses_data(self, message: Message, data: str, *, accessible: bool = True) -> Query:
        """Press with any payload, as an old or a bad client can. accessible: the message is not too old or deleted."""
        with self._state.lock:
            query = Query(f"{self.id}0{next(self._state.numbers)}", self.user, message, data, self._state.clock.now())
            self._state.queries[query.id] = query
            body = query.json(accessible=accessible and not message.deleted)
            self._state.updates.push("callback_query", body, self.id)
            return query

    def stops_draft(self) -> None:
        """Press the Stop button under the draft that is being written to them."""
        with self._state.lock:
            drafts = [one for one in self._state.drafts.values() if one.chat is self.chat and self._is_live(one.at)]
            live = [one for one in drafts if one.can_stop]
            assert live, f"no draft with a Stop button in the chat of {self.user.first_name}"
            body: Object = {"chat": self.chat.json, "draft_id": live[-1].id}
            if live[-1].topic is not None:
                body["message_thread_id"] = live[-1].topic.id
            self._state.updates.push("stopped_message_generation", body, self.id)

    def _is_live(self, at: float) -> bool:
        return self._state.clock.now() - at <= self._state.can.draft_life

    # ── letting in and out ───────────────────────────────────────────────────────────────────────────────────────────

    def blocks_bot(self) -> None:
        """Block the bot in the private chat."""
        with self._state.lock:
            places.set_blocked(self._state, self.chat, True)

    def unblocks_bot(self) -> None:
        """Let it in again."""
        with self._state.lock:
            places.set_blocked(self._state, self.chat, False)

    def leaves_telegram(self) -> None:
        """Delete the account."""
        with self._state.lock:
            self.user.deactivated = True

    def reacts(self, message: Message, emoji: str) -> None:
        """React with an emoji; bots hear of it only when they asked for it."""
        with self._state.lock:
            old = message.reactions.get(self.id, [])
            new: list[Json] = [{"type": "emoji", "emoji": emoji}]
            message.reactions[self.id] = new
            body: Object = {"chat": message.chat.json, "message_id": message.id, "user": self.user.json}
            body |= {"date": int(self._state.clock.now()), "old_reaction": old, "new_reaction": new}
            self._state.updates.push("message_reaction", body, message.chat.id)

    # ── beneath ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _message(self, chat: Chat | None, topic: Topic | None, reply_to: Message | None, anonymous: bool) -> Message:
        place = chat or self.chat
        message = Message(place, next(place.ids), self.user, self._state.clock.now(), reply_to=reply_to)
        message.topic = topic or (reply_to.topic if reply_to is not None else None)
        if anonymous:
            assert place.members[self.id].is_admin, "only administrators are anonymous"
            message.sender, message.sender_chat = ADMIN_BOT, place
        return message

    def _send(self, message: Message, deliver: bool = True) -> Message:
        place = message.chat
        assert place.private or place.members[self.id].there, f"{self.user.first_name} is not in {place.title!r}"
        if place.private and place.blocked:
            places.set_blocked(self._state, place, False)
        self._state.post(message)
        if deliver:
            places.deliver(self._state, message)
        return message

    def _file(self, name: str, content: bytes, photo: bool) -> StoredFile:
        mime = MIMES.get(name.rpartition(".")[2], "application/octet-stream")
        return self._state.keep(Upload(name, content, mime), photo=photo)


ADMIN_BOT = User(ANONYMOUS_ADMIN, "Group", "GroupAnonymousBot", is_bot=True)
