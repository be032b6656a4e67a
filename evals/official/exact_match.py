"""Exact set match (EM) and Spider's difficulty levels, as the official evaluator has them.

It cuts SQL into tokens by the Penn Treebank's rules for English: `a=1` stays one token (and its query is unreadable),
while `a>1` is three, and a comma before a digit does not separate. It reads the SQL that Spider's annotators were told
to write, and its quirks decide scores: aliases hold for the whole text and need AS, a column without a table belongs to
the first table that has it, IN takes one value or a query, an aliased subquery in FROM is unreadable, and what follows
a complete query is passed over. EM compares clauses as sets, without values, columns up to foreign keys, and passes
over DISTINCT.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from ...tools.errors import SettingsError, TableturnError


class Unparsed(TableturnError):
    """The official evaluator cannot read this query.

    What to do: nothing. The query has no EM score, as in the official evaluator.
    """


@dataclass(frozen=True)
class SchemaNames:
    """The names of tables and columns, in lower case; views are not among them."""

    columns: Mapping[str, tuple[str, ...]]  # by table

    @cached_property
    def ids(self) -> frozenset[str]:
        """All names that a query may refer to: `*`, `table` and `table.column`."""
        full = {f"{table}.{column}" for table, columns in self.columns.items() for column in columns}
        return frozenset({"*", *self.columns, *full})


def read_foreign_key_maps(path: Path) -> dict[str, dict[str, str]]:
    """Read the foreign keys of each database from tables.json, as maps of columns."""
    maps: dict[str, dict[str, str]] = {}
    try:
        for entry in json.loads(path.read_text(encoding="utf-8")):
            tables, columns = entry["table_names_original"], entry["column_names_original"]
            ids = [f"{tables[table]}.{column}".lower() if table >= 0 else "*" for table, column in columns]
            maps[entry["db_id"]] = group_foreign_keys(ids, entry["foreign_keys"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{path} cannot be read as a Spider tables.json: {error!r}") from error
    return maps


def group_foreign_keys(ids: Sequence[str], pairs: Iterable[Sequence[int]]) -> dict[str, str]:
    """Map every foreign-key column to the first column of its group of linked columns.

    A pair joins the first group that holds either end; groups that a later pair connects stay apart.
    """
    groups: list[set[int]] = []
    for pair in pairs:
        home = next((group for group in groups if not group.isdisjoint(pair)), None)
        if home is None:
            groups.append(home := set[int]())
        home.update(pair)
    return {ids[column]: ids[min(group)] for group in groups for column in group}


class ColumnUnit(NamedTuple):
    """A column, possibly aggregated."""

    aggregate: str
    column: str  # `table.column` in lower case, or `*`
    distinct: bool | None  # None once it was struck out of the comparison


class ValueUnit(NamedTuple):
    """A column, or two joined by an arithmetic operator (`none` for one alone)."""

    operator: str
    left: ColumnUnit
    right: ColumnUnit | None


class SelectItem(NamedTuple):
    """An item of the SELECT list: an aggregate, or `none`, over a value unit."""

    aggregate: str
    unit: ValueUnit


Value: TypeAlias = "float | str | ColumnUnit | EMQuery | None"


class ConditionUnit(NamedTuple):
    """One comparison; `second` is used by BETWEEN alone."""

    negated: bool
    operator: str
    unit: ValueUnit
    first: Value
    second: Value


class Conditions(NamedTuple):
    """A flat list of comparisons, with the `and`/`or` words between them."""

    units: tuple[ConditionUnit, ...] = ()
    words: tuple[str, ...] = ()


NO_CONDITIONS = Conditions()


class OrderBy(NamedTuple):
    """An ORDER BY clause, with one direction for all columns: the last that was written."""

    direction: str
    units: tuple[ValueUnit, ...]


@dataclass(frozen=True)
class EMQuery:
    """A parsed SELECT; the defaults are an empty query, which stands for an unreadable one."""

    tables: tuple[str | EMQuery, ...] = ()
    joins: Conditions = NO_CONDITIONS  # those of all ON clauses
    distinct: bool | None = False
    outputs: tuple[SelectItem, ...] = ()
    where: Conditions = NO_CONDITIONS
    group: tuple[ColumnUnit, ...] = ()
    having: Conditions = NO_CONDITIONS
    order: OrderBy | None = None
    limit: bool = False  # the number is not kept
    compound: tuple[str, EMQuery] | None = None  # intersect, union or except, and what follows it

    @property
    def conditions(self) -> Conditions:
        """All conditions, of ON, WHERE and HAVING."""
        joins, where, having = self.joins, self.where, self.having
        return Conditions(joins.units + where.units + having.units, joins.words + where.words + having.words)


_STRING = re.compile('"[^"]*"')
_SEPARATE = re.compile(r"(--|\.{2,}|`+|[;@#$%&?!*\[\](){}<>«»“”‘’„]|[:,](?!\d))")
_FINAL_PERIOD = re.compile(r"(?<!\.)\.\s*$")

# An empty token stands for the end of the query.
_CLAUSES = frozenset({"", "select", "from", "where", "group", "order", "limit", "intersect", "union", "except"})
_CLAUSE_ENDS = _CLAUSES | {")", ";"}
_JOINING = frozenset({"join", "on", "as"})
_VALUE_ENDS = _CLAUSES | _JOINING | {",", ")", "and"}
_OPERATORS = frozenset({"not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"})
_ARITHMETIC = frozenset({"none", "-", "+", "*", "/"})
_AGGREGATES = frozenset({"none", "max", "min", "count", "sum", "avg"})


def tokenize_sql(sql: str) -> list[str]:
    """Split SQL into lower-case tokens; strings stay whole, as written, in double quotes."""
    text = sql.replace("'", '"')
    if text.count('"') % 2:
        raise Unparsed(f"unpaired quote: {sql}")
    strings = {f"__val_{match.start()}__": match.group() for match in _STRING.finditer(text)}
    text = _STRING.sub(lambda match: f"__val_{match.start()}__", text)
    text = _FINAL_PERIOD.sub(" . ", _SEPARATE.sub(r" \1 ", text))
    tokens: list[str] = []
    for word in text.lower().split():
        if word == "=" and tokens and tokens[-1] in ("!", "<", ">"):
            tokens[-1] += "="
        else:
            tokens.append(strings.get(word, word))
    return tokens


def parse(sql: str, names: SchemaNames) -> EMQuery:
    """Parse a query; raise Unparsed wherever the official tool fails, even on valid SQL."""
    tokens = tokenize_sql(sql)
    try:
        # What every alias stands for: the token before its AS, wherever that is.
        aliases = {tokens[index + 1]: tokens[index - 1] for index, word in enumerate(tokens) if word == "as"}
        if clash := next((table for table in names.columns if table in aliases), None):
            raise Unparsed(f"the alias {clash} is also a table's name")
        return _QueryParser(tokens, names, aliases | {table: table for table in names.columns}).read_query()
    except (IndexError, KeyError, ValueError, RecursionError) as error:
        raise Unparsed(f"the official evaluator cannot parse this query: {sql}") from error


class _QueryParser:
    """A parser of one query; it raises IndexError, KeyError or ValueError if it cannot parse."""

    def __init__(self, tokens: Sequence[str], names: SchemaNames, tables: Mapping[str, str]) -> None:
        self._tokens, self._names, self._tables = tokens, names, tables
        self._place = 0
        self._default: list[str] = []

    def read_query(self) -> EMQuery:
        """Read one query, with or without brackets, and the query that it is combined with."""
        outer = self._default
        has_bracket = self._skip_token_if_present("(")
        select = self._place
        tables, joins = self._read_from_clause()
        from_index = self._place
        self._place = select
        self._expect_token("select")
        distinct = self._skip_token_if_present("distinct")
        outputs: list[SelectItem] = []
        while self._peek_token() not in _CLAUSES:
            aggregate = self._consume_token() if self._peek_token() in _AGGREGATES else "none"
            outputs.append(SelectItem(aggregate, self._read_value_unit()))
            self._skip_token_if_present(",")
        self._place = from_index
        where = self._read_conditions() if self._skip_token_if_present("where") else NO_CONDITIONS
        group: list[ColumnUnit] = []
        if self._skip_token_if_present("group"):
            self._expect_token("by")
            while self._peek_token() not in _CLAUSE_ENDS:
                group.append(self._read_column_unit())
                if not self._skip_token_if_present(","):
                    break
        having = self._read_conditions() if self._skip_token_if_present("having") else NO_CONDITIONS
        order = self._read_order_by() if self._skip_token_if_present("order") else None
        limit = self._skip_token_if_present("limit")
        if limit:
            self._consume_token()
        while self._skip_token_if_present(";"):
            pass
        if has_bracket:
            self._expect_token(")")
        while self._skip_token_if_present(";"):
            pass
        compound = None
        if self._peek_token() in ("intersect", "union", "except"):
            compound = (self._consume_token(), self.read_query())
        self._default = outer
        return EMQuery(tables, joins, distinct, tuple(outputs), where, tuple(group), having, order, limit, compound)

    def _peek_token(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _consume_token(self) -> str:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _skip_token_if_present(self, token: str) -> bool:
        is_present = self._peek_token() == token
        self._place += is_present
        return is_present

    def _expect_token(self, token: str) -> None:
        if self._consume_token() != token:
            raise Unparsed(f"expected {token} at token {self._place}")

    def _read_from_clause(self) -> tuple[tuple[str | EMQuery, ...], Conditions]:
        """Read the tables and ON conditions after the next FROM, even if that is a subquery's."""
        self._place = self._tokens.index("from", self._place) + 1
        tables: list[str | EMQuery] = []
        units: list[ConditionUnit] = []
        words: list[str] = []
        self._default = []
        while self._peek_token():
            has_bracket = self._skip_token_if_present("(")
            if self._tokens[self._place] == "select":
                tables.append(self.read_query())
            else:
                self._skip_token_if_present("join")
                table = self._tables[self._consume_token()]
                if table not in self._names.ids:
                    raise KeyError(table)
                if self._peek_token() == "as":
                    self._place += 2
                self._default.append(table)
                tables.append(table)
            if self._skip_token_if_present("on"):
                conditions = self._read_conditions()
                words += [*(["and"] if units else []), *conditions.words]
                units += conditions.units
            if has_bracket:
                self._expect_token(")")
            if self._peek_token() in _CLAUSE_ENDS:
                break
        return tuple(tables), Conditions(tuple(units), tuple(words))

    def _read_order_by(self) -> OrderBy:
        self._expect_token("by")
        units: list[ValueUnit] = []
        direction = "asc"
        while self._peek_token() not in _CLAUSE_ENDS:
            units.append(self._read_value_unit())
            if self._peek_token() in ("asc", "desc"):
                direction = self._consume_token()
            if not self._skip_token_if_present(","):
                break
        return OrderBy(direction, tuple(units))

    def _read_column_name(self) -> str:
        word = self._consume_token()
        if word == "*":
            return word
        if "." in word:
            alias, *parts = word.split(".")
            full = f"{self._tables[alias]}.{parts[0]}"
            if len(parts) != 1 or full not in self._names.ids:
                raise KeyError(word)
            return full
        for table in self._default:
            if word in self._names.columns[table]:
                return f"{table}.{word}"
        raise Unparsed(f"no table has a column {word}")

    def _read_column_unit(self) -> ColumnUnit:
        has_bracket = self._skip_token_if_present("(")
        aggregate = "none"
        if self._tokens[self._place] in _AGGREGATES:
            aggregate = self._consume_token()
            self._expect_token("(")
            # The bracket that opened before an aggregate is never asked to close.
            has_bracket = True
        distinct = self._skip_token_if_present("distinct")
        column = self._read_column_name()
        if has_bracket:
            self._expect_token(")")
        return ColumnUnit(aggregate, column, distinct)

    def _read_value_unit(self) -> ValueUnit:
        has_bracket = self._skip_token_if_present("(")
        left = self._read_column_unit()
        operator, right = "none", None
        if self._peek_token() in _ARITHMETIC:
            operator = self._consume_token()
            right = self._read_column_unit()
        if has_bracket:
            self._expect_token(")")
        return ValueUnit(operator, left, right)

    def _read_conditions(self) -> Conditions:
        units: list[ConditionUnit] = []
        words: list[str] = []
        while self._peek_token():
            unit = self._read_value_unit()
            is_negated = self._skip_token_if_present("not")
            operator = self._consume_token()
            if operator not in _OPERATORS:
                raise Unparsed(f"{operator} is not a comparison")
            first, second = self._read_comparison_value(), None
            if operator == "between":
                self._expect_token("and")
                second = self._read_comparison_value()
            units.append(ConditionUnit(is_negated, operator, unit, first, second))
            if self._peek_token() in _CLAUSE_ENDS | _JOINING:
                break
            if self._peek_token() in ("and", "or"):
                words.append(self._consume_token())
        return Conditions(tuple(units), tuple(words))

    def _read_comparison_value(self) -> Value:
        start = self._place
        has_bracket = self._skip_token_if_present("(")
        word = self._tokens[self._place]
        value: Value
        if word == "select":
            value = self.read_query()
        elif '"' in word:
            value = self._consume_token()
        else:
            try:
                value = float(word)
                self._place += 1
            except ValueError:
                # A column, read from a cut that excludes the closing bracket: an aggregate never fits in.
                end = self._place
                while end < len(self._tokens) and self._tokens[end] not in _VALUE_ENDS:
                    end += 1
                inner_parser = _QueryParser(self._tokens[start:end], self._names, self._tables)
                inner_parser._default = self._default
                self._place = end
                value = inner_parser._read_column_unit()
        if has_bracket:
            self._expect_token(")")
        return value


