"""LangGraph with its Postgres checkpointer: threads that are interrupted and resumed, again and again.

It is run as a program, by a Python that has LangGraph: `langgraph_trips.py CONNINFO OUTSTANDING SECONDS` prints how
often a thread was resumed, and how many seconds that took. The checkpoint is written when an interrupt ends the call
("exit"), the least that survives a restart.
"""

import asyncio
import sys
import time
import uuid
from typing import TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

CONNECTIONS = 10


class State(TypedDict):
    """How many answers came."""

    answers: int


def ask(state: State) -> State:
    """Ask once."""
    return {"answers": state["answers"] + int(interrupt({"title": "Proceed?"}))}


async def trips(conninfo: str, outstanding: int, seconds: float) -> tuple[int, float]:
    """Resume `outstanding` threads for so long; returns how many resumes were made, in how many seconds."""
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(conninfo, min_size=CONNECTIONS, max_size=CONNECTIONS, kwargs=settings) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", "ask")
        built = graph.compile(checkpointer=saver)
        places = [{"configurable": {"thread_id": uuid.uuid4().hex}} for _ in range(outstanding)]
        await asyncio.gather(*(built.ainvoke({"answers": 0}, place, durability="exit") for place in places))
        made = 0
        begin = time.monotonic()

        async def go_on(place: dict[str, dict[str, str]]) -> None:
            nonlocal made
            while time.monotonic() - begin < seconds:
                told = await built.ainvoke(Command(resume=1), place, durability="exit")
                assert "__interrupt__" in told, told
                made += 1

        await asyncio.gather(*(go_on(place) for place in places))
        return made, time.monotonic() - begin


if __name__ == "__main__":
    print(*asyncio.run(trips(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))  # noqa: T201
