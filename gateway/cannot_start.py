"""Why a process does not start, in one line: what, where, what to do. Whoever runs it prints it and exits with 2."""


class CannotStart(Exception):
    """A process cannot do its work here."""

    def __init__(self, what: str, where: str, what_to_do: str) -> None:
        super().__init__(f"{what} ({where}). {what_to_do}")
