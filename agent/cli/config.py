"""A person's own choices in a file: which database, model and format a command takes where nobody says."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...tools.errors import SettingsError
from ...tools.folders import config_folder

NAME = "tableturn.toml"
"""The file, in the folder that the command is run in and in the person's configuration folder."""

_FORMATS = ("table", "csv", "json", "jsonl", "md")

_OPTIONS = {"database": "db", "model": "model", "format": "form"}
"""Keys, and the options that they stand for. No base URL: a file of somebody else's folder could send keys there."""

_TAKE = ("ask", "chat", "doctor", "link", "schema")
"""Commands that take those of these options that they have."""


class Defaults(Mapping[str, Any]):
    """Options by command, as Click takes them; the files are read once a command asks.

    What is given on the command line wins, then the environment, then the folder's file, then the person's.
    """

    def __getitem__(self, command: str) -> dict[str, Any]:
        if command not in _TAKE:
            raise KeyError(command)
        return _chosen()

    def __iter__(self) -> Any:
        return iter(_TAKE)

    def __len__(self) -> int:
        return len(_TAKE)


def _chosen() -> dict[str, str]:
    chosen = read_defaults(config_folder() / NAME) | read_defaults(Path(NAME))
    if os.environ.get("TABLETURN_MODEL"):
        chosen.pop("model", None)
    return chosen


def read_defaults(path: Path) -> dict[str, str]:
    """The options that a file gives.

    Raises:
        SettingsError: It cannot be read, or holds something else.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from None
    for name, value in found.items():
        if name not in _OPTIONS:
            raise SettingsError(f"{path}: unknown key {name!r}; known keys: {', '.join(_OPTIONS)}")
        if not isinstance(value, str) or not value:
            raise SettingsError(f"{path}: {name} must be text, as in {name} = {_EXAMPLES[name]!r}, not {value!r}")
    if found.get("format", "table") not in _FORMATS:
        raise SettingsError(f"{path}: format must be one of {', '.join(_FORMATS)}, not {found['format']!r}")
    if "database" in found:
        found["database"] = _located(found["database"], path.parent)
    return {_OPTIONS[name]: value for name, value in found.items()}


_EXAMPLES = {"database": "shop.db", "model": "openai:gpt-5-mini", "format": "table"}


def _located(database: str, folder: Path) -> str:
    """A path is meant from the file's folder."""
    return database if "://" in database else str(folder / Path(database).expanduser())
