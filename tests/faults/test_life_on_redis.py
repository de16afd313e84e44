"""The same random life as without Redis, on a real server, through two processes whose connections are cut."""

from contextlib import closing
from random import Random

import pytest

from tests.core.life import checks
from tests.core.life.machine import Life, heal
from tests.core.life.memory import STEPS
from tests.faults.real_play import RealPlay, Wire, two_processes
from tests.redis_server import RedisServer

LIVES = 5
STEPS_EACH = 40


def live(life: Life, dice: Random) -> None:
    """Let so many things happen, looking at everything after each, and bring all to its end."""
    life.begin_world(dice.random() < 0.5)
    for _ in range(STEPS_EACH):
        able = [name for name, one in STEPS.items() for _ in range(one.weight) if one.needs(life)]
        one = STEPS[dice.choice(able)]
        one.act(life, **{name: draw.roll(dice) for name, draw in one.draws.items()})
        life.the_world_is_whole()
        life.an_end_is_an_end()
        life.no_answer_is_lost()
        life.nothing_said_is_lost()
    heal(life.world)
    checks.settled(life.world)


@pytest.mark.timeout(400)
def test_whatever_happens_on_a_real_server_keeps_every_promise(redis_server: RedisServer) -> None:
    """One end per run, each answer delivered or visibly refused, each effect approved, nothing said is lost."""
    with two_processes(redis_server.socket) as actors, closing(Wire(redis_server.socket)) as wire:
        for seed in range(LIVES):
            life = Life()
            life.world = RealPlay(wire, actors, seed)
            live(life, Random(seed))
