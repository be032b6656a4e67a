"""The ways of choosing few-shot examples for a question."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Literal, Protocol, TypeVar, get_args

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
from .store import ExampleStore, without_repeats

_LOOKED_AT = 5
"""Times as many of a database's own examples are looked at as are shown, where some may not be shown."""

_OWN_LIKENESS = 0.25
"""Likeness of whole questions from which an example over the same database is near: of questions about different Spider
training databases three in four are less alike than that."""

_SHARPNESS = 8.0
"""How fast a vote loses weight with distance: by e for every 1/8 of similarity."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class ExampleQuery:
    """One turn, as far as the choice of examples goes.

    Attributes:
        question: Self-contained.
        simplified: In plain common words; empty if not simplified.
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


class Selector(Protocol):
    """Chooses few-shot examples. Implementations are safe to use from several threads."""

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """Return the examples to show, the best first; empty if there are none."""
        ...


@dataclass(frozen=True)
class ByQuestion:
    """The k nearest questions (SQL-CRAFT 3, k = 5)."""

    store: ExampleStore
    k: int = 5

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        return tuple(hit.example for hit in self.store.nearest("question", query.question, self.k, query.database))


@dataclass(frozen=True)
class BySkeleton:
    """k1 by the question's skeleton, then k2 by its simplified form's, without repeats (revision chain 3.1.3).

    Where the paper takes the nearest skeletons, these take the SQL skeletons for which most of the `pool` nearest
    speak, weighted by similarity, and of each the nearest example: k examples then show k forms of SQL
    (`evals.lab bench examples-skeleton` has both ways). Without a simplified form all k1 + k2 go by the question.
    The paper's own way is `ByPlainSkeleton`.

    Attributes:
        least: Similarity of skeletons below which an example is not shown: one unlike the question costs room and
            misleads more often than it helps. 0 shows the nearest however far.
    """

    store: ExampleStore
    k1: int = 4
    k2: int = 4
    pool: int = 64
    least: float = 0.0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        hits = self.ranked(query.question, query)
        if query.simplified and query.simplified != query.question:
            first = hits[: self.k1]
            chosen = {self._kind(hit) for hit in first}
            second = [hit for hit in self.ranked(query.simplified, query) if self._kind(hit) not in chosen]
            hits = [*first, *second[: self.k2], *hits[self.k1 :]]
        return _first(self.store, hits, self.k1 + self.k2, self._kind)

    def ranked(self, text: str, query: ExampleQuery) -> list[Found]:
        """Return the examples by a question's skeleton, best first."""
        key, k = mask(text, query.schema, query.values), max(self.pool, self.k1 + self.k2)
        hits = self.store.near("skeleton", key, k, query.database)
        if self.pool:
            votes: dict[str, float] = defaultdict(float)
            nearest: dict[str, Found] = {}
            for hit in hits:
                votes[hit.skeleton] += math.exp(_SHARPNESS * hit.similarity)
                nearest.setdefault(hit.skeleton, hit)
            hits = sorted(nearest.values(), key=lambda hit: -votes[hit.skeleton])
        return [hit for hit in hits if hit.similarity >= self.least] if self.least else hits

    def _kind(self, hit: Found) -> str:
        return hit.skeleton if self.pool else hit.id


@dataclass(frozen=True)
class ByDraft:
    """Half by the draft's SQL skeleton (DAIL-SQL's idea), half by the question's; by the latter without a draft.

    A right draft finds its own form first whatever else is shown; where the draft is wrong, the question's own votes
    are what can still show the right one.
    """

    store: ExampleStore
    k: int = 8

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        by_question = BySkeleton(self.store, self.k, 0).ranked(query.question, query)
        try:
            skeleton = skeleton_of(query.draft_sql) if query.draft_sql else ""
        except SQLParseError:
            skeleton = ""
        by_sql = self.store.near("sql", skeleton, self.k, query.database) if skeleton else []
        in_turn = chain.from_iterable(zip_longest(by_sql, by_question))
        return _first(self.store, filter(None, in_turn), self.k, lambda hit: hit.skeleton)


def _first(store: ExampleStore, hits: Iterable[Found], k: int, kind: Callable[[Found], str]) -> tuple[Example, ...]:
    """Return the first k examples of different kinds."""
    unique: dict[str, Found] = {}
    for hit in hits:
        unique.setdefault(kind(hit), hit)
    return tuple(hit.example for hit in without_repeats(list(unique.values())[:k]))


