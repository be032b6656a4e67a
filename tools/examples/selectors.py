"""The ways of choosing few-shot examples for a question."""

from __future__ import annotations

import inspect
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..database.schema import Schema
from ..errors import SettingsError, SQLParseError
from ..sql import vectorize
from ..values.match import ValueMatch
from .diversity import Method, voted
from .embedding import Vectors
from .entry import meaning_of, skeleton_of
from .example import Example, Found, brief_repr
from .masking import SkeletonForm, mask
from .rights import foremost
from .store import ExampleStore, without_repeats

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
    """One turn, as far as the choice of examples goes.

    Attributes:
        simplified: The question in plain common words; empty if not simplified.
        schema: Whose words are masked in skeletons.
        values: Database values that the question mentions; masked too.
        draft_sql: A first SQL for the question, where there is one.
        database: Whose question it is, as `database_identity` gives it: its own examples are visible besides the
            shared ones. Empty: the shared ones only.
    """

    question: str
    simplified: str = ""
    schema: Schema | None = None
    values: tuple[ValueMatch, ...] = ()
    draft_sql: str = ""
    database: str = ""


@dataclass(frozen=True)
class Selector:
    """Chooses few-shot examples in one way. Safe to use from several threads."""

    store: ExampleStore
    way: Callable[..., tuple[Example, ...]]
    numbers: Mapping[str, Any]

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """Return the examples to show, the best first; empty if there are none."""
        return self.way(self.store, query, **self.numbers)


def _by_question(store: ExampleStore, query: ExampleQuery, k: int = 5) -> tuple[Example, ...]:
    """Choose the k nearest questions (SQL-CRAFT 3, k = 5)."""
    return tuple(hit.example for hit in store.nearest("question", query.question, k, query.database))


def _by_skeleton(
    store: ExampleStore,
    query: ExampleQuery,
    k1: int = 4,
    k2: int = 4,
    least: float = 0.0,
    pool: int = _POOL,
    form: SkeletonForm = "marked",
    simplified: bool = True,
) -> tuple[Example, ...]:
    """Choose k1 by the question's skeleton, then k2 by its simplified form's, without repeats (revision chain 3.1.3).

    Without a simplified form all k1 + k2 go by the question.

    Below the similarity `least` of skeletons an example is not shown: one unlike the question costs room and misleads
    more often than it helps. The `plain` form is the paper's own way, without a pool; an ablation without
    simplification has no keys of simplified questions in its repository.
    """
    second = query.simplified if query.simplified != query.question else ""
    asked = [(query.question, k1), (second, k2)] if second else [(query.question, k1 + k2)]
    if form == "plain":
        return _by_plain_skeleton(store, query, asked, least, simplified)
    kind = attrgetter("skeleton" if pool else "id")
    ranked = [_ranked(store, text, query, k1 + k2, pool, least) for text, _ in asked]
    hits = ranked[0]
    if second:
        chosen = set(map(kind, hits[:k1]))
        hits = [*hits[:k1], *[hit for hit in ranked[1] if kind(hit) not in chosen][:k2], *hits[k1:]]
    return _first(hits, k1 + k2, kind)


def _ranked(
    store: ExampleStore, text: str, query: ExampleQuery, k: int, pool: int = _POOL, least: float = 0.0
) -> list[Found]:
    """Return the examples by a question's skeleton, best first.

    Where the paper takes the nearest skeletons, these take the SQL skeletons for which most of the `pool` nearest
    speak, weighted by similarity, and of each the nearest example: k examples then show k forms of SQL
    (`evals.lab bench examples-skeleton` has both ways).
    """
    hits = store.near("skeleton", mask(text, query.schema, query.values), max(pool, k), query.database)
    if pool:
        votes: dict[str, float] = defaultdict(float)
        nearest: dict[str, Found] = {}
        for hit in hits:
            votes[hit.skeleton] += math.exp(_SHARPNESS * hit.similarity)
            nearest.setdefault(hit.skeleton, hit)
        hits = sorted(nearest.values(), key=lambda hit: -votes[hit.skeleton])
    return [hit for hit in hits if not least or hit.similarity >= least]


def _by_plain_skeleton(
    store: ExampleStore, query: ExampleQuery, asked: list[tuple[str, int]], least: float, simplified: bool
) -> tuple[Example, ...]:
    """Choose as the revision chain does (3.1): every pair under its plain skeletons, and the nearest ones shown.

    The repository R = {(S_o, SQL), (S_r, SQL)} (3.1.2) has twice as many keys as pairs where all are simplified. The
    first call after a change of the store indexes all of it.
    """

    def repository(visible: Sequence[Example]) -> tuple[list[Example], Vectors]:
        pairs = [
            (example, text)
            for example in visible
            for text in dict.fromkeys((example.question, (simplified and example.simplified) or example.question))
        ]
        # As questions are: by the whole database where it is stored, not by the part that the SQL uses.
        keys = [mask(text, example.database_schema or example.schema, form="plain") for example, text in pairs]
        return [example for example, _ in pairs], store.embedding(keys)

    examples, vectors = store.cached(("plain skeletons", simplified), repository, query.database)
    chosen: dict[Example, None] = {}
    for text, k in asked if examples else ():
        # No value is masked: of the repository's questions nobody knows which words are values.
        cosines = vectors @ store.embedding([mask(text, query.schema, form="plain")])[0]
        most = len(chosen) + k
        for row in np.argsort(-cosines, kind="stable"):
            if len(chosen) == most or cosines[row] < least:
                break
            chosen.setdefault(examples[row])
    return tuple(chosen)


