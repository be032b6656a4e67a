"""How the official evaluator reads a query.

It cuts SQL into tokens by the Penn Treebank's rules for English: `a=1` stays one token (and its query is unreadable),
while `a>1` is three, and a comma before a digit does not separate. It reads the SQL that Spider's annotators were told
to write, and its quirks decide scores: aliases hold for the whole text and need AS, a column without a table belongs to
the first table that has it, IN takes one value or a query, an aliased subquery in FROM is unreadable, and what follows
a complete query is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...tools.errors import SettingsError, TableturnError
from .matching import ColumnUnit, Condition, Conditions, Order, Output, Query, Value, ValueUnit

_STRING = re.compile('"[^"]*"')
_SEPARATE = re.compile(r"(--|\.{2,}|`+|[;@#$%&?!*\[\](){}<>«»“”‘’„]|[:,](?!\d))")
_FINAL_PERIOD = re.compile(r"(?<!\.)\.\s*$")


class OddQuotes(ValueError):
    """A query with an unpaired quote cannot be cut."""


def tokenize(sql: str) -> list[str]:
    """Tokens in lower case; strings whole, in double quotes, in their own case.

    Raises:
        OddQuotes: A quote has no partner. An apostrophe counts as a quote.
    """
    text = sql.replace("'", '"')
    if text.count('"') % 2:
        raise OddQuotes("unpaired quote")
    strings: dict[str, str] = {}

    def hide(found: re.Match[str]) -> str:
        key = f"__val_{found.start()}__"
        strings[key] = found.group()
        return key

    text = _STRING.sub(hide, text)
    text = _FINAL_PERIOD.sub(" . ", _SEPARATE.sub(r" \1 ", text))
    return _join_comparisons([strings.get(word, word) for word in text.lower().split()])


def _join_comparisons(tokens: list[str]) -> list[str]:
    """Puts `!`, `<`, `>` and a following `=` together again."""
    joined: list[str] = []
    for word in tokens:
        if word == "=" and joined and joined[-1] in ("!", "<", ">"):
            joined[-1] += "="
        else:
            joined.append(word)
    return joined


@dataclass(frozen=True)
class Names:
    """Columns' names by table's name, all in lower case. Views are not among them."""

    columns: Mapping[str, tuple[str, ...]]

    @cached_property
    def ids(self) -> frozenset[str]:
        """Everything that a query may refer to: `*`, `table` and `table.column`."""
        full = {f"{table}.{column}" for table, columns in self.columns.items() for column in columns}
        return frozenset({"*", *self.columns, *full})


def read_foreign_key_maps(path: Path) -> dict[str, dict[str, str]]:
    """The column that each foreign-key column stands for, by database, from a tables.json.

    Raises:
        SettingsError: The file is missing or is no tables.json.
    """
    try:
        return {
            entry["db_id"]: _group_keys(
                _column_ids(entry["table_names_original"], entry["column_names_original"]), entry["foreign_keys"]
            )
            for entry in json.loads(path.read_text(encoding="utf-8"))
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{path} cannot be read as a Spider tables.json: {error!r}") from error


def declared_keys(names: Names, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """As `read_foreign_key_maps`, for a database that no tables.json describes.

    Args:
        names: The database's tables and columns, in its own order.
        pairs: A referring column and the one that it refers to, as `table.column` in lower case each.
    """
    columns = [(-1, "*"), *((number, column) for number, held in enumerate(names.columns.values()) for column in held)]
    ids = _column_ids(list(names.columns), columns)
    place = {name: number for number, name in enumerate(ids)}
    return _group_keys(ids, [(place[own], place[other]) for own, other in pairs if own in place and other in place])


def _group_keys(ids: Sequence[str], pairs: Iterable[Sequence[int]]) -> dict[str, str]:
    """Map `table.column` of every column in a foreign key to the first column of its group.

    A pair joins the first group that holds either end; groups that a later pair connects stay apart.
    """
    groups: list[set[int]] = []
    for pair in pairs:
        home = next((group for group in groups if not group.isdisjoint(pair)), None)
        if home is None:
            home = set[int]()
            groups.append(home)
        home.update(pair)
    return {ids[column]: ids[min(group)] for group in groups for column in group}


def _column_ids(tables: Sequence[str], columns: Iterable[tuple[int, str]]) -> list[str]:
    return [f"{tables[table]}.{column}".lower() if table >= 0 else "*" for table, column in columns]


CLAUSES = frozenset({"select", "from", "where", "group", "order", "limit", "intersect", "union", "except"})
JOINING = frozenset({"join", "on", "as"})
OPERATORS = frozenset({"not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"})
ARITHMETIC = frozenset({"none", "-", "+", "*", "/"})
AGGREGATES = frozenset({"none", "max", "min", "count", "sum", "avg"})
COMBINING = frozenset({"intersect", "union", "except"})
_CLAUSE_ENDS = CLAUSES | {")", ";"}


class Unparsed(TableturnError):
    """The official evaluator cannot read this query.

    What to do: nothing. The query has no EM score, as in the official evaluator.
    """


def parse(sql: str, names: Names) -> Query:
    """Reads a query.

    Raises:
        Unparsed: Wherever the official tool fails, be it valid SQL or not.
    """
    try:
        tokens = tokenize(sql)
        return _Reader(tokens, names, _tables_by_name(tokens, names)).query()
    except (OddQuotes, IndexError, KeyError, RecursionError) as error:
        raise Unparsed(f"unreadable for the official evaluator: {sql}") from error


def _tables_by_name(tokens: Sequence[str], names: Names) -> dict[str, str]:
    """What every alias stands for: the token before its AS, wherever that is; and each table for itself."""
    aliases = {tokens[place + 1]: tokens[place - 1] for place, word in enumerate(tokens) if word == "as"}
    clash = next((table for table in names.columns if table in aliases), None)
    if clash is not None:
        raise Unparsed(f"the alias {clash} is also a table's name")
    return aliases | {table: table for table in names.columns}


class _Reader:
    """Reads a query from a place in the tokens. A place past the end is an IndexError, an unknown table a KeyError."""

    def __init__(self, tokens: Sequence[str], names: Names, tables: Mapping[str, str], place: int = 0) -> None:
        self._tokens = tokens
        self._names = names
        self._tables = tables
        self._place = place
        self._default: list[str] = []

    def query(self) -> Query:
        """One query, in brackets or not, and what it is combined with."""
        outer = self._default
        start = self._place
        bracketed = self._skip("(")
        select = self._place
        self._place = start
        tables, joins = self._from()
        after_from = self._place
        self._place = select
        distinct, outputs = self._select()
        self._place = after_from
        where = self._conditions() if self._skip("where") else Conditions()
        group = self._group()
        having = self._conditions() if self._skip("having") else Conditions()
        order = self._order()
        limit = self._limit()
        self._skip_all(";")
        if bracketed:
            self._expect(")")
        self._skip_all(";")
        combined = None
        if self._peek() in COMBINING:
            combined = (self._take(), self.query())
        self._default = outer
        return Query(tables, joins, distinct, outputs, where, group, having, order, limit, combined)

    def _peek(self) -> str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _take(self) -> str:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _skip(self, token: str) -> bool:
        found = self._peek() == token
        self._place += found
        return found

    def _skip_all(self, token: str) -> None:
        while self._skip(token):
            pass

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise Unparsed(f"expected {token} at token {self._place}")

    def _from(self) -> tuple[tuple[str | Query, ...], Conditions]:
        """Tables and ON conditions. The next FROM counts, be it of a subquery in the SELECT list."""
        self._place = _index(self._tokens, "from", self._place) + 1
        tables: list[str | Query] = []
        units: list[Condition] = []
        words: list[str] = []
        self._default = []
        while self._peek() is not None:
            bracketed = self._skip("(")
            if self._tokens[self._place] == "select":
                tables.append(self.query())
            else:
                self._skip("join")
                tables.append(self._table())
            if self._skip("on"):
                found = self._conditions()
                words += [*(["and"] if units else []), *found.words]
                units += found.units
            if bracketed:
                self._expect(")")
            if self._peek() in _CLAUSE_ENDS:
                break
        return tuple(tables), Conditions(tuple(units), tuple(words))

    def _table(self) -> str:
        table = self._tables[self._take()]
        if table not in self._names.ids:
            raise KeyError(table)
        if self._peek() == "as":
            self._place += 2
        self._default.append(table)
        return table

    def _select(self) -> tuple[bool, tuple[Output, ...]]:
        self._expect("select")
        distinct = self._skip("distinct")
        outputs: list[Output] = []
        while (token := self._peek()) is not None and token not in CLAUSES:
            aggregate = self._take() if token in AGGREGATES else "none"
            outputs.append(Output(aggregate, self._value_unit()))
            self._skip(",")
        return distinct, tuple(outputs)

    def _column(self) -> str:
        word = self._take()
        if word == "*":
            return word
        if "." in word:
            alias, *rest = word.split(".")
            if len(rest) != 1:
                raise Unparsed(f"{word} is no column")
            full = f"{self._tables[alias]}.{rest[0]}"
            if full not in self._names.ids:
                raise KeyError(full)
            return full
        for table in self._default:
            if word in self._names.columns[table]:
                return f"{table}.{word}"
        raise Unparsed(f"no table has a column {word}")

    def _column_unit(self) -> ColumnUnit:
        bracketed = self._skip("(")
        if self._tokens[self._place] in AGGREGATES:
            aggregate = self._take()
            self._expect("(")
            distinct = self._skip("distinct")
            column = self._column()
            self._expect(")")
            # The bracket that opened before an aggregate is never asked to close here.
            return ColumnUnit(aggregate, column, distinct)
        distinct = self._skip("distinct")
        column = self._column()
        if bracketed:
            self._expect(")")
        return ColumnUnit("none", column, distinct)

    def _value_unit(self) -> ValueUnit:
        bracketed = self._tokens[self._place] == "("
        self._place += bracketed
        left = self._column_unit()
        operator, right = "none", None
        if self._peek() in ARITHMETIC:
            operator = self._take()
            right = self._column_unit()
        if bracketed:
            self._expect(")")
        return ValueUnit(operator, left, right)

    def _conditions(self) -> Conditions:
        units: list[Condition] = []
        words: list[str] = []
        while self._peek() is not None:
            units.append(self._condition())
            token = self._peek()
            if token in _CLAUSE_ENDS or token in JOINING:
                break
            if token in ("and", "or"):
                words.append(self._take())
        return Conditions(tuple(units), tuple(words))

    def _condition(self) -> Condition:
        unit = self._value_unit()
        negated = self._skip("not")
        operator = self._take()
        if operator not in OPERATORS:
            raise Unparsed(f"{operator} is no comparison")
        first = self._value()
        second: Value = None
        if operator == "between":
            self._expect("and")
            second = self._value()
        return Condition(negated, operator, unit, first, second)

    def _value(self) -> Value:
        start = self._place
        bracketed = self._skip("(")
        word = self._tokens[self._place]
        value: Value
        if word == "select":
            value = self.query()
        elif '"' in word:
            value = self._take()
        elif (number := _number(word)) is not None:
            value = number
            self._place += 1
        else:
            value = self._column_value(start)
        if bracketed:
            self._expect(")")
        return value

    def _column_value(self, start: int) -> ColumnUnit:
        """A column to compare with, read from a cut that excludes the closing bracket: an aggregate never fits in."""
        end = self._place
        while end < len(self._tokens) and not _ends_value(self._tokens[end]):
            end += 1
        cut = _Reader(self._tokens[start:end], self._names, self._tables)
        cut._default = self._default
        self._place = end
        return cut._column_unit()

    def _group(self) -> tuple[ColumnUnit, ...]:
        if not self._skip("group"):
            return ()
        self._expect("by")
        units: list[ColumnUnit] = []
        while (token := self._peek()) is not None and token not in _CLAUSE_ENDS:
            units.append(self._column_unit())
            if not self._skip(","):
                break
        return tuple(units)

    def _order(self) -> Order | None:
        if not self._skip("order"):
            return None
        self._expect("by")
        units: list[ValueUnit] = []
        direction = "asc"
        while (token := self._peek()) is not None and token not in _CLAUSE_ENDS:
            units.append(self._value_unit())
            if self._peek() in ("asc", "desc"):
                direction = self._take()
            if not self._skip(","):
                break
        return Order(direction, tuple(units))

    def _limit(self) -> bool:
        if not self._skip("limit"):
            return False
        self._take()
        return True


def _index(tokens: Sequence[str], token: str, start: int) -> int:
    try:
        return tokens.index(token, start)
    except ValueError as error:
        raise Unparsed(f"no {token} after token {start}") from error


def _ends_value(token: str) -> bool:
    return token in (",", ")", "and") or token in CLAUSES or token in JOINING


def _number(token: str) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None
