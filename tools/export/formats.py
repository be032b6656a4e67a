"""The forms in which rows are written, and how a file's name tells which."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from ..errors import ExportError

Format = Literal["csv", "json", "jsonl", "md", "xlsx", "parquet"]
"""Forms of rows."""

FORMATS: tuple[Format, ...] = get_args(Format)

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
"""What a server says that they are."""

BINARY: frozenset[Format] = frozenset({"xlsx", "parquet"})
"""Forms that are no text."""

_PACKAGES: dict[str, str] = {"xlsx": "openpyxl", "parquet": "pyarrow"}

_ENDINGS: dict[str, Format] = {".ndjson": "jsonl", ".markdown": "md"}


def check_installed(form: Format) -> None:
    """Sees that what writes a form is there.

    Raises:
        ExportError: Its package is missing.
    """
    package = _PACKAGES.get(form)
    if package and find_spec(package) is None:
        raise ExportError(f"{form} files need {package}: pip install 'tableturn[files]'")


def format_of(path: str | Path) -> Format:
    """The form that a file's ending names.

    Raises:
        ExportError: It names none.
    """
    ending = Path(path).suffix.lower()
    for known in FORMATS:
        if ending == f".{known}":
            return known
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    raise ExportError(f"cannot tell the format of {path}: use a name that ends in one of .{', .'.join(FORMATS)}")
