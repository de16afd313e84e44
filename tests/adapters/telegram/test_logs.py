"""No log holds the bot's token or what people hand over in secret, at any level."""

from __future__ import annotations

import logging

import pytest

from core.agent import Run
from tests.adapters.telegram.ground import Ground
from tests.proves import proves
from tests.standins.telegram import bad_gateway, cut, flood, half, rubbish, server_error
from tests.waiting import wait_until


@proves("C108", "telegram")
async def test_the_token_is_in_no_log_at_any_level(ground: Ground, caplog: pytest.LogCaptureFixture) -> None:
    """Polling, sending, downloading, and everything going wrong on the way; libraries log at DEBUG too."""
    caplog.set_level(logging.DEBUG)
    heard: list[str] = []

    async def talk(run: Run, message: str) -> str:
        heard.append(message)
        return f"Heard {len(heard)}."

    ground.hire(talk)
    ann = ground.telegram.person("Ann")
    faults = (cut(), bad_gateway(), rubbish(), half(), server_error(), flood(1))
    async with ground.front(poll=1.0):
        ann.sends_file("notes.txt", b"hello", caption="read")
        await ground.says(ann, "Heard 1.")
        for fault in faults:
            ground.telegram.fail_next("sendMessage", fault)
            ground.telegram.fail_next("getUpdates", type(fault)(fault.how, fault.refusal))
            ann.says("again")
            await wait_until(fault.reached.is_set, timeout=20)
        await ground.settled()
    assert caplog.records
    key = ground.telegram.token.partition(":")[2]
    assert key not in caplog.text
    assert not [one for one in caplog.records if key in str(one.args) or key in str(one.__dict__)]
