"""One's own questions for one's own databases, from a JSON, JSON-lines, CSV or YAML file.

Each record has `question`, `sql` (one query, or a list of accepted ones) and `database` (a file, relative to this
one); optionally `id`, `interaction` (turns of a conversation share it and follow one another), `evidence`, `level`,
`disputed`. `expects` says what is right where a query is not, or not at once: `decline` (then there is no `sql`) or
`ask_back`; `meant` is what the person says when asked back. `database` may also be a URL.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from ...tools.errors import SettingsError
from ...tools.record_files import read_json, read_lines, read_records
from .question import Dataset, Expects, Outcome, Question

SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".yaml", ".yml"})
_FIELDS = frozenset(
    {"question", "sql", "database", "id", "interaction", "evidence", "level", "disputed", "expects", "meant"}
)


def read_plain(path: Path) -> Dataset:
    """Reads a file of one's own questions.

    Raises:
        SettingsError: It cannot be read, or a record is not as described above; the message names the record.
    """
    questions: list[Question] = []
    turns: Counter[str] = Counter()
    for number, record in enumerate(read_records(path), 1):
        try:
            question = _question(record, str(number), turns)
            if questions and question.turn > 1 and questions[-1].interaction != question.interaction:
                raise ValueError(f"turns of interaction {question.interaction!r} are not together")
            # JSON can escape characters that no encoding has, and so no file or page can hold.
            json.dumps(asdict(question), ensure_ascii=False).encode()
        except ValueError as error:
            half = isinstance(error, UnicodeEncodeError)
            why = "its text holds half a character (a lone surrogate)" if half else str(error)
            raise SettingsError(f"{path}, record {number}: {why}") from None
        questions.append(question)
    if not questions:
        raise SettingsError(f"{path} holds no questions")
    doubled = sorted(name for name, times in Counter(question.id for question in questions).items() if times > 1)
    if doubled:
        raise SettingsError(f"{path}: the id {doubled[0]!r} is used more than once")
    return Dataset(path.stem, "all", tuple(questions), (path.parent,))


def _question(record: object, number: str, turns: Counter[str]) -> Question:
    """Read one record; count the turns of its interaction.

    Raises:
        ValueError: It is not as described above.
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"expected fields with values, found {record!r}")
    if None in record:
        # What the csv module calls the cells beyond the header's.
        raise ValueError("more cells than the header has names; text with commas needs quotes around it")
    fields: dict[str, Any] = {str(key): value for key, value in record.items() if value not in (None, "")}
    if unknown := sorted(set(fields) - _FIELDS):
        raise ValueError(f"unknown field {unknown[0]!r}; known: {', '.join(sorted(_FIELDS))}")
    outcome: Any = fields.get("expects", "answer")
    if outcome not in get_args(Outcome):
        raise ValueError(f"'expects' is {', '.join(get_args(Outcome))}, not {outcome!r}")
    needed = ("question", "database") if outcome == "decline" else ("question", "sql", "database")
    if missing := [name for name in needed if name not in fields]:
        raise ValueError(f"{missing[0]!r} is missing")
    if outcome == "decline" and "sql" in fields:
        raise ValueError("a question that is to be declined has no 'sql'")
    found: Any = fields.pop("sql", [])
    golds = found if isinstance(found, list) else [found]
    if not (golds or outcome == "decline") or not all(isinstance(gold, str) and gold.strip() for gold in golds):
        raise ValueError(f"'sql' is a query, or a list of accepted ones, not {found!r}")
    texts = {name: str(value) for name, value in fields.items()}
    identity = texts.get("id", number)
    interaction = texts.get("interaction", identity)
    turns[interaction] += 1
    return Question(
        identity,
        texts["database"],
        texts["question"],
        tuple(golds),
        interaction,
        turns[interaction],
        texts.get("evidence", ""),
        texts.get("level", ""),
        texts.get("disputed", ""),
        expects=Expects(outcome, texts.get("meant", "")) if "expects" in fields or "meant" in fields else None,
    )


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
