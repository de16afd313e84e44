"""An agent for worker processes: `SAYSO_AGENT=tests.faults.asking:it`. It asks in three places at once, then acts."""

from core.agent import FunctionAgent, Run, agent
from core.question import ConfirmField, Question


@agent("it")
async def _ask(run: Run, message: str) -> str:
    """Ask here and at the places that the message names."""
    question = Question(title="Both?", fields=(ConfirmField(),), copies=tuple(message.split()[1:]))
    await run._ask("confirm", question)  # pyright: ignore[reportPrivateUsage] copies come from the API
    return "Done."


it: FunctionAgent = _ask
