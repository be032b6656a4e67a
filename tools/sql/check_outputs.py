"""Output columns against what was asked: what the question's wording makes likely, and no more."""

from __future__ import annotations

from sqlglot import exp

from ..database.schema import Schema
from .findings import Asked, Finding
from .scope import Resolution


def output_findings(asked: Asked, tree: exp.Expr, resolution: Resolution, schema: Schema) -> list[Finding]:
    """Findings about the output columns."""
    del asked, tree, resolution, schema
    return []
