"""What a query's form says, part by part, so that a change of it shows: columns given, comparisons, order, DISTINCT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sqlglot import exp

from .parse import parse
from .untrusted import analysis_or

_KINDS: Mapping[type[exp.Expr], str] = {
    exp.GT: "above",
    exp.GTE: "above",
    exp.LT: "below",
    exp.LTE: "below",
    exp.EQ: "same",
    exp.NEQ: "other",
    exp.Like: "same",
    exp.ILike: "same",
}
_OPPOSITE = {"above": "below", "below": "above", "same": "other", "other": "same"}
_ONE_OF_EACH = (exp.Distinct, exp.Group, exp.SetOperation)
_NEGATIVE = (exp.Not, exp.NEQ, exp.Except, exp.Is)


@dataclass(frozen=True)
class Form:
    """The parts.

    Attributes:
        outputs: What the first SELECT gives, without qualifiers and aliases.
        comparisons: What is compared, with what, and how: `above`, `below`, `same`, `other`.
        orders: What rows are ordered by, and whether downwards.
        distinct: Whether DISTINCT is written.
        one_of_each: Whether anything makes rows appear once: DISTINCT, groups, a compound.
        extreme: Whether the greatest or least is looked for: by MAX, by MIN, by their place in an order.
        aggregates: What is summed up, wherever, and by which function.
        negative: Whether something is negated or asked for NULL, or an outer join keeps what is missing.
    """

    outputs: frozenset[str] = frozenset()
    comparisons: frozenset[tuple[str, str, str]] = frozenset()
    orders: Mapping[str, bool] = field(default_factory=dict[str, bool])
    distinct: bool = False
    one_of_each: bool = False
    extreme: bool = False
    aggregates: frozenset[tuple[str, str]] = frozenset()
    negative: bool = False

    def gives_less(self, than: Form) -> bool:
        """Whether it gives fewer columns, some that the other gives missing."""
        return "*" not in self.outputs and len(self.outputs) < len(than.outputs) and bool(than.outputs - self.outputs)

    def turns_round(self, other: Form) -> bool:
        """Whether it makes a comparison or an order of the other into its opposite."""
        turned = {(what, to, _OPPOSITE[kind]) for what, to, kind in other.comparisons - self.comparisons}
        if turned & self.comparisons:
            return True
        return any(other.orders.get(what, down) != down for what, down in self.orders.items())


@lru_cache(maxsize=512)
@analysis_or(Form())
def form(sql: str, dialect: str = "sqlite") -> Form:
    """The form of a query; an empty one where it cannot be parsed."""
    tree = parse(sql, dialect).tree
    first = tree.find(exp.Select)
    return Form(
        outputs=frozenset(_plain(item.unalias()) for item in first.expressions) if first is not None else frozenset(),
        comparisons=frozenset(_comparisons(tree)),
        orders={_plain(order.this): bool(order.args.get("desc")) for order in tree.find_all(exp.Ordered)},
        distinct=tree.find(exp.Distinct) is not None,
        one_of_each=tree.find(*_ONE_OF_EACH) is not None,
        extreme=tree.find(exp.Order, exp.Max, exp.Min) is not None,
        aggregates=frozenset((found.key, _plain(found.this)) for found in tree.find_all(exp.AggFunc) if found.this),
        negative=tree.find(*_NEGATIVE) is not None
        or any(_is_denied(like) for like in tree.find_all(exp.Like, exp.ILike))
        or any(join.side for join in tree.find_all(exp.Join)),
    )


def _comparisons(tree: exp.Expr) -> Iterator[tuple[str, str, str]]:
    for node in tree.find_all(*_KINDS):
        kind = _KINDS[type(node)]
        if _is_denied(node):
            kind = _OPPOSITE[kind]
        yield _plain(node.this), _plain(node.expression), kind


def _is_denied(node: exp.Expr) -> bool:
    """Whether NOT stands before a comparison, or in it as sqlglot has `NOT LIKE`."""
    return isinstance(node.parent, exp.Not) or bool(node.args.get("negate"))


def _plain(node: exp.Expr) -> str:
    """An expression without qualifiers, in one spelling."""

    def bare(part: exp.Expr) -> exp.Expr:
        return exp.column(part.name) if isinstance(part, exp.Column) and not part.is_star else part

    return node.copy().transform(bare).sql("sqlite").casefold()
