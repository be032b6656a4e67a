"""Benchmark datasets in their published files, and questions of your own, in one form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby, product
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ...tools.database import Database, hide_url_secrets, quote
from ...tools.errors import DatabaseUnavailable, QueryError, SettingsError
from ...tools.record_files import read_json, read_records, read_text_file
from ...tools.validation import describe_fault
from ...tools.words import format_count


def join_operators(sql: str) -> str:
    """Return a query with `>=` in place of CoSQL's `> =`, which SQLite does not parse."""
    for split_operator, operator in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
        sql = sql.replace(split_operator, operator)
    return sql


Outcome = Literal["answer", "decline", "ask_back"]  # what is right to do with a question


@dataclass(frozen=True)
class ExpectedOutcome:
    """The expected outcome of a question: an answer, declining, or asking back."""

    outcome: Outcome = "answer"  # what is right to do
    # What its asker means, in words: said if the agent asks back, or the choice nearest to it is taken.
    meant: str = ""


@dataclass(frozen=True)
class GoldTurn:
    """A benchmark question (one turn of an interaction) with its gold queries."""

    id: str  # unique in its dataset: `12` for a single question, `12.3` for the third turn of interaction 12
    database: str  # the name of its database
    text: str  # as asked; in an interaction it may need the turns before
    # Accepted SQL, the published one first; empty only if `expects` says what is right instead.
    golds: tuple[str, ...]
    interaction: str  # what it is a turn of; a single question is an interaction of its own
    turn: int = 1  # from 1
    evidence: str = ""  # a hint that comes with the question (BIRD); empty without
    level: str = ""  # the dataset's own difficulty (BIRD); empty if Spider's levels hold
    disputed: str = ""  # why the published gold is doubtful; empty if it is not
    # What is right besides a query, if declining or asking back may be; None if only a query is right.
    expects: ExpectedOutcome | None = None
    repeat: int | None = None  # which of several tries at the same question this is; None for the only one

    @property
    def expected_outcome(self) -> Outcome:
        """The expected outcome: to answer, to decline or to ask back."""
        return self.expects.outcome if self.expects else "answer"


@dataclass(frozen=True)
class Dataset:
    """The questions of one split of a dataset, in published order."""

    name: str  # as on the command line
    split: str  # likewise
    questions: tuple[GoldTurn, ...]  # turns of one interaction are neighbours
    databases: tuple[Path, ...]  # folders in which `NAME/NAME.sqlite` is looked for, in this order
    tables: tuple[Path, ...] = ()  # Spider's tables.json files, from which EM takes foreign keys
    root: Path | None = None  # the folder that it was loaded from; None for a file of one's own

    def find_file(self, name: str) -> Path:
        """Return the path of the SQLite file of a database."""
        if name.startswith("sqlite:///"):
            return Path(name.removeprefix("sqlite:///").partition("?")[0])
        label = f"{self.name} {self.split}"
        if "://" in name:
            raise DatabaseUnavailable(f"{label}: {hide_url_secrets(name)} is not an SQLite file")
        # A name with a suffix is a file of one's own; benchmarks give each database a folder.
        for path in (root / location for root in self.databases for location in (f"{name}/{name}.sqlite", name)):
            if path.is_file():
                return path
        folders = ", ".join(map(str, self.databases)) or "any folder"
        raise DatabaseUnavailable(f"{label}: there is no database {hide_url_secrets(name)!r} in {folders}")

    def locate(self, name: str) -> str | Path:
        """Return the path or URL at which a database is opened."""
        return name if "://" in name else self.find_file(name)

    @property
    def is_conversational(self) -> bool:
        """Whether declining or asking back may be right for some question."""
        return any(question.expects is not None for question in self.questions)

    @property
    def interactions(self) -> Sequence[tuple[GoldTurn, ...]]:
        """The questions grouped by interaction."""
        return [tuple(turns) for _, turns in groupby(self.questions, key=lambda question: question.interaction)]

    def head(self, count: int | None) -> Dataset:
        """Return the dataset with the first `count` interactions; with all if `count` is None."""
        if count is None:
            return self
        return replace(self, questions=tuple(question for turns in self.interactions[:count] for question in turns))

    def without(self, databases: Collection[str]) -> Dataset:
        """Return the dataset without the questions of some databases."""
        names = {question.database for question in self.questions}
        if unknown := next((name for name in databases if name not in names), None):
            raise SettingsError(f"{self.name} {self.split} has no questions on {unknown!r}")
        if not (questions := tuple(question for question in self.questions if question.database not in databases)):
            raise SettingsError(f"{self.name} {self.split} has questions on these databases only: none is left to ask")
        return replace(self, questions=questions)

    def on(self, databases: Path | None) -> Dataset:
        """Return the dataset with its databases in another folder, such as a test suite's."""
        if databases is None:
            return self
        if self.root is None:
            raise SettingsError(f"{self.name} names databases by path: give a file that names those in {databases}")
        return replace(self, databases=(databases,))


