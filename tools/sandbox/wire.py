"""How frames travel to the worker: as Arrow streams, each after its length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# A column of an SQLite table may hold values of several kinds, an Arrow column only one: such a column travels as one
# field for each kind, at most one of them filled in a row.
_KINDS: Mapping[str, type] = {"integer": int, "real": float, "text": str, "blob": bytes}


def encode(frame: pandas.DataFrame) -> bytes:
    """A frame as an Arrow stream.

    Raises:
        ValueError: A column holds what Arrow cannot: not numbers, text, times, bytes or missing values.
    """
    import pyarrow

    try:
        table = _to_table(frame)
    except (pyarrow.ArrowException, OverflowError) as error:
        raise ValueError(f"a table cannot be passed to the sandbox: {error}") from None
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def decode(stream: memoryview) -> pandas.DataFrame:
    """The frame of an Arrow stream, with memory of its own."""
    import pyarrow

    table = pyarrow.ipc.open_stream(pyarrow.py_buffer(stream)).read_all()
    frame: pandas.DataFrame = table.to_pandas(use_threads=False)
    for name in (table.schema.metadata or {}).get(b"mixed", b"").decode().split("\0"):
        if name:
            frame[name] = _join(frame[name])
    return frame


def _to_table(frame: pandas.DataFrame) -> Any:
    import pyarrow

    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=None, nthreads=1)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return _encode_mixed(frame)


def _encode_mixed(frame: pandas.DataFrame) -> Any:
    import pyarrow

    mixed: list[str] = []
    plain: dict[str, Any] = {}
    for name, column in frame.items():
        try:
            plain[str(name)] = pyarrow.Array.from_pandas(column)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            mixed.append(str(name))
            plain[str(name)] = _split(str(name), list(column))
    table = pyarrow.table(plain)
    return table.replace_schema_metadata({"mixed": "\0".join(mixed)})


def _split(name: str, values: list[object]) -> Any:
    import pyarrow

    known = tuple(_KINDS.values())
    for value in values:
        if value is not None and not isinstance(value, known):
            raise ValueError(f"column {name!r} holds a {type(value).__name__}, which cannot be passed to the sandbox")
    plain = [int(value) if isinstance(value, bool) else value for value in values]
    return pyarrow.StructArray.from_arrays(
        [pyarrow.array([value if isinstance(value, kind) else None for value in plain]) for kind in _KINDS.values()],
        names=list(_KINDS),
    )


def _join(cells: pandas.Series[Any]) -> pandas.Series[Any]:
    import pandas

    values = [next((cell[kind] for kind in _KINDS if cell[kind] is not None), None) for cell in cells]
    return pandas.Series(values, index=cells.index, dtype=object)
