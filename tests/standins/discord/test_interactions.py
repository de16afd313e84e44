"""The stand-in's interactions, used by the real discord.py."""

from __future__ import annotations

from typing import TypeVar

import discord
import pytest
from discord import CheckboxGroupOption, RadioGroupOption, SelectOption, app_commands, ui

from tests.standins.discord import Human, Message, standin
from tests.standins.discord.client import Listener, listening
from tests.standins.discord.test_messages import refused
from tests.waiting import wait_until

Option = TypeVar("Option", CheckboxGroupOption, RadioGroupOption, SelectOption)


def options(kind: type[Option], **values: str) -> list[Option]:
    """Options of a choice: label by value."""
    return [kind(label=label, value=value) for value, label in values.items()]


class Form(ui.Modal, title="Deploy"):
    """One of each field."""

    words = ui.Label(text="Why?", component=ui.TextInput[ui.Modal](style=discord.TextStyle.paragraph))
    where = ui.Label(text="Where?", component=ui.Select[ui.Modal](options=options(SelectOption, s="Staging", l="Live")))
    how = ui.Label(
        text="How?", component=ui.RadioGroup[ui.Modal](options=options(RadioGroupOption, s="Slow", f="Fast"))
    )
    using = ui.Label(
        text="With?", component=ui.CheckboxGroup[ui.Modal](options=options(CheckboxGroupOption, t="Tests", d="Docs"))
    )
    files = ui.Label(text="Log", component=ui.FileUpload[ui.Modal](required=False))


async def asked(bot: Listener, ana: Human) -> Message:
    """A question with buttons in Ana's direct channel."""
    view = ui.View(timeout=None)
    for label in ("Approve", "Deny"):
        view.add_item(ui.Button(label=label, custom_id=f"v1:{label}"))
    three = [SelectOption(label=f"Option {place}", value=str(place)) for place in range(3)]
    view.add_item(ui.Select(custom_id="v1:pick", options=three, max_values=2))
    await (await bot.fetch_user(int(ana.id))).send("Deploy?", view=view)
    return ana.dm.seen[-1]


async def test_a_press_is_acknowledged_and_answered_for_one_person() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        card = await asked(bot, ana)
        press = ana.presses(card, "Approve")
        got = await bot.interaction()
        assert got.data is not None
        assert got.data.get("custom_id") == "v1:Approve"
        await got.response.defer()
        assert press.acked == 6
        await got.edit_original_response(content="Approved", view=None)
        await got.followup.send("thank you", ephemeral=True)
        assert (card.text, card.live) == ("Approved", [])
        assert [one.text for one in ana.notices] == ["thank you"]
        assert len(there.messages(ana.dm)) == 1


async def test_choices_of_a_select_arrive_as_values() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        ana.chooses(await asked(bot, ana), "Option 2", "Option 0")
        got = await bot.interaction()
        assert got.data is not None
        assert got.data.get("values") == ["2", "0"]
        await got.response.edit_message(content="thanks", view=None)
        assert ana.dm.seen[0].text == "thanks"


async def test_a_form_is_shown_filled_in_and_submitted() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        press = ana.presses(await asked(bot, ana), "Deny")
        form = Form()
        await (await bot.interaction()).response.send_modal(form)
        assert press.modal is not None
        assert press.modal.fields == ["Why?", "Where?", "How?", "With?", "Log"]
        given = {"Why?": "because", "Where?": "Live", "How?": "Fast", "With?": ["Docs"], "Log": [("a.log", b"boom")]}
        submit = ana.submits(press.modal, given)
        got = await bot.interaction()
        await wait_until(lambda: form.is_finished() or got.response.is_done())
        assert isinstance(form.words.component, ui.TextInput)
        assert isinstance(form.where.component, ui.Select)
        assert isinstance(form.how.component, ui.RadioGroup)
        assert isinstance(form.using.component, ui.CheckboxGroup)
        assert isinstance(form.files.component, ui.FileUpload)
        assert form.words.component.value == "because"
        assert form.where.component.values == ["l"]
        assert form.how.component.value == "f"
        assert form.using.component.values == ["d"]
        assert await form.files.component.values[0].read() == b"boom"
        await got.response.send_message("noted", ephemeral=True)
        assert submit.texts == ["noted"]


async def test_a_second_acknowledgement_and_a_late_one_are_refused() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        card = await asked(bot, ana)
        ana.presses(card, "Approve")
        got = await bot.interaction()
        await got.response.defer()
        got.response._response_type = None  # pyright: ignore[reportPrivateUsage] discord.py forgets, Discord does not
        await refused(40060, got.response.defer())
        late = ana.presses(card, "Deny")
        there.passes(3.1)
        await refused(10062, (await bot.interaction()).response.defer())
        assert late.acked is None


async def test_a_token_dies_after_a_quarter_of_an_hour() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        card = await asked(bot, ana)
        ana.presses(card, "Approve")
        got = await bot.interaction()
        await got.response.defer()
        there.passes(901)
        await refused(50027, got.followup.send("too late"))
        assert got.message is not None
        await bot.get_partial_messageable(int(ana.dm.id)).get_partial_message(int(card.id)).edit(content="in time")
        assert card.text == "in time"


async def test_commands_are_synced_completed_and_used() -> None:
    async with standin() as there:
        ana = there.person("ana")
        room = there.channel(there.guild("home", ana), "general")
        async with listening(there) as bot:

            @bot.tree.command(name="status", description="What runs")
            async def status(interaction: discord.Interaction, run: str) -> None:
                await interaction.response.send_message(f"{run} works", ephemeral=True)

            @status.autocomplete("run")
            async def complete(_: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
                return [app_commands.Choice(name=f"{current}-1", value="r1")]

            @bot.tree.context_menu(name="Cancel this run")
            async def cancel(interaction: discord.Interaction, message: discord.Message) -> None:
                await interaction.response.send_message(f"cancelled {message.content}", ephemeral=True)

            assert [complete, cancel]
            await bot.tree.sync()
            assert there.commands == ["status", "Cancel this run"]
            typed = ana.types(room, "status", "run", "abc")
            await wait_until(lambda: typed.choices)
            assert typed.choices == [{"name": "abc-1", "value": "r1"}]
            used = ana.slash(room, "status", run="r1")
            await wait_until(lambda: used.texts == ["r1 works"])
            ana.picks(ana.says(room, "my run"), "Cancel this run")
            await wait_until(lambda: [one.text for one in ana.notices] == ["r1 works", "cancelled my run"])
            assert [one.text for one in there.messages(room)] == ["my run"]


async def test_thinking_turns_into_the_answer() -> None:
    async with standin() as there, listening(there) as bot:
        ana = there.person("ana")
        press = ana.presses(await asked(bot, ana), "Approve")
        got = await bot.interaction()
        await got.response.defer(thinking=True, ephemeral=True)
        assert press.acked == 5
        await got.edit_original_response(content="done")
        assert [one.text for one in ana.notices] == ["done"]


async def test_no_modal_follows_a_modal() -> None:
    async with standin(forgive=True) as there, listening(there) as bot:
        ana = there.person("ana")
        press = ana.presses(await asked(bot, ana), "Approve")
        await (await bot.interaction()).response.send_modal(Form())
        assert press.modal is not None
        ana.submits(press.modal, {"Why?": "x", "Where?": "Live", "How?": "Slow", "With?": ["Docs"]})
        with pytest.raises(discord.HTTPException):
            await (await bot.interaction()).response.send_modal(Form())
