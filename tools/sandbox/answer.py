"""The code's answer as rows of plain values, read in the worker."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .protocol import MOST_COLUMNS, TOO_WIDE

Plain = int | float | str | bytes | None


class AnswerTooLarge(Exception):
    """An error raised if the answer of the code exceeds a size limit."""


@dataclass(frozen=True)
class CodeAnswer:
    """The answer of sandboxed code, as rows of plain values."""

    columns: list[str]
    rows: list[list[Plain]]  # values that SQLite could hold
    truncated: bool  # whether there were more rows than wanted
    index_columns: int  # how many leading columns come from the index
    labelled: bool = False  # whether these are single values under labels: a row for each, or one row


def convert_value_to_answer(value: object, limit: int) -> CodeAnswer:
    """Convert a frame, series, array, collection or single value to at most `limit` rows.

    An index that has a name counts as columns (the keys of a group-by), one without does not (the numbers of rows).
    A series labelled by unnamed texts is one row (a row of a frame, or several aggregates), and so is a tuple of
    single values; a dictionary of them is a row for each, its key before it.
    With too many columns it raises `AnswerTooLarge`.
    """
    if pd.api.types.is_scalar(value):
        return CodeAnswer(["result"], [[_convert_to_plain_value(value)]], False, 0)
    frame, index_columns, by_label = _convert_to_data_frame(value)
    if frame.shape[1] > MOST_COLUMNS:
        raise AnswerTooLarge(TOO_WIDE)
    head = frame.iloc[:limit]
    # Column by column and by position: names may repeat.
    cells = [[_convert_to_plain_value(value) for value in head.iloc[:, position]] for position in range(head.shape[1])]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return CodeAnswer([_format_name(name) for name in frame.columns], rows, len(frame) > limit, index_columns, by_label)


def _convert_to_data_frame(value: object) -> tuple[pd.DataFrame, int, bool]:
    """Return a data frame, the number of index columns, and whether the values are labelled."""
    if isinstance(value, pd.DataFrame):
        return *_add_index_columns(value), False
    if isinstance(value, pd.Series):
        index = value.index
        if index.nlevels == 1 and index.name is None and len(index) and all(isinstance(x, str) for x in index):
            return pd.DataFrame([list(value)], columns=list(value.index), dtype=object), 0, True
        return *_add_index_columns(value.to_frame()), False
    if isinstance(value, pd.Index):
        return *_add_index_columns(value.to_frame(index=False)), False
    if isinstance(value, Mapping) and not any(map(_is_row, value.values())):
        return *_convert_mapping_to_frame(value), True
    return _convert_collection_to_frame(value), 0, False


def _convert_mapping_to_frame(value: Mapping[Any, Any]) -> tuple[pd.DataFrame, int]:
    """Return a data frame with one row per item of a mapping, the key's columns first."""
    keys: list[tuple[Any, ...]] = [key if isinstance(key, tuple) else (key,) for key in value]
    width = len(keys[0]) if keys else 1
    if any(len(key) != width for key in keys):
        keys, width = [(key,) for key in value], 1
    rows = [[*key, item] for key, item in zip(keys, value.values(), strict=True)]
    return pd.DataFrame(rows, columns=["key"] * width + ["value"], dtype=object), width


def _convert_collection_to_frame(value: object) -> pd.DataFrame:
    if isinstance(value, np.ndarray | pd.api.extensions.ExtensionArray):
        return pd.DataFrame(np.atleast_1d(np.asarray(value)))
    if isinstance(value, Mapping):
        return pd.DataFrame(dict(value))
    if isinstance(value, tuple) and not any(map(_is_row, value)):
        return pd.DataFrame([list(value)], dtype=object)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return _convert_items_to_frame(list(value))
    return pd.DataFrame({"result": pd.Series([value], dtype=object)})


def _add_index_columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    names = list(frame.index.names)
    if all(name is None for name in names):
        return frame, 0
    keys = frame.index.to_frame(index=False)
    return pd.concat([keys, frame.reset_index(drop=True)], axis=1), len(names)


def _convert_items_to_frame(items: list[Any]) -> pd.DataFrame:
    if items and all(isinstance(item, Mapping) for item in items):
        return pd.DataFrame(items)
    if items and all(isinstance(item, pd.Series) for item in items):
        items = [list(item) for item in items]
    if items and all(map(_is_row, items)):
        return pd.DataFrame([list(item) for item in items], dtype=object)
    return pd.DataFrame({"result": pd.Series(items, dtype=object)})


def _is_row(item: object) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str | bytes)


def _format_name(name: object) -> str:
    if isinstance(name, tuple):
        return " ".join(str(level) for level in name if level != "")
    return "" if name is None else str(name)


def _convert_to_plain_value(value: Any) -> Plain:
    """Convert a value to a type that SQLite stores: ISO text for times, days for durations."""
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, int | np.integer):
        number = int(value)
        return number if -(2**63) <= number < 2**63 else float(number)
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float | np.floating | decimal.Decimal):
        real = float(value)
        return None if real != real else real
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return pd.Timedelta(value) / pd.Timedelta(days=1)
    if isinstance(value, datetime.datetime | np.datetime64):
        time = pd.Timestamp(value)
        # By `isoformat`: the C library's `strftime` writes the year 1 with one digit.
        return time.date().isoformat() if time == time.normalize() else time.tz_localize(None).isoformat(" ")
    return str(value)
