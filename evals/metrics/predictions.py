"""Predictions made elsewhere, as SQL by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...tools.errors import SettingsError
from ...tools.record_files import read_json, read_lines
from ..datasets import Dataset


def read_predictions(path: Path, dataset: Dataset, part: Dataset | None = None) -> dict[str, str]:
    """Reads predictions for a dataset's questions.

    Either the official form (one query a line in the dataset's order, anything after a tab passed over, blank lines
    between interactions), or JSON: a list of queries in that order, or `{"id": ..., "sql": ...}` records, as a list or
    one a line.

    Args:
        path: The file.
        dataset: The whole split.
        part: The questions that are asked of it: a file without ids may hold these alone.

    Returns:
        SQL by question id; questions without one are missing.

    Raises:
        SettingsError: The file cannot be read, or does not fit the dataset.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error}") from error
    if path.suffix in (".json", ".jsonl"):
        return _from_records(_json(path, text), path, dataset, part)
    queries = [line.partition("\t")[0].strip() for line in text.split("\n") if line.strip()]
    return _in_order(queries, path, dataset, part)


def _json(path: Path, text: str) -> list[object]:
    try:
        if path.suffix == ".jsonl":
            return read_lines(text)
        found = read_json(text)
    except ValueError as error:
        raise SettingsError(f"predictions: {path} is not JSON: {error}") from error
    if not isinstance(found, list):
        raise SettingsError(f"predictions: {path}: expected a list")
    return found


def _from_records(records: list[object], path: Path, dataset: Dataset, part: Dataset | None) -> dict[str, str]:
    if all(isinstance(record, str) for record in records):
        return _in_order(list(map(str, records)), path, dataset, part)
    predictions: dict[str, str] = {}
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping) or "id" not in record or "sql" not in record:
            raise SettingsError(f'predictions: {path}, record {number}: expected {{"id": ..., "sql": ...}}')
        sql = record["sql"]
        if not isinstance(sql, str | None):
            raise SettingsError(f"predictions: {path}, record {number}: 'sql' is a query or null, not {sql!r}")
        predictions[str(record["id"])] = sql or ""
    known = {question.id for question in dataset.questions}
    if unknown := next((name for name in predictions if name not in known), None):
        raise SettingsError(f"predictions: {path}: {dataset.name} {dataset.split} has no question {unknown!r}")
    return predictions


def _in_order(queries: Sequence[str], path: Path, dataset: Dataset, part: Dataset | None) -> dict[str, str]:
    for asked in (dataset, part):
        if asked is not None and len(asked.questions) == len(queries):
            return {question.id: sql for question, sql in zip(asked.questions, queries, strict=True)}
    wanted = f"{dataset.name} {dataset.split} has {len(dataset.questions)} questions"
    if part is not None and len(part.questions) < len(dataset.questions):
        wanted += f", {len(part.questions)} of them asked"
    raise SettingsError(f"predictions: {path} has {len(queries)} queries, {wanted}")
