"""The command line `sayso`; it parses words and calls the wiring, it knows no rule."""

import typer

app = typer.Typer(name="sayso", no_args_is_help=True, help="A chat gateway for agents.")


@app.callback()
def about() -> None:
    """Your agents act on your say-so, wherever you are."""


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
