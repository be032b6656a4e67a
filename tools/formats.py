"""Formats of result cells for people: numbers, money, per cent, units and dates.

A format is chosen once for a whole column, from the query, the schema and the values. Keys, years and codes stay as
they are, and so does every cell that its column's format does not fit: a cell is never made into another value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from .database.column_kinds import is_numeric_date_column
from .database.schema import ColumnSchema, TableSchema
from .database.table import Cell, convert_cell
from .errors import SettingsError
from .measures import (
    find_unit_in_comment,
    find_unit_in_name,
    has_word_of_kind,
    load_measures_and_words,
)
from .sql.dialects import fold
from .sql.parse import return_default_if_unparsable
from .sql.query import Query
from .sql.scope import is_aggregate_call
from .terminal import sanitize_text
from .words import make_singular, match_time, split_name_into_words, stem_name, stems

if TYPE_CHECKING:
    from babel import Locale

FormatKind = Literal[
    "text", "key", "year", "number", "money", "percent", "boolean", "month", "date", "minute", "second"
]

ENGLISH = ("", "en")
"""Names of the locale that needs no library."""

_DAY = "%d %b %Y"
_DATES: dict[FormatKind, str] = {
    "month": "%B %Y",
    "date": _DAY,
    "minute": f"{_DAY} %H:%M",
    "second": f"{_DAY} %H:%M:%S",
}
_DATE_KINDS = list(_DATES)
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£"}

_LOOKED, _DATES_LOOKED = 1_000, 50  # rows whose values choose a format, and of these the texts that may be dates
_MOST_COMPUTED, _MOST_MEASURED, _MOST_STORED = 2, 3, 6  # decimals of a computed number, and of one of a table
_DIGITS = 12  # that floats hold without noise: 497598.4200000017 is 497598.42
_LONGEST = 15  # digits before the point that a float has
_MOST_ZEROS = 100  # of a power of ten that is read
_YEARS, _LIKELY_YEARS = range(1000, 3000), range(1700, 2101)  # with a name that says so, and without

_CODE_NAME = re.compile(r".*(?:code|nummer)|(?:\w{4,})?nr")  # such as zipcode, Kundennummer and ArtikelNr
_CODE_DIGITS = 8  # from which numbers of one length are codes
_CODE_BESIDE = re.compile(r"(?<=[^\W\d_])(?=-?\d)|(?<=\d)(?=[^\W\d_])")  # a currency's letters at a number


@dataclass(frozen=True)
class ColumnFormat:
    """The display format of a result column; `key`, `year` and `text` values stay unchanged.

    Attributes:
        kind: What the column holds.
        decimals: Digits after the decimal point; of a number that has none there, a few where it is not whole.
        currency: The ISO code of an amount of money.
        unit: Stands after a number, as in 12 kg.
        locale: The name of the language and country for which it is written, as in `de` or `pt_BR`; English if empty.
    """

    kind: FormatKind = "text"
    decimals: int = 0
    currency: str = ""
    unit: str = ""
    locale: str = ""

    @property
    def measure(self) -> str:
        """The currency or unit of the numbers, as in EUR, kg or %; empty if unknown."""
        return self.currency or self.unit or ("%" if self.kind == "percent" else "")

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers, which are right-aligned."""
        return self.kind in ("key", "year", "number", "money", "percent")


PLAIN, PLAIN_NUMBER = ColumnFormat(), ColumnFormat("number")


def choose_column_formats(
    query: Query | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    definitions: Mapping[str, str] | None = None,
    locale: str = "",
) -> tuple[ColumnFormat, ...]:
    """Return a display format for each column of a result.

    Args:
        query: The query; None for a result that no readable query gave.
        columns: The result's column names.
        rows: The result's rows.
        definitions: Texts that say what is measured, by the names of the measures.
        locale: The locale of the formats.
    """
    meanings = (_read_output_meanings(query, columns) if query else ()) or (_Meaning(),) * len(columns)
    units = {frozenset(stems(name)): find_unit_in_comment(text) for name, text in (definitions or {}).items()}
    cells = list(zip(*rows[:_LOOKED], strict=True)) or [()] * len(columns)
    formats: list[ColumnFormat] = []
    for name, meaning, values in zip(columns, meanings, cells, strict=True):
        measure = find_unit_in_name(name) if meaning.named else ""
        measure = measure or units.get(frozenset(stem_name(name))) or meaning.find_unit(name)
        form = _choose_column_format(split_name_into_words(name), replace(meaning, measure=measure), values)
        formats.append(replace(form, locale=locale) if locale else form)
    return tuple(formats)