Clause = Literal["select", "where", "group", "order", "and/or", "IUEN", "keywords", "from"]
"""What queries are compared by; IUEN is INTERSECT, UNION, EXCEPT and what follows them."""


def compare_clauses(prediction: EMQuery | None, gold: EMQuery, foreign_keys: Mapping[str, str]) -> tuple[Clause, ...]:
    """Return the clauses in which two queries differ (CREDIT-SQL 5.7, figure 7).

    A prediction that could not be read, None, is compared as an empty query.
    """

    def normalise_query(query: EMQuery) -> EMQuery:
        tables = frozenset(table for table in query.tables if isinstance(table, str))
        keys = {column: target for column, target in foreign_keys.items() if column.partition(".")[0] in tables}
        return _strip_values(query, keys)

    return tuple(_find_differences(normalise_query(prediction or EMQuery()), normalise_query(gold)))


def _strip_values(query: EMQuery, keys: Mapping[str, str] | None) -> EMQuery:
    """Return a query without values; with `keys`, also without DISTINCT and with unified keys.

    `keys` holds for the tables of the outermost query, also where a combined query has others. Queries in conditions
    lose their values alone, those in FROM nothing.
    """

    def strip_conditions(clause: Conditions) -> Conditions:
        values = [
            [_strip_values(value, None) if isinstance(value, EMQuery) else None for value in unit[3:]]
            for unit in clause.units
        ]
        units = (ConditionUnit(*unit[:3], *pair) for unit, pair in zip(clause.units, values, strict=True))
        return unify_columns(clause._replace(units=tuple(units)))

    def unify_columns(part: Any) -> Any:
        if keys is None:
            return part
        if isinstance(part, ColumnUnit):
            return ColumnUnit(part.aggregate, keys.get(part.column, part.column), None)
        if not isinstance(part, tuple):
            return part
        parts = [unify_columns(item) for item in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)

    return replace(
        query,
        distinct=query.distinct if keys is None else None,
        joins=strip_conditions(query.joins),
        outputs=unify_columns(query.outputs),
        where=strip_conditions(query.where),
        group=unify_columns(query.group),
        having=strip_conditions(query.having),
        order=unify_columns(query.order),
        compound=query.compound and (query.compound[0], _strip_values(query.compound[1], keys)),
    )


