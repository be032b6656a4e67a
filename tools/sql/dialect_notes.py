"""Notes for models on what differs between engines."""

from __future__ import annotations

_POSTGRES = (
    "Names without quotes are read in lower case: write a name with capitals or blanks in double quotes. Text stands in"
    " single quotes only.",
    "Every column of SELECT, HAVING and ORDER BY is grouped by or aggregated; HAVING and WHERE know no aliases.",
    "Dates: extract(year FROM d), date_trunc('month', d), to_char(d, 'YYYY-MM'), d - interval '1 year', current_date;"
    " one date minus another is a number of days.",
    "Whole numbers divide to a whole number: write a::numeric / b for a fraction, and nullif(b, 0) against division by"
    " zero, which is an error.",
    "LIKE tells capitals from small letters: use ILIKE. Types are not converted: compare text with text, and cast.",
    "Text: a || b, string_agg(x, ', '), strpos(text, part), substring(text FROM 1 FOR 3).",
    "LIMIT n OFFSET m; FETCH FIRST n ROWS WITH TIES after ORDER BY keeps ties. NULLs sort last, with DESC first.",
)
_MYSQL = (
    "Names with blanks or that are keywords stand in `back-ticks`; text in single quotes. Tables' names may depend on"
    " case, columns' do not.",
    "Dates: year(d), month(d), date_format(d, '%Y-%m'), d - INTERVAL 1 YEAR, curdate(); datediff(a, b) is a number of"
    " days.",
    "a / b of whole numbers is a decimal number: a DIV b is the whole part. Division by zero gives NULL.",
    "Text: concat(a, b), for || means OR; group_concat(x SEPARATOR ', '), instr(text, part). = and LIKE mostly ignore"
    " case.",
    "There is no FULL JOIN, no FILTER, no NULLS LAST, no :: cast: use UNION of LEFT and RIGHT JOIN, CASE inside the"
    " aggregate, x IS NULL in ORDER BY, CAST.",
)
_MYSQL_ONLY = (
    "Every column of SELECT is grouped by or aggregated. LIMIT has no WITH TIES: compare rank() in a sub-query.",
)
_MARIADB_ONLY = (
    "A column of SELECT that is neither grouped by nor aggregated is of any row: leave none. After ORDER BY,"
    " FETCH FIRST n ROWS WITH TIES keeps ties.",
)
_DUCKDB = (
    "Names ignore case; those with blanks or that are keywords stand in double quotes, text in single quotes.",
    "Every column of SELECT is grouped by or aggregated; GROUP BY ALL groups by all that are not aggregated.",
    "Dates: year(d), date_trunc('month', d), strftime(d, '%Y-%m'), d - INTERVAL 1 YEAR, current_date,"
    " date_diff('day', a, b).",
    "a / b is a fraction, also of whole numbers: a // b is the whole part.",
    "LIKE tells capitals from small letters: use ILIKE. Text: a || b, string_agg(x, ', '), strpos(text, part).",
    "QUALIFY filters window functions: with rank() it keeps ties that LIMIT cuts. arg_max(x, y) is the x of the row"
    " with the greatest y.",
)
_SPARK = (
    "Names ignore case; those with blanks or that are keywords stand in `back-ticks`. Double quotes are for text, as"
    " are single ones.",
    "Every column of SELECT is grouped by or aggregated; GROUP BY ALL groups by all that are not aggregated.",
    "Dates: year(d), date_trunc('MONTH', d), date_format(d, 'yyyy-MM'), add_months(d, -12), d - INTERVAL '1' YEAR,"
    " current_date(); datediff(later, earlier) is a number of days.",
    "a / b is a fraction, also of whole numbers: a DIV b is the whole part. Division by zero and casts of what is no"
    " number are errors: write try_divide(a, b) and try_cast(x AS INT).",
    "LIKE tells capitals from small letters: use ILIKE. Text: concat(a, b), listagg(x, ', '), instr(text, part).",
    "LIMIT has no WITH TIES: compare rank() in a sub-query. max_by(x, y) is the x of the row with the greatest y. NULLs"
    " sort first, with DESC last.",
    "Read as little as possible: name the columns, and filter by the columns that a table is partitioned by.",
)


def dialect_notes(dialect: str, version: str = "") -> tuple[str, ...]:
    """Return notes for a model on an engine's SQL: quoting, case, dates, division, ties.

    None for SQLite, and for engines of which nothing is written down. The engine's version tells MariaDB from MySQL.
    """
    if dialect == "mysql":
        return _MYSQL + (_MARIADB_ONLY if "mariadb" in version.lower() else _MYSQL_ONLY)
    return {"postgres": _POSTGRES, "duckdb": _DUCKDB, "spark": _SPARK}.get(dialect, ())
