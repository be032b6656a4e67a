"""Golds that join tables without a condition, so that every row of one meets every row of the other."""

from __future__ import annotations

from collections.abc import Iterator

from ...tools.sql import check
from .dispute import Dispute, Golds


def join_disputes(golds: Golds) -> Iterator[Dispute]:
    """Golds in which static analysis finds a product of tables."""
    for question, _, schema in golds.trees:
        found = [finding for finding in check(question.golds[0], schema) if finding.kind == "cartesian_product"]
        if found:
            yield Dispute(question, "join", found[0].message)
