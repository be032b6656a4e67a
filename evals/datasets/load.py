"""Datasets by name, from the files as they are published, all through one interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...tools.database import Database
from ...tools.database.quoting import quoted
from ...tools.errors import DatabaseUnavailable, QueryError, SettingsError
from ...tools.record_files import read_json
from ..official.execution import whole_operators
from .plain import SUFFIXES, read_plain
from .question import Dataset, Question

_SPIDER = ("spider", "spider_data")


@dataclass(frozen=True)
class Layout:
    """Where a published dataset keeps its files, and what it calls its fields."""

    folders: tuple[str, ...]  # names that its folder goes by; the first that exists counts
    splits: Mapping[str, tuple[str, ...]]  # files by split, relative to the folder; the first that exists counts
    text: str = "question"  # the field of a question's text
    sql: str = "query"  # the field of its gold query
    databases: tuple[str, ...] = ("database", "test_database")  # folders of databases within the folder
    tables: tuple[str, ...] = ("tables.json",)  # files of schemas within the folder
    shared: bool = True  # whether Spider's databases and schemas serve it too

    def file(self, split: str, root: Path) -> Path | None:
        """Return the file of a split; None if there is none."""
        files = (folder / file for folder in self._folders(root) for file in self.splits[split])
        return next((path for path in files if path.is_file()), None)

    def parts(self, kind: str, root: Path) -> tuple[Path, ...]:
        """Return the databases or tables that exist: the dataset's own first, then Spider's if they serve it."""
        found = [folder / part for folder in self._folders(root) for part in getattr(self, kind)]
        if self.shared:
            roots = (root, root.parent) if root.name in self.folders else (root,)
            parts = getattr(LAYOUTS["spider"], kind)
            found += [base / folder / part for base in roots for folder in _SPIDER for part in parts]
        return tuple(dict.fromkeys(path for path in found if path.exists()))

    def _folders(self, root: Path) -> list[Path]:
        named = [root / folder for folder in self.folders]
        return [*named, root] if root.name in self.folders else named

    def questions(self, path: Path) -> Iterator[Question]:
        """Yield the questions of a file: single ones, BIRD's with evidence and difficulty, or turns of interactions.

        Raises:
            SettingsError: The file cannot be read, or is not in its published format.
        """
        try:
            records: Any = read_json(path.read_text(encoding="utf-8"))
            for number, record in enumerate(records):
                if "interaction" in record:  # SParC and CoSQL
                    for turn, entry in enumerate(record["interaction"], 1):
                        about = record["database_id"], entry["utterance"], (whole_operators(entry["query"]),)
                        yield Question(f"{number}.{turn}", *about, str(number), turn)
                else:
                    name = str(record.get("question_id", number))
                    about = record.get("evidence", ""), record.get("difficulty", "")
                    yield Question(name, record["db_id"], record[self.text], (record[self.sql],), name, 1, *about)
        except (OSError, ValueError) as error:
            raise SettingsError(f"{path} cannot be read: {error}") from error
        except (KeyError, TypeError, AttributeError) as error:
            raise SettingsError(f"{path} is not in its published format: {error!r}") from error


LAYOUTS: Mapping[str, Layout] = {
    "spider": Layout(
        _SPIDER,
        {
            "dev": ("dev.json",),
            "train": ("train_spider.json",),
            "train_others": ("train_others.json",),
            "test": ("test.json",),
        },
        tables=("tables.json", "test_tables.json"),
    ),
    "spider-syn": Layout(
        ("spider-syn", "Spider-Syn"),
        {"dev": ("dev.json", "dev_syn.json"), "train": ("train_spider.json",)},
        text="SpiderSynQuestion",
    ),
    "spider-dk": Layout(("spider-dk", "Spider-DK"), {"dev": ("Spider-DK.json",)}),
    "spider-realistic": Layout(
        ("spider-realistic", "Spider-Realistic", "spider_realistic"), {"dev": ("spider-realistic.json",)}
    ),
    "sparc": Layout(("sparc",), {"dev": ("dev.json",), "train": ("train.json",)}),
    "cosql": Layout(
        ("cosql", "cosql_dataset"),
        {
            "dev": ("dev.json", "sql_state_tracking/cosql_dev.json"),
            "train": ("train.json", "sql_state_tracking/cosql_train.json"),
        },
    ),
    "bird": Layout(
        ("bird", "dev", "mini_dev_data"),
        {"dev": ("dev.json",), "mini_dev": ("mini_dev_sqlite.json",), "train": ("train.json",)},
        sql="SQL",
        databases=("dev_databases", "train_databases", "database"),
        tables=("dev_tables.json", "train_tables.json"),
        shared=False,
    ),
    "kaggle-dbqa": Layout(
        ("kaggle-dbqa", "KaggleDBQA"),
        {"test": ("test.json",), "fewshot": ("fewshot.json",)},
        databases=("database", "databases"),
        shared=False,
    ),
}


def load_dataset(name: str, split: str, root: Path | None) -> Dataset:
    """Load one split of a known dataset (`LAYOUTS`), or a file of one's own questions (`read_plain`), which has none.

    The root is the folder that holds the datasets' folders (`TABLETURN_DATA`), or a dataset's folder itself.

    Raises:
        SettingsError: There is no such dataset, split or file, or it is not in its published format.
    """
    if Path(name).suffix in SUFFIXES:
        if split not in ("dev", "all"):  # commands ask for `dev` if nothing is said
            raise SettingsError(f"{name} is a file of one's own questions, without splits: leave --split {split} out")
        return read_plain(Path(name))
    layout = LAYOUTS.get(name)
    if name == "cosql-acts":
        raise SettingsError("the dataset 'cosql-acts' was removed: give a file of your own questions with `expects`")
    if layout is None:
        known = ", ".join(LAYOUTS)
        raise SettingsError(f"no dataset is called {name!r}; known: {known}, or a file of one's own questions")
    if root is None:
        raise SettingsError(f"dataset {name!r}: set TABLETURN_DATA to the folder of benchmark data, or pass --data")
    if split not in layout.splits:
        raise SettingsError(f"dataset {name!r} has no split {split!r}; known: {', '.join(layout.splits)}")
    path = layout.file(split, root)
    if path is None:
        looked = " or ".join(layout.splits[split])
        raise SettingsError(f"dataset {name!r}: no {looked} in {' or '.join(layout.folders)} below {root}")
    # Why a published gold is doubtful, by question id.
    text = (files("tableturn.evals.datasets") / "disputed.json").read_text(encoding="utf-8")
    disputed: dict[str, str] = json.loads(text).get(f"{name}/{split}", {})
    questions = (replace(question, disputed=disputed.get(question.id, "")) for question in layout.questions(path))
    return Dataset(name, split, tuple(questions), layout.parts("databases", root), layout.parts("tables", root), root)


def find_empty(dataset: Dataset) -> list[str]:
    """Return a line for each database with tables without rows: there wrong queries easily pass."""
    found: list[str] = []
    for name in sorted({question.database for question in dataset.questions}):
        # One that cannot be read is told with each of its questions.
        with suppress(DatabaseUnavailable, QueryError), Database.open(dataset.place(name)) as database:
            tables = [table.name for table in database.schema().tables if table.kind == "table"]
            rows = {one: f"SELECT 1 FROM {quoted(one, database.dialect)} LIMIT 1" for one in tables}
            if empty := [one for one, sql in rows.items() if not database.execute(sql).rows]:
                found.append(f"{name}: tables without rows: {', '.join(empty)}")
    return found
