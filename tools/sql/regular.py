"""One regular form for SQL (CREDIT-SQL 3.2 and appendix F), with the meaning unchanged.

The tree says what each name stands for; the query's own tokens are then written out again with only names, quotes,
spacing and a few synonymous spellings changed. Nothing that the parser might understand differently from the engine is
ever re-generated from the tree: casts, functions, precedence and join order stay as they were written.

The regular form: keywords upper case; functions, and names whose case does not count, lower case; names quoted only
where they need it; strings in single quotes; every column qualified by its table, or by the alias where the table
occurs more than once; aliases of tables that occur once removed; `AS` written out; `==` as `=`, `<>` as `!=`,
`INNER JOIN` as `JOIN`, `LEFT OUTER JOIN` as `LEFT JOIN`, `ASC` left out, `LIMIT a, b` as `LIMIT b OFFSET a`; one space
between words, none inside parentheses.
"""

from __future__ import annotations

from ..database.schema import Schema
from .parse import parse
from .renaming import rename
from .resolve import resolve
from .untrusted import analysis, analysis_or
from .writing import write


@analysis
def regularize(sql: str, schema: Schema) -> str:
    """The query in its regular form; idempotent.

    Args:
        sql: One query in the schema's dialect.
        schema: The database's schema. Names that it lacks are left unqualified.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    parsed = parse(sql, schema.dialect)
    resolution = resolve(parsed.tree, schema)
    if any(reference.kind == "text_name" for reference in resolution.references):
        return parsed.sql  # a column is named by an expression's very spelling: any change might lose it
    return write(parsed, rename(parsed, resolution))


@analysis_or(False)
def same_sql(a: str, b: str, schema: Schema) -> bool:
    """Whether two queries are equal once regularised; False where either cannot be parsed."""
    return regularize(a, schema) == regularize(b, schema)
