"""The form of query that a question's wording suggests, to rank drafts.

A form is a query's traits: the few choices in which drafts for one question differ.

One logistic regression a trait, over the words and word pairs of the question and, in a conversation, the traits of the
query before it: "and their ages?" asks for one more column of whatever came before. The weights are fitted by
`evals.lab train expectation` on training questions only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ..derived import cache_in_first_argument
from ..sql.parse import return_default_if_unparsable
from ..sql.query import Query

SCALE = 20
"""Weights are stored as whole numbers, this many to one."""

FLOOR = 1e-3
"""Least probability of a trait's value: a form that training never met is improbable, not impossible."""

LinkedItem = tuple[str, str | None, float]
"""Table, column (`*` for all, None for the table itself), and the probability that the question's query uses it."""

_QUOTED_TEXT = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^”]+”|‘[^’]+’")
_WORD = re.compile(r"[a-z]+|\d+|[<>=]+")

VALUE, NUMBER, START, END = "_", "#", "<", ">"

Traits = Mapping[str, str]
"""Trait to value, `{"outputs": "2", "order": "desc+limit", ...}`."""

_NONE = "none"
_MAX_COUNT = 4
"""Output columns and tables are told apart up to here."""

_ODD = (exp.Case, exp.Cast, exp.Window, exp.Coalesce, exp.Substring)
"""What is written to make a result look nice, and hardly ever asked for."""


