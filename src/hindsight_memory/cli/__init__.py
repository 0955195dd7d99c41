"""The command line: one command a verb, and the programs around them."""

from hindsight_memory.cli import evals, programs, verbs
from hindsight_memory.cli.root import app

__all__ = ["app", "main"]

app.add_typer(verbs.app)
app.add_typer(programs.app)
app.add_typer(evals.app)


def main() -> None:
    """Run the command that the arguments name."""
    app()
