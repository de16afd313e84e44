"""Giving the files that are asked for, in a browser: chosen, dropped, removed, refused, named afterwards."""

from pathlib import Path

import pytest

from tests.adapters.web.page.window import Window, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DROP = """(node) => {
  const held = new DataTransfer();
  held.items.add(new File(["c,d"], "dropped.csv", { type: "text/csv" }));
  node.dispatchEvent(new DragEvent("drop", { dataTransfer: held, bubbles: true, cancelable: true }));
}"""


def made(folder: Path, name: str, content: str = "a,b") -> Path:
    (folder / name).write_text(content)
    return folder / name


async def test_a_file_is_chosen_on_the_card_and_named_when_it_is_settled(window: Window, tmp_path: Path) -> None:
    """Its name and size stand there before it is sent, and it can be taken back."""
    await window.say("table")
    await expect(window.cards).to_contain_text("One file, .csv, at most 100 B.")
    await expect(window.box).to_have_attribute("placeholder", "Attach the file here")
    picker = window.cards.locator("input[type=file]")
    await expect(picker).to_have_attribute("accept", ".csv")
    await window.button("Send", window.cards).click()
    await expect(window.cards.locator(".wrong")).to_contain_text("a value is required")
    await picker.set_input_files(made(tmp_path, "wrong.csv"))
    await expect(window.cards.locator(".chip.ready")).to_contain_text("wrong.csv3 B")
    await window.button("Remove wrong.csv", window.cards).click()
    await expect(window.cards.locator(".chip")).to_have_count(0)
    await picker.set_input_files(made(tmp_path, "table.csv"))
    await expect(window.cards.locator(".chip.ready")).to_contain_text("table.csv")
    await window.button("Send", window.cards).click()
    await expect(window.settled).to_contain_text("Received “table.csv” by owner")
    await expect(window.agent).to_contain_text("read a,b of table.csv")
    await window.page.reload()
    await expect(window.settled).to_contain_text("“table.csv”")


async def test_a_file_that_does_not_fit_is_refused_on_the_card(window: Window, tmp_path: Path) -> None:
    """Too large is seen before it travels, of another kind is told by the server; neither answers."""
    await window.say("table")
    picker = window.cards.locator("input[type=file]")
    await picker.set_input_files(made(tmp_path, "big.csv", "x" * 101))
    await expect(window.cards.locator(".chip.failed")).to_contain_text("larger than 100 B")
    await picker.set_input_files(made(tmp_path, "film.mp4"))
    await expect(window.cards.locator(".chip.ready")).to_contain_text("film.mp4")
    await window.button("Send", window.cards).click()
    await expect(window.cards.locator(".wrong")).to_contain_text("not of a kind that is wanted: send .csv")
    await expect(window.cards).to_be_visible()


async def test_a_file_is_dropped_on_the_card_and_nowhere_else(window: Window) -> None:
    await window.say("table")
    await window.cards.locator(".file-place").evaluate(DROP)
    await expect(window.cards.locator(".chip.ready")).to_contain_text("dropped.csv")
    await expect(window.page.locator("sayso-composer .chip")).to_have_count(0)
    await window.button("Send", window.cards).click()
    await expect(window.agent).to_contain_text("read c,d of dropped.csv")


async def test_a_form_keeps_its_files_over_a_reload(window: Window, tmp_path: Path) -> None:
    await window.say("import")
    picker = window.cards.locator("input[type=file]")
    await picker.set_input_files([made(tmp_path, "a.csv"), made(tmp_path, "b.csv")])
    await expect(window.cards.locator(".field-file.is-kept .chip.ready")).to_have_count(2)
    await window.page.reload()
    await expect(window.cards.locator(".chip.ready")).to_have_count(2)
    await window.button("Remove a.csv", window.cards).click()
    await window.cards.get_by_label("Name").fill("Rex")
    await window.button("Submit", window.cards).click()
    await expect(window.agent).to_contain_text("imported 1 as Rex")


async def test_a_file_attached_to_the_next_message_answers(window: Window, tmp_path: Path) -> None:
    await window.say("table")
    await expect(window.cards).to_be_visible()
    await window.page.locator("sayso-composer input[type=file]").set_input_files(made(tmp_path, "table.csv"))
    await expect(window.page.locator("sayso-composer .chip.ready")).to_be_visible()
    await window.say("here it is")
    await expect(window.settled).to_contain_text("Received “table.csv (here it is)” by owner")
    await expect(window.agent).to_contain_text("read a,b of table.csv")
