"""Round trips beside those of the durable engines that people use for the same: one machine, one run.

The engines are programs of their own (`bench/durable/`), run by a Python of their own: nothing of ours imports them.
Whatever could be left out for them is left out: they ask and answer in one process, and nobody looks for the question.
"""

import subprocess
import sys
from pathlib import Path

from bench.journey import measure
from bench.postgres import private_postgres, programs
from bench.table import Ground, Row, measurement

DURABLE = Path(__file__).parent / "durable"
PYTHON = Path(sys.prefix) / "engines" / "bin" / "python"
OUTSTANDING = 100
PROCESSES = 2
"""of an engine, each with half of the questions: as many as the machine of the targets has cores"""
MORE = 10.0
"""how many times as many the product shall make"""


@measurement
def engines(ground: Ground) -> list[Row]:
    """Compare round trips with LangGraph's and DBOS's, both on Postgres."""
    if not PYTHON.exists() or programs() is None:
        sys.stdout.write("engines: not measured, for want of them (`make engines`) or of a Postgres\n")
        return []
    ours = measure(ground.url, OUTSTANDING, ground.seconds).per_second
    with private_postgres("langgraph", *(f"dbos{number}" for number in range(PROCESSES))) as where:
        theirs = {
            "LangGraph": _trips("langgraph_trips.py", [f"{where} dbname=langgraph"] * PROCESSES, ground.seconds),
            "DBOS": _trips("dbos_trips.py", [_url(where, number) for number in range(PROCESSES)], ground.seconds),
        }
    rows = [Row(f"round trips of {name}, {OUTSTANDING} outstanding", made, "/s") for name, made in theirs.items()]
    return [*rows, *(Row(f"round trips, by {name}'s", ours, "/s", made, share=MORE) for name, made in theirs.items())]


def _url(where: str, number: int) -> str:
    host, user = (part.partition("=")[2] for part in where.split())
    return f"postgresql+psycopg://{user}@/dbos{number}?host={host}"


def _trips(program: str, places: list[str], seconds: float) -> float:
    """Run the processes of an engine side by side; returns their round trips per second."""
    words = (str(OUTSTANDING // len(places)), str(seconds))
    running = [
        subprocess.Popen([PYTHON, DURABLE / program, place, *words], stdout=subprocess.PIPE, text=True)
        for place in places
    ]
    total = 0.0
    for process in running:
        told, _ = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{program} failed, see above")
        made, took = told.split()[-2:]
        total += int(made) / float(took)
    return total
