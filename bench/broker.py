"""The product beside its floor: answers to held and to parked runs, and round trips of many at once.

What is timed goes through the public verbs of `core.broker`, in two processes (`bench.journey`).
"""

from bench.ground import private_server
from bench.journey import JourneyResult, measure
from bench.table import Ground, Row, measurement


@measurement
def held_answer(ground: Ground) -> list[Row]:
    """From sending an answer to the waiting code having it, one question at a time."""
    floor = ground.floor(1)
    held = measure(ground.url, 1, ground.seconds)
    with private_server("always") as url:
        safe = measure(url, 1, ground.seconds)
    return [
        Row("answer to waiting code, p50", held.answer_p50_ms, "ms", floor.answer_p50_ms, 1.0, 2.5),
        Row("answer to waiting code, p99", held.answer_p99_ms, "ms", floor.answer_p99_ms, 4.0),
        Row("answer to waiting code, p50, `always`", safe.answer_p50_ms, "ms", target=2.0),
        Row("connections of the asking process", held.connections, "", target=3),
    ]


@measurement
def parked_answer(ground: Ground) -> list[Row]:
    """From sending an answer to the next turn of a run that nobody holds, one question at a time."""
    floor = ground.floor(1)
    parked = measure(ground.url, 1, ground.seconds, parked=True)
    return [
        Row("answer to the next turn of a parked run, p50", parked.answer_p50_ms, "ms", floor.answer_p50_ms, 3.0),
        Row("answer to the next turn of a parked run, p99", parked.answer_p99_ms, "ms", floor.answer_p99_ms),
    ]


@measurement
def round_trips(ground: Ground) -> list[Row]:
    """Ask, show, answer, go on: many at once, held and parked."""
    rows: list[Row] = []
    for outstanding in (100, 1000):
        floor = ground.floor(outstanding).per_second
        held = measure(ground.url, outstanding, ground.seconds)
        parked = measure(ground.url, outstanding, ground.seconds, parked=True)
        rows += [
            Row(f"round trips, {outstanding} outstanding", held.per_second, "/s", floor, 2_000, 0.2),
            *_cost(held, outstanding),
            Row(f"round trips, parked, {outstanding} outstanding", parked.per_second, "/s", floor),
        ]
    return rows


def _cost(result: JourneyResult, outstanding: int) -> list[Row]:
    names = ("asking side", "answering side", "server")
    return [
        Row(f"CPU of a round trip, {name}, {outstanding} outstanding", figure, "us")
        for name, figure in zip(names, result.cpu, strict=True)
    ]
