"""The folders of tableturn's own files, never beside a user's database."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path, user_state_path

CACHE_VARIABLE = "TABLETURN_CACHE"
"""Environment variable that names another cache folder."""

DATA_VARIABLE = "TABLETURN_HOME"
"""Environment variable that names another folder for conversations and for what was typed in them."""


def cache_folder() -> Path:
    """Return the folder for cached files, which can be rebuilt."""
    path = os.environ.get(CACHE_VARIABLE)
    return Path(path) if path else user_cache_path("tableturn", appauthor=False)


def data_folder() -> Path:
    """Return the folder for a person's own data, such as conversations."""
    path = os.environ.get(DATA_VARIABLE)
    return Path(path) if path else _find_user_data_folder()


@cache
def _find_user_data_folder() -> Path:
    return user_data_path("tableturn", appauthor=False)


def state_folder() -> Path:
    """Return the folder for the input history."""
    path = os.environ.get(DATA_VARIABLE)
    return Path(path) if path else user_state_path("tableturn", appauthor=False)


def make_private_file(path: Path) -> None:
    """Create a file that only its owner may read, if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    os.chmod(path, 0o600)


def config_folder() -> Path:
    """Return the folder for a person's configuration."""
    return user_config_path("tableturn", appauthor=False)
