"""The root of all commands: defaults, errors, and commands of plug-ins.

An entry point of the group `tableturn.commands` names a `typer.Typer`, whose commands stand beside the agent's own:

    [project.entry-points."tableturn.commands"]
    shop = "shop.commands:app"

It is loaded for `tableturn --help`, too: what a command needs is better imported when the command runs.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import typer
from rich.markup import escape
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ...tools.deprecation import Deprecated
from ...tools.errors import SettingsError, TableturnError
from ...tools.folders import config_folder
from ...tools.record_files import read_toml_file
from ...tools.terminal import warn
from ...tools.validation import describe_fault

GROUP = "tableturn.commands"
USAGE_ERROR = 2
FAULT = 70  # the exit code of a fault of ours, as sysexits.h has it

NAME = "tableturn.toml"  # the file, in the folder that the command is run in and in the person's configuration folder

_FORMATS = ("table", "csv", "json", "jsonl", "md")

_OPTIONS = {"database": ("--db", "shop.db"), "model": ("--model", "openai:gpt-5-mini"), "format": ("--format", "table")}
"""Keys, with their options and an example. No base URL: a file of somebody else's folder could send keys there."""

_APART = (["examples", "import"], ["examples", "search"])  # commands that do something else where there is a database


def make_default_map(root: Any, ctx: Any, words: list[str]) -> dict[str, Any]:
    """Return the defaults of the command that the words name, in Click's form; {} if it takes none."""
    command, path = root, list[str]()
    for word in words:
        inner = command.get_command(ctx, word) if hasattr(command, "get_command") else None
        if inner is None:
            break
        command, path = inner, [*path, word]
    taken = {param.name: key for param in command.params for key, (name, _) in _OPTIONS.items() if name in param.opts}
    if not taken or path in _APART:
        return {}
    # What is given on the command line wins, then the environment, then the folder's file, then the person's.
    options = read_default_options(config_folder() / NAME) | read_default_options(Path(NAME))
    if os.environ.get("TABLETURN_MODEL"):
        options.pop("model", None)
    defaults: dict[str, Any] = {name: options[key] for name, key in taken.items() if key in options}
    for word in reversed(path):
        defaults = {word: defaults}
    return defaults


def read_default_options(path: Path) -> dict[str, str]:
    """Return the default options in one file `tableturn.toml`."""
    options = read_toml_file(path) if os.access(path, os.F_OK) else {}
    for name, value in options.items():
        if name not in _OPTIONS:
            raise SettingsError(f"{path}: unknown key {name!r}; known keys: {', '.join(_OPTIONS)}")
        if not isinstance(value, str) or not value:
            raise SettingsError(f"{path}: {name} must be text, as in {name} = {_OPTIONS[name][1]!r}, not {value!r}")
    if options.get("format", "table") not in _FORMATS:
        raise SettingsError(f"{path}: format must be one of {', '.join(_FORMATS)}, not {options['format']!r}")
    if "://" not in (database := options.get("database", "://")):
        options["database"] = str(path.parent / Path(database).expanduser())  # a path is meant from the file's folder
    return options


class RootCommandGroup(TyperGroup):
    """The outermost group of commands, with defaults, error messages and plug-ins.

    Typer's contexts and commands have no public type, hence `Any`.
    """

    _complete = False
    _plain: ClassVar[WeakSet[Any]] = WeakSet()
    removed: ClassVar[dict[str, str]] = {
        "knowledge export --form ossie": "`--form yaml` or `json`; write an Ossie model's content in a knowledge file"
    }
    """What to use, for one release, instead of a command or an option of 0.2; plug-ins add theirs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store the typed arguments, for `invoke`; read `--price 1 2` as `--price 1,2`."""
        ctx.obj = [*args]
        at = args.index("--price") + 1 if "--price" in args else len(args)
        if re.fullmatch(r"[\d.]+,[\d.]+", prices := ",".join(args[at : at + 2])):
            args = [*args[:at], prices, *args[at + 2 :]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; print a known error as one line and exit with code 2."""
        try:
            ctx.default_map = make_default_map(self, ctx, ctx.obj)
            with _print_deprecations():
                return super().invoke(ctx)
        except TableturnError as error:
            from ...tools.labels import IN_ENGLISH  # loads what --help does without

            warn(f"tableturn: {IN_ENGLISH.say_error(error)}")
            raise typer.Exit(USAGE_ERROR) from error
        except TyperException as error:
            if find_faults := getattr(error.__cause__, "errors", None):  # pydantic's, which Typer tells as they are
                error.message = describe_fault(find_faults()[0]).removeprefix("this ")
            if ctx.obj[:1] == ["ask"] and "unexpected extra argument" in error.message:
                error.message = 'put the question in quotes, as in: tableturn ask --db shop.db "How many stores?"'
            words = [self.name, *(piece for word in ctx.obj for piece in word.split("="))]  # the laboratory has another
            for old, instead in self.removed.items():
                old_words = ["tableturn", *old.split()]
                if words[:2] == old_words[:2] and {*old_words} <= {*words}:
                    _, dashes, option = old.partition("--")
                    old_name = f"--{option}" if dashes else f"`tableturn {old}`"
                    warn(f"tableturn: {old_name} was removed: {instead}")
                    raise typer.Exit(USAGE_ERROR) from error
            raise
        except (typer.Exit, typer.Abort, EOFError, BrokenPipeError):
            raise
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            fault = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            warn(f"tableturn: this is an error in tableturn ({fault}): set PYTHONDEVMODE=1 to see the traceback")
            raise typer.Exit(FAULT) from error

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the built-in commands, then the names of plug-in commands."""
        self._add_plugin_commands()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; load plug-ins only if the name is not built in."""
        if cmd_name not in self.commands:
            self._add_plugin_commands()
        command = super().get_command(ctx, cmd_name)
        if command is not None and command not in self._plain:
            self._plain.add(command)
            _escape_help_texts(command)
        return command

    def _add_plugin_commands(self) -> None:
        if self._complete:
            return
        self._complete = True
        for entry in entry_points(group=GROUP):
            try:
                app = entry.load()
                if not isinstance(app, typer.Typer):
                    raise TypeError(f"expected a typer.Typer, got {type(app).__name__}")
                commands: dict[str, Any] = dict(typer.main.get_group(app).commands)
            except Exception as error:  # noqa: BLE001 - whatever a plug-in raises, the others must work
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                message = f"the commands of plug-in {entry.name!r} ({entry.value}) are left out: {reason}"
                warn(f"tableturn: {message}")
            else:
                for name, command in commands.items():
                    self.commands.setdefault(name, command)


@contextmanager
def _print_deprecations() -> Generator[None]:
    """Print each deprecation warning once, as a line on standard error."""
    messages: set[str] = set()

    def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, Deprecated):
            usual(message, category, *place, **more)
        elif str(message) not in messages:
            messages.add(str(message))
            warn(f"tableturn: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", Deprecated)
        usual, warnings.showwarning = warnings.showwarning, show_warning
        yield


def _escape_help_texts(command: Any) -> None:
    """Escape the help texts of a command, so that Rich does not read brackets as styles."""
    for holder in (command, *command.params):
        if getattr(holder, "help", None):
            holder.help = escape(holder.help)
    for inner in getattr(command, "commands", {}).values():
        _escape_help_texts(inner)
