"""Skeleton agreement: do the retrieved Spider-train examples show the gold query's SQL skeleton?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from ...tools.database import Database, Schema, render_schema
from ...tools.errors import DatabaseUnavailable, SQLParseError
from ...tools.examples import Example, ExampleQuery, ExampleStore, SelectorKind, make_selector
from ...tools.sql import sql_skeleton
from ..datasets import Dataset, Question, load_dataset
from ..metrics import read_predictions
from .registry import BenchOptions

K = 8
FOLDS = 5
"""Training databases are dealt into so many parts for development; the first is held out here."""

_SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")
_skeleton = cache(sql_skeleton)


def run(options: BenchOptions) -> dict[str, object]:
    """Shares of Spider dev questions for which one of 8 examples from Spider train has the gold's SQL skeleton.

    `hit_at_8` goes by the question alone with the default embedding and settings; `by_draft_hit_at_8` knows
    DAIL-SQL + GPT-4's published SQL as a draft. `held_out_hit_at_8` is the figure that was developed on: questions of
    a fifth of the training databases against the other four. The details give the ways for comparison: the nearest
    skeletons without votes (`plain`), nearest whole questions, random ones, the most that retrieval can reach, and for
    each system's drafts how often the draft itself has the gold's skeleton.
    """
    data = cast("Path", options.data)
    train = [load_dataset("spider", split, data) for split in ("train", "train_others")]
    whole = load_dataset("spider", "dev", data)
    dev = whole.first(options.limit)
    schemas = _Schemas([*train, dev])
    questions = [question for part in train for question in part.questions]
    databases = sorted({question.database for question in train[0].questions})
    held_out = set(databases[::FOLDS])
    with _store([question for question in questions if question.database not in held_out], schemas) as store:
        asked = [question for question in train[0].questions if question.database in held_out]
        developed = _agreement(store, asked[: options.limit], schemas, "skeleton")
    with _store(questions, schemas) as store:
        details = {
            "plain": _agreement(store, dev.questions, schemas, "skeleton", pool=0),
            "question": _agreement(store, dev.questions, schemas, "question", k=K),
            "random": _agreement(store, dev.questions, schemas, "random", k=K),
            "most": _most(questions, dev.questions),
        }
        hit = _agreement(store, dev.questions, schemas, "skeleton")
        drafts = {name: _by_draft(store, dev, schemas, published(data, name, whole)) for name in _SYSTEMS}
    return {
        "hit_at_8": hit,
        "by_draft_hit_at_8": drafts[_SYSTEMS[0]]["hit_at_8"],
        "held_out_hit_at_8": developed,
        "questions": len(dev.questions),
        "details": {**details, "by_draft": drafts},
    }


class _Schemas:
    """Schemas by database name; None where a benchmark lacks the database."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self._datasets = datasets
        self.get = cache(self._read)
        self.text = cache(self._text)

    def _read(self, name: str) -> Schema | None:
        for dataset in self._datasets:
            try:
                with Database.open(dataset.database(name)) as database:
                    return database.schema()
            except DatabaseUnavailable:
                continue
        return None

    def _text(self, name: str) -> str:
        schema = self.get(name)
        return render_schema(schema, samples=0) if schema else ""


def _store(questions: Sequence[Question], schemas: _Schemas) -> ExampleStore:
    store = ExampleStore.open()
    store.add(_examples(questions, schemas), strict=False)
    return store


def _examples(questions: Sequence[Question], schemas: _Schemas) -> Iterator[Example]:
    for question in questions:
        yield Example(question.text, question.golds[0], question.database, schemas.text(question.database))


def _agreement(
    store: ExampleStore,
    questions: Sequence[Question],
    schemas: _Schemas,
    kind: SelectorKind,
    draft: Callable[[Question], str] = lambda question: "",
    **numbers: int,
) -> float:
    selector = make_selector(kind, store, **numbers)
    hits = 0
    for question in questions:
        query = ExampleQuery(question.text, schema=schemas.get(question.database), draft_sql=draft(question))
        wanted = _skeleton(question.golds[0])
        hits += any(_skeleton(example.sql) == wanted for example in selector.select(query))
    return round(hits / len(questions), 4)


def _by_draft(store: ExampleStore, dev: Dataset, schemas: _Schemas, drafts: dict[str, str]) -> dict[str, float]:
    right = sum(_same(drafts[question.id], question.golds[0]) for question in dev.questions)
    hit = _agreement(store, dev.questions, schemas, "draft", lambda question: drafts[question.id], k=K)
    return {"hit_at_8": hit, "draft_itself": round(right / len(dev.questions), 4)}


def _same(draft: str, gold: str) -> bool:
    try:
        return _skeleton(draft) == _skeleton(gold)
    except SQLParseError:
        return False


def _most(train: Sequence[Question], dev: Sequence[Question]) -> float:
    known: set[str] = set()
    for question in train:
        try:
            known.add(_skeleton(question.golds[0]))
        except SQLParseError:
            continue
    return round(sum(_skeleton(question.golds[0]) in known for question in dev) / len(dev), 4)


def published(data: Path, name: str, whole: Dataset) -> dict[str, str]:
    """A system's SQL by question id. Its file has a line for each of the whole split, however few are measured."""
    return read_predictions(data / "predictions" / "spider_dev" / f"{name}.sql", whole)
