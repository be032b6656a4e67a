"""Analysis of SQL: parsing, regular form, comparison, checks and explanation.

Every function is pure. One that asks what a query says takes a `Query`, of which all share one reading; one that asks
whether a text is a query, or gives another text, takes the text, and reads the dialect that the schema names. What
cannot be parsed as one query raises `SQLParseError`, unless something is said of it.

>>> from tableturn.tools.sql import Query, check, explain, regularize
>>> regularize('select T1.Name from customer as T1 where T1.Country == "France";', schema)
"SELECT customer.name FROM customer WHERE customer.country = 'France'"
>>> explain(Query.of("SELECT country, count(*) FROM customer GROUP BY country", "sqlite", schema))
'Country and the number of rows from customer, for each country.'
>>> check("SELECT nme FROM customer", schema)[0].suggestion
'use name'
"""

from .checks import check
from .dialects import dialect_notes
from .explain import COUNT, ColumnHeading, explain, headings
from .findings import Finding
from .literals import SearchedLiteral, find_searched_literals
from .mend import (
    CorrectedQuery,
    extend_schema_for_query,
    find_requested_tables,
    mend_names,
    write_exact_table_names,
)
from .parse import is_write_statement, parse_query_tree, return_default_if_unparsable
from .query import (
    ALL_COLUMNS,
    ROLES,
    Query,
    UsedSchemaItems,
    find_query_constants,
    find_used_schema_items,
    is_ordered,
    read_query,
)
from .regular import regularize, same_sql
from .skeleton import compute_skeleton_similarity, make_question_skeleton, make_sql_skeleton
from .texts import check_has_queries, split_statements
from .vectors import FEATURES, vectorize_query

__all__ = [
    "ALL_COLUMNS",
    "COUNT",
    "FEATURES",
    "ROLES",
    "ColumnHeading",
    "CorrectedQuery",
    "Finding",
    "Query",
    "SearchedLiteral",
    "UsedSchemaItems",
    "check",
    "check_has_queries",
    "compute_skeleton_similarity",
    "dialect_notes",
    "explain",
    "extend_schema_for_query",
    "find_query_constants",
    "find_requested_tables",
    "find_searched_literals",
    "find_used_schema_items",
    "headings",
    "is_ordered",
    "is_write_statement",
    "make_question_skeleton",
    "make_sql_skeleton",
    "mend_names",
    "parse_query_tree",
    "read_query",
    "regularize",
    "return_default_if_unparsable",
    "same_sql",
    "split_statements",
    "vectorize_query",
    "write_exact_table_names",
]
