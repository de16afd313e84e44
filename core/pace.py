"""The spans of a worker, as one value; the settings give them (`docs/settings.md`)."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Steps:
    """Seconds of each step of the ladder for the turns of one agent; None: as the settings say."""

    cooperative: float | None = None
    terminate: float | None = None
    kill: float | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """The spans of a worker, in seconds.

    hot: how long a turn that asks is held before it is parked. look: the longest pause between two looks at what is
    owed. ready: the same for runs to start. cooperative, terminate, kill, verify: what a cancelled turn may take for
    each step of the ladder. grace: how long turns may go on when their worker shuts down.
    """

    hot: float = 2.0
    look: float = 2.0
    ready: float = 1.0
    cooperative: float = 5.0
    terminate: float = 5.0
    kill: float = 2.0
    verify: float = 2.0
    grace: float = 5.0

    def of(self, agent: object) -> Pace:
        """The spans for an agent: its own `steps`, where it has some."""
        own = getattr(agent, "steps", None)
        if not isinstance(own, Steps):
            return self
        return replace(
            self,
            cooperative=self.cooperative if own.cooperative is None else own.cooperative,
            terminate=self.terminate if own.terminate is None else own.terminate,
            kill=self.kill if own.kill is None else own.kill,
        )

    @property
    def ladder_ms(self) -> int:
        """Milliseconds that the whole ladder takes."""
        return int((self.cooperative + self.terminate + self.kill + self.verify) * 1_000)
