"""SQL understood: parsed, made regular, compared, checked and explained. Every function is pure."""

from .check import check
from .explain import explain
from .findings import Asked, ColumnValues, Finding, FindingKind, Severity
from .items import ALL_COLUMNS, UsedItems, used_items
from .ordering import is_ordered
from .parse import parse_select
from .regular import regularize, same_sql
from .skeleton import question_skeleton, skeleton_similarity, sql_skeleton
from .vectors import FEATURES, vectorize

__all__ = [
    "ALL_COLUMNS",
    "FEATURES",
    "Asked",
    "ColumnValues",
    "Finding",
    "FindingKind",
    "Severity",
    "UsedItems",
    "check",
    "explain",
    "is_ordered",
    "parse_select",
    "question_skeleton",
    "regularize",
    "same_sql",
    "skeleton_similarity",
    "sql_skeleton",
    "used_items",
    "vectorize",
]
