"""What a test and its actors send each other: pickles, each with its length before it."""

import pickle
import struct
from typing import IO, NamedTuple


class Order(NamedTuple):
    """An event for a rule ("core.life.said:said"). cut: after so many turns of the loop everything is cut."""

    rule: str
    event: object
    cut: int | None


def put(sink: IO[bytes], message: object) -> None:
    """Send a message to the other side."""
    packed = pickle.dumps(message)
    sink.write(struct.pack("<I", len(packed)) + packed)
    sink.flush()


def get(source: IO[bytes]) -> object:
    """Take a message from the other side; None at its end."""
    head = source.read(4)
    return pickle.loads(source.read(struct.unpack("<I", head)[0])) if len(head) == 4 else None
