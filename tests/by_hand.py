"""A turn without an agent: a test claims, asks and parks by itself, where the worker would be in the way."""

from core.broker import Broker
from core.life.event import Ask, Park
from core.life.living import Beat
from core.life.result import Asked, Delivered
from core.model import Incarnation
from core.question import ConfirmField, Question, Request, Subject

DEPLOY = Question(title="Deploy", fields=(ConfirmField(),), subject=Subject(tool="deploy", arguments={"env": "prod"}))


async def claimed(broker: Broker, run: str) -> Delivered:
    """Claim a run as the worker `w1`."""
    lease = Incarnation(id="w1", kind="worker", until_ms=broker.store.now() + 60_000)
    await broker.beat(Beat(lease, first=True), 0)
    taken = await broker.claim(run, "w1")
    assert isinstance(taken, Delivered), taken
    return taken


async def asked(broker: Broker, run: str, *questions: Question) -> list[str]:
    """Bring a run to its questions and park it; returns their ids."""
    taken = await claimed(broker, run)
    found: list[str] = []
    for number, question in enumerate(questions or (DEPLOY,)):
        length = await broker.store.end("steps", run)
        told = await broker.ask(Ask(run, taken.fence, f"ask:confirm#{number}", question, length))
        assert isinstance(told, Asked), told
        assert told.request is not None
        found.append(told.request)
    await broker.park(Park(run, taken.fence))
    return found


async def request(broker: Broker, id: str) -> Request:
    """A request as it is stored, asked for by nobody."""
    found = (await broker.store.read(0, [("request", id)]))[("request", id)].model
    assert isinstance(found, Request), found
    return found