@dataclass(frozen=True)
class TraitModel:
    """A logistic regression that predicts the value of one query trait."""

    values: tuple[str, ...]
    weights: npt.NDArray[np.float64]  # of shape (values, words)
    bias: npt.NDArray[np.float64]  # of shape (values,)

    def __call__(self, words: npt.NDArray[np.intp]) -> dict[str, float]:
        """Return the probability of each value."""
        scores = self.weights[:, words].sum(axis=1) + self.bias
        shares = np.exp(scores - scores.max())
        return dict(zip(self.values, (shares / shares.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class ExpectedTraits:
    """The expected traits of a query: the probability of each value of each trait."""

    probabilities: Mapping[str, Mapping[str, float]]

    def fit(self, query: Query) -> float | None:
        """Return the log-probability of a query's traits in nats; None if it cannot be parsed."""
        form = extract_query_traits(query)
        if form is None:
            return None
        shares = (values.get(form[trait], 0.0) for trait, values in self.probabilities.items())
        return sum(math.log(max(share, FLOOR)) for share in shares)


@lru_cache(maxsize=256)
def predict_query_traits(question: str, before: Query | None = None) -> ExpectedTraits:
    """Predict the traits of a question's query, given the previous query."""
    vocabulary, models = _load_trait_models()
    known_words = extract_words_and_pairs(question) | encode_query_traits(before)
    words = np.array(sorted(vocabulary[gram] for gram in known_words if gram in vocabulary), dtype=np.intp)
    return ExpectedTraits({trait: model(words) for trait, model in models.items()})


@cache
def _load_trait_models() -> tuple[Mapping[str, int], Mapping[str, TraitModel]]:
    stored = json.loads((files(__package__ or "") / "data" / "expectation.json").read_text("utf-8"))
    vocabulary = {gram: index for index, gram in enumerate(stored["grams"])}
    models = {
        trait: TraitModel(
            tuple(model["values"]),
            np.array(model["weights"], dtype=np.float64).reshape(len(model["values"]), len(vocabulary)) / SCALE,
            np.array(model["bias"], dtype=np.float64) / SCALE,
        )
        for trait, model in stored["traits"].items()
    }
    return vocabulary, models


@return_default_if_unparsable(None)
def score_used_items(query: Query, items: Iterable[LinkedItem]) -> float | None:
    """Return the log-probability that a question needs exactly the items that a query uses.

    The items are the linker's, with their probabilities; what is not among them is taken as improbable.
    """
    expected = {(table, column): p for table, column, p in items}
    if not expected:
        return None
    used_items: set[tuple[str, str | None]] = {*((table, None) for table in query.usage.tables), *query.usage.columns}
    shares = [p if item in used_items else 1 - p for item, p in expected.items()]
    return sum(math.log(max(share, FLOOR)) for share in shares) + len(used_items - set(expected)) * math.log(FLOOR)


def extract_words_and_pairs(question: str) -> frozenset[str]:
    """Return a question's words and word pairs, with the start and end marked."""
    masked = " \n ".join(_QUOTED_TEXT.split(question.lower()))
    words = [START]
    for part in masked.split("\n"):
        words += [NUMBER if word.isdigit() else word for word in _WORD.findall(part)]
        words.append(VALUE)
    words[-1] = END
    return frozenset(words) | {f"{one} {next_one}" for one, next_one in pairwise(words)}


@cache_in_first_argument
@return_default_if_unparsable(None)
def extract_query_traits(query: Query) -> Traits | None:
    """Return the traits of a query; None if the query cannot be parsed."""
    tree = query.tree.unnest()
    outputs = tree.selects if isinstance(tree, exp.Query) else []
    if not outputs:
        return None
    traits = {
        "outputs": _count_output_columns(outputs),
        "aggregates": _list_aggregate_functions(outputs),
        "tables": str(min(len(query.find(exp.Table)), _MAX_COUNT)),
        "outer_join": _yes_or_no(any((join.side or "") != "" for join in query.find(exp.Join))),
        "order": _describe_sort_order(query),
        "inner_order": _yes_or_no(any(s.args.get("order") for s in query.find(exp.Select) if s is not tree)),
        "group": _yes_or_no(query.find(exp.Group)),
        "having": _yes_or_no(query.find(exp.Having)),
        "compound": type(tree).__name__.lower() if isinstance(tree, exp.SetOperation) else _NONE,
        "nested": _describe_subquery_use(query),
        "count_distinct": _yes_or_no(any(isinstance(count.this, exp.Distinct) for count in query.find(exp.Count))),
        "like": _yes_or_no(query.find(exp.Like, exp.ILike)),
        "or": _yes_or_no(query.find(exp.Or)),
        "between": _yes_or_no(query.find(exp.Between)),
        "above": ">=" if query.find(exp.GTE) else ">" if query.find(exp.GT) else _NONE,
        "below": "<=" if query.find(exp.LTE) else "<" if query.find(exp.LT) else _NONE,
        "null": _yes_or_no(query.find(exp.Is)),
        "odd": _yes_or_no(query.find(*_ODD)),
        "with": _yes_or_no(query.find(exp.With)),
    }
    return MappingProxyType(traits)


def encode_query_traits(query: Query | None) -> frozenset[str]:
    """Encode the traits of the previous query as extra words of the question."""
    form = extract_query_traits(query) if query else None
    return frozenset(f"~{trait}={value}" for trait, value in (form or {}).items())


def _count_output_columns(outputs: list[exp.Expr]) -> str:
    if any(item.is_star and not isinstance(item.unalias(), exp.Count) for item in outputs):
        return "*"
    return str(min(len(outputs), _MAX_COUNT))


def _list_aggregate_functions(outputs: list[exp.Expr]) -> str:
    kinds = {
        type(item).__name__.lower() if isinstance(item, exp.AggFunc) else "expression"
        for item in (output.unalias() for output in outputs)
        if item.find(exp.AggFunc)
    }
    return ",".join(sorted(kinds)) or _NONE


def _describe_sort_order(query: Query) -> str:
    if not query.order:
        return _NONE
    direction = "desc" if query.order[0].args.get("desc") else "asc"
    return direction if query.limit is None else f"{direction}+limit"


def _describe_subquery_use(query: Query) -> str:
    """Return how the query uses a sub-query: in, not in, equals, compared, exists or other."""
    if any(isinstance(negated.this, exp.In) and negated.this.args.get("query") for negated in query.find(exp.Not)):
        return "not in"
    if any(node.args.get("query") for node in query.find(exp.In)):
        return "in"
    parents = [type(inner.parent) for inner in query.find(exp.Subquery)]
    if exp.EQ in parents:
        return "equals"
    if any(parent in (exp.GT, exp.LT, exp.GTE, exp.LTE) for parent in parents):
        return "compared"
    if query.find(exp.Exists):
        return "exists"
    several = not isinstance(query.tree.unnest(), exp.SetOperation) and len(query.find(exp.Select)) > 1
    return "other" if several else _NONE


def _yes_or_no(answer: object) -> str:
    return "yes" if answer else "no"
