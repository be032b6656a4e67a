"""Definitions, examples and values that prompts show.

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
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from pandas import DataFrame
from sqlglot import exp

from ....agent.nodes.link import CANDIDATES
from ....agent.settings import Settings
from ....tools.database import Database, Schema, render_schema
from ....tools.errors import SettingsError, SQLParseError
from ....tools.examples import Example, ExampleQuery, ExampleSelector, ExampleStore, make_selector
from ....tools.knowledge import Entry, Knowledge, read_knowledge
from ....tools.linking import SchemaLinker
from ....tools.record_files import read_records
from ....tools.sample import build_sample
from ....tools.sql import make_sql_skeleton
from ....tools.sql.query import Query
from ....tools.values import IndexBounds, ValueIndex, select_likely_values
from ....tools.values.likely import list_joined_columns
from ...datasets import Dataset, GoldTurn, load_dataset, read_predictions
from .gold import DatasetDatabases
from .registry import BenchOptions, Figures, Measure, Row, divide, share, wrap_row

DATA = Path(__file__).parent / "data"
_OUR_QUESTIONS, _OUR_ENTRIES = 10, 20
"""What stays of ours for each database if others have written the other half."""

_THEIRS = {"by_others": "knowledge_others", "unseen": "knowledge_test"}
"""Files of others, by the figures in which they count."""


@dataclass(frozen=True)
class _KnowledgeQuestion:
    """A question, its author, and the keys of the knowledge entries that it needs."""

    database: str
    text: str
    needs: frozenset[str]
    author: str


_KnowledgeCase = tuple[_KnowledgeQuestion, int, Knowledge, SchemaLinker]
"""A question, how many entries its author has of its database, the knowledge of it, and its linker."""


def _read_knowledge_questions(options: BenchOptions) -> Iterator[_KnowledgeCase]:
    """Yield every question of the knowledge benchmark with its database's entries and linker."""
    ours = _read_question_file("knowledge", "", options.limit)
    authors = [author for author, file in _THEIRS.items() if (DATA / f"{file}_questions.yaml").exists()]
    with tempfile.TemporaryDirectory() as folder:
        for author in authors or [""]:
            asked = _read_question_file(_THEIRS[author], author, options.limit) if author else ours
            for name in dict.fromkeys(one.database for one in asked):
                questions = [one for one in asked if one.database == name]
                first = [one for one in ours if one.database == name][:_OUR_QUESTIONS]
                layers = read_knowledge(DATA / f"{_THEIRS.get(author, 'knowledge')}_{name}.yaml")
                entries = len(layers[0])
                if author:
                    layers = (_pick_our_entries(name, first, layers[0]), layers[0])
                    questions = [*(first if author == authors[0] else ()), *questions]
                with Database.open(_find_database_file(name, options, folder)) as database:
                    knowledge = Knowledge.of(layers, database)
                    if knowledge.problems:
                        raise SettingsError(f"the entries don't fit {name}: {knowledge.problems[0]}")
                    linker = SchemaLinker(knowledge.schema, ValueIndex.open(database))
                    yield from ((one, entries, knowledge, linker) for one in questions)


def _read_question_file(file: str, author: str, limit: int | None) -> list[_KnowledgeQuestion]:
    records = cast("Sequence[Any]", read_records(DATA / f"{file}_questions.yaml"))[:limit]
    return [_KnowledgeQuestion(one["database"], one["question"], frozenset(one["needs"]), author) for one in records]


def _find_database_file(name: str, options: BenchOptions, folder: str) -> Path:
    """Return the path of a database file; our own sample database is built in `folder`."""
    if name == "kestrel":
        return build_sample(Path(folder) / "kestrel.sqlite")
    samples = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
    place = f"sample-dbs/{samples[name]}" if name in samples else f"kaggle-dbqa/database/{name}/{name}.sqlite"
    return options.folder / place