def _choose_column_format(words: Sequence[str], meaning: _Meaning, values: Sequence[Cell]) -> ColumnFormat:
    cells = [value for value in values if value is not None]
    texts = [value for value in cells[:_DATES_LOOKED] if isinstance(value, str)]
    numbers = [value for value in cells if isinstance(value, int | float)]
    floats = [number for number in numbers if isinstance(number, float)]
    role, measure = meaning.role, meaning.measure
    is_year = role == "year" or (not role and has_word_of_kind("year", words))
    if texts and not numbers:
        are_years = is_year and all(text.isdecimal() and int(text) in _YEARS for text in texts)
        return ColumnFormat("year" if are_years else _detect_date_kind(words, texts))
    if not numbers or len(numbers) < len(cells) or not all(map(math.isfinite, floats)):
        return PLAIN
    is_whole = all(map(float.is_integer, floats))
    if role == "flag" and set(numbers) <= {0, 1}:
        return ColumnFormat("boolean")
    if role == "key" or (not role and _is_key_name(words)):
        return ColumnFormat("key")
    is_likely_year = meaning.stored and not role and not measure and not has_word_of_kind("money", words)
    largest = max(map(abs, numbers))
    most = _MOST_COMPUTED
    if meaning.stored:
        most = _MOST_MEASURED if _is_unit(measure) else _MOST_STORED
    if most < _MOST_STORED and 0 < largest < 1:  # three significant digits
        most = min(10, _MOST_COMPUTED - math.floor(math.log10(largest)))
    decimals = 0 if is_whole else max(_count_decimal_places(number, most) for number in floats)
    if (is_whole and (is_year or is_likely_year)) or role == "year":  # such as a mean
        years = _YEARS if is_year else _LIKELY_YEARS
        if years.start <= min(numbers) and max(numbers) < years.stop:
            return ColumnFormat("year", decimals if meaning.stored else 0)
    if role == "count":
        return ColumnFormat("number", decimals)
    if _is_currency(measure):
        return ColumnFormat("money", 0 if is_whole else max(2, decimals), measure)
    # What is not proven to be a ratio times 100 may be written as 0.25: it stays a number.
    is_share = role == "ratio" and meaning.factor == 100 and has_word_of_kind("ratio", words)
    if is_share or (measure == "%" and (largest > 1 or not largest)):
        return ColumnFormat("percent", decimals)
    return ColumnFormat("number", decimals, unit=measure.replace("%", ""))


def _count_decimal_places(number: float, limit: int) -> int:
    """Return the number of decimal places, up to `limit`, without floating-point noise."""
    text = f"{number:.{_DIGITS}g}"
    return limit if "e" in text else min(limit, len(text.partition(".")[2]))


def _is_key_name(words: Sequence[str]) -> bool:
    """Whether a name is that of a key or code."""
    is_last = words[-1] in ("number", "no")
    if len(words) > 1 and "of" not in words and (is_last or has_word_of_kind("key_first", words[:1])):
        noun = words[-2 if is_last else -1]
        if make_singular(noun) == noun:  # `visits_number` counts
            return True
    is_code = _CODE_NAME.fullmatch(words[-1]) or has_word_of_kind("key", words[-1:])
    return bool(is_code) or has_word_of_kind("key_anywhere", words)


def _holds_codes(column: ColumnSchema) -> bool:
    """Whether a column's numbers are all as long as those of phones, goods or people."""
    samples = column.samples
    lengths = {len(str(sample)) if isinstance(sample, int) else 0 for sample in samples}
    return len(samples) > 2 and len(lengths) == 1 and min(lengths) >= _CODE_DIGITS


