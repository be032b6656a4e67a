"""What a prompt is given for a question: definitions that it needs, and examples that show its query's skeleton.

`data/knowledge_*.yaml` hold forty entries a database, `data/knowledge_questions.yaml` sixty questions with what each
needs. Both were written before there was anything to retrieve them with. `data/knowledge_others_*.yaml` and
`data/knowledge_others_questions.yaml` are by people who had not seen the retrieval, which was then made better with
them; `data/knowledge_test_*.yaml` and `data/knowledge_test_questions.yaml` by people whose work is only ever scored.
If either is there, half of the entries of a database is theirs: of ours stay the first ten questions, what they
need, and further entries up to twenty.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from ....tools.database import Database, render_schema
from ....tools.errors import SettingsError, SQLParseError
from ....tools.examples import Example, ExampleQuery, ExampleStore, Selector, make_selector
from ....tools.knowledge import Entry, Knowledge, read_knowledge
from ....tools.linking import SchemaLinker
from ....tools.record_files import read_records
from ....tools.sample import build_sample
from ....tools.sql import sql_skeleton
from ....tools.values import ValueIndex
from ...datasets import Question, load_dataset
from ...metrics import read_predictions
from .gold import Databases
from .registry import BenchOptions, Figures, divide, share

DATA = Path(__file__).parent / "data"
_PLACES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_OUR_QUESTIONS, _OUR_ENTRIES = 10, 20
"""What stays of ours for each database if others have written the other half."""

_THEIRS = {"by_others": "knowledge_others", "unseen": "knowledge_test"}
"""Files of others, by the figures in which they count."""


@dataclass(frozen=True)
class _NeedingQuestion:
    """A question with the keys of the entries that it needs, and who wrote it."""

    database: str
    text: str
    needs: frozenset[str]
    author: str


_Shown = tuple[_NeedingQuestion, frozenset[str]]
"""A question and the keys of the entries that it is shown."""


def measure_knowledge(options: BenchOptions) -> Figures:
    """Return the rates over all questions, and over those that others wrote, None if there are none.

    `needed` are the definitions that questions need; `needed_shown` is the share of those that are shown,
    `shown_not_needed` the share of what is shown that is not needed. Ours are asked with the first that others wrote.
    """
    ours = _read_questions("knowledge", "", options.limit)
    authors = [author for author, file in _THEIRS.items() if (DATA / f"{file}_questions.yaml").exists()]
    shown: list[_Shown] = []
    entries: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for author in authors or [""]:
            asked = _read_questions(_THEIRS[author], author, options.limit) if author else ours
            for name in dict.fromkeys(one.database for one in asked):
                questions = [one for one in asked if one.database == name]
                first = [one for one in ours if one.database == name][:_OUR_QUESTIONS]
                layers = read_knowledge(DATA / f"{_THEIRS.get(author, 'knowledge')}_{name}.yaml")
                if author:
                    entries.setdefault(author, {})[name] = len(layers[0])
                    layers = (_take_half(name, first, layers[0]), layers[0])
                    questions = [*(first if author == authors[0] else ()), *questions]
                place = _PLACES.get(name)
                path = options.folder / "sample-dbs" / place if place else build_sample(Path(folder) / "kestrel.sqlite")
                with Database.open(path) as database:
                    knowledge = Knowledge.of(layers, database)
                    linker = SchemaLinker(knowledge.schema, ValueIndex.open(database))
                    shown += _show_entries(name, knowledge, linker, questions)
    figures: Figures = {"questions": len(shown), **_rate(shown)}
    for author in _THEIRS:
        some = [each for each in shown if each[0].author == author]
        counts = {"questions": len(some), "entries": sum(entries.get(author, {}).values())}
        figures[author] = {**counts, **_rate(some)} if some else None
    return figures


def _read_questions(file: str, author: str, limit: int | None) -> list[_NeedingQuestion]:
    records = cast("Sequence[Any]", read_records(DATA / f"{file}_questions.yaml"))[:limit]
    return [_NeedingQuestion(one["database"], one["question"], frozenset(one["needs"]), author) for one in records]


def _take_half(name: str, questions: Sequence[_NeedingQuestion], theirs: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return our half of the entries, without those that call something else by a word of theirs."""
    needed = {key for one in questions for key in one.needs}
    words = {phrase for entry in theirs for phrase in entry.phrases}
    (ours,) = read_knowledge(DATA / f"knowledge_{name}.yaml")
    kept = [entry for entry in ours if entry.key in needed]
    free = [entry for entry in ours if entry.key not in needed and words.isdisjoint(entry.phrases)]
    return (*kept, *free[: max(0, _OUR_ENTRIES - len(kept))])


