"""The explanation of queries in plain English.

Deterministic and complete: the same query gives the same words, and nothing that changes the result is left out (if
there are no words for an expression, it is quoted as SQL). Used for the feedback that compares what a query means
with what was asked (revision chain 3.2.1), when no model explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from ..words import join_words, plain_name
from .dialects import quote_text
from .parse import default_if_unparsed, guard_depth
from .query import Query, argument_of, join_conditions, limit_count
from .scope import Scope, Source, outwards

_VERBS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.GT: ("is more than", "is at most"),
    exp.GTE: ("is at least", "is less than"),
    exp.LT: ("is less than", "is at least"),
    exp.LTE: ("is at most", "is more than"),
    exp.NullSafeEQ: ("is the same as", "is not the same as"),
    exp.NullSafeNEQ: ("is not the same as", "is the same as"),
    exp.Is: ("is", "is not"),
    exp.Glob: ("matches the pattern", "does not match the pattern"),
    exp.Match: ("matches the search", "does not match the search"),
    exp.RegexpLike: ("matches the expression", "does not match the expression"),
}
_CONDITIONS = (*_VERBS, exp.Connector, exp.Not, exp.Like, exp.ILike, exp.In, exp.Between, exp.Exists, exp.Escape)
"""Kinds of expressions that `say_condition` says."""

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
_COMPOUND = {
    "union": "rows in {} or in {}",
    "union all": "rows of {} followed by all of {}",
    "intersect": "rows that are both in {} and in {}",
    "except": "rows in {} but not in {}",
}
_LONGEST_HEADING = 60

_PLAIN = frozenset({"expressions", "from_", "joins"})
"""Parts of a SELECT, beside WHERE, that two sides of a compound may share in one sentence."""


@guard_depth
def explain(query: Query) -> str:
    """Return what a query means, in one or a few English sentences."""
    words = Explainer(query).say_query(query.tree)
    return f"{words[:1].upper()}{words[1:]}."


def _add_brackets(text: str) -> str:
    """Return the text, in parentheses if it has several words."""
    return f"({text})" if " " in text else text


class Explainer:
    """A writer of a query's parts in plain English."""

    def __init__(self, query: Query) -> None:
        self.query = query

    def say_query(self, node: exp.Expr) -> str:
        """Return a query of any kind as a noun phrase."""
        node = node.unnest()
        if isinstance(node, exp.Select):
            words = self._say_select(node)
        elif isinstance(node, exp.SetOperation):
            words = self._say_compound(node)
        elif isinstance(node, exp.Subquery):
            words = self.say_query(node.this)
        else:
            words = f"the values {self.say_all(node.expressions)}"
        with_ = node.args.get("with_")
        if with_ is None:
            return words
        defined = [f"{plain_name(cte.alias)!r} is {self.say_query(cte.this)}" for cte in with_.expressions]
        return f"{words}, where {join_words(defined)}"

    def _say_compound(self, node: exp.SetOperation) -> str:
        if (shared := self._say_shared(node)) is not None:
            return shared + self._say_tail(node)
        kind = node.key if node.args.get("distinct") is not False or node.key != "union" else "union all"
        sides = (f"({self.say_query(node.this)})", f"({self.say_query(node.expression)})")
        return _COMPOUND[kind].format(*sides) + self._say_tail(node)

    def _say_shared(self, node: exp.SetOperation) -> str | None:
        """Return one sentence for two sides that differ only in their conditions."""
        sides = (node.this.unnest(), node.expression.unnest())
        if node.key not in ("intersect", "except") or not all(isinstance(side, exp.Select) for side in sides):
            return None
        parts, others = ({key: value for key, value in side.args.items() if value and key != "where"} for side in sides)
        wheres = [side.args["where"].this for side in sides if side.args.get("where")]
        if parts != others or not parts.keys() <= _PLAIN or "from_" not in parts or len(wheres) < 2:
            return None
        first, second = map(self.say, wheres)
        base = f"{self.say_all(sides[0].expressions)}{self._say_from(self._get_scope(sides[0]))}"
        verb = "found also" if node.key == "intersect" else "not found"
        return f"{base} where {first}, {verb} where {second}, each once"

    def _say_select(self, node: exp.Select) -> str:
        scope = self._get_scope(node)
        outputs = self.say_all(node.expressions)
        kind = "values" if len(node.expressions) == 1 else "combinations"
        unique = f"the different {kind} of " if node.args.get("distinct") is not None else ""
        parts = [f"{unique}{outputs}", self._say_from(scope)]
        where, group, having = (node.args.get(key) for key in ("where", "group", "having"))
        if where is not None:
            parts.append(f" where {self.say(where.this)}")
        if group is not None:
            terms = [self._say_term(term, node).removeprefix("the ") for term in group.expressions]
            parts.append(f", for each {join_words(terms)}")
        if having is not None:
            parts.append(f", only {'groups ' if group is not None else ''}where {self.say(having.this)}")
        for window in node.args.get("windows") or ():
            parts.append(f", with the window {window.name!r} being rows {self.say(window)}")
        return "".join(parts) + self._say_tail(node)

    def _say_from(self, scope: Scope) -> str:
        if not scope.sources:
            return ""
        first, *others = scope.sources
        return f" from {self.say_source(first)}" + "".join(self._say_join(source, scope) for source in others)

    def _say_join(self, source: Source, scope: Scope) -> str:
        join, source_words = source.join, self.say_source(source)
        if join is None:  # LATERAL behind a table without a comma
            return f" and {source_words}"
        conditions = " and ".join(self.say(part) for part in join_conditions(source))
        on = f" ({conditions})" if conditions and not self._is_obvious_join(source, scope) else ""
        if source.using:
            on = f" (by equal {join_words(sorted(plain_name(name) for name in source.using))})"
        if join.side == "LEFT":
            return f", with {source_words} where there is one{on}"
        if join.side in ("RIGHT", "FULL"):
            both = "every row of both sides" if join.side == "FULL" else f"every row of {source_words}"
            return f" joined with {source_words}{on}, keeping {both}"
        return f" joined with {source_words}{on}" if conditions or on else f" and {source_words}"

    def _is_obvious_join(self, source: Source, scope: Scope) -> bool:
        """Whether a join uses the only foreign key between its two tables."""
        parts = join_conditions(source)
        if len(parts) != 1 or not isinstance(parts[0], exp.EQ):
            return False
        columns = [self.query.column(side) for side in (parts[0].left, parts[0].right)]
        ends = {end.item for end in columns if end is not None}
        tables = {table for table, _ in ends}
        read = [table.name for _, table in scope.tables]
        keys = [key for key in self.query.schema.foreign_keys if {key.table, key.ref_table} == tables]
        if len(tables) != 2 or len(set(read)) < len(read) or len(keys) != 1 or len(keys[0].columns) != 1:
            return False
        return ends == {(keys[0].table, keys[0].columns[0]), (keys[0].ref_table, keys[0].ref_columns[0])}

    def _get_scope(self, select: exp.Expr) -> Scope:
        scope = self.query.scope(select)
        assert scope is not None
        return scope

    def _say_term(self, term: exp.Expr, node: exp.Expr | None) -> str:
        """Return a term of GROUP BY or ORDER BY in words; a number names an output column."""
        selected = node.selects if isinstance(node, exp.Query) else []
        if isinstance(term, exp.Literal) and term.is_int and 0 < int(term.name) <= len(selected):
            return self.say(selected[int(term.name) - 1].unalias())
        return self.say(term)

    def _say_tail(self, node: exp.Expr) -> str:
        order, limit, offset = (node.args.get(key) for key in ("order", "limit", "offset"))
        rows = limit_count(node)
        count = self.say(rows) if rows is not None else "1"
        words = ""
        if order is not None and limit is not None and offset is None and len(order.expressions) == 1:
            term = order.expressions[0]
            extreme = "largest" if term.args.get("desc") else "smallest"
            which, first = ("the one", "") if count == "1" else (f"the {count}", f", {extreme} first")
            return f", only {which} with the {extreme} {self._say_term(term.this, node).removeprefix('the ')}{first}"
        if order is not None:
            words += f", sorted by {self.say_order(order, node)}"
        if limit is not None:
            words += f", only the first {count} row{'s' if count != '1' else ''}"
        if offset is not None:
            words += f" after the first {self.say(offset.expression)}"
        return words

    def say(self, node: exp.Expr) -> str:
        """Return an expression in words, or as SQL in back-ticks if it has no words."""
        if isinstance(node, _CONDITIONS):
            return self.say_condition(node)
        if isinstance(node, exp.Query):
            return f"({self.say_query(node)})"
        for kinds, method in self._writers:
            if isinstance(node, kinds):
                return method(node)
        return f"`{self.query.text(node)}`"

    def has_words(self, node: exp.Expr) -> bool:
        """Whether an expression can be said without quoting SQL."""
        for part in node.find_all(exp.Func, exp.Interval):
            if isinstance(part, (*_CONDITIONS, exp.Query)):
                continue
            method = next((method for kinds, method in self._writers if isinstance(part, kinds)), None)
            arguments = [one for one in part.iter_expressions() if not isinstance(one, exp.Identifier)]
            if method is None or (method == self._say_function and len(arguments) != 1):
                return False
        return True

    def say_all(self, nodes: list[exp.Expr], last: str = "and") -> str:
        """Return a list of expressions in words."""
        return join_words([self.say(node) for node in nodes], last)

    def say_order(self, node: exp.Expr, query: exp.Expr | None = None) -> str:
        """Return the terms of an ORDER BY in words."""
        return join_words(
            [f"{self._say_term(one.this, query)} {self.say_sort(one)}" for one in node.expressions], "then"
        )

    def say_sort(self, term: exp.Expr) -> str:
        """Return the direction of an ORDER BY term, and the place of NULLs if it is unusual."""
        descending, first = bool(term.args.get("desc")), term.args.get("nulls_first")
        words = "descending" if descending else "ascending"
        usual = {"nulls_are_small": not descending, "nulls_are_large": descending}
        if first is not None and bool(first) is not usual.get(self.query.rules.grammar.NULL_ORDERING, False):
            words += f" with missing values {'first' if first else 'last'}"
        return words

    def read_text(self, node: exp.Expr) -> str | None:
        """Return a string's content; None for anything else."""
        value = self.query.literal(node)
        return value if isinstance(value, str) else None

    def say_source(self, source: Source) -> str:
        """Return a source of FROM in words."""
        if not source.own:
            inner = f"({self.say_query(source.query)})" if source.query is not None else self.say(source.node)
            return f"{inner} called {source.name!r}" if source.name else inner
        if not isinstance(source.node.this, exp.Identifier):
            called = source.node.this or source.node
            return f"the parts of {self.say_all(called.expressions or called.args.get('rows_from') or [])}"
        return self.say_name(source)

    def say_name(self, source: Source) -> str:
        """Return a source's name in words, as its columns refer to it."""
        if not source.own or not isinstance(source.node.this, exp.Identifier):
            return repr(source.name) if source.name else "the sub-query"
        name = plain_name(source.node.name)
        return f"{name} {source.name!r}" if self._is_ambiguous(source) else name

    def _is_ambiguous(self, source: Source) -> bool:
        """Whether a table is read under several names, so that its alias must be named.

        Not by the other side of a UNION: what stands side by side is never named together.
        """
        own = next((scope for scope in self.query.scopes if source in scope.sources), None)
        near = (scope for scope in self.query.scopes if own is None or own in outwards(scope) or scope in outwards(own))
        names = {other.name for scope in near for other in scope.sources if other.own == source.own}
        return len(names) > 1 and source.name != source.own

    def _say_column(self, node: exp.Expr) -> str:
        reference = self.query.at(node)
        if reference is None:
            return plain_name(node.name)
        if reference.kind == "string":
            return quote_text(reference.column)
        if reference.kind == "alias" and reference.owner is not None:
            return self.say(reference.owner.aliases[self.query.rules.key(reference.node.this)])
        if reference.source is None:
            return plain_name(reference.column)
        if reference.kind == "star":
            return f"all columns of {self.say_name(reference.source)}"
        owner = reference.owner
        alone = owner is reference.scope and owner is not None and len(owner.sources) == 1
        return (
            plain_name(reference.column)
            if alone
            else f"{plain_name(reference.column)} of {self.say_name(reference.source)}"
        )

    def _say_count(self, node: exp.Expr) -> str:
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return "the number of rows"
        if isinstance(inner, exp.Distinct):
            return f"the number of different values of {self.say_all(inner.expressions)}"
        return f"the number of known values of {self.say(inner)}"

    def _say_aggregate(self, node: exp.Expr) -> str:
        inner = node.this
        if isinstance(inner, exp.Distinct):
            return f"{_AGGREGATES[type(node)]} different {self.say_all(inner.expressions)}"
        separator = node.args.get("separator")
        between = f" with {self.say(separator)} between them" if separator is not None else ""
        words = self.say(inner)
        if isinstance(node, exp.Sum) and words.startswith("total"):
            return f"the sum of {words}{between}"
        of = "of " if not isinstance(inner.unnest(), exp.Column) else ""
        return f"{_AGGREGATES[type(node)]} {of}{words}{between}"

    def _say_arithmetic(self, node: exp.Expr) -> str:
        sides = (node.this, node.args["expression"])
        left, right = (
            _add_brackets(self.say(side)) if isinstance(side.unnest(), exp.Binary) else self.say(side) for side in sides
        )
        return f"{left} {_ARITHMETIC[type(node)]} {right}"

    def _say_case(self, node: exp.Expr) -> str:
        subject = f"{self.say(node.this)} is " if node.this is not None else ""
        parts = [f"{self.say(branch.args['true'])} if {subject}{self.say(branch.this)}" for branch in node.args["ifs"]]
        default = node.args.get("default")
        return f"{'; '.join(parts)}; otherwise {self.say(default) if default is not None else 'nothing'}"

    def _say_if(self, node: exp.Expr) -> str:
        otherwise = node.args.get("false")
        rest = self.say(otherwise) if otherwise is not None else "nothing"
        return f"{self.say(node.args['true'])} if {self.say(node.this)}, otherwise {rest}"

    def _say_window(self, node: exp.Expr) -> str:
        parts = [] if isinstance(node.this, exp.Identifier) else [self.say(node.this)]
        if node.args.get("partition_by"):
            parts.append(f"within each {self.say_all(node.args['partition_by'])}")
        if node.args.get("order") is not None:
            parts.append(f"in the order of {self.say_order(node.args['order'])}")
        if node.args.get("spec") is not None:
            parts.append(f"over {self.query.text(node.args['spec']).lower()}")
        if node.alias:
            parts.append(f"over the window {node.alias!r}")
        return " ".join(parts)

    def _say_strftime(self, node: exp.Expr) -> str:
        shown = self.read_text(node.args["format"])
        part = _DATE_PARTS.get(shown or "")
        return f"the {part} of {self.say(node.this)}" if part else f"{self.say(node.this)} in the form {shown!r}"

    def _say_json(self, node: exp.Expr) -> str:
        path = node.args["expression"]
        shown = self.query.text(path) if isinstance(path, exp.JSONPath) else self.say(path)
        return f"the part {shown} of {self.say(node.this)}"

    def _say_round(self, node: exp.Expr) -> str:
        decimals = node.args.get("decimals")
        return f"{self.say(node.this)} rounded" + (f" to {self.say(decimals)} decimals" if decimals is not None else "")

    def _say_function(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Func)
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        words = [self.say(one) for one in node.iter_expressions() if not isinstance(one, exp.Identifier)]
        plain = plain_name(name.lower())
        return f"{plain} of {join_words(words)}" if words else plain

    @cached_property
    def _writers(self) -> tuple[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], Callable[[exp.Expr], str]], ...]:
        return (
            (exp.Column, self._say_column),
            (exp.Literal, lambda node: quote_text(node.name) if node.args.get("is_string") else node.name),
            (exp.Star, lambda node: "all columns"),
            (exp.Null, lambda node: "nothing"),
            (exp.Boolean, lambda node: "true" if node.this else "false"),
            (exp.Alias, lambda node: self.say(node.this)),
            (exp.Count, self._say_count),
            (tuple(_AGGREGATES), self._say_aggregate),
            (tuple(_ARITHMETIC), self._say_arithmetic),
            (exp.Case, self._say_case),
            (exp.If, self._say_if),
            (exp.Window, self._say_window),
            (exp.Distinct, lambda node: f"different {self.say_all(node.expressions)}"),
            (exp.Tuple, lambda node: f"({self.say_all(node.expressions)})"),
            (exp.Filter, lambda node: f"{self.say(node.this)} only where {self.say(node.expression.this)}"),
            ((exp.JSONExtract, exp.JSONExtractScalar), self._say_json),
            (exp.Round, self._say_round),
            (exp.Coalesce, lambda node: f"the first known of {self.say_all([node.this, *node.expressions])}"),
            (exp.Cast, lambda node: f"{self.say(node.this)} as {node.args['to'].sql().lower()}"),
            (exp.Collate, lambda node: f"{self.say(node.this)} (compared as {node.expression.name.lower()})"),
            (exp.TimeToStr, self._say_strftime),
            (tuple(_FUNCTIONS), lambda node: _FUNCTIONS[type(node)].format(self.say(node.this))),
            (exp.Func, self._say_function),
        )

    def say_condition(self, node: exp.Expr, negated: bool = False) -> str:
        """Return a condition as a clause, negated if asked for."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self.say_condition(node.this, not negated)
        if isinstance(node, exp.Connector) and not negated:
            return self._say_connector(node)
        if isinstance(node, exp.Exists):
            return f"there is {'no' if negated else 'a'} row among ({self.say_query(node.this)})"
        if isinstance(node, exp.In):
            return self._say_in(node, negated)
        if isinstance(node, exp.Between):
            bounds = f"{self.say(node.args['low'])} and {self.say(node.args['high'])}"
            return f"{self.say(node.this)} is {'not ' if negated else ''}between {bounds}"
        if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like | exp.ILike):
            pattern = f"{self.say(node.this.expression)} with escape {self.say(node.expression)}"
            return self._say_pattern(node.this, pattern, negated)
        if isinstance(node, exp.ILike):
            return f"{self._say_like(node, negated)}, in any case of its letters"
        if isinstance(node, exp.Like):
            return self._say_like(node, negated)
        if type(node) in _VERBS:
            return self._say_comparison(node, negated)
        words = self.say(node)
        return f"it is not so that {_add_brackets(words)}" if negated else words

    def _say_connector(self, node: exp.Connector) -> str:
        word = " and " if isinstance(node, exp.And) else " or "
        texts: list[str] = []
        for part in node.flatten(unnest=False):
            words = self.say_condition(part)
            texts.append(f"({words})" if isinstance(part.unnest(), exp.Connector) else words)
        return word.join(texts)

    def _say_comparison(self, node: exp.Expr, negated: bool) -> str:
        left, right = node.this, node.args["expression"]
        verb = _VERBS[type(node)][negated]
        if isinstance(right.unnest(), exp.Null):
            if isinstance(node, exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
                return f"{self.say(left)} is {'known' if ' not' in verb else 'missing'}"
            return f"{self.say(left)} {verb} equal to NULL (which never holds)"
        return f"{self.say(left)} {verb} {self.say(right)}"

    def _say_in(self, node: exp.In, negated: bool) -> str:
        is_ = "is not" if negated else "is"
        left, query = self.say(node.this), node.args.get("query")
        if query is not None:
            return f"{left} {is_} among ({self.say_query(query)})"
        if node.args.get("field") is not None:
            return f"{left} {is_} among the rows of {self.say(node.args['field'])}"
        return f"{left} {is_} {'one of ' if len(node.expressions) > 1 else ''}{self.say_all(node.expressions, 'or')}"

    def _say_like(self, node: exp.Like | exp.ILike, negated: bool) -> str:
        negated ^= bool(node.args.get("negate"))
        text = self.read_text(node.expression)
        core = text.strip("%") if text is not None else ""
        if text is None or not core or "%" in core or "_" in core:
            return self._say_pattern(node, self.say(node.expression), negated)
        verbs = {
            (True, True): ("contains", "does not contain"),
            (True, False): ("ends with", "does not end with"),
            (False, True): ("starts with", "does not start with"),
            (False, False): ("is", "is not"),
        }
        verb = verbs[text.startswith("%"), text.endswith("%")][negated]
        return f"{self.say(node.this)} {verb} {quote_text(core)}"

    def _say_pattern(self, node: exp.Like | exp.ILike, pattern: str, negated: bool) -> str:
        negated ^= bool(node.args.get("negate")) and isinstance(node.parent, exp.Escape)
        return f"{self.say(node.this)} {'does not match' if negated else 'matches'} the pattern {pattern}"


@dataclass(frozen=True)
class Heading:
    """The heading of a result column."""

    words: str  # for people: its own name where it has one
    counted: str = ""  # the table whose rows it counts, in words; empty if it counts nothing that has a name
    counts_all: bool = False  # whether it counts all rows of that table


def headings(query: Query | None, columns: Sequence[str]) -> tuple[Heading, ...]:
    """Return a heading per result column; the column's name without a query."""
    return (_find_headings(query, columns) if query else ()) or tuple(map(Heading, columns))