def _detect_date_kind(words: Sequence[str], texts: Sequence[str]) -> FormatKind:
    """Return the kind of date that fits all texts; `text` if some are not dates."""
    moments = [moment for moment in map(parse_date_text, texts) if moment]
    if len(moments) < len(texts):
        return "text"
    finest = _DATE_KINDS[max(_DATE_KINDS.index(_find_finest_date_part(moment)) for moment in moments)]
    are_months = all(len(text) == len("2024-01") for text in texts) or has_word_of_kind("month", words)
    return "date" if finest == "month" and not are_months else finest


def _find_finest_date_part(moment: datetime) -> FormatKind:
    if moment.hour or moment.minute or moment.second:
        return "second" if moment.second else "minute"
    return "date" if moment.day > 1 else "month"


# What the query says of its outputs

_Role = Literal["", "key", "year", "count", "flag", "rate", "amount", "ratio"]
"""What numbers are."""

_SCALES = frozenset({7, 12, 24, 60, 365, 3600})
"""Beside powers of ten, the constants that make one unit of another."""


@dataclass(frozen=True)
class _Meaning:
    """The meaning of a query's output: role, and currency, unit or `%` of the numbers."""

    role: _Role = ""
    measure: str = ""
    stored: bool = False  # whether its numbers stand in a table, or are rounded: all their digits count
    factor: float = 1.0  # how many times the measure's number it is: 0.001 of a sum in thousands
    constant: float | None = None  # the number, of one that the query states
    named: bool = True  # whether it has a name; the text of a product is none, though it ends in a unit

    def find_unit(self, name: str) -> str:
        """Return the unit of the numbers; if they are scaled, only a `name` such as hours tells it."""
        if math.isclose(self.factor, 1):
            return self.measure
        is_unit = self.named and _is_unit(self.measure)
        return load_measures_and_words()[0].get(name.lower(), "") if is_unit else ""

    def get_factor(self, measure: str) -> float:
        """Return the factor that scales numbers in `measure`; a rate such as 1.2 scales no money."""
        if self.constant is None:
            return self.factor
        if self.constant and (_is_unit(measure) or _is_scale(self.constant)):
            return abs(self.constant)
        return 1.0


def _is_currency(measure: str) -> bool:
    return len(measure) == 3 and measure.isupper()


def _is_unit(measure: str) -> bool:
    return measure not in ("", "%") and not _is_currency(measure)


def _is_scale(number: float) -> bool:
    """Whether a constant converts between units, as 1000 and 1/60 do; 1.2 and 0.19 are rates."""
    size = round(max(abs(number), 1 / abs(number)), 6)
    return size in _SCALES or (size >= 100 and math.log10(size).is_integer())


@return_default_if_unparsable(())
def _read_output_meanings(query: Query, columns: Sequence[str]) -> tuple[_Meaning, ...]:
    outputs, reader = query.tree.expressions, _OutputMeaningReader(query)
    if not isinstance(query.tree, exp.Select):
        return ()
    if len(outputs) == len(columns) and not query.tree.is_star:
        return tuple(reader.read_output(item) for item in outputs)
    return tuple(map(reader.get_meaning_by_name, columns))


_COUNTS = (exp.Count, exp.CountIf, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Length)
_FLAGS = (exp.Predicate, exp.Not, exp.Connector)
_UNCHANGED = (exp.Min, exp.Max, exp.Neg, exp.Abs, exp.Cast, exp.Filter, exp.Window, exp.Floor, exp.Ceil, exp.Nullif)
"""Expressions that mean what their argument means."""


