"""The grammar of statements for DuckDB, and of requests for plans."""

from __future__ import annotations

from sqlglot.dialects.duckdb import DuckDB

from ..profile import read_profile
from ..server.statement_check import Grammar

PROFILE = read_profile(__package__ or "")

GRAMMAR = Grammar(DuckDB(), PROFILE, fold=str.lower)
"""DuckDB's names ignore case, with quotes too."""

EXPLAIN, EXPLAIN_JSON = "EXPLAIN ", "EXPLAIN (FORMAT JSON) "
"""What stands before a query whose plan is asked for."""
