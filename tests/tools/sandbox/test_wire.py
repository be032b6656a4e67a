"""Frames on their way to the worker: what goes in comes out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tableturn.tools.sandbox.wire import decode_frame, encode_frame


def passed(frame: pd.DataFrame) -> pd.DataFrame:
    return decode_frame(memoryview(encode_frame(frame)))


def test_a_mixed_column_leaves_the_others_as_they_are() -> None:
    frame = pd.DataFrame(
        {
            "": pd.Series([9007199254740993, "x", None], dtype=object),
            "big": pd.array([9007199254740993, None, 5], dtype="Int64"),
            "day": pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01"])),
            "text": ["7", None, "b"],
            "truth": pd.array([True, None, False], dtype="boolean"),
            "a\0b": pd.Series([1, 2.5, b"x"], dtype=object),
        }
    )
    got = passed(frame)
    pd.testing.assert_frame_equal(got, frame)
    assert [type(value) for value in got["a\0b"]] == [int, float, bytes]


def test_values_of_several_kinds_stay_as_they_are() -> None:
    values: list[Any] = [2**62 + 1, 0.5, float("inf"), "", "7", b"", None, 7]
    got = passed(pd.DataFrame({"any": pd.Series(values, dtype=object)}))["any"].tolist()
    assert got == values
    assert [type(value) for value in got] == [type(value) for value in values]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"k": [1, 2], "any": pd.Series([1, "x"], dtype=object)}).set_index("k"),
        pd.DataFrame([["x", 2], [1, 3]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        pd.DataFrame({"mixed 1": [1, 2], "any": pd.Series([1, "x"], dtype=object)}),
        pd.DataFrame({"none": pd.Series([], dtype=object)}),
    ],
)
def test_indexes_and_names(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(passed(frame), frame)