def _find_differences(prediction: EMQuery, gold: EMQuery) -> Iterator[Clause]:
    if Counter(prediction.outputs) != Counter(gold.outputs):
        yield "select"
    if Counter(prediction.where.units) != Counter(gold.where.units):
        yield "where"
    # Columns as a set by bare name; then, with their tables, in order, together with HAVING.
    columns = [[unit.column for unit in query.group] for query in (prediction, gold)]
    bare = [Counter(column.partition(".")[2] or column for column in side) for side in columns]
    if bare[0] != bare[1] or (gold.group and (columns[0] != columns[1] or prediction.having != gold.having)):
        yield "group"
    # LIMIT is compared only if there is an ORDER BY; elsewhere by the keywords.
    if prediction.order != gold.order or (gold.order and prediction.limit != gold.limit):
        yield "order"
    if set(prediction.where.words) != set(gold.where.words):
        yield "and/or"
    ours, theirs = prediction.compound, gold.compound
    if ours is None or theirs is None:
        if ours is not theirs:
            yield "IUEN"
    elif ours[0] != theirs[0] or any(_find_differences(ours[1], theirs[1])):
        yield "IUEN"
    if _find_keywords(prediction) != _find_keywords(gold):
        yield "keywords"
    if gold.tables and Counter(prediction.tables) != Counter(gold.tables):
        yield "from"


