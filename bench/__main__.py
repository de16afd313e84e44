"""`python -m bench`: take every registered measurement on one server and print the figures as a table and as JSON.

A module of this package takes part by registering its measurements (`bench.table.measurement`); nothing else is needed.
"""

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

import bench
from bench.ground import private_server
from bench.table import MEASUREMENTS, Ground, Row, as_table


def main() -> int:
    """Return 0 if every bound was kept, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Figures beside their floor, in one run.")
    parser.add_argument("--quick", action="store_true", help="half a second a figure, and fewer of everything")
    parser.add_argument("--url", help="a running server to measure on; otherwise one is started")
    parser.add_argument(
        "--fsync", default="everysec", choices=("always", "everysec", "no"), help="of the started server"
    )
    parser.add_argument("--only", default="", help="only measurements whose name contains this")
    parser.add_argument("--json", metavar="FILE", help="write the JSON there instead of below the table")
    given = parser.parse_args()
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name != "__main__":
            importlib.import_module(f"bench.{module.name}")
    seconds = 0.5 if given.quick else 4.0
    if given.url:
        rows = measured(Ground(given.url, seconds, given.quick), given.only)
    else:
        with private_server(given.fsync) as url:
            rows = measured(Ground(url, seconds, given.quick), given.only)
    text = json.dumps([row.fields() for row in rows], indent=1)
    if given.json:
        Path(given.json).write_text(text + "\n", encoding="utf-8")
    else:
        sys.stdout.write(text + "\n")
    return 1 if any(row.ok is False for row in rows) else 0


def measured(ground: Ground, only: str) -> list[Row]:
    """Take the measurements one after the other, printing each one's rows as they come."""
    rows: list[Row] = []
    for measure in MEASUREMENTS:
        if only in measure.__name__:
            taken = measure(ground)
            sys.stdout.write(as_table(taken) + "\n\n")
            sys.stdout.flush()
            rows += taken
    return rows


if __name__ == "__main__":
    sys.exit(main())
