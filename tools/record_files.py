"""Reading a person's own files: text, JSON, JSON lines, TOML, CSV and YAML."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

from .errors import SettingsError, TableturnError


def read_file(path: Path, error: type[TableturnError] = SettingsError) -> bytes:
    """Return a file's content; raise `error`, with the reason, if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise error(f"there is no file {path}") from None
    except IsADirectoryError:
        raise error(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as fault:  # a path with NUL
        raise error(f"cannot read {path}: {getattr(fault, 'strerror', None) or fault}") from None


def decode_text(content: bytes, path: Path, error: type[TableturnError] = SettingsError) -> str:
    """Return the text of a file's content; raise `error` if it is none."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise error(f"{path} is not a text file in UTF-8") from None


def read_text_file(path: Path, error: type[TableturnError] = SettingsError, *, filled: bool = False) -> str:
    """Return a file's text; raise `error`, saying what is there instead, if there is none."""
    text = decode_text(read_file(path, error), path, error)
    if filled and not text:
        raise error(f"{path} is empty")
    return text


def read_json(text: str, path: Path, error: type[TableturnError] = SettingsError, line: int = 1) -> object:
    """Parse a file's JSON text, which begins at a line; raise `error` with the place."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        place = f"line {line + fault.lineno - 1}, column {fault.colno}"
        raise error(f"{path} is not JSON: {place}" if text.strip() else f"{path} is empty") from None
    except (RecursionError, ValueError):
        raise error(f"{path}, line {line}: its parts are nested too deeply, or a number is too long") from None


def read_lines(text: str, path: Path) -> list[object]:
    """Parse JSON lines, skipping blank lines; error messages name the line.

    Only line feeds end a line: JSON strings may hold every other character that Python takes for a line's end.
    """
    return [read_json(line, path, line=n) for n, line in enumerate(text.split("\n"), 1) if line.strip()]


def read_toml_file(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise `SettingsError` if it is none."""
    try:
        return tomllib.loads(read_text_file(path))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from None


def read_records(path: Path) -> list[object]:
    """Return the unvalidated records of a JSON, JSON-lines, CSV or YAML file.

    Raises:
        SettingsError: It cannot be read, is empty, or is no list.
    """
    text = read_text_file(path, filled=True)
    if path.suffix == ".csv":
        return _read_csv(text, path)
    if path.suffix == ".jsonl":
        return read_lines(text, path)
    records = _read_yaml(text, path) if path.suffix in (".yaml", ".yml") else read_json(text, path)
    if not isinstance(records, list):
        raise SettingsError(f"{path}: expected a list of questions")
    return records


def _read_csv(text: str, path: Path) -> list[object]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    records: list[object] = []
    line = 1
    try:
        line += bool(reader.fieldnames)  # which reads the header
        for record in reader:
            records.append(record)
            line = reader.line_num + 1
    except csv.Error:
        raise SettingsError(f"{path}, line {line}: a quotation mark is not closed, or a cell is too long") from None
    return records


def _read_yaml(text: str, path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SettingsError(f"{path} is not YAML{place}") from None