class ClosingContext:
    """A context manager that calls `close` at the end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all open databases."""
        raise NotImplementedError


class SingleDatabaseCache(ClosingContext):
    """A cache of one open database, for questions that are grouped by database."""

    def __init__(self) -> None:
        self._entry: tuple[str | Path, Database] | None = None

    def open(self, location: str | Path) -> Database:
        """Return the database at a path or URL; close the one that was open before."""
        if self._entry is None or self._entry[0] != location:
            self.close()
            self._entry = (location, Database.open(location))
        return self._entry[1]

    def close(self) -> None:
        """Close the database that is open."""
        if self._entry is not None:
            self._entry[1].close()
            self._entry = None


R = TypeVar("R")

# Building the reader of a dataclass takes a millisecond, and a journal may have thousands of lines.
_reader = cache(TypeAdapter)


def parse_record(kind: type[R], record: object, location: str) -> R:
    """Parse a record, or its JSON bytes, into a model or dataclass."""
    reader = _reader(kind)
    try:
        return reader.validate_json(record) if isinstance(record, bytes) else reader.validate_python(record)
    except ValidationError as error:
        fault = describe_fault(error.errors()[0])
        raise SettingsError(" ".join(": ".join(filter(None, (location, fault))).split())) from error


_SPIDER = ("spider", "spider_data")


@dataclass(frozen=True)
class DatasetLayout:
    """A published dataset's file locations and field names."""

    folders: tuple[str, ...]  # names that its folder goes by; the first that exists counts
    splits: Mapping[str, str]  # the file of a split, or several with ` or ` between, of which the first counts
    text: str = "question"  # the field of a question's text
    sql: str = "query"  # the field of its gold query
    databases: tuple[str, ...] = ("database", "test_database")  # folders of databases within the folder
    tables: tuple[str, ...] = ("tables.json",)  # files of schemas within the folder
    shared: bool = True  # whether Spider's databases and schemas serve it too

    def find_split_file(self, split: str, root: Path) -> Path | None:
        """Return the file of a split; None if no such file exists."""
        files = (folder / file for folder in self._list_folders(root) for file in self.splits[split].split(" or "))
        return next((path for path in files if path.is_file()), None)

    def paths(self, kind: str, root: Path) -> tuple[Path, ...]:
        """Return the existing paths of databases or schemas: the dataset's own, then Spider's."""
        paths = [folder / relative_path for folder in self._list_folders(root) for relative_path in getattr(self, kind)]
        if self.shared:
            roots = (root, root.parent) if root.name in self.folders else (root,)
            spider_paths = getattr(LAYOUTS["spider"], kind)
            paths += [base / folder / part for base in roots for folder in _SPIDER for part in spider_paths]
        return tuple(dict.fromkeys(path for path in paths if path.exists()))

    def _list_folders(self, root: Path) -> list[Path]:
        folders = [root / folder for folder in self.folders]
        return [*folders, root] if root.name in self.folders else folders

    def parse_questions(self, path: Path) -> Iterator[GoldTurn]:
        """Yield the questions of a file: single questions, or the turns of interactions."""
        records: Any = read_json(read_text_file(path), path)
        try:
            for number, record in enumerate(records):
                if "interaction" in record:  # SParC and CoSQL
                    for turn, entry in enumerate(record["interaction"], 1):
                        fields = record["database_id"], entry["utterance"], (join_operators(entry["query"]),)
                        yield GoldTurn(f"{number}.{turn}", *fields, str(number), turn)
                else:
                    name = str(record.get("question_id", number))
                    fields = record.get("evidence", ""), record.get("difficulty", "")
                    yield GoldTurn(name, record["db_id"], record[self.text], (record[self.sql],), name, 1, *fields)
        except (KeyError, TypeError, AttributeError) as error:
            raise SettingsError(f"{path} is not in its published format: {error!r}") from error


