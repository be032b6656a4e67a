"""Predictions made elsewhere, as SQL by question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...tools.errors import SettingsError
from ..datasets import Dataset


def read_predictions(path: Path, dataset: Dataset) -> dict[str, str]:
    """Reads predictions for a dataset's questions.

    Either the official form (one query a line in the dataset's order, anything after a tab passed over, blank lines
    between interactions), or JSON: a list of queries in that order, or `{"id": ..., "sql": ...}` records, as a list or
    one a line.

    Returns:
        SQL by question id; questions without one are missing.

    Raises:
        SettingsError: The file cannot be read, or does not fit the dataset.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error}") from error
    if path.suffix in (".json", ".jsonl"):
        return _from_records(_json(path, text), path, dataset)
    return _in_order([line.partition("\t")[0].strip() for line in text.splitlines() if line.strip()], path, dataset)


def _json(path: Path, text: str) -> list[object]:
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        found = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"predictions: {path} is not JSON: {error}") from error
    if not isinstance(found, list):
        raise SettingsError(f"predictions: {path}: expected a list")
    return found


def _from_records(records: list[object], path: Path, dataset: Dataset) -> dict[str, str]:
    if all(isinstance(record, str) for record in records):
        return _in_order(map(str, records), path, dataset)
    predictions: dict[str, str] = {}
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping) or "id" not in record or "sql" not in record:
            raise SettingsError(f'predictions: {path}, record {number}: expected {{"id": ..., "sql": ...}}')
        predictions[str(record["id"])] = str(record["sql"] or "")
    known = {question.id for question in dataset.questions}
    if unknown := next((name for name in predictions if name not in known), None):
        raise SettingsError(f"predictions: {path}: {dataset.name} {dataset.split} has no question {unknown!r}")
    return predictions


def _in_order(queries: Iterable[str], path: Path, dataset: Dataset) -> dict[str, str]:
    found = list(queries)
    if len(found) != len(dataset.questions):
        wanted = f"{dataset.name} {dataset.split} has {len(dataset.questions)} questions"
        raise SettingsError(f"predictions: {path} has {len(found)} queries, {wanted}")
    return {question.id: sql for question, sql in zip(dataset.questions, found, strict=True)}