def _by_draft(store: ExampleStore, query: ExampleQuery, k: int = 8) -> tuple[Example, ...]:
    """Choose half by the draft's SQL skeleton (DAIL-SQL's idea), half by the question's; by that without a draft.

    A right draft finds its own form first whatever else is shown; where the draft is wrong, the question's own votes
    are what can still show the right one.
    """
    by_question = _ranked(store, query.question, query, k)
    try:
        skeleton = skeleton_of(query.draft_sql) if query.draft_sql else ""
    except SQLParseError:
        skeleton = ""
    by_sql = store.near("sql", skeleton, k, query.database) if skeleton else []
    in_turn = chain.from_iterable(zip_longest(by_sql, by_question))
    return _first(filter(None, in_turn), k, attrgetter("skeleton"))


def _first(hits: Iterable[Found], k: int, kind: Callable[[Found], str]) -> tuple[Example, ...]:
    """Return the first k examples of different kinds."""
    unique: dict[str, Found] = {}
    for hit in hits:
        unique.setdefault(kind(hit), hit)
    return tuple(hit.example for hit in without_repeats(list(unique.values())[:k]))


def _voted(
    store: ExampleStore, query: ExampleQuery, n: int = 18, m: int = 20, method: Method = "kmeans", seed: int = 0
) -> tuple[Example, ...]:
    """Choose the N most chosen of M diverse samples of the visible examples (CREDIT-SQL 3.3: N = 18, M = 20).

    The first call after a change of the store takes seconds, the others nothing.
    """

    def choose(visible: Sequence[Example]) -> tuple[Example, ...]:
        vectors = np.asarray([vectorize(example.sql) for example in visible], dtype=np.float64)
        return tuple(visible[row] for row in (voted(vectors, n, m, seed, method) if visible else ()))

    return store.cached(("voted", n, m, method, seed), choose, query.database)


def _at_random(store: ExampleStore, query: ExampleQuery, k: int = 18, seed: int = 0) -> tuple[Example, ...]:
    """Choose k at random (CREDIT-SQL 5.1, without diverse examples), the same for every question."""

    def choose(visible: Sequence[Example]) -> tuple[Example, ...]:
        chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
        return tuple(chance.sample(visible, min(k, len(visible))))

    return store.cached(("random", k, seed), choose, query.database)


def _none(*_: object, **numbers: object) -> tuple[Example, ...]:
    """Choose nothing: zero-shot."""
    return ()


def choose_examples(
    store: ExampleStore, database: Database, query: ExampleQuery, kind: SelectorKind, k: int, numbers: Mapping[str, Any]
) -> list[Example]:
    """Choose what a question of a database is shown: the k nearest that belong to it alone, then a selector's.

    The former show the very tables that are asked about, which no example of the same form over other data does. A
    database without any of its own is shown what it was before. Below the likeness `least` of the numbers none is
    shown, as in `_by_skeleton`; the words of the whole questions count too, since they name the same tables.
    """
    seen, least = store.seen_by(database), numbers.get("least", 0.0)
    near = seen.near("question", query.question, _LOOKED_AT * k, query.database, shared=False)
    if least:
        near = [hit for hit in near if hit.similarity >= min(least, _OWN_LIKENESS)]
        key = mask(query.question, query.schema, query.values)
        alike = seen.near("skeleton", key, _LOOKED_AT * k, query.database, shared=False)
        near += [hit for hit in alike if hit.similarity >= least]
    own = [hit.example for hit in without_repeats(near)[:k]]
    chosen: dict[str, Example] = {}
    for example in (*own, *make_selector(kind, seen, **numbers).select(query)):
        chosen.setdefault(meaning_of(example), example)
    return foremost(chosen.values(), database)


_WAYS: Mapping[str, Callable[..., tuple[Example, ...]]] = {
    "skeleton": _by_skeleton,
    "question": _by_question,
    "draft": _by_draft,
    "voted": _voted,
    "random": _at_random,
    "none": _none,
}


def make_selector(kind: SelectorKind, store: ExampleStore, **numbers: Any) -> Selector:
    """Make a selector over a store.

    Args:
        kind: `skeleton` (k1, k2, least, pool, form, simplified), `question` (k), `draft` (k), `voted` (n, m, method,
            seed), `random` (k, seed) or `none`.
        store: Where the examples are.
        **numbers: The selector's own settings, by name; its published values otherwise.

    Raises:
        SettingsError: An unknown kind or method, a number that it doesn't have, or one that is out of range.
    """
    if kind not in _WAYS:
        raise SettingsError(f"no example selector is called {kind!r}; there are {', '.join(_WAYS)}")
    for name, value in numbers.items():
        if name in ("method", "form"):
            known = get_args(Method if name == "method" else SkeletonForm)
            fits, wanted = value in known, f"one of {', '.join(known)}"
        elif name == "simplified":
            fits, wanted = isinstance(value, bool), "true or false"
        elif name == "least":
            fits, wanted = isinstance(value, int | float) and 0 <= value <= 1, "a number from 0 to 1"
        else:
            least = 1 if name in ("n", "m") else 0
            fits, wanted = type(value) is int and value >= least, f"a whole number, at least {least}"
        if not fits:
            raise SettingsError(f"example selector {kind!r}: {name} is {wanted}, not {brief_repr(value)}")
    try:
        inspect.signature(_WAYS[kind]).bind(store, None, **numbers)
    except TypeError as error:
        raise SettingsError(f"example selector {kind!r}: {error}") from None
    return Selector(store, _WAYS[kind], numbers)
