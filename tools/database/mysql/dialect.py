"""SQL, plans, errors and warnings of MySQL and MariaDB, whatever driver reaches them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.dialects import MySQL
from sqlglot.generator import Generator

from ...errors import ResultTooLarge, TableturnError
from ..estimate import MOST_ROWS, Estimate
from ..profile import ConnectionLost, read_engine_profile
from ..quoting import literal
from ..server.address import redact_message
from ..server.statement_check import StatementGrammar
from ..table import Cell

PROFILE = read_engine_profile(__package__ or "")


def _render_regexp_like(writer: Generator, node: exp.RegexpLike) -> str:
    # As an operator, which MariaDB has too.
    if node.args.get("flag"):
        return writer.func("REGEXP_LIKE", node.this, node.expression, node.args["flag"])
    return writer.binary(node, "REGEXP")


def _render_limit(writer: Generator, node: exp.Limit) -> str:
    # MariaDB keeps ties with FETCH alone.
    if options := node.args.get("limit_options"):
        return f" FETCH FIRST {writer.sql(node, 'expression') or 1}{writer.sql(options)}"
    return writer.limit_sql(node)


GRAMMAR = StatementGrammar(
    MySQL(),
    PROFILE,
    writes=(
        (exp.RegexpLike, _render_regexp_like),
        # As functions, because MariaDB lacks `->>`, and PERCENTILE_CONT without WITHIN GROUP.
        (
            exp.JSONExtractScalar,
            lambda writer, node: writer.func("JSON_UNQUOTE", writer.func("JSON_EXTRACT", node.this, node.expression)),
        ),
        (exp.Median, lambda writer, node: writer.func("MEDIAN", node.this)),
        (exp.ToChar, lambda writer, node: writer.func("TO_CHAR", node.this, node.args.get("format"))),
        (exp.CurrentVersion, lambda writer, _: writer.func("VERSION")),
        (exp.Limit, _render_limit),
        # MariaDB takes x'02' for a text, also where a number is meant, and 0x02 for what is meant.
        (exp.HexString, lambda _, node: f"0x{node.name}"),
    ),
    names_by_text=True,
    fetches_ties=True,
)


_SYSTEM = "('information_schema', 'performance_schema', 'mysql', 'sys')"


def select_schemas(schemas: Iterable[str]) -> str:
    """Return SQL for what stands in one of some databases; without any, in none of the server's own."""
    names = ", ".join(literal(name.replace("\\", "\\\\")) for name in schemas)
    return f"TABLE_SCHEMA {f'IN ({names})' if names else f'NOT IN {_SYSTEM}'}"


def estimate(plan: Iterable[Mapping[str, Any]]) -> Estimate:
    """Estimate the cost of a statement from the rows of the EXPLAIN plan.

    The tables of one SELECT are read in the order of the plan, each once for every row that those before it make.
    """
    selects: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for line in plan:
        if line["rows"] is not None:
            selects[line["id"]].append(line)
    single_reads = repeat_reads = outer_rows = 0.0
    for lines in selects.values():
        reads, rows = 0.0, 1.0
        for line in lines:
            rows *= float(line["rows"])
            reads += rows
            rows *= float(line.get("filtered") or 100) / 100
        outer_rows = max(outer_rows, rows)
        if "DEPENDENT" in str(lines[0]["select_type"]):
            repeat_reads += reads
        else:
            single_reads += reads
    return Estimate(min(round(single_reads + repeat_reads * max(1.0, outer_rows)), MOST_ROWS))


TOO_LARGE = -1
"""The number of our own error for a row that is too large to be taken."""


def make_error(error: Exception, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for an error of a MySQL driver."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    message = redact_message(error.args[-1] if error.args else error)
    if number == TOO_LARGE:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if isinstance(error, OSError) or type(error).__name__ == "InterfaceError":
        return ConnectionLost(message)
    return PROFILE.make_error("" if number is None else str(number), message)


_MAX_WARNINGS = 50
_TOLD = 3
_LONGEST = 200
# What a statement is written with, which its result doesn't depend on: words that will go, or have another spelling.
_OF_FORM = (1287, 1681, 3719, 3778)


def read_server_warnings(count: int, rows: Callable[[str], list[tuple[Cell, ...]]]) -> tuple[str, ...]:
    """Return a line for each of the first kinds of warnings; `count` is the number of warnings.

    The server is asked for more, before anything else is sent, only if that is not 0.
    """
    if not count:
        return ()
    first: dict[Cell, str] = {}
    for level, code, message in rows(f"SHOW WARNINGS LIMIT {_MAX_WARNINGS}"):
        if level != "Note" and code not in _OF_FORM:
            first.setdefault(code, " ".join(str(message).split())[:_LONGEST])
    lines = [f"The server warns: {message}." for message in list(first.values())[:_TOLD]]
    return (*lines, f"There were {count:,} warnings in all.") if lines and count > len(lines) else tuple(lines)
