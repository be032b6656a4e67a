"""Frames as Arrow streams, the form in which they reach the worker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# A column of an SQLite table may hold values of several kinds, an Arrow column only one: such a column travels
# beside the frame, as one field for each kind, at most one of them filled in a row.
_KINDS: Mapping[str, type] = {"integer": int, "real": float, "text": str, "blob": bytes}
_MIXED = b"mixed columns"


def encode_frame(frame: pandas.DataFrame) -> bytes:
    """Encode a data frame as an Arrow stream; raise ValueError for unsupported values."""
    import pyarrow

    try:
        table = _convert_to_arrow_table(frame)
    except (pyarrow.ArrowException, OverflowError) as error:
        raise ValueError(f"a table cannot be passed to the sandbox: {error}") from None
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def decode_frame(stream: memoryview) -> pandas.DataFrame:
    """Decode an Arrow stream to a data frame that has a copy of the data."""
    import pandas
    import pyarrow

    table = pyarrow.ipc.open_stream(pyarrow.py_buffer(stream)).read_all()
    positions: list[int] = json.loads((table.schema.metadata or {}).get(_MIXED, b"[]"))
    width = table.num_columns - len(positions)
    # Series are not among the values that the stubs of `isetitem` know.
    frame: Any = table.select(range(width)).to_pandas(use_threads=False)
    for position, cells in zip(positions, table.columns[width:], strict=True):
        values = [next((value for value in cell.values() if value is not None), None) for cell in cells.to_pylist()]
        frame.isetitem(position, pandas.Series(values, index=frame.index, dtype=object))
    return frame


def _convert_to_arrow_table(frame: pandas.DataFrame) -> Any:
    """Convert a data frame to an Arrow table, splitting columns of mixed types by type."""
    import pandas
    import pyarrow

    positions = [
        position
        for position, kind in enumerate(frame.dtypes)
        if pandas.api.types.is_object_dtype(kind) and _is_mixed_type_column(frame, position)
    ]
    copied: Any = frame.copy(deep=False)
    for position in positions:
        copied.isetitem(position, pandas.Series(None, index=frame.index, dtype="float64"))
    table = pyarrow.Table.from_pandas(copied, preserve_index=None, nthreads=1)
    for position in positions:
        table = table.append_column(f"mixed {position}", _split_values_by_type(list(frame.iloc[:, position])))
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _MIXED: json.dumps(positions).encode()})


def _is_mixed_type_column(frame: pandas.DataFrame, position: int) -> bool:
    """Whether a column mixes types of database values; raise ValueError if Arrow refuses it."""
    import pyarrow

    column = frame.iloc[:, position]
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) < 2:
        return False
    strange = [kind for kind in kinds if not issubclass(kind, tuple(_KINDS.values()))]
    if not strange:
        return True
    try:
        pyarrow.Array.from_pandas(column)
    except pyarrow.ArrowException:
        problem = f"column {frame.columns[position]!r} holds a {strange[0].__name__}"
        raise ValueError(f"{problem}, which cannot be passed to the sandbox") from None
    return False


def _split_values_by_type(values: list[object]) -> Any:
    import pyarrow

    plain = [int(value) if isinstance(value, bool) else value for value in values]
    return pyarrow.StructArray.from_arrays(
        [pyarrow.array([value if isinstance(value, kind) else None for value in plain]) for kind in _KINDS.values()],
        names=list(_KINDS),
    )
