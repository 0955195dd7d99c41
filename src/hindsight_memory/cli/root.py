"""The command itself: what every command shares, and how errors become exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from hindsight_memory.cli.output import PIPE_CLOSED, complain, drop_output, forgive, report, say
from hindsight_memory.errors import HindsightMemoryError, InvalidInput

# Typer has brought its own Click since 0.29; what it raises for a wrong command line is found this way in both.
_UsageError: Final[Any] = typer.BadParameter.__bases__[0]
_INTERRUPTED: Final = 130


class Commands(TyperGroup):
    """The group of all commands: one place where an error is printed and becomes an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for ``--json`` first, since a command line that cannot be parsed is answered as JSON too."""
        ctx.meta["json"] = "--json" in _before_dashes(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        as_json = ctx.meta["json"]
        try:
            return super().invoke(ctx)
        except HindsightMemoryError as error:
            raise typer.Exit(report(error, as_json=as_json)) from error
        except _UsageError as error:
            if not as_json:
                raise
            field = getattr(getattr(error, "param", None), "name", None)
            hint = f"See {error.ctx.command_path if error.ctx else ctx.command_path} --help."
            complain(error.format_message(), hint, field, code=InvalidInput.code, as_json=True)
            raise typer.Exit(InvalidInput.exit_code) from error
        except BrokenPipeError as error:
            drop_output()
            raise typer.Exit(PIPE_CLOSED) from error
        except KeyboardInterrupt as error:
            say("Interrupted.")
            raise typer.Exit(_INTERRUPTED) from error


app: Final = typer.Typer(
    name="hindsight-memory",
    cls=Commands,
    help="Long-term memory for LLM agents. No LLM, key, network or server is needed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: a tenth of a second sooner, and no frames that a console cannot show
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from hindsight_memory import __version__

        typer.echo(f"hindsight-memory {__version__}")
        raise typer.Exit


@app.callback()
def prepare(
    version: Annotated[  # noqa: ARG001  # its callback has answered by now
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Make the console ready for any text."""
    forgive()


def _before_dashes(args: Sequence[str]) -> Sequence[str]:
    return args[: args.index("--")] if "--" in args else args