def _find_keywords(query: EMQuery) -> set[str]:
    conditions, words = query.conditions
    clauses = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        "limit": query.limit,
        "or": "or" in words,
        "not": any(condition.negated for condition in conditions),
        "in": any(condition.operator == "in" for condition in conditions),
        "like": any(condition.operator == "like" for condition in conditions),
    }
    keywords = {word for word, clause in clauses.items() if clause}
    if query.order is not None:
        keywords.add(query.order.direction)
    return keywords if query.compound is None else {*keywords, query.compound[0]}


def compute_hardness(gold: EMQuery) -> Literal["easy", "medium", "hard", "extra"]:
    """Return Spider's difficulty level, by the numbers of clauses and nested queries."""
    conditions, words = gold.conditions
    # WHERE, GROUP BY, ORDER BY and LIMIT, each join, each OR and each LIKE.
    clauses = sum((bool(gold.where.units), bool(gold.group), gold.order is not None, gold.limit))
    clauses += max(len(gold.tables) - 1, 0) + words.count("or")
    clauses += sum(condition.operator == "like" for condition in conditions)
    # Queries that conditions compare with, and the combined one; those in FROM are not counted.
    subqueries = sum(
        isinstance(value, EMQuery) for condition in conditions for value in (condition.first, condition.second)
    )
    subqueries += gold.compound is not None
    # The official tool looks at the first field of each condition, which is the negation: a NOT in WHERE or HAVING
    # counts as an aggregate, a condition's own aggregate doesn't; each AND or OR of HAVING counts as well.
    order = gold.order.units if gold.order else ()
    columns = [*gold.group, *(part for unit in order for part in (unit.left, unit.right) if part is not None)]
    aggregates = sum(unit.aggregate != "none" for unit in (*gold.outputs, *columns))
    aggregates += sum(unit.negated for unit in gold.where.units + gold.having.units) + len(gold.having.words)
    where_count = len(gold.where.units) + len(gold.where.words)
    component_count = sum(count > 1 for count in (aggregates, len(gold.outputs), where_count, len(gold.group)))
    if subqueries == 0:
        if clauses <= 1 and component_count == 0:
            return "easy"
        if (clauses <= 1 and component_count <= 2) or (clauses <= 2 and component_count < 2):
            return "medium"
        if (clauses <= 2 and component_count > 2) or (clauses == 3 and component_count <= 2):
            return "hard"
        return "extra"
    return "hard" if subqueries == 1 and clauses <= 1 and component_count == 0 else "extra"