def _pick_our_entries(name: str, questions: Sequence[_KnowledgeQuestion], others: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return our entries that the questions need, filled up to 20 with some unlike `others`."""
    needed = {key for one in questions for key in one.needs}
    words = {phrase for entry in others for phrase in entry.phrases}
    (ours,) = read_knowledge(DATA / f"knowledge_{name}.yaml")
    kept = [entry for entry in ours if entry.key in needed]
    free = [entry for entry in ours if entry.key not in needed and words.isdisjoint(entry.phrases)]
    return (*kept, *free[: max(0, _OUR_ENTRIES - len(kept))])


def _count_shown_entries(case: _KnowledgeCase) -> Iterator[Row]:
    """Yield the numbers of entries that a question needs, that are shown, and that are both."""
    one, entries, knowledge, linker = case
    if missing := sorted(one.needs.difference(entry.key for entry in knowledge.entries)):
        raise SettingsError(f"{one.database}: {one.text!r} needs {missing[0]!r}, which is not an entry")
    linked = [(item.table, item.column, item.p) for item in linker.link(one.text).items]
    shown = {entry.key for entry in knowledge.find(one.text, linked).entries}
    counts = {"needed": len(one.needs), "given": len(shown), "hit": len(one.needs & shown)}
    yield {"author": one.author, "database": one.database, "entries": entries, **counts}


def _summarize_rates_by_author(table: DataFrame) -> Figures:
    """Return the rates of needed and shown entries, for all questions and per other author.

    `needed` are the definitions that questions need; `needed_shown` is the share of those that are shown,
    `shown_not_needed` the share of what is shown that is not needed.
    """
    figures: Figures = {"questions": len(table), **_compute_entry_rates(table)}
    for author in _THEIRS:
        some = table[table["author"] == author]
        counts = {"questions": len(some), "entries": some.groupby("database")["entries"].head().sum()}
        figures[author] = {**counts, **_compute_entry_rates(some)} if len(some) else None
    return figures


def _compute_entry_rates(table: DataFrame) -> Figures:
    needed, given, hit = (table[name].sum() for name in ("needed", "given", "hit"))
    return {
        "needed": needed,
        "needed_shown": divide(hit, needed) if needed else 1.0,
        "shown_not_needed": round(1 - hit / given, 4) if given else 0.0,
    }


measure_knowledge = Measure(_read_knowledge_questions, _count_shown_entries, _summarize_rates_by_author)


K = 8
FOLDS = 5
"""Training databases are dealt into so many parts for development; the first is held out here."""

_SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")


def _find_gold_skeletons(options: BenchOptions) -> Iterator[Row]:
    """Yield whether one of 8 retrieved examples has the gold SQL skeleton, by retrieval method.

    `hit_at_8` goes by the question alone with the default embedding and settings; `by_draft` knows a system's published
    SQL as a draft. `held_out_hit_at_8` is the figure that was developed on: questions of a fifth of the training
    databases against the other four. For comparison: the nearest skeletons without votes (`plain`), nearest whole
    questions, random ones, the most that retrieval can reach, and the draft itself.
    """
    data = options.folder
    train = [load_dataset("spider", split, data) for split in ("train", "train_others")]
    whole = load_dataset("spider", "dev", data)
    questions = [question for part in train for question in part.questions]
    held_out = set(sorted({question.database for question in train[0].questions})[::FOLDS])
    rest = [question for question in questions if question.database not in held_out]
    known = {_get_skeleton(question.golds[0]) for question in questions}
    # A file has a line for each question of the whole split, however few are measured.
    predictions = data / "predictions" / "spider_dev"
    drafts = {name: read_predictions(predictions / f"{name}.sql", whole) for name in _SYSTEMS}
    with DatasetDatabases(whole) as opened, _make_store(rest, opened) as held, _make_store(questions, opened) as store:

        def is_hit(selector: ExampleSelector, one: GoldTurn, gold: str | None, draft: str = "") -> bool:
            query = ExampleQuery(one.text, schema=opened.schema(one.database), draft_sql=draft)
            return any(_get_skeleton(example.sql) == gold for example in selector.select(query))

        ways = {
            "hit_at_8": make_selector("skeleton", store),
            "plain": make_selector("skeleton", store, pool=0),
            "question": make_selector("question", store, k=K),
            "random": make_selector("random", store, k=K),
        }
        by_draft, by_others = make_selector("draft", store, k=K), make_selector("skeleton", held)
        for one in whole.head(options.limit).questions:
            gold = _get_skeleton(one.golds[0])
            yield from ({"way": way, "hit": is_hit(selector, one, gold)} for way, selector in ways.items())
            yield {"way": "most", "hit": gold in known}
            for name, found in drafts.items():
                yield {"way": f"{name} hit_at_8", "hit": is_hit(by_draft, one, gold, found[one.id])}
                yield {"way": f"{name} draft_itself", "hit": _get_skeleton(found[one.id]) == gold}
        for one in [one for one in train[0].questions if one.database in held_out][: options.limit]:
            yield {"way": "held_out_hit_at_8", "hit": is_hit(by_others, one, _get_skeleton(one.golds[0]))}


def _compute_hit_rates(table: DataFrame) -> Figures:
    rates = table.groupby("way")["hit"].agg(share)
    by_draft = {name: {key: rates[f"{name} {key}"] for key in ("hit_at_8", "draft_itself")} for name in _SYSTEMS}
    return {
        "hit_at_8": rates["hit_at_8"],
        "by_draft_hit_at_8": by_draft[_SYSTEMS[0]]["hit_at_8"],
        "held_out_hit_at_8": rates["held_out_hit_at_8"],
        "questions": (table["way"] == "hit_at_8").sum(),
        "details": {**{way: rates[way] for way in ("plain", "question", "random", "most")}, "by_draft": by_draft},
    }


measure_examples_skeleton = Measure(_find_gold_skeletons, wrap_row, _compute_hit_rates)


def _make_store(questions: Sequence[GoldTurn], schemas: DatasetDatabases) -> ExampleStore:
    @cache
    def render(name: str) -> str:
        schema = schemas.schema(name)
        return render_schema(schema, samples=0) if schema else ""

    store = ExampleStore.open()
    examples = (Example(one.text, one.golds[0], one.database, render(one.database)) for one in questions)
    store.add(examples, strict=False)
    return store


@cache
def _get_skeleton(sql: str) -> str | None:
    try:
        return make_sql_skeleton(sql)
    except SQLParseError:
        return None


_FIRST = 5
"""Matches of each literal of a query that are looked at."""

_WHOLE = IndexBounds(seconds=600)

_SETS = {
    "spider_train": ("spider", "train"),
    "spider_dev": ("spider", "dev"),
    "spider_syn": ("spider-syn", "dev"),
    "spider_dk": ("spider-dk", "dev"),
}
_NOISE_SETS = {"spider": ("spider", "dev"), "kaggle": ("kaggle-dbqa", "test"), "cosql": ("cosql", "dev")}

BEFORE = {"spider": 0.163, "kaggle": 0.1607, "cosql": 0.1596}
"""The precision of the whole sets when every value found was shown: measured in the same way at commit 794b78d."""

Literal = tuple[str, str, str]
"""Table, column and text."""


@dataclass(frozen=True)
class ValueSearchQuestion:
    """A question, the previous question, and the text literals of the gold query."""

    set: str
    index: ValueIndex
    schema: Schema
    text: str
    before: str
    literals: Sequence[Literal]


def read_value_cases(name: str, dataset: Dataset, cache: Path) -> Iterator[ValueSearchQuestion]:
    """Yield a dataset's questions on existing databases, with complete value indexes."""
    indexes: dict[str, ValueIndex] = {}
    with DatasetDatabases(dataset) as databases:
        for (place, _), turns in groupby(dataset.questions, lambda question: (question.database, question.interaction)):
            database = databases.get(place)
            if database is None:
                continue
            index = indexes[place] = indexes.get(place) or ValueIndex.open(database, cache=cache, bounds=_WHOLE)
            schema, before = database.schema(), ""
            for question in turns:
                literals = find_text_literals(question.golds[0], schema)
                yield ValueSearchQuestion(name, index, schema, question.text, before, literals)
                before = question.text


def _read_value_sets(options: BenchOptions, sets: Mapping[str, tuple[str, str]]) -> Iterator[ValueSearchQuestion]:
    with tempfile.TemporaryDirectory() as folder:
        for name, place in sets.items():
            yield from read_value_cases(name, load_dataset(*place, options.folder).head(options.limit), Path(folder))


def find_text_literals(sql: str, schema: Schema) -> list[Literal]:
    """Return the distinct texts that a query compares with columns by `=`, `!=` or IN."""
    try:
        query = Query.of(sql, "sqlite", schema)
    except SQLParseError:
        return []
    found: dict[Literal, None] = {}
    for node in query.tree.find_all(exp.EQ, exp.NEQ, exp.In):
        for column, other in query.list_column_comparisons(node):
            text = query.literal(other)
            if isinstance(text, str):
                found[*column.item, text] = None
    return list(found)


def count_found_literals(case: ValueSearchQuestion) -> Iterator[Row]:
    """Yield the numbers of gold literals found by the index, in the database, and absent.

    A literal is found if one of the first five matches per literal of its query is this very text in the column that
    gold compares it with. A literal that its column does not hold cannot be found; patterns of LIKE are not values.
    """
    matches = case.index.find(case.text, _FIRST * max(1, len(case.literals)))
    held = [each for each in case.literals if case.index.holds(*each)]
    found = {(match.table, match.column, match.value) for match in matches}.intersection(held)
    yield {"set": case.set, "found": len(found), "literals": len(held), "absent": len(case.literals) - len(held)}


def compute_recall_by_dataset(table: DataFrame) -> Figures:
    """Return recall at 5 for each dataset; the index was developed on Spider train."""
    details = {
        str(name): {
            "recall_at_5": divide(count.found, count.literals),
            "literals": count.literals,
            "not_in_database": count.absent,
        }
        for name, count in table.groupby("set", sort=False).sum().iterrows()
    }
    return {**{name: detail["recall_at_5"] for name, detail in details.items()}, "details": details}


measure_values = Measure(partial(_read_value_sets, sets=_SETS), count_found_literals, compute_recall_by_dataset)


def _count_shown_values(question: ValueSearchQuestion) -> Iterator[Row]:
    """Yield the numbers of values that prompts show, of right ones, and of gold texts found.

    A value is shown if it is among the candidates that a prompt lists for the question (`Settings.values` at most); in
    an interaction those of the question before count too, after the question's own. It is right if gold compares this
    very text, by `=`, `!=` or IN, with that column or with a column that a foreign key links with it: a copy is listed
    once. Every other value shown counts as wrong, also if gold is another reading or uses LIKE. Found are texts, of
    those that their column holds, that are right among the first five shown for each text of the query.
    """
    # For each column, those that a declared or inferred key links with it directly.
    joined = list_joined_columns(question.schema)
    matches = (
        match
        for text in (question.text, question.before)
        if text
        for match in select_likely_values(text, question.index.find(text, CANDIDATES), question.schema)
    )
    distinct = dict.fromkeys((match.table, match.column, match.value) for match in matches)
    shown = [(table.lower(), column.lower(), value) for table, column, value in distinct][: Settings().values]
    first = set(shown[: _FIRST * max(1, len(question.literals))])
    meant: set[Literal] = set()
    held: list[bool] = []
    for table, column, text in question.literals:
        place = (table.lower(), column.lower())
        right = {(*other, text) for other in {place}.union(*(pair for pair in joined if place in pair))}
        meant |= right
        held += [bool(right & first)] if question.index.holds(table, column, text) else []
    right = sum(value in meant for value in shown)
    yield {"set": question.set, "shown": len(shown), "right": right, "texts": len(held), "found": sum(held)}


def _compute_value_noise(table: DataFrame) -> Figures:
    """Return the precision and recall of the values that prompts show, by dataset."""
    return {
        str(name): {
            "precision": divide(count.right, count.shown),
            "precision_before": BEFORE[str(name)],
            "recall_at_5": divide(count.found, count.texts),
            "shown": count.shown,
            "texts": count.texts,
        }
        for name, count in table.groupby("set", sort=False).sum().iterrows()
    }


measure_value_noise = Measure(partial(_read_value_sets, sets=_NOISE_SETS), _count_shown_values, _compute_value_noise)
