"""Log lines: what happened with its fields, one JSON object a line, and no token in any of them."""

import json
import logging

import pytest

from core.trace import emit
from gateway.logging import Lines, Text, hide


def test_an_event_is_a_line_with_its_run_fence_and_cause(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    emit("turn.ended", run="r0abc", fence=3, cause="user_canceled", process="taken")
    line = json.loads(Lines().format(caplog.records[-1]))
    assert line["event"] == "turn.ended"
    assert (line["run"], line["fence"], line["cause"]) == ("r0abc", 3, "user_canceled")
    assert line["process_"] == "taken"
    assert "run=r0abc fence=3 cause=user_canceled" in Text(colours=False).format(caplog.records[-1])


@pytest.mark.parametrize(
    "secret",
    ["sayso_" + "a" * 32, "Bearer abcdefghijklmnop", "redis://:hunter2secret@10.0.0.1", "login#Zm9vYmFyYmF6"],
)
def test_a_secret_stands_in_no_line(caplog: pytest.LogCaptureFixture, secret: str) -> None:
    logging.getLogger("sayso.test").warning("got %s", secret, extra={"where": secret})
    value = secret.split("_", 1)[-1].split()[-1].split("#")[-1].replace("redis://:", "").partition("@")[0]
    for formatter in (Lines(), Text(colours=False)):
        assert value not in formatter.format(caplog.records[-1])


def test_what_was_hidden_stands_in_no_line(caplog: pytest.LogCaptureFixture) -> None:
    hide(["123456:bot-token"])
    logging.getLogger("sayso.test").warning("POST /bot123456:bot-token/getMe and /bot123456%3Abot-token/getMe")
    line = Lines().format(caplog.records[-1])
    assert "bot-token" not in line
