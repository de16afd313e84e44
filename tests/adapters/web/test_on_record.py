"""Every decision that is made over HTTP stands on record with where it was made."""

from __future__ import annotations

from core.audit import Audit, Filter
from core.deed import Deed
from tests.adapters.web.place import Place, User


async def deeds(place: Place) -> list[Deed]:
    """What stands on record."""
    return await Audit(place.broker).lines(Filter())


async def test_what_a_program_decides_is_of_the_api(place: Place, owner: User) -> None:
    """By its token, whatever it does: answering, stopping, going on, giving time, copying, deleting, freezing."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    request = f"/v1/requests/{card['request']}"
    await owner.post(f"{request}/extend", {"seconds": 7_200})
    await owner.post(f"{request}/copies", {"origins": ["tg-1"]})
    await owner.post(f"{request}/abort")
    await owner.until(said.run, "paused")
    await owner.post(f"/v1/runs/{said.run}/resume")
    await owner.post(f"/v1/runs/{said.run}/pause")
    await owner.until(said.run, "paused")
    await owner.post(f"/v1/runs/{said.run}/revert")
    (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "always")
    await owner.until(said.run, "completed")
    (grant,) = await granted(owner, said.conversation)
    response = await owner.http.delete(f"/v1/conversations/{said.conversation}/grants/{grant}")
    assert response.status_code == 204
    other = await owner.send("delete list", said.conversation)
    await owner.asked(said.conversation)
    await owner.post(f"/v1/runs/{other.run}/cancel")
    assert (await owner.http.delete(f"/v1/conversations/{said.conversation}")).status_code == 200
    await owner.post("/v1/freeze")
    await owner.post("/v1/thaw")
    await owner.post("/v1/stop-all")
    kinds = {"extend", "copy", "abort", "resume", "pause", "revert", "answer", "grant.removed", "cancel", "delete"}
    found = await deeds(place)
    assert {deed.kind for deed in found} - {"token"} == {*kinds, "freeze", "thaw"}
    assert {(deed.kind, deed.where) for deed in found if deed.where != "api"} == {("token", None)}


async def granted(user: User, conversation: str) -> list[str]:
    """The digests of what a conversation remembers."""
    grants = (await user.get(f"/v1/conversations/{conversation}/grants"))["grants"]
    assert isinstance(grants, list)
    return [str(grant["digest"]) for grant in grants if isinstance(grant, dict)]


async def test_what_a_person_decides_on_the_page_is_of_the_chat(place: Place) -> None:
    """Also by a command that they type there."""
    browser = await place.browser()
    for word in ("delete build", "/pause", "/resume", "/cancel"):
        listed = (await browser.get("/v1/conversations")).json()["conversations"]
        where = {"conversation": listed[0]["id"]} if listed else {}
        sent = await browser.post("/v1/send", json={"text": word, **where})
        assert sent.status_code == 200, sent.text
    assert [(deed.kind, deed.where) for deed in await deeds(place)] == [
        ("pause", "chat"),
        ("resume", "chat"),
        ("cancel", "chat"),
    ]


async def test_questions_are_delivered_where_the_start_says(place: Place, owner: User) -> None:
    """The card names the chat; a place that is no chat is refused in words."""
    sent = await owner.send("delete build", deliver_to="tg-42")
    (card,) = await owner.asked(sent.conversation)
    assert card["origin"] == "tg-42"
    wrong = await owner.post("/v1/send", {"text": "delete build", "deliver_to": "chat-1"}, 422)
    assert "deliver_to" in str(wrong["detail"])
