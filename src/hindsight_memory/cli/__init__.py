"""The command line: one command a verb, and the programs around them."""

from hindsight_memory.cli import audit, evals, guard, keeping, keys, moving, programs, sessions, tasks, verbs
from hindsight_memory.cli.root import app

__all__ = ["app", "main"]

app.add_typer(verbs.app)
app.add_typer(tasks.app)
app.add_typer(keeping.app)
app.add_typer(guard.app)
app.add_typer(programs.app)
app.add_typer(moving.app)
app.add_typer(sessions.app)
app.add_typer(keys.app)
app.add_typer(audit.app)
app.add_typer(evals.app)


def main() -> None:
    """Run the command that the arguments name."""
    app()