@dataclass(frozen=True)
class ByPlainSkeleton:
    """The revision chain's own way (3.1): every pair under its plain skeletons, and the nearest ones shown.

    The repository R = {(S_o, SQL), (S_r, SQL)} (3.1.2) has twice as many keys as pairs where all are simplified. k1 go
    by the question's skeleton, then k2 by its simplified form's, without repeats (3.1.3). Without a simplified form all
    k1 + k2 go by the question.

    Attributes:
        least: See `BySkeleton`.
        simplified: Whether the repository has keys of simplified questions too; an ablation without simplification
            has none.
    """

    store: ExampleStore
    k1: int = 4
    k2: int = 4
    least: float = 0.0
    simplified: bool = True

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`. The first call after a change of the store indexes all of it."""
        simplified = query.simplified if query.simplified != query.question else ""
        first = self._nearest(query.question, query, self.k1 if simplified else self.k1 + self.k2, ())
        return first + self._nearest(simplified, query, self.k2, first) if simplified else first

    def _nearest(self, text: str, query: ExampleQuery, k: int, known: tuple[Example, ...]) -> tuple[Example, ...]:
        examples, vectors = _cached(self.store, query, ("plain skeletons", self.simplified), self._repository)
        # No value is masked: of the repository's questions nobody knows which words are values.
        vector = self.store.embedding([mask(text, query.schema, form="plain")])[0]
        cosines = vectors @ vector if examples else np.zeros(0, dtype=np.float32)
        chosen = dict.fromkeys(known)
        for row in np.argsort(-cosines, kind="stable"):
            if len(chosen) == len(known) + k or cosines[row] < self.least:
                break
            chosen.setdefault(examples[row])
        return tuple(chosen)[len(known) :]

    def _repository(self, visible: list[Example]) -> tuple[list[Example], Vectors]:
        pairs = [
            (example, text)
            for example in visible
            for text in dict.fromkeys((example.question, (self.simplified and example.simplified) or example.question))
        ]
        # As questions are: by the whole database where it is stored, not by the part that the SQL uses.
        keys = [mask(text, example.database_schema or example.schema, form="plain") for example, text in pairs]
        return [example for example, _ in pairs], self.store.embedding(keys)


@dataclass(frozen=True)
class Voted:
    """The N most chosen of M diverse samples of the visible examples (CREDIT-SQL 3.3: N = 18, M = 20)."""

    store: ExampleStore
    n: int = 18
    m: int = 20
    method: Method = "kmeans"
    seed: int = 0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`. The first call after a change of the store takes seconds, the others nothing."""
        return _cached(self.store, query, ("voted", self.n, self.m, self.method, self.seed), self._choose)

    def _choose(self, visible: list[Example]) -> tuple[Example, ...]:
        vectors = np.asarray([vectorize(example.sql) for example in visible], dtype=np.float64)
        rows = voted(vectors, self.n, self.m, self.seed, self.method) if visible else []
        return tuple(visible[row] for row in rows)


@dataclass(frozen=True)
class AtRandom:
    """k examples at random (CREDIT-SQL 5.1, without diverse examples), the same for every question."""

    store: ExampleStore
    k: int = 18
    seed: int = 0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        return _cached(self.store, query, ("random", self.k, self.seed), self._choose)

    def _choose(self, visible: list[Example]) -> tuple[Example, ...]:
        chance = random.Random(self.seed)  # noqa: S311 - a sample, not a secret
        return tuple(chance.sample(visible, min(self.k, len(visible))))


def _cached(
    store: ExampleStore, query: ExampleQuery, key: tuple[Hashable, ...], make: Callable[[list[Example]], _T]
) -> _T:
    """Return what is made of all examples that a question may see; made once, as long as they stay the same."""
    own = query.database if store.holds_own(query.database) else ""
    return store.cached((*key, own), lambda: make([hit.example for hit in store.visible(own)]), own)


@dataclass(frozen=True)
class NoExamples:
    """Zero-shot."""

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        return ()


@dataclass(frozen=True)
class OwnFirst:
    """A selector's examples, after the k nearest that belong to the question's database alone.

    Those show the very tables that are asked about, which no example of the same form over other data does. A database
    without any of its own is shown what it was before.

    `readable` leaves out what may not be shown to whoever asks (see `tools/examples/rights.py`).

    Attributes:
        least: Likeness below which none is shown, as in `BySkeleton`; the words of the whole questions count too, since
            they name the same tables. 0 shows the nearest however far.
    """

    store: ExampleStore
    others: Selector
    k: int = 3
    readable: Callable[[Example], Example | None] | None = None
    least: float = 0.0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        chosen: dict[str, Example] = {}
        for example in (*self._shown(self._own(query))[: self.k], *self._shown(self.others.select(query))):
            chosen.setdefault(meaning_of(example), example)
        return tuple(chosen.values())

    def _own(self, query: ExampleQuery) -> list[Example]:
        """Return the database's own that are near, the nearest question first; then those alike in form alone."""
        looked_at = self.k if self.readable is None else _LOOKED_AT * self.k
        near = self.store.near("question", query.question, looked_at, query.database, shared=False)
        if self.least:
            near = [hit for hit in near if hit.similarity >= min(self.least, _OWN_LIKENESS)]
            key = mask(query.question, query.schema, query.values)
            alike = self.store.near("skeleton", key, looked_at, query.database, shared=False)
            near += [hit for hit in alike if hit.similarity >= self.least]
        return [hit.example for hit in without_repeats(near)]

    def _shown(self, examples: Sequence[Example]) -> list[Example]:
        shown = map(self.readable, examples) if self.readable else examples
        return [example for example in shown if example is not None]


SelectorKind = Literal["skeleton", "question", "draft", "voted", "random", "none"]
"""How examples are chosen."""


def _by_skeleton(
    store: ExampleStore, *, form: SkeletonForm = "marked", pool: int = 64, simplified: bool = True, **numbers: Any
) -> Selector:
    """Choose by the form of skeletons; the plain form always shows the nearest ones themselves."""
    if form == "plain":
        return ByPlainSkeleton(store, simplified=simplified, **numbers)
    return BySkeleton(store, pool=pool, **numbers)


_MAKERS: Mapping[str, Callable[..., Selector]] = {
    "skeleton": _by_skeleton,
    "question": ByQuestion,
    "draft": ByDraft,
    "voted": Voted,
    "random": AtRandom,
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
    if kind == "none":
        return NoExamples()
    if kind not in _MAKERS:
        raise SettingsError(f"no example selector is called {kind!r}; there are {', '.join([*_MAKERS, 'none'])}")
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
        return _MAKERS[kind](store, **numbers)
    except TypeError as error:
        raise SettingsError(f"example selector {kind!r}: {error}") from None
