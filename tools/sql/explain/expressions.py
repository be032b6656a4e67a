"""Expressions in plain English."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from ..keywords import quote_text
from ..lookup import key_of
from ..scope import Resolution, Scope, Source
from .conditions import CONDITIONS, condition
from .phrases import bracketed, listed, plain_name

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
    exp.Mod: "modulo",
    exp.DPipe: "followed by",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "the total",
    exp.Avg: "the average",
    exp.Min: "the smallest",
    exp.Max: "the largest",
    exp.GroupConcat: "one text of every",
}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Lower: "{} in lower case",
    exp.Upper: "{} in upper case",
    exp.Length: "the length of {}",
    exp.Abs: "the absolute value of {}",
    exp.Neg: "minus {}",
    exp.Paren: "{}",
    exp.TsOrDsToTimestamp: "{}",
}
_DATE_PARTS = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%w": "weekday", "%j": "day of the year"}


def _nested(inner: Scope, outer: Scope) -> bool:
    """Whether a SELECT is another one, or stands within it."""
    level: Scope | None = inner
    while level is not None and level is not outer:
        level = level.parent
    return level is outer


@dataclass(frozen=True)
class Speaker:
    """Says the expressions of one query.

    Attributes:
        resolution: The query's names.
        query: Says a sub-query as a noun phrase.
    """

    resolution: Resolution
    query: Callable[[exp.Expr], str]

    def say(self, node: exp.Expr) -> str:
        """An expression as a noun phrase, a condition as a clause; what there are no words for, as SQL."""
        if isinstance(node, CONDITIONS):
            return condition(self, node)
        if isinstance(node, exp.Query):
            return f"({self.query(node)})"
        for kinds, method in self._sayers:
            if isinstance(node, kinds):
                return method(node)
        return f"`{self.resolution.text(node)}`"

    def has_words(self, node: exp.Expr) -> bool:
        """Whether all of it can be said without SQL: a call of a function that has no words needs one argument."""
        for part in node.find_all(exp.Func, exp.Interval):
            if isinstance(part, (*CONDITIONS, exp.Query)):
                continue
            method = next((method for kinds, method in self._sayers if isinstance(part, kinds)), None)
            arguments = [one for one in part.iter_expressions() if not isinstance(one, exp.Identifier)]
            if method is None or (method == self._function and len(arguments) != 1):
                return False
        return True

    def all_of(self, nodes: list[exp.Expr], last: str = "and") -> str:
        """A list of expressions."""
        return listed([self.say(node) for node in nodes], last)

    def order(self, node: exp.Expr) -> str:
        """The terms of an ORDER BY."""
        return listed([f"{self.say(term.this)} {self.direction(term)}" for term in node.expressions], "then")

    def direction(self, term: exp.Expr) -> str:
        """How an ORDER BY term sorts; where NULLs go only if not where the engine puts them anyway."""
        descending, first = bool(term.args.get("desc")), term.args.get("nulls_first")
        said = "descending" if descending else "ascending"
        usual = {"nulls_are_small": not descending, "nulls_are_large": descending}
        if first is not None and bool(first) is not usual.get(self.resolution.rules.grammar.NULL_ORDERING, False):
            said += f" with missing values {'first' if first else 'last'}"
        return said

    def text(self, node: exp.Expr) -> str | None:
        """A string's content; None for anything else."""
        reference = self.resolution.at(node)
        if reference is not None:
            return reference.column if reference.kind == "string" else None
        return node.name if isinstance(node, exp.Literal) and node.is_string else None

    def source(self, source: Source) -> str:
        """What a FROM clause reads."""
        if not source.own:
            inner = f"({self.query(source.query)})" if source.query is not None else self.say(source.node)
            return f"{inner} called {source.name!r}" if source.name else inner
        if not isinstance(source.node.this, exp.Identifier):
            called = source.node.this or source.node
            return f"the parts of {self.all_of(called.expressions or called.args.get('rows_from') or [])}"
        return self.named(source)

    def named(self, source: Source) -> str:
        """How columns of a source refer to it."""
        if not source.own or not isinstance(source.node.this, exp.Identifier):
            return repr(source.name) if source.name else "the sub-query"
        name = plain_name(source.node.name)
        return f"{name} {source.name!r}" if self._ambiguous(source) else name

    def _ambiguous(self, source: Source) -> bool:
        """Whether the same table is read under several names, so that the alias must tell which is meant.

        Not by the other side of a UNION: what stands side by side is never named together.
        """
        own = next((scope for scope in self.resolution.scopes if any(other is source for other in scope.sources)), None)
        near = (scope for scope in self.resolution.scopes if own is None or _nested(scope, own) or _nested(own, scope))
        names = {other.name for scope in near for other in scope.sources if other.own == source.own}
        return len(names) > 1 and source.name != source.own

    def _column(self, node: exp.Expr) -> str:
        reference = self.resolution.at(node)
        if reference is None:
            return plain_name(node.name)
        if reference.kind == "string":
            return quote_text(reference.column)
        if reference.kind == "alias" and reference.owner is not None:
            return self.say(reference.owner.aliases[key_of(reference.node.this, self.resolution.rules)])
        if reference.source is None:
            return plain_name(reference.column)
        if reference.kind == "star":
            return f"all columns of {self.named(reference.source)}"
        owner = reference.owner
        alone = owner is reference.scope and owner is not None and len(owner.sources) == 1
        return (
            plain_name(reference.column)
            if alone
            else f"{plain_name(reference.column)} of {self.named(reference.source)}"
        )

    def _literal(self, node: exp.Expr) -> str:
        return quote_text(node.name) if node.args.get("is_string") else node.name

    def _count(self, node: exp.Expr) -> str:
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return "the number of rows"
        if isinstance(inner, exp.Distinct):
            return f"the number of different values of {self.all_of(inner.expressions)}"
        return f"the number of known values of {self.say(inner)}"

    def _aggregate(self, node: exp.Expr) -> str:
        inner = node.this
        if isinstance(inner, exp.Distinct):
            return f"{_AGGREGATES[type(node)]} different {self.all_of(inner.expressions)}"
        separator = node.args.get("separator")
        between = f" with {self.say(separator)} between them" if separator is not None else ""
        said = self.say(inner)
        if isinstance(node, exp.Sum) and said.startswith("total"):
            return f"the sum of {said}{between}"
        of = "of " if not isinstance(inner.unnest(), exp.Column) else ""
        return f"{_AGGREGATES[type(node)]} {of}{said}{between}"

    def _arithmetic(self, node: exp.Expr) -> str:
        sides = (node.this, node.args["expression"])
        left, right = (
            bracketed(self.say(side)) if isinstance(side.unnest(), exp.Binary) else self.say(side) for side in sides
        )
        return f"{left} {_ARITHMETIC[type(node)]} {right}"

    def _case(self, node: exp.Expr) -> str:
        subject = f"{self.say(node.this)} is " if node.this is not None else ""
        parts = [f"{self.say(branch.args['true'])} if {subject}{self.say(branch.this)}" for branch in node.args["ifs"]]
        default = node.args.get("default")
        return f"{'; '.join(parts)}; otherwise {self.say(default) if default is not None else 'nothing'}"

    def _if(self, node: exp.Expr) -> str:
        otherwise = node.args.get("false")
        rest = self.say(otherwise) if otherwise is not None else "nothing"
        return f"{self.say(node.args['true'])} if {self.say(node.this)}, otherwise {rest}"

    def _window(self, node: exp.Expr) -> str:
        parts = [] if isinstance(node.this, exp.Identifier) else [self.say(node.this)]
        if node.args.get("partition_by"):
            parts.append(f"within each {self.all_of(node.args['partition_by'])}")
        if node.args.get("order") is not None:
            parts.append(f"in the order of {self.order(node.args['order'])}")
        if node.args.get("spec") is not None:
            parts.append(f"over {self.resolution.text(node.args['spec']).lower()}")
        if node.alias:
            parts.append(f"over the window {node.alias!r}")
        return " ".join(parts)

    def _strftime(self, node: exp.Expr) -> str:
        shown = self.text(node.args["format"])
        part = _DATE_PARTS.get(shown or "")
        return f"the {part} of {self.say(node.this)}" if part else f"{self.say(node.this)} in the form {shown!r}"

    def _json(self, node: exp.Expr) -> str:
        path = node.args["expression"]
        shown = self.resolution.text(path) if isinstance(path, exp.JSONPath) else self.say(path)
        return f"the part {shown} of {self.say(node.this)}"

    def _round(self, node: exp.Expr) -> str:
        decimals = node.args.get("decimals")
        return f"{self.say(node.this)} rounded" + (f" to {self.say(decimals)} decimals" if decimals is not None else "")

    def _template(self, node: exp.Expr) -> str:
        return _FUNCTIONS[type(node)].format(self.say(node.this))

    def _function(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Func)
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        said = [self.say(argument) for argument in node.iter_expressions() if not isinstance(argument, exp.Identifier)]
        plain = plain_name(name.lower())
        return f"{plain} of {listed(said)}" if said else plain

    @cached_property
    def _sayers(self) -> tuple[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], Callable[[exp.Expr], str]], ...]:
        return (
            (exp.Column, self._column),
            (exp.Literal, self._literal),
            (exp.Star, lambda node: "all columns"),
            (exp.Null, lambda node: "nothing"),
            (exp.Boolean, lambda node: "true" if node.this else "false"),
            (exp.Alias, lambda node: self.say(node.this)),
            (exp.Count, self._count),
            (tuple(_AGGREGATES), self._aggregate),
            (tuple(_ARITHMETIC), self._arithmetic),
            (exp.Case, self._case),
            (exp.If, self._if),
            (exp.Window, self._window),
            (exp.Distinct, lambda node: f"different {self.all_of(node.expressions)}"),
            (exp.Tuple, lambda node: f"({self.all_of(node.expressions)})"),
            (exp.Filter, lambda node: f"{self.say(node.this)} only where {self.say(node.expression.this)}"),
            (exp.JSONExtract, self._json),
            (exp.JSONExtractScalar, self._json),
            (exp.Round, self._round),
            (exp.Coalesce, lambda node: f"the first known of {self.all_of([node.this, *node.expressions])}"),
            (exp.Cast, lambda node: f"{self.say(node.this)} as {node.args['to'].sql().lower()}"),
            (exp.Collate, lambda node: f"{self.say(node.this)} (compared as {node.expression.name.lower()})"),
            (exp.TimeToStr, self._strftime),
            (tuple(_FUNCTIONS), self._template),
            (exp.Func, self._function),
        )
