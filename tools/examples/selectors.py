"""The ways of choosing few-shot examples for a question."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..database.schema import Schema
from ..errors import SettingsError, SQLParseError
from ..sql import vectorize_query
from ..sql.texts import read_in_any_dialect
from ..sql.vectors import Method, choose_diverse_rows
from ..values.match import ValueMatch
from .embedding import Vectors
from .example import Example, FoundExample
from .masking import SkeletonForm, mask_question
from .rights import choose_best_per_question
from .store import ExampleStore, get_sql_skeleton, shared_id

if TYPE_CHECKING:
    from ..database import Database

SelectorKind = Literal["skeleton", "question", "draft", "voted", "random", "none"]
"""How examples are chosen."""

_POOL = 64
_LOOKED_AT = 5
"""Times as many of a database's own examples are looked at as are shown: some are one to a prompt."""

_OWN_LIKENESS = 0.25
"""Likeness of whole questions from which an example over the same database is near: of questions about different Spider
training databases three in four are less alike than that."""

_SHARPNESS = 8.0
"""How fast a vote loses weight with distance: by e for every 1/8 of similarity."""


@dataclass(frozen=True)
class ExampleQuery:
    """The question, draft SQL and other data by which examples are chosen."""

    question: str
    simplified: str = ""  # the question in plain common words; empty if not simplified
    schema: Schema | None = None  # whose words are masked in skeletons
    values: tuple[ValueMatch, ...] = ()  # database values that the question mentions; masked too
    draft_sql: str = ""  # a first SQL for the question, where there is one
    database: str = ""  # the `database_identity` whose own examples are found too; empty for shared ones only


@dataclass(frozen=True)
class ExampleSelector:
    """A selector of few-shot examples, best first; threads may share it."""

    select: Callable[[ExampleQuery], tuple[Example, ...]]


def _select_by_question(store: ExampleStore, query: ExampleQuery, k: int = 5) -> tuple[Example, ...]:
    """Choose the k nearest questions (SQL-CRAFT 3, k = 5)."""
    return tuple(hit.example for hit in store.nearest("question", query.question, k, query.database))


def _select_by_skeleton(
    store: ExampleStore,
    query: ExampleQuery,
    k1: int = 4,
    k2: int = 4,
    least: float = 0.0,
    pool: int = _POOL,
    form: SkeletonForm = "marked",
    simplified: bool = True,
) -> tuple[Example, ...]:
    """Choose k1 examples by the question's skeleton, k2 by the simplified question's.

    Without a simplified form all k1 + k2 go by the question.

    Below the similarity `least` of skeletons an example is not shown: one unlike the question costs room and misleads
    more often than it helps. The `plain` form is the paper's own way, without a pool; an ablation without
    simplification has no keys of simplified questions in its repository.
    """
    second = query.simplified if query.simplified != query.question else ""
    texts = [(query.question, k1), (second, k2)] if second else [(query.question, k1 + k2)]
    if form == "plain":
        return _take_distinct_examples(_rank_by_plain_skeleton(store, query, texts, least, simplified))
    first, *others = [(_rank_by_skeleton(store, text, query, k1 + k2, pool, least), k) for text, k in texts]
    return _take_distinct_examples([first, *others, (first[0], k1 + k2)])[: k1 + k2]


_Ranked = Iterable[tuple[object, Example]]
"""Examples, best first, each with its kind: of one kind one is shown."""


def _take_distinct_examples(rankings: Iterable[tuple[_Ranked, int]]) -> tuple[Example, ...]:
    """Take up to k examples from each ranking, at most one example of each kind."""
    examples: dict[object, Example] = {}
    for ranking, k in rankings:
        most = len(examples) + k
        for kind, example in ranking:
            if len(examples) == most:
                break
            examples.setdefault(kind, example)
    return tuple(examples.values())


def _rank_by_skeleton(
    store: ExampleStore, text: str, query: ExampleQuery, k: int, pool: int = _POOL, least: float = 0.0
) -> list[tuple[object, Example]]:
    """Rank examples by the similarity of their skeletons to a question's, best first.

    Where the paper takes the nearest skeletons, these take the SQL skeletons for which most of the `pool` nearest
    speak, weighted by similarity, and of each the nearest example: k examples then show k forms of SQL
    (`evals.lab bench examples-skeleton` has both ways).
    """
    hits = store.near("skeleton", mask_question(text, query.schema, query.values), max(pool, k), query.database)
    votes: dict[str, float] = defaultdict(float)
    nearest: dict[str, FoundExample] = {}
    for hit in hits:
        kind = hit.skeleton if pool else shared_id(hit.example)
        votes[kind] += math.exp(_SHARPNESS * hit.similarity) if pool else 0
        nearest.setdefault(kind, hit)
    kinds = sorted(nearest, key=lambda kind: -votes[kind])
    return [(kind, nearest[kind].example) for kind in kinds if not least or nearest[kind].similarity >= least]


