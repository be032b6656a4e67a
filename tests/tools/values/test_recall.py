"""The share of gold literals found, on training questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench.retrieval import (
    compute_recall_by_dataset,
    count_found_literals,
    find_text_literals,
    read_value_cases,
)
from tableturn.tools.database import ColumnSchema, Schema, TableSchema

SHOP = Schema("shop", (TableSchema("t", (ColumnSchema("a"), ColumnSchema("b"))),))


@pytest.mark.parametrize(
    ("sql", "literals"),
    [
        ("SELECT a FROM t WHERE a = 'x' AND 'y' != b", [("t", "a", "x"), ("t", "b", "y")]),
        ('SELECT a FROM t AS u WHERE u.a = "x" OR u.a = "x"', [("t", "a", "x")]),
        ("SELECT a FROM t WHERE a IN ('x', 'y', 3)", [("t", "a", "x"), ("t", "a", "y")]),
        ("SELECT a FROM t WHERE a = 3 AND a = b AND a LIKE '%x%'", []),
        ("SELEC", []),
    ],
)
def test_text_literals(sql: str, literals: list[tuple[str, str, str]]) -> None:
    assert find_text_literals(sql, SHOP) == literals


@pytest.mark.data
def test_recall_on_spider_train(data_dir: Path, tmp_path: Path) -> None:
    dataset = load_dataset("spider", "train", data_dir).head(500)
    rows = [row for asked in read_value_cases("train", dataset, tmp_path) for row in count_found_literals(asked)]
    figures: Any = compute_recall_by_dataset(DataFrame(rows))["details"]
    figures = figures["train"]
    assert figures["literals"] > 100
    assert figures["recall_at_5"] >= 0.95
