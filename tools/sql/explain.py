"""The explanation of queries in plain English.

Deterministic and complete: the same query gives the same words, and nothing that changes the result is left out (if
there are no words for an expression, it is quoted as SQL). Used for the feedback that compares what a query means
with what was asked (revision chain 3.2.1), when no model explains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from ..measures import drop_unit
from ..words import humanize_name, join_words
from .dialects import quote_string_literal
from .parse import guard_nesting_depth, return_default_if_unparsable
from .query import Query
from .scope import QuerySource, Scope, get_argument, get_join_conditions, get_limit_count, iterate_enclosing_scopes

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
"""Kinds of expressions that `describe_condition` says."""

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
_TIME_AGGREGATES = _AGGREGATES | {exp.Min: "the earliest", exp.Max: "the latest"}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Lower: "{} in lower case",
    exp.Upper: "{} in upper case",
    exp.Length: "the length of {}",
    exp.Abs: "the absolute value of {}",
    exp.Neg: "minus {}",
    exp.Paren: "{}",
    exp.TsOrDsToTimestamp: "{}",
}
_DATE_PARTS = {
    "%Y": "year",
    "%m": "month",
    "%d": "day",
    "%H": "hour",
    "%w": "weekday",
    "%j": "day of the year",
    "%Y-%m": "year and month",
    "%Y-%m-01": "year and month",
    "%Y-%m-%d": "date",
}
_COMPOUND = {
    "union": "rows in {} or in {}",
    "union all": "rows of {} followed by all of {}",
    "intersect": "rows that are both in {} and in {}",
    "except": "rows in {} but not in {}",
}
_LONGEST_HEADING = 60

_PLAIN = frozenset({"expressions", "from_", "joins"})
"""Parts of a SELECT, beside WHERE, that two sides of a compound may share in one sentence."""


@guard_nesting_depth
def explain(query: Query) -> str:
    """Explain the meaning of a query in one or a few English sentences."""
    words = QueryExplainer(query).describe_query(query.tree)
    return f"{words[:1].upper()}{words[1:]}."


def _parenthesize_phrase(text: str) -> str:
    """Return the text, in parentheses if it has several words."""
    return f"({text})" if " " in text else text


class QueryExplainer:
    """A writer that describes the parts of a query in plain English."""

    def __init__(self, query: Query, *, only_tables: bool = False) -> None:
        self.query = query
        self._only_tables = only_tables  # whether columns are "of" tables alone, not of CTEs and sub-queries

    def describe_query(self, node: exp.Expr) -> str:
        """Describe a query of any kind as a noun phrase."""
        node = node.unnest()
        if isinstance(node, exp.Select):
            words = self._describe_select(node)
        elif isinstance(node, exp.SetOperation):
            words = self._describe_compound_query(node)
        elif isinstance(node, exp.Subquery):
            words = self.describe_query(node.this)
        else:
            words = f"the values {self.describe_list(node.expressions)}"
        with_ = node.args.get("with_")
        if with_ is None:
            return words
        definitions = [f"{humanize_name(cte.alias)!r} is {self.describe_query(cte.this)}" for cte in with_.expressions]
        return f"{words}, where {join_words(definitions)}"

    def _describe_compound_query(self, node: exp.SetOperation) -> str:
        if (description := self._describe_similar_sides(node)) is not None:
            return description + self._describe_order_and_limit(node)
        kind = node.key if node.args.get("distinct") is not False or node.key != "union" else "union all"
        sides = (f"({self.describe_query(node.this)})", f"({self.describe_query(node.expression)})")
        return _COMPOUND[kind].format(*sides) + self._describe_order_and_limit(node)

    def _describe_similar_sides(self, node: exp.SetOperation) -> str | None:
        """Describe an INTERSECT or EXCEPT of SELECTs that differ only in WHERE; else None."""
        sides = (node.this.unnest(), node.expression.unnest())
        if node.key not in ("intersect", "except") or not all(isinstance(side, exp.Select) for side in sides):
            return None
        parts, others = ({key: value for key, value in side.args.items() if value and key != "where"} for side in sides)
        wheres = [side.args["where"].this for side in sides if side.args.get("where")]
        if parts != others or not parts.keys() <= _PLAIN or "from_" not in parts or len(wheres) < 2:
            return None
        first, second = map(self.say, wheres)
        source = self._describe_from_clause(self._get_select_scope(sides[0]))
        base = f"{self.describe_list(sides[0].expressions)}{source}"
        verb = "found also" if node.key == "intersect" else "not found"
        return f"{base} where {first}, {verb} where {second}, each once"

    def _describe_select(self, node: exp.Select) -> str:
        scope = self._get_select_scope(node)
        outputs = self.describe_list(node.expressions)
        kind = "values" if len(node.expressions) == 1 else "combinations"
        unique = f"the different {kind} of " if node.args.get("distinct") is not None else ""
        parts = [f"{unique}{outputs}", self._describe_from_clause(scope)]
        where, group, having = (node.args.get(key) for key in ("where", "group", "having"))
        if where is not None:
            parts.append(f" where {self.say(where.this)}")
        if group is not None:
            terms = [self._describe_term(term, node).removeprefix("the ") for term in group.expressions]
            parts.append(f", for each {join_words(terms)}")
        if having is not None:
            parts.append(f", only {'groups ' if group is not None else ''}where {self.say(having.this)}")
        for window in node.args.get("windows") or ():
            parts.append(f", with the window {window.name!r} being rows {self.say(window)}")
        return "".join(parts) + self._describe_order_and_limit(node)

    def _describe_from_clause(self, scope: Scope) -> str:
        if not scope.sources:
            return ""
        first, *others = scope.sources
        return f" from {self.describe_source(first)}" + "".join(self._describe_join(source, scope) for source in others)

    def _describe_join(self, source: QuerySource, scope: Scope) -> str:
        join, source_words = source.join, self.describe_source(source)
        if join is None:  # LATERAL behind a table without a comma
            return f" and {source_words}"
        conditions = " and ".join(self.say(part) for part in get_join_conditions(source))
        on = f" ({conditions})" if conditions and not self._is_only_foreign_key_join(source, scope) else ""
        if source.using:
            on = f" (by equal {join_words(sorted(humanize_name(name) for name in source.using))})"
        if join.side == "LEFT":
            return f", with {source_words} where there is one{on}"
        if join.side in ("RIGHT", "FULL"):
            both = "every row of both sides" if join.side == "FULL" else f"every row of {source_words}"
            return f" joined with {source_words}{on}, keeping {both}"
        return f" joined with {source_words}{on}" if conditions or on else f" and {source_words}"

    def _is_only_foreign_key_join(self, source: QuerySource, scope: Scope) -> bool:
        """Whether a join uses the only foreign key between the two joined tables."""
        parts = get_join_conditions(source)
        if len(parts) != 1 or not isinstance(parts[0], exp.EQ):
            return False
        columns = [self.query.column(side) for side in (parts[0].left, parts[0].right)]
        ends = {end.item for end in columns if end is not None}
        tables = {table for table, _ in ends}
        table_names = [table.name for _, table in scope.tables]
        keys = [key for key in self.query.schema.foreign_keys if {key.table, key.ref_table} == tables]
        if len(tables) != 2 or len(set(table_names)) < len(table_names) or len(keys) != 1 or len(keys[0].columns) != 1:
            return False
        return ends == {(keys[0].table, keys[0].columns[0]), (keys[0].ref_table, keys[0].ref_columns[0])}

    def _get_select_scope(self, select: exp.Expr) -> Scope:
        scope = self.query.find_scope(select)
        assert scope is not None
        return scope

    def _describe_term(self, term: exp.Expr, node: exp.Expr | None) -> str:
        """Describe a term of GROUP BY or ORDER BY; a number refers to an output column."""
        outputs = node.selects if isinstance(node, exp.Query) else []
        if isinstance(term, exp.Literal) and term.is_int and 0 < int(term.name) <= len(outputs):
            return self.say(outputs[int(term.name) - 1].unalias())
        return self.say(term)

    def _describe_order_and_limit(self, node: exp.Expr) -> str:
        order, limit, offset = (node.args.get(key) for key in ("order", "limit", "offset"))
        rows = get_limit_count(node)
        count = self.say(rows) if rows is not None else "1"
        words, options = "", limit.args.get("limit_options") if limit is not None else None
        is_share, with_ties = (bool(options and options.args.get(name)) for name in ("percent", "with_ties"))
        is_count = limit is not None and offset is None and not is_share and not with_ties
        if order is not None and is_count and len(order.expressions) == 1:
            term = order.expressions[0]
            extreme = "largest" if term.args.get("desc") else "smallest"
            which, first = ("the one", "") if count == "1" else (f"the {count}", f", {extreme} first")
            return (
                f", only {which} with the {extreme} {self._describe_term(term.this, node).removeprefix('the ')}{first}"
            )
        if order is not None:
            words += f", sorted by {self.describe_order_by(order, node)}"
        if limit is not None:
            unit = "% of the rows" if is_share else " row" if count == "1" else " rows"
            words += f", only the first {count}{unit}{' and those that tie with the last' if with_ties else ''}"
        if offset is not None:
            words += f" after the first {self.say(offset.expression)}"
        return words

    def say(self, node: exp.Expr) -> str:
        """Describe an expression in words, or quote it as SQL if there are no words for it."""
        if isinstance(node, _CONDITIONS):
            return self.describe_condition(node)
        if isinstance(node, exp.Query):
            return f"({self.describe_query(node)})"
        for kinds, method in self._describers:
            if isinstance(node, kinds):
                return method(node)
        return f"`{self.query.text(node)}`"

    def can_describe_in_words(self, node: exp.Expr) -> bool:
        """Whether an expression can be described in words, without quoting SQL."""
        for part in node.find_all(exp.Func, exp.Interval):
            if isinstance(part, (*_CONDITIONS, exp.Query)):
                continue
            method = next((method for kinds, method in self._describers if isinstance(part, kinds)), None)
            arguments = [argument for argument in part.iter_expressions() if not isinstance(argument, exp.Identifier)]
            if method is None or (method == self._describe_function and len(arguments) != 1):
                return False
        return True

    def describe_list(self, nodes: list[exp.Expr], conjunction: str = "and") -> str:
        """Describe expressions as a list in words, such as `name, city and total`."""
        return join_words([self.say(node) for node in nodes], conjunction)

    def describe_order_by(self, node: exp.Expr, query: exp.Expr | None = None) -> str:
        """Describe the terms of an ORDER BY clause in words."""
        return join_words(
            [f"{self._describe_term(key.this, query)} {self.describe_sort_direction(key)}" for key in node.expressions],
            "then",
        )

    def describe_sort_direction(self, term: exp.Expr) -> str:
        """Describe the direction of an ORDER BY term, and the place of NULLs if unusual."""
        descending, first = bool(term.args.get("desc")), term.args.get("nulls_first")
        words = "descending" if descending else "ascending"
        usual = {"nulls_are_small": not descending, "nulls_are_large": descending}
        if first is not None and bool(first) is not usual.get(self.query.rules.grammar.NULL_ORDERING, False):
            words += f" with missing values {'first' if first else 'last'}"
        return words

    def get_literal_text(self, node: exp.Expr) -> str | None:
        """Return the text of a string literal; None for any other expression."""
        value = self.query.literal(node)
        return value if isinstance(value, str) else None

    def describe_source(self, source: QuerySource) -> str:
        """Describe a source of the FROM clause in words."""
        if not source.base_name:
            inner = f"({self.describe_query(source.query)})" if source.query is not None else self.say(source.node)
            return f"{inner} called {source.name!r}" if source.name else inner
        if not isinstance(source.node.this, exp.Identifier):
            function = source.node.this or source.node
            return f"the parts of {self.describe_list(function.expressions or function.args.get('rows_from') or [])}"
        return self.describe_source_name(source)

    def describe_source_name(self, source: QuerySource) -> str:
        """Describe the name of a source in words, as column references use it."""
        if not source.base_name or not isinstance(source.node.this, exp.Identifier):
            return repr(source.name) if source.name else "the sub-query"
        name = humanize_name(source.node.name)
        return f"{name} {source.name!r}" if self._needs_alias(source) else name

    def _needs_alias(self, source: QuerySource) -> bool:
        """Whether the query reads a table under several names, so that the alias is needed.

        Not by the other side of a UNION: what stands side by side is never named together.
        """
        origin = next((scope for scope in self.query.scopes if source in scope.sources), None)
        near = (
            scope
            for scope in self.query.scopes
            if origin is None or origin in iterate_enclosing_scopes(scope) or scope in iterate_enclosing_scopes(origin)
        )
        names = {other.name for scope in near for other in scope.sources if other.base_name == source.base_name}
        return len(names) > 1 and source.name != source.base_name

    def _describe_column(self, node: exp.Expr) -> str:
        reference = self.query.reference(node)
        if reference is None:
            return humanize_name(node.name)
        if reference.kind == "string":
            return quote_string_literal(reference.column)
        if reference.kind == "alias" and reference.owner is not None:
            return self.say(reference.owner.aliases[self.query.rules.key(reference.node.this)])
        if reference.source is None:
            return humanize_name(reference.column)
        if reference.kind == "star":
            return f"all columns of {self.describe_source_name(reference.source)}"
        owner = reference.owner
        alone = owner is reference.scope and owner is not None and len(owner.sources) == 1
        alone = alone or (self._only_tables and reference.source.table is None)
        alone = alone or (owner is not None and owner.is_full_join_key(reference.node))
        name = self._name_column(node, reference.column)
        return name if alone else f"{name} of {self.describe_source_name(reference.source)}"

    def _name_column(self, node: exp.Expr, name: str) -> str:
        """Return a column's name in words; without its unit in an aggregate that is not compared."""
        column, parent = self.query.column(node), node.parent
        if column is None or not isinstance(parent, tuple(_AGGREGATES)):
            return humanize_name(name)
        if isinstance(parent.find_ancestor(exp.Mul, exp.Div, exp.Predicate, exp.Select), exp.Select):
            return drop_unit(name, [other.name for other in column.table.columns])
        return humanize_name(name)

    def _describe_count(self, node: exp.Expr) -> str:
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return "the number of rows"
        if isinstance(inner, exp.Distinct):
            return f"the number of different values of {self.describe_list(inner.expressions)}"
        return f"the number of known values of {self.say(inner)}"

    def _describe_aggregate(self, node: exp.Expr) -> str:
        inner = node.this
        if isinstance(inner, exp.Distinct):
            return f"{_AGGREGATES[type(node)]} different {self.describe_list(inner.expressions)}"
        separator = node.args.get("separator")
        separation = f" with {self.say(separator)} between them" if separator is not None else ""
        words = self.say(inner)
        if isinstance(node, exp.Sum) and words.startswith("total"):
            return f"the sum of {words}{separation}"
        of = "of " if not isinstance(inner.unnest(), exp.Column) else ""
        column = self.query.column(inner.unnest())
        words_of_kind = _TIME_AGGREGATES if column is not None and column.schema.kind == "time" else _AGGREGATES
        return f"{words_of_kind[type(node)]} {of}{words}{separation}"

    def _describe_arithmetic(self, node: exp.Expr) -> str:
        sides = (node.this, node.args["expression"])
        left, right = (
            _parenthesize_phrase(self.say(side)) if isinstance(side.unnest(), exp.Binary) else self.say(side)
            for side in sides
        )
        return f"{left} {_ARITHMETIC[type(node)]} {right}"

    def _describe_case(self, node: exp.Expr) -> str:
        subject = f"{self.say(node.this)} is " if node.this is not None else ""
        parts = [f"{self.say(branch.args['true'])} if {subject}{self.say(branch.this)}" for branch in node.args["ifs"]]
        default = node.args.get("default")
        return f"{'; '.join(parts)}; otherwise {self.say(default) if default is not None else 'nothing'}"

    def _describe_conditional(self, node: exp.Expr) -> str:
        otherwise = node.args.get("false")
        alternative = self.say(otherwise) if otherwise is not None else "nothing"
        return f"{self.say(node.args['true'])} if {self.say(node.this)}, otherwise {alternative}"

    def _describe_window(self, node: exp.Expr) -> str:
        parts = [] if isinstance(node.this, exp.Identifier) else [self.say(node.this)]
        if node.args.get("partition_by"):
            parts.append(f"within each {self.describe_list(node.args['partition_by'])}")
        if node.args.get("order") is not None:
            parts.append(f"in the order of {self.describe_order_by(node.args['order'])}")
        if node.args.get("spec") is not None:
            parts.append(f"over {self.query.text(node.args['spec']).lower()}")
        if node.alias:
            parts.append(f"over the window {node.alias!r}")
        return " ".join(parts)

    def _describe_strftime(self, node: exp.Expr) -> str:
        pattern = self.get_literal_text(node.args["format"])
        part = _DATE_PARTS.get(pattern or "")
        return f"the {part} of {self.say(node.this)}" if part else f"{self.say(node.this)} in the form {pattern!r}"

    def _describe_date_part(self, node: exp.Expr) -> str:
        part, moment = (node.this, node.expression) if isinstance(node, exp.Extract) else (node.args["unit"], node.this)
        return f"the {part.name.lower()} of {self.say(moment)}"

    def _describe_json_extraction(self, node: exp.Expr) -> str:
        path = node.args["expression"]
        path_text = self.query.text(path) if isinstance(path, exp.JSONPath) else self.say(path)
        return f"the part {path_text} of {self.say(node.this)}"

    def _describe_round(self, node: exp.Expr) -> str:
        decimals = node.args.get("decimals")
        return f"{self.say(node.this)} rounded" + (f" to {self.say(decimals)} decimals" if decimals is not None else "")

    def _describe_function(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Func)
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        words = [self.say(argument) for argument in node.iter_expressions() if not isinstance(argument, exp.Identifier)]
        plain = humanize_name(name.lower())
        if len(words) > 1:  # what each of them is to it has no words
            return f"`{self.query.text(node)}`"
        return f"{plain} of {words[0]}" if words else plain

    @cached_property
    def _describers(self) -> tuple[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], Callable[[exp.Expr], str]], ...]:
        return (
            (exp.Column, self._describe_column),
            (exp.Literal, lambda node: quote_string_literal(node.name) if node.args.get("is_string") else node.name),
            (exp.Star, lambda node: "all columns"),
            (exp.Null, lambda node: "nothing"),
            (exp.Boolean, lambda node: "true" if node.this else "false"),
            (exp.Alias, lambda node: self.say(node.this)),
            (exp.Count, self._describe_count),
            (tuple(_AGGREGATES), self._describe_aggregate),
            (tuple(_ARITHMETIC), self._describe_arithmetic),
            (exp.Case, self._describe_case),
            (exp.If, self._describe_conditional),
            (exp.Window, self._describe_window),
            (exp.Distinct, lambda node: f"different {self.describe_list(node.expressions)}"),
            (exp.Tuple, lambda node: f"({self.describe_list(node.expressions)})"),
            (exp.Filter, lambda node: f"{self.say(node.this)} only where {self.say(node.expression.this)}"),
            ((exp.JSONExtract, exp.JSONExtractScalar), self._describe_json_extraction),
            (exp.Round, self._describe_round),
            (exp.Coalesce, lambda node: f"the first known of {self.describe_list([node.this, *node.expressions])}"),
            (exp.Cast, lambda node: f"{self.say(node.this)} as {node.args['to'].sql().lower()}"),
            (exp.Collate, lambda node: f"{self.say(node.this)} (compared as {node.expression.name.lower()})"),
            (exp.TimeToStr, self._describe_strftime),
            ((exp.TimestampTrunc, exp.DateTrunc, exp.Extract), self._describe_date_part),
            (tuple(_FUNCTIONS), lambda node: _FUNCTIONS[type(node)].format(self.say(node.this))),
            (exp.Func, self._describe_function),
        )

    def describe_condition(self, node: exp.Expr, negated: bool = False) -> str:
        """Describe a condition as a clause, negated if `negated` is true."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self.describe_condition(node.this, not negated)
        if isinstance(node, exp.Connector) and not negated:
            return self._describe_and_or(node)
        if isinstance(node, exp.Exists):
            rows = self.describe_query(node.this).removeprefix("1 from ")
            if isinstance(node.parent, exp.Select | exp.Alias):
                return f"there is a row of {rows}"
            return f"there is {'no' if negated else 'a'} row among ({rows})"
        if isinstance(node, exp.In):
            return self._describe_in_condition(node, negated)
        if isinstance(node, exp.Between):
            bounds = f"{self.say(node.args['low'])} and {self.say(node.args['high'])}"
            return f"{self.say(node.this)} is {'not ' if negated else ''}between {bounds}"
        if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like | exp.ILike):
            pattern = f"{self.say(node.this.expression)} with escape {self.say(node.expression)}"
            return self._describe_pattern_match(node.this, pattern, negated)
        if isinstance(node, exp.ILike):
            return f"{self._describe_like_condition(node, negated)}, in any case of its letters"
        if isinstance(node, exp.Like):
            return self._describe_like_condition(node, negated)
        if type(node) in _VERBS:
            return self._describe_comparison(node, negated)
        words = self.say(node)
        return f"it is not so that {_parenthesize_phrase(words)}" if negated else words

    def _describe_and_or(self, node: exp.Connector) -> str:
        word = " and " if isinstance(node, exp.And) else " or "
        texts: list[str] = []
        for part in node.flatten(unnest=False):
            words = self.describe_condition(part)
            texts.append(f"({words})" if isinstance(part.unnest(), exp.Connector) else words)
        return word.join(texts)

    def _describe_comparison(self, node: exp.Expr, negated: bool) -> str:
        left, right = node.this, node.args["expression"]
        verb = _VERBS[type(node)][negated]
        if isinstance(right.unnest(), exp.Null):
            if isinstance(node, exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
                return f"{self.say(left)} is {'known' if ' not' in verb else 'missing'}"
            return f"{self.say(left)} {verb} equal to NULL (which never holds)"
        return f"{self.say(left)} {verb} {self.say(right)}"

    def _describe_in_condition(self, node: exp.In, negated: bool) -> str:
        is_ = "is not" if negated else "is"
        left, query = self.say(node.this), node.args.get("query")
        if query is not None:
            return f"{left} {is_} among ({self.describe_query(query)})"
        if node.args.get("field") is not None:
            return f"{left} {is_} among the rows of {self.say(node.args['field'])}"
        one_of = "one of " if len(node.expressions) > 1 else ""
        return f"{left} {is_} {one_of}{self.describe_list(node.expressions, 'or')}"

    def _describe_like_condition(self, node: exp.Like | exp.ILike, negated: bool) -> str:
        negated ^= bool(node.args.get("negate"))
        text = self.get_literal_text(node.expression)
        core = text.strip("%") if text is not None else ""
        if text is None or not core or "%" in core or "_" in core:
            return self._describe_pattern_match(node, self.say(node.expression), negated)
        verbs = {
            (True, True): ("contains", "does not contain"),
            (True, False): ("ends with", "does not end with"),
            (False, True): ("starts with", "does not start with"),
            (False, False): ("is", "is not"),
        }
        verb = verbs[text.startswith("%"), text.endswith("%")][negated]
        return f"{self.say(node.this)} {verb} {quote_string_literal(core)}"

    def _describe_pattern_match(self, node: exp.Like | exp.ILike, pattern: str, negated: bool) -> str:
        negated ^= bool(node.args.get("negate")) and isinstance(node.parent, exp.Escape)
        return f"{self.say(node.this)} {'does not match' if negated else 'matches'} the pattern {pattern}"


COUNT = "count"
"""The meaning of a number of rows."""

_COUNT_WORDS = frozenset(
    "n count counts cnt num number nr total sum amount quantity result value rows anzahl summe zahl nombre nb".split()  # noqa: SIM905 - so many
)
"""Words in the name of a count that is no noun for what it counts."""


@dataclass(frozen=True)
class ColumnHeading:
    """The heading of a result column."""

    words: str  # for people: its own name in words where it has one
    counted: str = ""  # what it counts, in words: its own name, or the table if that says no more than `count`
    counts_all: bool = False  # whether it counts all rows of a table
    meaning: str = ""  # what it holds, in words, if its name is one letter or a function's


def headings(query: Query | None, columns: Sequence[str]) -> tuple[ColumnHeading, ...]:
    """Return a heading per result column; without a query the column's name in words."""
    column_headings = (_make_headings_from_sql(query, columns) if query else ()) or tuple(map(ColumnHeading, columns))
    return tuple(map(_humanize_heading, column_headings))