class _OutputMeaningReader:
    """A reader of the meaning of a query's expressions, used to choose formats."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._keys = {(key.table, column) for key in query.schema.foreign_keys for column in key.columns}
        self._meanings: dict[int, _Meaning] = {}

    def get_meaning_by_name(self, name: str) -> _Meaning:
        """Return the meaning that all columns with this name share; empty if they differ."""
        columns = [(table, table.column(name)) for table in self._query.tables.values()]
        meanings = {self._read_table_column_meaning(table, column) for table, column in columns if column is not None}
        return meanings.pop() if len(meanings) == 1 else _Meaning()

    def read_output(self, item: exp.Expr) -> _Meaning:
        """Return the meaning of an output of the query, and whether it has a name."""
        is_named = isinstance(item, exp.Alias) or item.find(exp.Mul, exp.Div) is None
        return replace(self.read_meaning(item.unalias()), named=is_named)

    def read_meaning(self, node: exp.Expr) -> _Meaning:
        """Return the meaning of an expression, from the cache if possible."""
        node = node.unnest()
        if id(node) not in self._meanings:
            self._meanings[id(node)] = self._read_expression_meaning(node)
        return self._meanings[id(node)]

    def _read_expression_meaning(self, node: exp.Expr) -> _Meaning:
        match node:
            case exp.Column():
                return self._read_column_reference_meaning(node)
            case exp.Round():
                return replace(self.read_meaning(node.this), stored=node.args.get("decimals") is not None)
            case exp.Sum() | exp.Avg():
                inner, is_sum = self.read_meaning(node.this), isinstance(node, exp.Sum)
                if inner.role == "year" and not is_sum:
                    return _Meaning("year")
                plain = inner.role in ("key", "year", "flag") or (is_sum and inner.measure == "%")
                return _Meaning("amount", "" if plain else inner.measure, factor=inner.factor)
            case exp.Literal():
                value = self._query.literal(node)
                return _Meaning(constant=value if isinstance(value, float) else None)
            case exp.Pow():
                base, power = self.read_meaning(node.this).constant, self.read_meaning(node.expression).constant
                if base != 10 or power is None or power > _MOST_ZEROS:
                    return _Meaning()
                return _Meaning(constant=10**power)
            case exp.Coalesce():
                return self._read_common_meaning([node.this, *node.expressions])
            case exp.Case():
                branches = (branch.args["true"] for branch in node.args["ifs"])
                return self._read_common_meaning([*branches, *filter(None, [node.args.get("default")])])
            case exp.Add() | exp.Sub():
                return replace(self._read_common_meaning([node.left, node.right]), stored=False)
            case exp.Mul() | exp.Div():
                return self._read_product_meaning(node)
            case exp.Year() | exp.Extract():
                return _Meaning("year" if isinstance(node, exp.Year) or node.name.upper() == "YEAR" else "count")
            case exp.Select() if len(node.expressions) == 1:
                return self.read_meaning(node.expressions[0].unalias())
            case exp.TimeToStr() if node.text("format") == "%Y":
                return _Meaning("year")
            case _ if isinstance(node, _UNCHANGED):
                return self.read_meaning(node.this)
            case _ if isinstance(node, _COUNTS):
                return _Meaning("count")
            case _ if isinstance(node, _FLAGS):
                return _Meaning("flag")
            case _:
                return _Meaning("amount" if is_aggregate_call(node) else "")

    def _read_table_column_meaning(self, table: TableSchema, column: ColumnSchema) -> _Meaning:
        words = split_name_into_words(column.name)
        is_key = column.primary_key or column.likely_key or column.codes or (table.name, column.name) in self._keys
        if is_key or _is_key_name(words) or is_numeric_date_column(column):
            return _Meaning("key")
        if column.kind == "boolean":
            return _Meaning("flag")
        if has_word_of_kind("rate", words):
            return _Meaning("rate", stored=True)
        measure = find_unit_in_name(column.name) or find_unit_in_comment(column.comment)
        is_money = has_word_of_kind("money", words)
        if not measure and is_money:
            measure = find_unit_in_comment(table.comment)
        if not measure and not is_money and _holds_codes(column):
            return _Meaning("key")
        if (is_money and not measure) or ("per" in words and not _is_currency(measure)):
            return _Meaning("rate", stored=True)  # what is multiplied by it is no amount of its own unit
        year = has_word_of_kind("year", words) and not measure
        return _Meaning("year" if year else "", measure, stored=True)

    def _read_column_reference_meaning(self, node: exp.Column) -> _Meaning:
        """Return the meaning of a referenced column of a table or a subquery."""
        if (column := self._query.column(node)) is not None:
            return self._read_table_column_meaning(column.table, column.schema)
        reference = self._query.reference(node)
        source = reference.source if reference is not None else None
        inner = source.query.unnest() if source is not None and source.query is not None else None
        outputs = inner.expressions if isinstance(inner, exp.Select) else []
        outputs = [item for item in outputs if fold(item.alias_or_name) == fold(node.name)]
        if len(outputs) != 1:
            return _Meaning()
        meaning = self.read_meaning(outputs[0].unalias())
        unit = find_unit_in_name(node.name) or replace(meaning, named=True).find_unit(node.name)
        return replace(meaning, measure=unit, factor=1.0) if unit else meaning

    def _read_common_meaning(self, parts: Sequence[exp.Expr]) -> _Meaning:
        """Return the meaning that all the expressions share, apart from constants."""
        meanings = {self.read_meaning(part) for part in parts if part.find(exp.Column, exp.Func) is not None}
        measures = {(meaning.measure, meaning.factor) for meaning in meanings}
        if len(meanings) == 1:
            return meanings.pop()
        measure, factor = measures.pop() if len(measures) == 1 else ("", 1.0)
        return _Meaning("amount", measure, factor=factor)

    def _read_product_meaning(self, node: exp.Mul | exp.Div) -> _Meaning:
        """Return the meaning of a product or quotient: money divided by money is a ratio."""
        left, right = self.read_meaning(node.left), self.read_meaning(node.right)
        if left.constant is not None and right.constant is not None:
            other = right.constant or 1.0
            return _Meaning(constant=left.constant / other if isinstance(node, exp.Div) else left.constant * other)
        measure = left.measure or right.measure
        first, second = left.get_factor(measure), right.get_factor(measure)
        if isinstance(node, exp.Div):
            if left.measure == right.measure:
                # Of what has no unit, a constant is the whole.
                return _Meaning("ratio", factor=first if right.constant is not None else first / second)
            if left.measure == "%" and math.isclose(first / second, 1 / 100):
                return _Meaning("ratio")
            has_measure = not right.measure and right.role != "rate"
            return _Meaning("amount", left.measure if has_measure else "", factor=first / second)
        if left.constant is not None or right.constant is not None:
            operand = right if left.constant is not None else left
            role = operand.role if operand.role in ("ratio", "rate") else "amount"
            return _Meaning(role, operand.measure, factor=first * second)
        factor = first * second
        if left.measure and right.measure:
            amounts = [amount for amount in (left.measure, right.measure) if amount != "%"]
            # A percentage of an amount is that many hundredths of it.
            measure, factor = amounts[0] if len(amounts) == 1 else "", factor * 100
        return _Meaning("amount", "" if "rate" in (left.role, right.role) else measure, factor=factor)


# Cells as text


def format_cell(cell: Cell, form: ColumnFormat, locale: str = "") -> str:
    """Return a cell as display text, in `locale` or the format's locale; `NULL` if missing."""
    locale = locale or form.locale
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return _format_date_text(cell, form.kind, locale) if form.kind in _DATES else cell
    if isinstance(cell, bytes) or (isinstance(cell, float) and not math.isfinite(cell)):
        return str(convert_cell(cell))
    if form.kind == "boolean" and cell in (0, 1):
        from .labels import Labels  # which writes numbers by this module

        return Labels(locale).say("yes" if cell else "no")
    if form.kind in ("number", "money", "percent"):
        return _format_number(cell, form, locale)
    if isinstance(cell, float) and (form.kind == "year" or (form.kind == "key" and cell.is_integer())):
        return f"{cell:.{form.decimals}f}"
    return str(cell)


