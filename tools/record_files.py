"""Reading a person's own files: JSON, JSON lines, CSV and YAML."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from .errors import SettingsError

TOO_DEEP = "its parts are nested too deeply"


def read_json(text: str) -> object:
    """Parse a JSON text; raise `ValueError` if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def read_lines(text: str) -> list[object]:
    """Parse JSON lines, skipping blank lines; error messages name the line.

    Only line feeds end a line: JSON strings may hold every other character that Python takes for a line's end.
    """
    return [_parse_json_line(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _parse_json_line(line: str, number: int) -> object:
    try:
        return read_json(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error


def read_records(path: Path) -> list[object]:
    """Return the unvalidated records of a JSON, JSON-lines, CSV or YAML file.

    Raises:
        SettingsError: It cannot be read, or is no list.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".csv":
            return list(csv.DictReader(io.StringIO(text)))
        if path.suffix == ".jsonl":
            return read_lines(text)
        records: object = _parse_yaml_text(text) if path.suffix in (".yaml", ".yml") else read_json(text)
    except (OSError, ValueError, csv.Error) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if not isinstance(records, list):
        raise SettingsError(f"{path}: expected a list of questions")
    return records


def _parse_yaml_text(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
