"""The grammar of statements for DuckDB, and of requests for plans."""

from __future__ import annotations

from sqlglot.dialects.duckdb import DuckDB

from ..profile import read_engine_profile
from ..server.statement_check import StatementGrammar

PROFILE = read_engine_profile(__package__ or "")

GRAMMAR = StatementGrammar(DuckDB(), PROFILE, fold=str.lower)
"""DuckDB's names ignore case, with quotes too."""

EXPLAIN = "EXPLAIN (FORMAT JSON) "
"""What stands before a query whose plan is asked for."""