def _show_entries(
    name: str, knowledge: Knowledge, linker: SchemaLinker, questions: Sequence[_NeedingQuestion]
) -> Iterator[_Shown]:
    """Yield what each question is shown.

    Raises:
        SettingsError: Entries don't fit the database, or a question needs what is no entry.
    """
    if knowledge.problems:
        raise SettingsError(f"the entries don't fit {name}: {knowledge.problems[0]}")
    keys = {entry.key for entry in knowledge.entries}
    for one in questions:
        if missing := sorted(one.needs - keys):
            raise SettingsError(f"{name}: {one.text!r} needs {missing[0]!r}, which is no entry")
        linked = [(item.table, item.column, item.p) for item in linker.link(one.text).items]
        yield one, frozenset(entry.key for entry in knowledge.find(one.text, linked).entries)


def _rate(shown: Sequence[_Shown]) -> Figures:
    needed, given = sum(len(asked.needs) for asked, _ in shown), sum(len(keys) for _, keys in shown)
    hit = sum(len(asked.needs & keys) for asked, keys in shown)
    return {
        "needed": needed,
        "needed_shown": divide(hit, needed) if needed else 1.0,
        "shown_not_needed": round(1 - hit / given, 4) if given else 0.0,
    }


K = 8
FOLDS = 5
"""Training databases are dealt into so many parts for development; the first is held out here."""

_SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")


def measure_examples_skeleton(options: BenchOptions) -> Figures:
    """Return shares of Spider dev questions for which one of 8 examples from Spider train has the gold's SQL skeleton.

    `hit_at_8` goes by the question alone with the default embedding and settings; `by_draft_hit_at_8` knows
    DAIL-SQL + GPT-4's published SQL as a draft. `held_out_hit_at_8` is the figure that was developed on: questions of
    a fifth of the training databases against the other four. The details give the ways for comparison: the nearest
    skeletons without votes (`plain`), nearest whole questions, random ones, the most that retrieval can reach, and for
    each system's drafts how often the draft itself has the gold's skeleton.
    """
    data = options.folder
    train = [load_dataset("spider", split, data) for split in ("train", "train_others")]
    whole = load_dataset("spider", "dev", data)
    dev = whole.first(options.limit).questions
    questions = [question for part in train for question in part.questions]
    held_out = set(sorted({question.database for question in train[0].questions})[::FOLDS])
    rest = [question for question in questions if question.database not in held_out]
    asked = [question for question in train[0].questions if question.database in held_out][: options.limit]
    known = {_skeleton(question.golds[0]) for question in questions}
    with Databases(whole) as schemas, _fill_store(rest, schemas) as held, _fill_store(questions, schemas) as store:

        def hits(selector: Selector, asked: Sequence[Question] = dev, drafts: Mapping[str, str] | None = None) -> float:
            found: list[bool] = []
            for one in asked:
                draft = (drafts or {}).get(one.id, "")
                query = ExampleQuery(one.text, schema=schemas.schema(one.database), draft_sql=draft)
                gold = _skeleton(one.golds[0])
                found.append(any(_skeleton(example.sql) == gold for example in selector.select(query)))
            return share(found)

        by_draft: dict[str, dict[str, float]] = {}
        for name in _SYSTEMS:
            # The file has a line for each question of the whole split, however few are measured.
            drafts = read_predictions(data / "predictions" / "spider_dev" / f"{name}.sql", whole)
            by_draft[name] = {
                "hit_at_8": hits(make_selector("draft", store, k=K), dev, drafts),
                "draft_itself": share([_skeleton(drafts[one.id]) == _skeleton(one.golds[0]) for one in dev]),
            }
        return {
            "hit_at_8": hits(make_selector("skeleton", store)),
            "by_draft_hit_at_8": by_draft[_SYSTEMS[0]]["hit_at_8"],
            "held_out_hit_at_8": hits(make_selector("skeleton", held), asked),
            "questions": len(dev),
            "details": {
                "plain": hits(make_selector("skeleton", store, pool=0)),
                "question": hits(make_selector("question", store, k=K)),
                "random": hits(make_selector("random", store, k=K)),
                "most": share([_skeleton(one.golds[0]) in known for one in dev]),
                "by_draft": by_draft,
            },
        }


def _fill_store(questions: Sequence[Question], schemas: Databases) -> ExampleStore:
    @cache
    def render(name: str) -> str:
        schema = schemas.schema(name)
        return render_schema(schema, samples=0) if schema else ""

    store = ExampleStore.open()
    examples = (Example(one.text, one.golds[0], one.database, render(one.database)) for one in questions)
    store.add(examples, strict=False)
    return store


@cache
def _skeleton(sql: str) -> str | None:
    try:
        return sql_skeleton(sql)
    except SQLParseError:
        return None