@default_if_unparsed(())
def _find_headings(query: Query, columns: Sequence[str]) -> tuple[Heading, ...]:
    outputs = query.tree.expressions
    if not isinstance(query.tree, exp.Select) or len(outputs) != len(columns) or query.tree.is_star:
        return ()
    return tuple(_make_heading(item, name, query) for item, name in zip(outputs, columns, strict=True))


def _make_heading(item: exp.Expr, name: str, query: Query) -> Heading:
    node = item.unalias()
    counted = _name_counted(node, query) if isinstance(node, exp.Count) else ""
    parts = {key for key, value in query.tree.args.items() if value}
    counts_all = bool(counted) and parts <= {"expressions", "from_", "kind"}
    if isinstance(item, exp.Alias) or isinstance(node, exp.Column):
        return Heading(name, counted, counts_all)
    words = f"number of {counted}" if counted else Explainer(query).say(node).removeprefix("the ")
    return Heading(name if "`" in words or len(words) > _LONGEST_HEADING else words, counted, counts_all)


def _name_counted(node: exp.Count, query: Query) -> str:
    """Return the name, in words, of the table whose rows are counted; empty if there is none."""
    inner, scope = node.this, query.scope(query.tree)
    assert scope is not None
    if inner is None or isinstance(inner, exp.Star):
        source = query.leading_source(scope)
        outer = any(other.side for other in scope.sources)
        return plain_name(source.table.name) if source and source.table and not outer else ""
    column = query.column(argument_of(node))
    if column is None or column.scope is not scope:
        return ""
    alone = isinstance(node.this, exp.Distinct) or len(scope.sources) == 1
    return plain_name(column.table.name) if column.is_key and alone else ""
