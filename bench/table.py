"""Rows of figures beside their floor and target; who measures something registers here, who prints reads here.

It measures nothing itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.floor import FloorResult, measure


@dataclass(frozen=True)
class Row:
    """One figure.

    floor: the same figure at the floor, in the same run. target: the absolute bound, the most for times and sizes, the
    least for rates ("/s"). share: the bound on value / floor, likewise. With neither it is for reading only.
    """

    name: str
    value: float
    unit: str
    floor: float | None = None
    target: float | None = None
    share: float | None = None

    @property
    def ratio(self) -> float | None:
        """The value by its floor."""
        return self.value / self.floor if self.floor else None

    @property
    def ok(self) -> bool | None:
        """Whether every bound is kept; None without one."""
        bounds = [(self.value, self.target), (self.ratio, self.share)]
        kept = [
            value >= bound if self.unit == "/s" else value <= bound
            for value, bound in bounds
            if bound is not None and value is not None
        ]
        return all(kept) if kept else None

    def fields(self) -> dict[str, str | float | bool | None]:
        """The row as it stands in the JSON."""
        figures = {"value": self.value, "floor": self.floor, "ratio": self.ratio, "target": self.target}
        rounded = {key: None if figure is None else float(f"{figure:.4g}") for key, figure in figures.items()}
        return {"name": self.name, "unit": self.unit, **rounded, "share": self.share, "ok": self.ok}


@dataclass
class Ground:
    """Where a run measures: a server of its own, and for how many seconds each figure is taken.

    quick: with fewer questions, rounds and pages, too.
    """

    url: str
    seconds: float
    quick: bool = False
    floors: dict[int, FloorResult] = field(default_factory=dict[int, FloorResult])

    def floor(self, outstanding: int) -> FloorResult:
        """Return the floor at so many outstanding questions; it is measured once in a run."""
        if outstanding not in self.floors:
            self.floors[outstanding] = measure(self.url, outstanding, self.seconds)
        return self.floors[outstanding]


Measurement = Callable[[Ground], list[Row]]
MEASUREMENTS: list[Measurement] = []


def measurement(taken: Measurement) -> Measurement:
    """Register a function that measures something; its docstring says what."""
    MEASUREMENTS.append(taken)
    return taken


def as_table(rows: list[Row]) -> str:
    """Write rows as a table for people."""
    width = max([len(row.name) for row in rows], default=4)
    lines = [f"{'figure':{width}}  {'value':>10} {'unit':5} {'floor':>10} {'ratio':>6}  bound"]
    for row in rows:
        bounds = [f"{_sign(row)} {row.target:g} {row.unit}"] if row.target is not None else []
        bounds += [f"{_sign(row)} {row.share:g} x floor"] if row.share is not None else []
        verdict = {True: "ok", False: "MISSED", None: ""}[row.ok]
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        lines.append(
            f"{row.name:{width}}  {_figure(row.value):>10} {row.unit:5} {_figure(row.floor):>10} {ratio:>6}  "
            f"{', '.join(bounds)} {verdict}".rstrip()
        )
    return "\n".join(lines)


def _sign(row: Row) -> str:
    return ">=" if row.unit == "/s" else "<="


def _figure(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