LAYOUTS: Mapping[str, DatasetLayout] = {
    "spider": DatasetLayout(
        _SPIDER,
        {"dev": "dev.json", "train": "train_spider.json", "train_others": "train_others.json", "test": "test.json"},
        tables=("tables.json", "test_tables.json"),
    ),
    "spider-syn": DatasetLayout(
        ("spider-syn", "Spider-Syn"),
        {"dev": "dev.json or dev_syn.json", "train": "train_spider.json"},
        text="SpiderSynQuestion",
    ),
    "spider-dk": DatasetLayout(("spider-dk", "Spider-DK"), {"dev": "Spider-DK.json"}),
    "spider-realistic": DatasetLayout(
        ("spider-realistic", "Spider-Realistic", "spider_realistic"), {"dev": "spider-realistic.json"}
    ),
    "sparc": DatasetLayout(("sparc",), {"dev": "dev.json", "train": "train.json"}),
    "cosql": DatasetLayout(
        ("cosql", "cosql_dataset"),
        {
            "dev": "dev.json or sql_state_tracking/cosql_dev.json",
            "train": "train.json or sql_state_tracking/cosql_train.json",
        },
    ),
    "bird": DatasetLayout(
        ("bird", "dev", "mini_dev_data"),
        {"dev": "dev.json", "mini_dev": "mini_dev_sqlite.json", "train": "train.json"},
        sql="SQL",
        databases=("dev_databases", "train_databases", "database"),
        tables=("dev_tables.json", "train_tables.json"),
        shared=False,
    ),
    "kaggle-dbqa": DatasetLayout(
        ("kaggle-dbqa", "KaggleDBQA"),
        {"test": "test.json", "fewshot": "fewshot.json"},
        databases=("database", "databases"),
        shared=False,
    ),
}


_REMOVED_DATASETS = {
    "cosql-acts": "it was removed: give a file of your own questions with `expects`",
    "large": "it was removed: `python -m tableturn.evals.lab bench turn-cost` builds that database",
}


def load_dataset(name: str, split: str, root: Path | None) -> Dataset:
    """Load one split of a known dataset (`LAYOUTS`), or a file of your own questions.

    The root is the folder that holds the datasets' folders (`TABLETURN_DATA`), or a dataset's folder itself.
    """
    if Path(name).suffix in SUFFIXES or (name not in LAYOUTS and Path(name).is_file()):
        if split not in ("dev", "all"):  # commands ask for `dev` if nothing is said
            raise SettingsError(f"{name} is a file of your own questions and has no splits: leave --split {split} out")
        return read_questions(Path(name))
    layout = LAYOUTS.get(name)
    if layout is None:
        advice = _REMOVED_DATASETS.get(name) or f"known: {', '.join(LAYOUTS)}, or a file of your own questions"
        raise SettingsError(f"unknown dataset {name!r}; {advice}")
    if root is None:
        raise SettingsError(f"dataset {name!r}: set TABLETURN_DATA to the folder of benchmark data, or pass --data")
    if split not in layout.splits:
        raise SettingsError(f"dataset {name!r} has no split {split!r}; known: {', '.join(layout.splits)}")
    path = layout.find_split_file(split, root)
    if path is None:
        folders = " or ".join(layout.folders)
        raise SettingsError(f"dataset {name!r}: no {layout.splits[split]} in {folders} below {root}")
    # Why a published gold is doubtful, by question id.
    text = (files("tableturn.evals.datasets") / "disputed.json").read_text(encoding="utf-8")
    disputes: dict[str, str] = json.loads(text).get(f"{name}/{split}", {})
    questions = (replace(question, disputed=disputes.get(question.id, "")) for question in layout.parse_questions(path))
    return Dataset(name, split, tuple(questions), layout.paths("databases", root), layout.paths("tables", root), root)


def find_empty_tables(dataset: Dataset) -> list[str]:
    """Return a warning for each database with empty tables, on which wrong queries may pass."""
    warnings: list[str] = []
    for name in sorted({question.database for question in dataset.questions}):
        # One that cannot be read is told with each of its questions.
        with suppress(DatabaseUnavailable, QueryError), Database.open(dataset.locate(name)) as database:
            tables = [table.name for table in database.schema().tables if table.kind == "table"]
            rows = {table: f"SELECT 1 FROM {quote(table, database.dialect)} LIMIT 1" for table in tables}
            if empty := [table for table, sql in rows.items() if not database.execute(sql).rows]:
                warnings.append(f"{name}: tables without rows: {', '.join(empty)}")
    return warnings


SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".yaml", ".yml"})

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Queries = Annotated[
    list[Text],
    BeforeValidator(lambda sql: [sql] if isinstance(sql, str) else sql, json_schema_input_type=Text | list[Text]),
]
"""A query, or several of which each is accepted."""


class OwnQuestion(BaseModel):
    """A record in a file of the user's own questions."""

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
    def _check_sql_fits_outcome(self) -> OwnQuestion:
        if self.expects == "decline" and self.sql:
            raise ValueError("a question that must be declined cannot have 'sql'")
        if self.expects != "decline" and not self.sql:
            raise ValueError("'sql' is missing: a query, or a list of accepted ones")
        return self


def read_questions(path: Path) -> Dataset:
    """Read a JSON, JSON Lines, CSV or YAML file of the user's own questions."""
    questions: list[GoldTurn] = []
    turns: Counter[str] = Counter()
    for number, record in enumerate(read_records(path), 1):
        location = f"{path}, record {number}"
        fields = record
        if isinstance(record, Mapping):
            fields = {key: value for key, value in record.items() if value not in (None, "")}
            if None in fields:
                # What the csv module calls the cells beyond the header's.
                raise SettingsError(f"{location}: more cells than column names: put text with commas in quotes")
        entry = parse_record(OwnQuestion, fields, location)
        name = entry.id or str(number)
        interaction = entry.interaction or name
        turns[interaction] += 1
        if turns[interaction] > 1 and questions[-1].interaction != interaction:
            raise SettingsError(f"{location}: the turns of interaction {interaction!r} must follow one another")
        expects = ExpectedOutcome(entry.expects or "answer", entry.meant) if entry.expects or entry.meant else None
        about = (name, entry.database, entry.question, tuple(entry.sql), interaction, turns[interaction])
        questions.append(GoldTurn(*about, entry.evidence, entry.level, entry.disputed, expects))
    check_unique_ids(path, [question.id for question in questions])
    return Dataset(path.stem, "all", tuple(questions), (path.parent,))


def check_unique_ids(path: Path, ids: list[str]) -> None:
    """Raise `SettingsError` if there are no ids, or if an id occurs more than once."""
    if not ids:
        raise SettingsError(f"{path} contains no questions")
    ((name, times),) = Counter(ids).most_common(1)
    if times > 1:
        raise SettingsError(f"{path}: the id {name!r} is used more than once")


class Prediction(BaseModel):
    """A record in a file of predictions: a question's id and the predicted SQL."""

    id: str | int
    sql: str | None


def read_predictions(path: Path, dataset: Dataset, selection: Dataset | None = None) -> dict[str, str]:
    """Return the predicted SQL by question id; questions without a prediction are missing.

    Either the official form (one query a line in the dataset's order, anything after a tab passed over, a blank line
    where there is no query or, of interactions, between them), or JSON: a list of queries in that order, or
    `{"id": ..., "sql": ...}` records, as a list or one a line. A file without ids may hold the questions alone that are
    asked, `selection`.
    """
    if path.suffix in (".json", ".jsonl"):
        records = read_records(path)
        forms = [records]
    else:
        lines = read_text_file(path, filled=True).removesuffix("\n").split("\n")
        queries = [line.partition("\t")[0].strip() for line in lines]
        records = [query for query, line in zip(queries, lines, strict=True) if line.strip()]
        forms = [records, queries] if any(turn.turn > 1 for turn in dataset.questions) else [queries, records]
    split_name = f"{dataset.name} {dataset.split}"
    if all(isinstance(record, str) for record in records):
        for form, subset in product(forms, (dataset, selection)):
            if subset is not None and len(subset.questions) == len(form):
                return {question.id: str(sql) for question, sql in zip(subset.questions, form, strict=True)}
        expected = f"{split_name} has {format_count(len(dataset.questions), 'question', 'questions')}"
        if selection is not None and len(selection.questions) < len(dataset.questions):
            expected += f", {len(selection.questions)} of them asked"
        raise SettingsError(f"predictions: {path} has {format_count(len(records), 'query', 'queries')}, but {expected}")
    entries = [parse_record(Prediction, item, f"predictions: {path}, record {n}") for n, item in enumerate(records, 1)]
    ids = {question.id for question in dataset.questions}
    predictions = {str(item.id): item.sql or "" for item in entries}
    if unknown := next((name for name in predictions if name not in ids), None):
        raise SettingsError(f"predictions: {path}: {split_name} has no question {unknown!r}")
    return predictions
