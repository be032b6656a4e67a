"""Skeleton agreement: do the retrieved Spider-train examples show the gold query's SQL skeleton?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from ...tools.database import render_schema
from ...tools.errors import SQLParseError
from ...tools.examples import Example, ExampleQuery, ExampleStore, SelectorKind, make_selector
from ...tools.sql import sql_skeleton
from ..datasets import Dataset, Question, load_dataset
from ..metrics import read_predictions
from .gold import Databases
from .registry import BenchOptions

K = 8
FOLDS = 5
"""Training databases are dealt into so many parts for development; the first is held out here."""

_SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")


def run(options: BenchOptions) -> dict[str, object]:
    """Shares of Spider dev questions for which one of 8 examples from Spider train has the gold's SQL skeleton.

    `hit_at_8` goes by the question alone with the default embedding and settings; `by_draft_hit_at_8` knows
    DAIL-SQL + GPT-4's published SQL as a draft. `held_out_hit_at_8` is the figure that was developed on: questions of
    a fifth of the training databases against the other four. The details give the ways for comparison: the nearest
    skeletons without votes (`plain`), nearest whole questions, random ones, the most that retrieval can reach, and for
    each system's drafts how often the draft itself has the gold's skeleton.
    """
    data = options.folder
    train = [load_dataset("spider", split, data) for split in ("train", "train_others")]
    whole = load_dataset("spider", "dev", data)
    dev = whole.first(options.limit)
    questions = [question for part in train for question in part.questions]
    databases = sorted({question.database for question in train[0].questions})
    held_out = set(databases[::FOLDS])
    rest = [question for question in questions if question.database not in held_out]
    asked = [question for question in train[0].questions if question.database in held_out]
    with Databases(whole) as schemas, _store(rest, schemas) as held, _store(questions, schemas) as store:
        developed = _agreement(held, asked[: options.limit], schemas, "skeleton")
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


def _store(questions: Sequence[Question], schemas: Databases) -> ExampleStore:
    store = ExampleStore.open()
    store.add(_examples(questions, schemas), strict=False)
    return store


def _examples(questions: Sequence[Question], schemas: Databases) -> Iterator[Example]:
    @cache
    def text(name: str) -> str:
        schema = schemas.schema(name)
        return render_schema(schema, samples=0) if schema else ""

    for question in questions:
        yield Example(question.text, question.golds[0], question.database, text(question.database))


def _agreement(
    store: ExampleStore,
    questions: Sequence[Question],
    schemas: Databases,
    kind: SelectorKind,
    draft: Callable[[Question], str] = lambda question: "",
    **numbers: int,
) -> float:
    selector = make_selector(kind, store, **numbers)
    hits = 0
    for question in questions:
        query = ExampleQuery(question.text, schema=schemas.schema(question.database), draft_sql=draft(question))
        wanted = _skeleton(question.golds[0])
        hits += any(_skeleton(example.sql) == wanted for example in selector.select(query))
    return round(hits / len(questions), 4)


def _by_draft(store: ExampleStore, dev: Dataset, schemas: Databases, drafts: dict[str, str]) -> dict[str, float]:
    right = sum(_skeleton(drafts[question.id]) == _skeleton(question.golds[0]) for question in dev.questions)
    hit = _agreement(store, dev.questions, schemas, "draft", lambda question: drafts[question.id], k=K)
    return {"hit_at_8": hit, "draft_itself": round(right / len(dev.questions), 4)}


def _most(train: Sequence[Question], dev: Sequence[Question]) -> float:
    known = {_skeleton(question.golds[0]) for question in train}
    return round(sum(_skeleton(question.golds[0]) in known for question in dev) / len(dev), 4)


@cache
def _skeleton(sql: str) -> str | None:
    try:
        return sql_skeleton(sql)
    except SQLParseError:
        return None


def published(data: Path, name: str, whole: Dataset) -> dict[str, str]:
    """A system's SQL by question id. Its file has a line for each of the whole split, however few are measured."""
    return read_predictions(data / "predictions" / "spider_dev" / f"{name}.sql", whole)
