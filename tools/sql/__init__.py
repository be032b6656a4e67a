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
from .dialect_notes import dialect_notes
from .explain import Heading, explain, headings
from .findings import Finding
from .literals import SearchedLiteral, searched_literals
from .mend import MendedQuery, mend_names, spell_tables
from .parse import parse_select, writes
from .query import ALL_COLUMNS, Query, find_constants, is_ordered, read_query, used_items
from .regular import regularize, same_sql
from .skeleton import question_skeleton, skeleton_similarity, sql_skeleton
from .vectors import FEATURES, vectorize

__all__ = [
    "ALL_COLUMNS",
    "FEATURES",
    "Finding",
    "Heading",
    "MendedQuery",
    "Query",
    "SearchedLiteral",
    "check",
    "dialect_notes",
    "explain",
    "find_constants",
    "headings",
    "is_ordered",
    "mend_names",
    "parse_select",
    "question_skeleton",
    "read_query",
    "regularize",
    "same_sql",
    "searched_literals",
    "skeleton_similarity",
    "spell_tables",
    "sql_skeleton",
    "used_items",
    "vectorize",
    "writes",
]
