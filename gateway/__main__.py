"""The command line `sayso`: `python -m gateway` runs it too. The commands themselves are in `commands.py`."""

from gateway.commands import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
