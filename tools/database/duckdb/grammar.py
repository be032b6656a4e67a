"""The grammar of statements for DuckDB, and of requests for plans."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generator import Generator

from ..profile import read_engine_profile
from ..server.statement_check import StatementGrammar

PROFILE = read_engine_profile(__package__ or "")

_DIALECT = DuckDB()
_render_arrow = _DIALECT.generator_class.TRANSFORMS[exp.JSONExtract]


def _render_json_extract(writer: Generator, node: exp.JSONExtract) -> str:
    # As a function beside a lambda: DuckDB would take an arrow there for one.
    if node.parent is not None and node.parent.find(exp.Lambda) is not None:
        return writer.func("JSON_EXTRACT", node.this, node.expression)
    return _render_arrow(writer, node)


GRAMMAR = StatementGrammar(_DIALECT, PROFILE, fold=str.lower, writes=((exp.JSONExtract, _render_json_extract),))
"""DuckDB's names ignore case, with quotes too."""

EXPLAIN = "EXPLAIN (FORMAT JSON) "
"""What stands before a query whose plan is asked for."""
