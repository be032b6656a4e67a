"""One's own questions for one's own databases, and predictions for any dataset, from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ...tools.errors import SettingsError
from ...tools.record_files import read_records
from ..records import parse_record
from .question import Dataset, Expects, Outcome, Question

SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".yaml", ".yml"})

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Queries = Annotated[
    list[Text],
    BeforeValidator(lambda sql: [sql] if isinstance(sql, str) else sql, json_schema_input_type=Text | list[Text]),
]
"""A query, or several of which each is accepted."""


class OwnQuestion(BaseModel):
    """A record of a file of one's own questions."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    question: Text
    database: Text  # a file, relative to that of the questions, or a URL
    sql: Queries = []
    id: str = ""
    interaction: str = ""  # turns of a conversation share it and follow one another
    evidence: str = ""
    level: str = ""
    disputed: str = ""
    expects: Outcome | None = None  # what is right if a query is not, or not at once
    meant: str = ""  # what the person says when asked back

    @model_validator(mode="after")
    def _check_sql(self) -> OwnQuestion:
        if self.expects == "decline" and self.sql:
            raise ValueError("a question that is to be declined has no 'sql'")
        if self.expects != "decline" and not self.sql:
            raise ValueError("'sql' is missing: a query, or a list of accepted ones")
        return self


def read_plain(path: Path) -> Dataset:
    """Read a JSON, JSON-lines, CSV or YAML file of one's own questions.

    Raises:
        SettingsError: It cannot be read, or a record is wrong; the message names the record.
    """
    questions: list[Question] = []
    turns: Counter[str] = Counter()
    for number, record in enumerate(read_records(path), 1):
        place = f"{path}, record {number}"
        given = record
        if isinstance(record, Mapping):
            given = {key: value for key, value in record.items() if value not in (None, "")}
            if None in given:
                # What the csv module calls the cells beyond the header's.
                raise SettingsError(f"{place}: more cells than the header has names: text with commas needs quotes")
        own = parse_record(OwnQuestion, given, place)
        name = own.id or str(number)
        interaction = own.interaction or name
        turns[interaction] += 1
        if turns[interaction] > 1 and questions[-1].interaction != interaction:
            raise SettingsError(f"{place}: turns of interaction {interaction!r} are not together")
        expects = Expects(own.expects or "answer", own.meant) if own.expects or own.meant else None
        golds, about = tuple(own.sql), (own.evidence, own.level, own.disputed)
        questions.append(
            Question(name, own.database, own.question, golds, interaction, turns[interaction], *about, expects)
        )
    if not questions:
        raise SettingsError(f"{path} holds no questions")
    check_ids(path, [question.id for question in questions])
    return Dataset(path.stem, "all", tuple(questions), (path.parent,))


def check_ids(path: Path, ids: list[str]) -> None:
    """Raise a SettingsError if an id is used more than once."""
    ((name, times),) = Counter(ids).most_common(1)
    if times > 1:
        raise SettingsError(f"{path}: the id {name!r} is used more than once")


class Prediction(BaseModel):
    """A record of a file of predictions."""

    id: str | int
    sql: str | None


def read_predictions(path: Path, dataset: Dataset, part: Dataset | None = None) -> dict[str, str]:
    """Read predictions for a dataset's questions.

    Either the official form (one query a line in the dataset's order, anything after a tab passed over, blank lines
    between interactions), or JSON: a list of queries in that order, or `{"id": ..., "sql": ...}` records, as a list or
    one a line. A file without ids may hold the questions alone that are asked, `part`.

    Returns:
        SQL by question id; questions without one are missing.

    Raises:
        SettingsError: The file cannot be read, or does not fit the dataset.
    """
    try:
        if path.suffix in (".json", ".jsonl"):
            records = read_records(path)
        else:
            lines = path.read_text(encoding="utf-8-sig").split("\n")
            records = [line.partition("\t")[0].strip() for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error}") from error
    where = f"{dataset.name} {dataset.split}"
    if all(isinstance(record, str) for record in records):
        for asked in (dataset, part):
            if asked is not None and len(asked.questions) == len(records):
                return {question.id: str(sql) for question, sql in zip(asked.questions, records, strict=True)}
        wanted = f"{where} has {len(dataset.questions)} questions"
        if part is not None and len(part.questions) < len(dataset.questions):
            wanted += f", {len(part.questions)} of them asked"
        raise SettingsError(f"predictions: {path} has {len(records)} queries, {wanted}")
    found = [parse_record(Prediction, one, f"predictions: {path}, record {n}") for n, one in enumerate(records, 1)]
    known = {question.id for question in dataset.questions}
    predictions = {str(one.id): one.sql or "" for one in found}
    if unknown := next((name for name in predictions if name not in known), None):
        raise SettingsError(f"predictions: {path}: {where} has no question {unknown!r}")
    return predictions
