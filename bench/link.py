"""What `core.link` and `core.feed` leave of the floor: the same four scripts, the same two processes."""

from bench.floor import measure
from bench.table import Ground, Row, measurement


@measurement
def floor_and_link(ground: Ground) -> list[Row]:
    """The floor itself, and the link beside it."""
    rows: list[Row] = []
    for outstanding in (1, 100, 1000):
        raw = ground.floor(outstanding)
        linked = measure(ground.url, outstanding, ground.seconds, "link")
        share = None if outstanding == 1 else 0.75
        rows += [
            Row(f"floor: round trips, {outstanding} outstanding", raw.per_second, "/s"),
            Row(f"link: round trips, {outstanding} outstanding", linked.per_second, "/s", raw.per_second, share=share),
        ]
        if outstanding == 1:
            rows += [
                Row("floor: answer to waiting code, p50", raw.answer_p50_ms, "ms"),
                Row("floor: answer to waiting code, p99", raw.answer_p99_ms, "ms"),
                Row("link: answer to waiting code, p50", linked.answer_p50_ms, "ms", raw.answer_p50_ms),
                Row("link: answer to waiting code, p99", linked.answer_p99_ms, "ms", raw.answer_p99_ms),
            ]
    return rows
