"""Files both ways, and the limits of the cloud server."""

from __future__ import annotations

import httpx
import pytest
from telegram import Bot, InputMediaDocument, InputMediaPhoto
from telegram.error import BadRequest, NetworkError

from tests.standins.telegram import TelegramServer
from tests.standins.telegram.probe import Probe
from tests.standins.telegram.test_client import client
from tests.standins.telegram.wire import Object

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


async def test_what_is_too_large_is_not_taken_and_not_given(telegram: TelegramServer, probe: Probe) -> None:
    telegram.can.upload_max, telegram.can.photo_max, telegram.can.download_max = 100, 50, 60
    ann = telegram.person("Ann")
    hers = ann.sends_file("big.bin", b"x" * 61)
    assert hers.file is not None
    assert await probe.refused("getFile", file_id=hers.file.id) == "400 Bad Request: file is too big"
    async with client(telegram) as bot:
        with pytest.raises(NetworkError, match="Request Entity Too Large"):
            await bot.send_document(ann.id, b"x" * 101, filename="a.bin")
        with pytest.raises(BadRequest, match="too big for a photo"):
            await bot.send_photo(ann.id, PNG + bytes(20))
        with pytest.raises(BadRequest, match="must be non-empty"):
            await bot.send_document(ann.id, b"", filename="a.bin")
    assert telegram.messages(ann) == []


async def test_a_claimed_size_is_believed(telegram: TelegramServer, probe: Probe) -> None:
    hers = telegram.person("Ann").sends_file("big.bin", b"small", claimed_size=21 * 1024 * 1024)
    assert hers.file is not None
    assert await probe.refused("getFile", file_id=hers.file.id) == "400 Bad Request: file is too big"


async def test_a_photo_is_an_image(telegram: TelegramServer) -> None:
    ann = telegram.person("Ann")
    async with client(telegram) as bot:
        with pytest.raises(BadRequest, match="Image_process_failed"):
            await bot.send_photo(ann.id, b"no image")
        sent = await bot.send_photo(ann.id, PNG, caption="x" * 1024)
        with pytest.raises(BadRequest, match="caption is too long"):
            await bot.send_photo(ann.id, PNG, caption="x" * 1025)
    assert sent.photo
    assert [one.text for one in telegram.messages(ann)] == ["x" * 1024]


async def test_an_album_is_two_to_ten_of_a_kind(telegram: TelegramServer) -> None:
    ann = telegram.person("Ann")

    async def send(bot: Bot, *media: InputMediaDocument | InputMediaPhoto) -> None:
        await bot.send_media_group(ann.id, media)

    async with client(telegram) as bot:
        with pytest.raises(BadRequest, match="Wrong number of items"):
            await send(bot, InputMediaDocument(b"a", filename="a"))
        with pytest.raises(BadRequest, match="in the album"):
            await send(bot, InputMediaDocument(b"a", filename="a"), InputMediaPhoto(PNG))
        await send(bot, InputMediaPhoto(PNG), InputMediaPhoto(PNG))
    assert len({one.album for one in telegram.messages(ann)}) == 1


async def test_files_are_known_by_their_id_and_to_the_right_token(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    hers = ann.sends_file("notes.txt", b"hello")
    assert hers.file is not None
    found = await probe.result("getFile", file_id=hers.file.id)
    assert isinstance(found, dict)
    path = found["file_path"]
    async with httpx.AsyncClient() as anyone:
        right = await anyone.get(f"{telegram.base_file_url}{telegram.token}/{path}")
        wrong = await anyone.get(f"{telegram.base_file_url}4242:{'x' * 35}/{path}")
    assert (right.content, wrong.status_code) == (b"hello", 404)
    again: Object = {"chat_id": ann.id, "document": hers.file.id}
    await probe.result("sendDocument", **again)
    assert telegram.messages(ann)[0].file is hers.file
    again["document"] = "file-77"
    told = "400 Bad Request: wrong file identifier/HTTP URL specified"
    assert await probe.refused("sendDocument", **again) == told
    assert await probe.refused("getFile", file_id="file-77") == "400 Bad Request: invalid file_id"
