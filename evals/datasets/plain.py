"""One's own questions for one's own databases, from a JSON, JSON-lines, CSV or YAML file.

Each record has `question`, `sql` (one query, or a list of accepted ones) and `database` (a file, relative to this
one); optionally `id`, `interaction` (turns of a conversation share it and follow one another), `evidence`, `level`,
`disputed`. `expects` says what is right where a query is not, or not at once: `decline` (then there is no `sql`) or
`ask_back`; `meant` is what the person says when asked back. `database` may also be a URL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from ...tools.errors import SettingsError
from ...tools.record_files import read_json, read_lines, read_records
from .question import Dataset, Expects, Outcome, Question

SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".yaml", ".yml"})
_FIELDS = frozenset(
    {"question", "sql", "database", "id", "interaction", "evidence", "level", "disputed", "expects", "meant"}
)
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def read_plain(path: Path) -> Dataset:
    """Reads a file of one's own questions.

    Raises:
        SettingsError: It cannot be read, or a record is not as described above; the message names the record.
    """
    questions: list[Question] = []
    turns: dict[str, int] = {}
    for number, record in enumerate(read_records(path), 1):
        question = _question(record, f"{path}, record {number}", str(number), turns)
        if questions and question.turn > 1 and questions[-1].interaction != question.interaction:
            raise SettingsError(
                f"{path}, record {number}: turns of interaction {question.interaction!r} are not together"
            )
        if not _writable(question):
            raise SettingsError(f"{path}, record {number}: its text holds half a character (a lone surrogate)")
        questions.append(question)
    if not questions:
        raise SettingsError(f"{path} holds no questions")
    doubled = sorted(name for name, times in Counter(question.id for question in questions).items() if times > 1)
    if doubled:
        raise SettingsError(f"{path}: the id {doubled[0]!r} is used more than once")
    return Dataset(path.stem, "all", tuple(questions), (path.parent,))


def _question(record: object, place: str, number: str, turns: dict[str, int]) -> Question:
    if not isinstance(record, Mapping):
        raise SettingsError(f"{place}: expected fields with values, found {record!r}")
    if None in record:
        # What the csv module calls the cells beyond the header's.
        raise SettingsError(f"{place}: more cells than the header has names; text with commas needs quotes around it")
    fields: dict[str, Any] = {str(key): value for key, value in record.items() if value not in (None, "")}
    if unknown := sorted(set(fields) - _FIELDS):
        raise SettingsError(f"{place}: unknown field {unknown[0]!r}; known: {', '.join(sorted(_FIELDS))}")
    expects = _expects(fields, place)
    declined = expects is not None and expects.outcome == "decline"
    needed = ("question", "database") if declined else ("question", "sql", "database")
    if missing := [name for name in needed if name not in fields]:
        raise SettingsError(f"{place}: {missing[0]!r} is missing")
    if declined and "sql" in fields:
        raise SettingsError(f"{place}: a question that is to be declined has no 'sql'")
    found: Any = fields.get("sql", [])
    golds = found if isinstance(found, list) else [found]
    if not (golds or declined) or not all(isinstance(gold, str) and gold.strip() for gold in golds):
        raise SettingsError(f"{place}: 'sql' is a query, or a list of accepted ones, not {fields['sql']!r}")
    identity = str(fields.get("id", number))
    interaction = str(fields.get("interaction", identity))
    turns[interaction] = turns.get(interaction, 0) + 1
    return Question(
        id=identity,
        database=str(fields["database"]),
        text=str(fields["question"]),
        golds=tuple(map(str, golds)),
        interaction=interaction,
        turn=turns[interaction],
        evidence=str(fields.get("evidence", "")),
        level=str(fields.get("level", "")),
        disputed=str(fields.get("disputed", "")),
        expects=expects,
    )


def _expects(fields: Mapping[str, Any], place: str) -> Expects | None:
    if "expects" not in fields and "meant" not in fields:
        return None
    outcome: Any = fields.get("expects", "answer")
    if outcome not in _OUTCOMES:
        raise SettingsError(f"{place}: 'expects' is {', '.join(_OUTCOMES)}, not {outcome!r}")
    return Expects(outcome, str(fields.get("meant", "")))


def _writable(question: Question) -> bool:
    """Whether files and pages can hold it: JSON can escape characters that no encoding has."""
    texts = (question.id, question.interaction, question.database, question.text, *question.golds)
    meant = question.expects.meant if question.expects else ""
    try:
        "".join((*texts, question.evidence, question.level, question.disputed, meant)).encode()
    except UnicodeEncodeError:
        return False
    return True


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