def _rank_by_plain_skeleton(
    store: ExampleStore, query: ExampleQuery, texts: Iterable[tuple[str, int]], least: float, simplified: bool
) -> Iterator[tuple[_Ranked, int]]:
    """Yield, for each (text, k), the examples ranked by plain skeletons, and k (3.1).

    The repository R = {(S_o, SQL), (S_r, SQL)} (3.1.2) has twice as many keys as pairs where all are simplified. The
    first call after a change of the store indexes all of it.
    """

    def embed_visible_examples(visible: Sequence[Example]) -> tuple[list[Example], Vectors]:
        pairs = [
            (example, text)
            for example in visible
            for text in dict.fromkeys((example.question, (simplified and example.simplified) or example.question))
        ]
        # As questions are: by the whole database where it is stored, not by the part that the SQL uses.
        keys = [mask_question(text, example.database_schema or example.schema, form="plain") for example, text in pairs]
        return [example for example, _ in pairs], store.embedding(keys)

    examples, vectors = store.cached(("plain skeletons", simplified), embed_visible_examples, query.database)
    for text, k in texts if examples else ():
        # No value is masked: of the repository's questions nobody knows which words are values.
        cosines = vectors @ store.embedding([mask_question(text, query.schema, form="plain")])[0]
        order = np.argsort(-cosines, kind="stable")
        yield ((examples[row], examples[row]) for row in order[cosines[order] >= least]), k


def _select_by_draft(store: ExampleStore, query: ExampleQuery, k: int = 8) -> tuple[Example, ...]:
    """Choose half of the examples by the draft's SQL skeleton, half by the question's."""
    by_sql: list[FoundExample] = []
    if query.draft_sql:
        with suppress(SQLParseError):
            by_sql = store.near("sql", get_sql_skeleton(query.draft_sql), k, query.database)
    by_question = _rank_by_skeleton(store, query.question, query, k)
    in_turn = zip_longest(((hit.skeleton, hit.example) for hit in by_sql), by_question)
    return _take_distinct_examples([(filter(None, chain.from_iterable(in_turn)), k)])


def _select_by_vote(
    store: ExampleStore, query: ExampleQuery, n: int = 18, m: int = 20, method: Method = "kmeans", seed: int = 0
) -> tuple[Example, ...]:
    """Choose the n examples picked most often by m diverse samples (CREDIT-SQL 3.3)."""

    def choose_diverse_examples(visible: Sequence[Example]) -> tuple[Example, ...]:
        queries = [read_in_any_dialect(example.sql) for example in visible]
        vectors = np.asarray([vectorize_query(each.sql, each.rules.name) for each in queries], dtype=np.float64)
        return tuple(visible[row] for row in choose_diverse_rows(vectors, n, m, seed, method))

    return store.cached(("voted", n, m, method, seed), choose_diverse_examples, query.database)


def _select_at_random(store: ExampleStore, query: ExampleQuery, k: int = 18, seed: int = 0) -> tuple[Example, ...]:
    """Choose k random examples, always the same (CREDIT-SQL 5.1)."""

    def choose_random_examples(visible: Sequence[Example]) -> tuple[Example, ...]:
        chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
        return tuple(chance.sample(visible, min(k, len(visible))))

    return store.cached(("random", k, seed), choose_random_examples, query.database)


def choose_examples(
    store: ExampleStore, database: Database, query: ExampleQuery, kind: SelectorKind, k: int, numbers: Mapping[str, Any]
) -> list[Example]:
    """Choose examples for a question: k of the same database first, then the selector's.

    The former show the very tables that are asked about, which no example of the same form over other data does. A
    database without any of its own is shown what it was before. Below the likeness `least` of the numbers none is
    shown, as in `_select_by_skeleton`; the words of the whole questions count too, since they name the same tables.
    """
    visible, least = store.seen_by(database), numbers.get("least", 0.0)
    near = visible.near("question", query.question, _LOOKED_AT * k, query.database, shared=False)
    if least:
        near = [hit for hit in near if hit.similarity >= min(least, _OWN_LIKENESS)]
        key = mask_question(query.question, query.schema, query.values)
        alike = visible.near("skeleton", key, _LOOKED_AT * k, query.database, shared=False)
        near += [hit for hit in alike if hit.similarity >= least]
    own_examples = ((shared_id(hit.example), hit.example) for hit in near)
    others = [(shared_id(example), example) for example in make_selector(kind, visible, **numbers).select(query)]
    return choose_best_per_question(_take_distinct_examples([(own_examples, k), (others, len(others))]), database)


_WAYS: Mapping[str, Callable[..., tuple[Example, ...]]] = {
    "skeleton": _select_by_skeleton,
    "question": _select_by_question,
    "draft": _select_by_draft,
    "voted": _select_by_vote,
    "random": _select_at_random,
    "none": lambda *_, **__: (),  # zero-shot
}


def make_selector(kind: SelectorKind, store: ExampleStore, **numbers: Any) -> ExampleSelector:
    """Make a selector that chooses examples from a store.

    Args:
        kind: `skeleton` (k1, k2, least, pool, form, simplified), `question` (k), `draft` (k), `voted` (n, m, method,
            seed), `random` (k, seed) or `none`.
        store: Where the examples are.
        **numbers: The selector's own settings, by name and within the bounds of `Settings`; its published values
            otherwise.

    Raises:
        SettingsError: An unknown kind.
    """
    if kind not in _WAYS:
        raise SettingsError(f"no example selector is called {kind!r}; there are {', '.join(_WAYS)}")
    return ExampleSelector(partial(_WAYS[kind], store, **numbers))