def find_number_marks(form: ColumnFormat) -> tuple[str, str, str, str]:
    """Return the prefix, thousands separator, decimal mark and suffix of formatted numbers."""
    text = format_cell(1234567.5, replace(form, decimals=1))
    start, end = text.index("1"), text.rindex("5") + 1
    return text[:start], text[end - 6 : end - 5], text[end - 2 : end - 1], text[end:]


def format_rows(rows: Iterable[Sequence[Cell]], formats: Sequence[ColumnFormat]) -> list[tuple[str | None, ...]]:
    """Return rows with all cells as display text; None for a missing value."""
    pairs = (zip(row, formats, strict=True) for row in rows)
    return [tuple(None if cell is None else format_cell(cell, form) for cell, form in row) for row in pairs]


def _format_number(number: int | float, form: ColumnFormat, locale: str) -> str:
    decimals = form.decimals if abs(number) < 10**_LONGEST else 0
    if isinstance(number, float):
        size = math.floor(math.log10(abs(number))) if number else 0
        if not -_DIGITS < size < _LONGEST:
            return f"{number:.4g}"
        if not decimals and not number.is_integer():
            decimals = _MOST_COMPUTED
        if number and abs(number) < 0.5 * 10**-decimals:
            decimals = _MOST_COMPUTED - size  # nothing but zero is written as zero
    if locale not in ENGLISH:
        text = _format_number_with_babel(number, decimals, form, locale)
    else:
        mark = _SYMBOLS.get(form.currency) or (f"{form.currency}\N{NO-BREAK SPACE}" if form.currency else "")
        digits = f"{abs(number):,.{decimals}f}" if decimals or isinstance(number, float) else f"{abs(number):,}"
        text = f"{'-' if number < 0 else ''}{mark}{digits}{'%' if form.kind == 'percent' else ''}"
    return f"{text}\N{NO-BREAK SPACE}{form.unit}" if form.unit else text