def _humanize_heading(heading: ColumnHeading) -> ColumnHeading:
    words = humanize_name(heading.words)
    is_noun = heading.counted and len(words) > 1 and _COUNT_WORDS.isdisjoint(re.findall(r"\w+", words.lower()))
    return replace(heading, words=words, counted=words if is_noun else heading.counted)


@return_default_if_unparsable(())
def _make_headings_from_sql(query: Query, columns: Sequence[str]) -> tuple[ColumnHeading, ...]:
    outputs = query.tree.expressions
    if not isinstance(query.tree, exp.Select) or len(outputs) != len(columns) or query.tree.is_star:
        return ()
    return tuple(_make_column_heading(item, name, query) for item, name in zip(outputs, columns, strict=True))


def _make_column_heading(item: exp.Expr, name: str, query: Query) -> ColumnHeading:
    node = item.unalias()
    table_name = _get_counted_table_name(node, query) if isinstance(node, exp.Count) else ""
    parts = {key for key, value in query.tree.args.items() if value}
    heading = ColumnHeading(name, table_name, bool(table_name) and parts <= {"expressions", "from_", "kind"})
    if isinstance(node, exp.Column) or (len(item.alias) > 1 and f"{name.upper()}(" not in node.sql()):
        return heading
    words = f"number of {table_name}" if table_name else _describe_output(node, query)
    words = name if "`" in words or len(words) > _LONGEST_HEADING else words
    if item.alias:
        is_count = isinstance(node, exp.Count) and isinstance(node.this, exp.Star)
        return replace(heading, meaning=COUNT if is_count else words)
    return replace(heading, words=words)


def _describe_output(node: exp.Expr, query: Query) -> str:
    """Describe an output column, without the query's own names of CTEs and sub-queries."""
    return QueryExplainer(query, only_tables=True).say(node).removeprefix("the ")


def _get_counted_table_name(node: exp.Count, query: Query) -> str:
    """Return the plain name of the table whose rows COUNT counts; empty if there is none."""
    inner, scope = node.this, query.find_scope(query.tree)
    assert scope is not None
    if inner is None or isinstance(inner, exp.Star):
        source = query.find_unreferenced_source(scope)
        outer = any(other.side for other in scope.sources)
        return humanize_name(source.table.name) if source and source.table and not outer else ""
    column = query.column(get_argument(node))
    if column is None or column.scope is not scope:
        return ""
    alone = isinstance(node.this, exp.Distinct) or len(scope.sources) == 1
    return humanize_name(column.table.name) if column.is_primary_key and alone else ""
