"""Definitions that sixty questions need, and those that they are shown: Chinook, Northwind and the sample database.

`data/knowledge_*.yaml` hold forty entries a database, `data/knowledge_questions.yaml` the questions with what each
needs. Both were written before there was anything to retrieve them with. `data/knowledge_others_*.yaml` and
`data/knowledge_others_questions.yaml` are by people who had not seen the retrieval, which was then made better with
them; `data/knowledge_test_*.yaml` and `data/knowledge_test_questions.yaml` by people whose work is only ever scored.
Where either is there, half of the entries of a database is theirs: of ours stay the first ten questions, what they
need, and further entries up to twenty.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from ...prompts.tokens import estimate_tokens
from ...tools.database import Database
from ...tools.errors import SettingsError
from ...tools.knowledge import Entry, Knowledge, read_knowledge
from ...tools.knowledge.read import Layers
from ...tools.linking import SchemaLinker
from ...tools.record_files import read_records
from ...tools.sample import build_sample
from ...tools.values import ValueIndex
from .registry import BenchOptions

DATA = Path(__file__).parent / "data"
_PLACES = {"chinook": "chinook/Chinook_Sqlite.sqlite", "northwind": "northwind/northwind.sqlite"}
_REPEATS = 5
_OUR_QUESTIONS, _OUR_ENTRIES = 10, 20
"""What stays of ours for each database where others have written the other half."""

_THEIRS = {"by_others": "knowledge_others", "unseen": "knowledge_test"}
"""Files of others, by the figures in which they count."""


@dataclass(frozen=True)
class _Asked:
    """A question with the keys of the entries that it needs."""

    question: str
    needs: frozenset[str]
    author: str


@dataclass(frozen=True)
class _Part:
    """Questions over one database, and the entries that they are asked with; `theirs` is how many others wrote."""

    database: str
    author: str
    layers: Layers
    theirs: int
    questions: Sequence[_Asked]


@dataclass
class _Count:
    """What questions needed and were shown."""

    questions: int = 0
    entries: int = 0
    needed: int = 0
    shown: int = 0
    hit: int = 0

    def add(self, needs: Collection[str], keys: Collection[str]) -> None:
        """Counts a question."""
        self.questions += 1
        self.needed += len(needs)
        self.shown += len(keys)
        self.hit += len({*needs} & {*keys})

    def rates(self) -> dict[str, object]:
        """As the figures have them."""
        return {
            "needed": self.needed,
            "needed_shown": round(self.hit / self.needed, 4) if self.needed else 1.0,
            "shown_not_needed": round(1 - self.hit / self.shown, 4) if self.shown else 0.0,
        }


def run(options: BenchOptions) -> dict[str, object]:
    """The figures, over all questions.

    Returns:
        `questions`; `needed`, the definitions that they need; `needed_shown`, the share of those that are shown;
        `shown_not_needed`, the share of what is shown that is not needed; `tokens` that a question is shown; `p50_ms`
        of a retrieval, linking not counted; `by_others` and `unseen`, how many questions and entries others wrote and
        the same rates over those questions alone, None where there are none.
    """
    counts: dict[str, _Count] = defaultdict(_Count)
    whole, tokens = _Count(), 0
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for part in _parts(options.limit):
            name, place = part.database, _PLACES.get(part.database)
            path = options.folder / "sample-dbs" / place if place else build_sample(Path(folder) / "kestrel.sqlite")
            counts[part.author].entries += part.theirs
            with Database.open(path) as database:
                knowledge = Knowledge.of(part.layers, database)
                _check(name, knowledge, part.questions)
                linker = SchemaLinker(knowledge.schema, ValueIndex.open(database))
                for one in part.questions:
                    linked = [(item.table, item.column, item.p) for item in linker.link(one.question).items]
                    found = knowledge.find(one.question, linked)
                    for _ in range(_REPEATS):
                        start = time.perf_counter()
                        knowledge.find(one.question, linked)
                        times.append(time.perf_counter() - start)
                    keys = {entry.key for entry in found.entries}
                    for count in (whole, counts[one.author]):
                        count.add(one.needs, keys)
                    tokens += estimate_tokens("\n".join(entry.line for entry in found.entries))
    return {
        "questions": whole.questions,
        **whole.rates(),
        "tokens": round(tokens / whole.questions),
        "p50_ms": round(1000 * float(np.percentile(times, 50)), 2),
        **{author: _told(counts[author]) for author in _THEIRS},
    }


def _told(count: _Count) -> dict[str, object] | None:
    """The figures over what others wrote, if they did."""
    return {"questions": count.questions, "entries": count.entries, **count.rates()} if count.questions else None


def _parts(limit: int | None) -> Iterator[_Part]:
    """What is asked with what; ours is asked with the first that others wrote."""
    ours = _questions("knowledge", "", limit)
    authors = [author for author, file in _THEIRS.items() if (DATA / f"{file}_questions.yaml").exists()]
    if not authors:
        for name, questions in ours.items():
            yield _Part(name, "", read_knowledge(DATA / f"knowledge_{name}.yaml"), 0, questions)
    for author in authors:
        for name, questions in _questions(_THEIRS[author], author, limit).items():
            first = ours.get(name, [])[:_OUR_QUESTIONS]
            (theirs,) = read_knowledge(DATA / f"{_THEIRS[author]}_{name}.yaml")
            layers = (_half(name, first, theirs), theirs)
            asked = (*(first if author == authors[0] else ()), *questions)
            yield _Part(name, author, layers, len(theirs), asked)


def _questions(file: str, author: str, limit: int | None) -> dict[str, list[_Asked]]:
    """The questions of a file by database."""
    asked: dict[str, list[_Asked]] = defaultdict(list)
    records = cast("Sequence[Mapping[str, object]]", read_records(DATA / f"{file}_questions.yaml"))
    for record in records[:limit]:
        needs = frozenset(cast("list[str]", record["needs"]))
        asked[str(record["database"])].append(_Asked(str(record["question"]), needs, author))
    return asked


def _half(name: str, questions: Sequence[_Asked], theirs: Sequence[Entry]) -> tuple[Entry, ...]:
    """Our half of the entries, without those that call something else by a word of theirs."""
    needed = {key for one in questions for key in one.needs}
    words = {phrase for entry in theirs for phrase in entry.phrases}
    (ours,) = read_knowledge(DATA / f"knowledge_{name}.yaml")
    free = [entry for entry in ours if entry.key in needed or words.isdisjoint(entry.phrases)]
    kept = [entry for entry in free if entry.key in needed]
    kept += [entry for entry in free if entry.key not in needed][: max(0, _OUR_ENTRIES - len(kept))]
    return tuple(kept)


def _check(name: str, knowledge: Knowledge, questions: Sequence[_Asked]) -> None:
    """Entries fit the database, and what questions need is there.

    Raises:
        SettingsError: Not so; the message names the first.
    """
    if knowledge.problems:
        raise SettingsError(f"the entries don't fit {name}: {knowledge.problems[0]}")
    keys = {entry.key for entry in knowledge.entries}
    for one in questions:
        if missing := sorted(one.needs - keys):
            raise SettingsError(f"{name}: {one.question!r} needs {missing[0]!r}, which is no entry")
