"""SQL understood: parsed, made regular, compared, counted, checked and explained. Every function is pure.

>>> from tableturn.tools.sql import check, explain, regularize
>>> regularize('select T1.Name from customer as T1 where T1.Country == "France";', schema)
"SELECT customer.name FROM customer WHERE customer.country = 'France'"
>>> explain("SELECT country, count(*) FROM customer GROUP BY country", schema)
'Country and the number of rows from customer, for each country.'
>>> check("SELECT nme FROM customer", schema)[0].suggestion
'use name'
"""

from .check import check
from .constants import Constants, constants
from .explain import explain
from .findings import Asked, ColumnValues, Finding, FindingKind, Mention, Severity
from .form import Form, form
from .items import ALL_COLUMNS, UsedItems, used_items
from .ordering import is_ordered
from .parse import parse_select
from .regular import regularize, same_sql
from .skeleton import question_skeleton, skeleton_similarity, sql_skeleton
from .sought import Contents, Sought, sought
from .vectors import FEATURES, vectorize

__all__ = [
    "ALL_COLUMNS",
    "FEATURES",
    "Asked",
    "ColumnValues",
    "Constants",
    "Contents",
    "Finding",
    "FindingKind",
    "Form",
    "Mention",
    "Severity",
    "Sought",
    "UsedItems",
    "check",
    "constants",
    "explain",
    "form",
    "is_ordered",
    "parse_select",
    "question_skeleton",
    "regularize",
    "same_sql",
    "skeleton_similarity",
    "sought",
    "sql_skeleton",
    "used_items",
    "vectorize",
]
