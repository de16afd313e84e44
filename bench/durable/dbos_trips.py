"""DBOS on Postgres: workflows that show a question as an event and wait for a message, again and again.

It is run as a program, by a Python that has DBOS: `dbos_trips.py URL OUTSTANDING SECONDS` prints how often a workflow
went on, and how many seconds that took. Who answers is in the same process and needs not to look for the question.
"""

import asyncio
import os
import sys
import time
import uuid

from dbos import DBOS, SetWorkflowID

ANSWER = "answer"
asked: dict[str, asyncio.Queue[bool]] = {}


@DBOS.workflow()
async def asking(end: float) -> int:
    """Ask until then; returns how many answers came."""
    answers = 0
    me = asked[DBOS.workflow_id]
    while time.time() < end:
        await DBOS.set_event_async("question", answers)
        me.put_nowait(True)
        assert await DBOS.recv_async(ANSWER, timeout_seconds=60)
        answers += 1
    me.put_nowait(False)
    return answers


async def answering(workflow: str) -> None:
    """Answer one workflow as long as it asks."""
    while await asked[workflow].get():
        await DBOS.send_async(workflow, "yes", ANSWER)


async def trips(outstanding: int, seconds: float) -> tuple[int, float]:
    """Answer `outstanding` workflows for so long; returns how many answers came, in how many seconds."""
    begin = time.time()
    workflows = [uuid.uuid4().hex for _ in range(outstanding)]
    started = []
    for workflow in workflows:
        asked[workflow] = asyncio.Queue()
        with SetWorkflowID(workflow):
            started.append(await DBOS.start_workflow_async(asking, begin + seconds))
    await asyncio.gather(*(answering(workflow) for workflow in workflows))
    return sum([await one.get_result() for one in started]), time.time() - begin


if __name__ == "__main__":
    DBOS(
        config={
            "name": "bench",
            "system_database_url": sys.argv[1],
            "run_admin_server": False,
            "log_level": "ERROR",
            "application_version": str(os.getpid()),
        }
    )
    DBOS.launch()
    print(*asyncio.run(trips(int(sys.argv[2]), float(sys.argv[3]))), flush=True)  # noqa: T201
    DBOS.destroy()
