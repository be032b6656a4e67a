"""The attack corpus, which lies among the tests of a checkout and not in the installed package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ...tools.errors import SettingsError

_CHECKOUT = Path(__file__).parents[2]
_FOLDER = _CHECKOUT / "tests" / "corpus"
_SUITE = "tests.tools.database.conformance"
_CANDIDATES = {
    "sqlite": ("sqlite", "SQLite"),
    "duckdb": ("duckdb", "DuckDB"),
    "postgres": ("postgres", "Postgres"),
    "mariadb": ("mariadb", "MariaDB"),
    "sqlalchemy": ("mariadb", "SQLAlchemyMariaDB"),
    "spark": ("spark", "Spark"),
}


def corpus(name: str) -> ModuleType:
    """A module of the corpus.

    Raises:
        SettingsError: This is no checkout.
    """
    path = _FOLDER / f"{name}.py"
    spec = spec_from_file_location(f"tableturn_corpus_{name}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SettingsError(f"this benchmark needs the attack corpus of a checkout of tableturn: there is no {path}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their own module up there
    spec.loader.exec_module(module)
    return module


def conformance(engine: str) -> tuple[Sequence[str], Any, Sequence[str]]:
    """Of the suite that every engine is held against: its attacks, one engine's `Candidate`, and the tables to make.

    Raises:
        SettingsError: This is no checkout.
    """
    if not (_CHECKOUT / _SUITE.replace(".", "/")).is_dir():
        raise SettingsError("the attacks lie among the tests of a checkout of tableturn")
    sys.path.insert(0, str(_CHECKOUT))
    try:
        module, name = _CANDIDATES[engine]
        candidate = getattr(import_module(f"{_SUITE}.candidates.{module}"), name)()
        attacks, tables = (import_module(f"{_SUITE}.{part}") for part in ("attacks", "tables"))
    finally:
        sys.path.remove(str(_CHECKOUT))
    return attacks.SHARED, candidate, tables.STATEMENTS
