"""What the operators and functions of a frame are in sqlglot's tree."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from .frame import Aggregate, Operator, SetOperator

COMPARISONS: Mapping[Operator, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "like": exp.Like,
}  # fmt: skip

AGGREGATES: Mapping[Aggregate, type[exp.AggFunc]] = {
    "count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max,
}  # fmt: skip

SET_OPERATIONS: Mapping[SetOperator, type[exp.SetOperation]] = {
    "intersect": exp.Intersect, "union": exp.Union, "except": exp.Except,
}  # fmt: skip