def parse_date_text(text: str) -> datetime | None:
    """Parse a month, a day or a date with time; return None for any other text."""
    match = match_time(text, "month")
    if match is None or int(match["year"]) not in _YEARS:
        return None
    try:
        moment = datetime.fromisoformat(f"{text[:7]}-{match['day'] or '01'} {(match['clock'] or '00:00')[:8]}")
    except ValueError:  # the 31st of February
        return None
    # A part of a second and a zone are not written.
    return None if re.search("[1-9 ]", f"{match['fraction']}{match['zone']}") else moment


def _format_date_text(text: str, kind: FormatKind, locale: str) -> str:
    """Format a text that is a date for people; return any other text unchanged."""
    moment = parse_date_text(text)
    if moment is None:
        return text
    # As fine as the column, or finer: no part of a date is left out.
    kind = max(kind, _find_finest_date_part(moment), key=_DATE_KINDS.index)
    if locale not in ENGLISH:
        return _format_date_with_babel(moment, kind, locale)
    return moment.strftime(_DATES[kind]).lstrip("0")


# Other languages; Babel is imported late, because English does without its data


@lru_cache(maxsize=64)
def find_babel_locale(name: str) -> Locale:
    """Return the Babel locale for a name such as `de`, `pt_BR` or `pt-BR`.

    Raises:
        SettingsError: There is no such locale.
    """
    from babel import Locale
    from babel.localedata import locale_identifiers

    locale = Locale.negotiate([name.replace("-", "_")], locale_identifiers())
    if locale is None:
        raise SettingsError(f"there is no locale {name!r}: use a name such as en, de or pt_BR")
    return locale


def _format_number_with_babel(number: int | float, decimals: int, form: ColumnFormat, name: str) -> str:
    from babel.numbers import parse_pattern

    locale = find_babel_locale(name)
    formats = {"money": locale.currency_formats["standard"], "percent": locale.percent_formats[None]}
    pattern = parse_pattern(formats.get(form.kind, locale.decimal_formats[None]).pattern)
    pattern.frac_prec = decimals, decimals
    value = Decimal(str(number)) / (100 if form.kind == "percent" else 1)
    text = pattern.apply(value, locale, currency=form.currency or None, currency_digits=False)
    text = _CODE_BESIDE.sub("\N{NO-BREAK SPACE}", text)
    return sanitize_text(text).replace("\N{REPLACEMENT CHARACTER}", "")  # marks for the direction of writing


def _format_date_with_babel(moment: datetime, kind: FormatKind, name: str) -> str:
    from babel.dates import format_date, format_skeleton, format_time

    locale = find_babel_locale(name)
    if kind == "month":
        return format_skeleton("yMMMM", moment, locale=locale)
    day = format_date(moment, "medium", locale)
    clock = {"minute": "short", "second": "medium"}.get(kind)
    # Browsers write no narrow space here.
    return (
        f"{day} {format_time(moment, clock, locale=locale)}".replace("\N{NARROW NO-BREAK SPACE}", " ") if clock else day
    )
