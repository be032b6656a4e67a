"""What code leaves as its answer, as rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tableturn.tools.database.table import Cell
from tableturn.tools.sandbox.answer import convert_value_to_answer

Rows = list[list[Cell]]
STAMP = pd.Timestamp("2020-02-29 12:30")
ANSWERS: list[tuple[str, object, Rows, int]] = [
    ("scalar", 3, [[3]], 0),
    ("numpy scalar", np.float64(2.5), [[2.5]], 0),
    ("truth", np.True_, [[1]], 0),
    ("not a number", float("nan"), [[None]], 0),
    ("missing", pd.NA, [[None]], 0),
    ("list", [1, 2], [[1], [2]], 0),
    ("empty list", [], [], 0),
    ("list of rows", [(1, "a"), (2, "b")], [[1, "a"], [2, "b"]], 0),
    ("list of dictionaries", [{"a": 1, "b": 2}], [[1, 2]], 0),
    ("tuple", (1, "a"), [[1, "a"]], 0),
    ("tuple of rows", ((1, 2), (3, 4)), [[1, 2], [3, 4]], 0),
    ("dictionary of values", {"a": 1, "b": "x"}, [["a", 1], ["b", "x"]], 1),
    ("dictionary by two keys", {("a", 1): 2, ("b", 1): 3}, [["a", 1, 2], ["b", 1, 3]], 2),
    ("empty dictionary", {}, [], 1),
    ("year of one digit", pd.Timestamp("0001-02-03"), [["0001-02-03"]], 0),
    ("dictionary of columns", {"a": [1, 2], "b": ["x", "y"]}, [[1, "x"], [2, "y"]], 0),
    ("set", {7}, [[7]], 0),
    ("generator", (n for n in range(2)), [[0], [1]], 0),
    ("array", np.array([1, 2]), [[1], [2]], 0),
    ("matrix", np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], 0),
    ("index", pd.Index(["a", "b"], name="n"), [["a"], ["b"]], 0),
    ("extension array", pd.array([1, None], dtype="Int64"), [[1], [None]], 0),
    ("filtered series", pd.Series([1, 2, 3])[[0, 2]], [[1], [3]], 0),
    ("group sizes", pd.DataFrame({"k": ["a", "a", "b"]}).groupby("k").size(), [["a", 2], ["b", 1]], 1),
    ("row of a frame", pd.DataFrame({"a": [1], "b": ["x"]}).iloc[0], [[1, "x"]], 0),
    ("series of nothing", pd.Series([], dtype=object), [], 0),
    ("repeated columns", pd.DataFrame([[1, 2]], columns=["a", "a"]), [[1, 2]], 0),
    ("date", pd.Timestamp("2020-02-29"), [["2020-02-29"]], 0),
    ("time", STAMP, [["2020-02-29 12:30:00"]], 0),
    ("plain date", STAMP.date(), [["2020-02-29"]], 0),
    ("no time", pd.NaT, [[None]], 0),
    ("length of time", pd.Timedelta(hours=36), [[1.5]], 0),
    ("month", pd.Period("2020-02", "M"), [["2020-02"]], 0),
    ("category", pd.Series(["a", None], dtype="category"), [["a"], [None]], 0),
    ("bytes", b"\x00", [[b"\x00"]], 0),
    ("text", "abc", [["abc"]], 0),
]


@pytest.mark.parametrize(("value", "rows", "index"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_answer(value: object, rows: Rows, index: int) -> None:
    answer = convert_value_to_answer(value, 10)
    assert answer.rows == rows
    assert answer.index_columns == index
    assert not answer.truncated


def test_labelled_values_are_marked() -> None:
    assert convert_value_to_answer({"a": 1}, 10).labelled
    assert convert_value_to_answer(pd.Series({"a": 1, "b": 2}), 10).labelled
    assert not convert_value_to_answer({"a": [1]}, 10).labelled


def test_answer_with_two_levels_of_names() -> None:
    frame = pd.DataFrame({"k": ["a", "b"], "n": [1, 2]}).groupby("k").agg({"n": ["min", "max"]})
    answer = convert_value_to_answer(frame, 10)
    assert answer.columns == ["k", "n min", "n max"]
    assert answer.rows == [["a", 1, 1], ["b", 2, 2]]
