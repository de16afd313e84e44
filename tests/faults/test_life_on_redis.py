"""The same random life as without Redis, on a real server, through two processes whose connections are cut."""

from collections.abc import Callable
from contextlib import closing

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.core.life.machine import Life
from tests.faults.real_play import RealPlay, Wire, two_processes
from tests.redis_server import RedisServer

LIMITS = settings(
    deadline=None,
    max_examples=8,
    stateful_step_count=40,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def on(make: Callable[[int], RealPlay]) -> type[Life]:
    """The machine, with a world of its own for each example."""
    examples = iter(range(1_000_000))

    class RealLife(Life):
        def __init__(self) -> None:
            super().__init__()
            self.world = make(next(examples))

    return RealLife


def test_whatever_happens_on_a_real_server_keeps_every_promise(redis_server: RedisServer) -> None:
    """One end per run, each answer delivered or visibly refused, each effect approved, nothing said is lost."""
    with two_processes(redis_server.socket) as actors, closing(Wire(redis_server.socket)) as wire:
        run_state_machine_as_test(on(lambda seed: RealPlay(wire, actors, seed)), settings=LIMITS)
