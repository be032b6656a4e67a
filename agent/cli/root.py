"""What holds for every command: how errors are told, and where commands of other parts of the package come from.

An entry point of the group `tableturn.commands` names a `typer.Typer`, whose commands stand beside the agent's own:

    [project.entry-points."tableturn.commands"]
    shop = "shop.commands:app"

It is loaded for `tableturn --help`, too: what a command needs is better imported when the command runs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar
from weakref import WeakSet

import typer
from rich.markup import escape
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ...tools.deprecation import Deprecated
from ...tools.errors import TableturnError
from ...tools.terminal import warn
from .config import Defaults

GROUP = "tableturn.commands"
USAGE_ERROR = 2
FAULT = 70
"""The exit code of a fault of ours, as sysexits.h has it."""


class Root(TyperGroup):
    """The command line's outermost group.

    Typer's contexts and commands have no public type, hence `Any`.
    """

    _complete = False
    _plain: ClassVar[WeakSet[Any]] = WeakSet()

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; an error of ours is one line on standard error and exit code 2."""
        ctx.default_map = Defaults()
        try:
            with _deprecations_on_stderr():
                return super().invoke(ctx)
        except TableturnError as error:
            warn(f"tableturn: {error}")
            raise typer.Exit(USAGE_ERROR) from error
        except (TyperException, typer.Exit, typer.Abort, EOFError, BrokenPipeError):
            raise
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            fault = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            warn(f"tableturn: this is a fault of tableturn, not yours ({fault}): PYTHONDEVMODE=1 shows the traceback")
            raise typer.Exit(FAULT) from error

    def list_commands(self, ctx: Any) -> list[str]:
        """The agent's own commands, then those of plug-ins."""
        self._add_plugins()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; plug-ins are loaded only for one that is not the agent's own."""
        if cmd_name not in self.commands:
            self._add_plugins()
        command = super().get_command(ctx, cmd_name)
        if command is not None and command not in self._plain:
            self._plain.add(command)
            _take_literally(command)
        return command

    def _add_plugins(self) -> None:
        if self._complete:
            return
        self._complete = True
        for entry in entry_points(group=GROUP):
            try:
                found = _commands(entry)
            except Exception as error:  # noqa: BLE001 - whatever a plug-in raises, the others must work
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                message = f"the commands of plug-in {entry.name!r} ({entry.value}) are left out: {reason}"
                warn(f"tableturn: {message}")
            else:
                for name, command in found.items():
                    self.commands.setdefault(name, command)


@contextmanager
def _deprecations_on_stderr() -> Generator[None]:
    """Shows what is deprecated as lines on standard error, each once."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, Deprecated):
            usual(message, category, *place, **more)
        elif str(message) not in shown:
            shown.add(str(message))
            warn(f"tableturn: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", Deprecated)
        usual, warnings.showwarning = warnings.showwarning, show
        yield


def _take_literally(command: Any) -> None:
    """Has the texts of `--help` shown as they are written: to Rich, `[users.NAME]` would be a style."""
    for holder in (command, *command.params):
        if getattr(holder, "help", None):
            holder.help = escape(holder.help)
    for inner in getattr(command, "commands", {}).values():
        _take_literally(inner)


def _commands(entry: EntryPoint) -> dict[str, Any]:
    """The commands of a plug-in, by name."""
    app = entry.load()
    if not isinstance(app, typer.Typer):
        raise TypeError(f"expected a typer.Typer, got {type(app).__name__}")
    return dict(typer.main.get_group(app).commands)
