"""The conditions of a query, each with the words of the question behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..sql.explain import QueryExplainer
from ..sql.query import Query, QueryCondition
from ..values.match import ValueMatch
from ..words import ISO_TIME, MONTHS, NUMBER_WORDS, stem_name, words

_YEAR = re.compile(r"(1[89]|20)\d\d")
_AFTER = frozenset({"after", "later", "following", "past"})
_BEFORE = frozenset({"before", "until", "earlier", "by", "prior"})
_SINCE = frozenset({"since", "from", "starting", "on"})
_EXTREMES = {
    exp.Avg: ("average", "mean"),
    exp.Max: ("most", "largest", "highest", "latest"),
    exp.Min: ("least", "smallest", "lowest", "earliest"),
}


@dataclass(frozen=True)
class Filter:
    """A condition on the rows or groups of a result.

    Attributes:
        text: The condition in plain words, such as `status is 'shipped'`.
        words: The words of the question behind it; None if there are none.
        sql: The condition as the query has it.
        columns: The `table.column` names that it tests.
        groups: Whether groups must meet it, instead of rows.
        inner: Whether it is in a sub-query.
        part: Whether it applies only to a part of the query, such as one side of a UNION or what an aggregate counts.
            Rows of the result then need not meet it.
        ranged: Whether the answer's date, by its first and last day, already says everything about it.
    """

    text: str
    words: str | None
    sql: str
    columns: tuple[str, ...] = ()
    groups: bool = False
    inner: bool = False
    part: bool = False
    ranged: bool = False


def list_query_filters(
    query: Query,
    question: str,
    mentions: Sequence[ValueMatch],
    range_conditions: Sequence[exp.Expr] = (),
    *,
    in_words: bool = True,
) -> tuple[Filter, ...]:
    """Return the query's distinct conditions, without those that only join tables.

    Conditions of sub-queries in conditions are left out, because they are part of them. `range_conditions` are those
    that the range of the answer's date says wholly. Without `in_words`, which are English, a condition is told as SQL.
    """
    finder, filters = _QuestionWordFinder(question, mentions, query), dict[tuple[str, bool, bool], Filter]()
    for scope in query.scopes:
        for condition in () if _is_inside_condition(scope.select, query) else query.conditions(scope):
            if not _is_join_condition(condition, query):
                is_ranged = any(condition.node is part for part in range_conditions)
                query_filter = _build_filter(condition, finder, query, is_ranged, in_words)
                filters.setdefault((query_filter.sql, query_filter.groups, query_filter.part), query_filter)
    return tuple(filters.values())


def _is_inside_condition(select: exp.Expr, query: Query) -> bool:
    """Whether a SELECT is inside a WHERE, HAVING, QUALIFY or ON clause."""
    around = query.list_enclosing(select)
    return any(isinstance(node, exp.Where | exp.Having | exp.Qualify) or node.arg_key == "on" for node in around)


def _is_join_condition(condition: QueryCondition, query: Query) -> bool:
    """Whether a condition only joins two tables."""
    part = condition.node
    ends = [query.reference(side.unnest()) for side in (part.left, part.right)] if isinstance(part, exp.EQ) else []
    sources = (end.source for end in ends if end is not None and end.owner is condition.scope)
    return len({id(source) for source in sources if source is not None}) == 2


def _build_filter(
    condition: QueryCondition, finder: _QuestionWordFinder, query: Query, is_ranged: bool, in_words: bool
) -> Filter:
    node, scope, explainer = condition.node, condition.scope, QueryExplainer(query)
    columns = [column.item for column in query.list_scope_columns(scope, node)]
    names = tuple(dict.fromkeys(f"{table}.{column}" for table, column in columns))
    sql = query.text(node)
    return Filter(
        text=explainer.say(node) if in_words and explainer.can_describe_in_words(node) else f"“{sql}”",
        words=finder.find(node, columns),
        sql=sql,
        columns=names,
        groups=condition.clause == "having",
        inner=scope not in query.nested_select_chain[:1],
        part=not query.holds(condition),
        ranged=is_ranged,
    )


class _QuestionWordFinder:
    """A finder of the words in a question from which a condition comes."""

    def __init__(self, question: str, mentions: Sequence[ValueMatch], query: Query) -> None:
        self._query = query
        self._question = question
        self._words = words(question)
        self._mentions = mentions

    def find(self, part: exp.Expr, columns: Sequence[tuple[str, str]]) -> str | None:
        """Return the question's words for a condition's values or columns; None if not found."""
        literals = list(_list_condition_values(part, self._query))
        phrases = [phrase for value, node in literals if (phrase := self._find_value_words(value, node, columns))]
        if phrases:
            return ", ".join(dict.fromkeys(phrases))
        values = [value for value, _ in literals]
        if any(_YEAR.fullmatch(str(value).removesuffix(".0")) for value in values):
            return None
        if values and any(isinstance(value, str) and value.strip("% ") for value in values):
            return None
        return self._find_aggregate_word(part) or self._find_column_words(columns) or None

    def _find_value_words(self, value: str | float, node: exp.Expr, columns: Sequence[tuple[str, str]]) -> str:
        if _is_month_literal(node) and (word := self._find_month_name(value)):
            return word
        if not isinstance(value, str):
            return self._find_number_word(value)
        plain = value.strip("% ")
        if not plain:
            return ""
        for mention in self._mentions:
            if mention.value.casefold() == plain.casefold() and (mention.table, mention.column) in columns:
                return self._question[mention.start : mention.end] or mention.mention
        at = self._question.casefold().find(plain.casefold())
        end = at + len(plain)
        if at >= 0 and not any(map(str.isalnum, self._question[at - 1 : at] + self._question[end : end + 1])):
            return self._question[at:end]
        return self._find_phrase_by_stems(plain) or self._find_date_words(plain, node)

    def _find_first_word(self, *any_of: str) -> str:
        """Return the first question word that is one of the given words; empty if not found."""
        return next((word.text for word in self._words if word.folded in any_of), "")

    def _find_phrase_by_stems(self, text: str) -> str:
        phrase = [word.stem for word in words(text)]
        question_stems = [word.stem for word in self._words]
        for start in range(len(question_stems) - len(phrase) + 1):
            if phrase and question_stems[start : start + len(phrase)] == phrase:
                return self._question[self._words[start].start : self._words[start + len(phrase) - 1].end]
        return ""

    def _find_number_word(self, value: float) -> str:
        for word in self._words:
            if word.folded.replace(",", "") == f"{value:g}" or NUMBER_WORDS.get(word.folded) == value:
                return word.text
        pattern = f"{value:,.0f}" if value.is_integer() else f"{value:g}"
        if re.search(rf"(?<![\d.,]){re.escape(pattern)}(?![\d])", self._question):
            return pattern
        return ""

    def _find_month_name(self, value: str | float) -> str:
        """Return the question's name for a month given by number; empty if not found."""
        text = str(value).removesuffix(".0")
        name = MONTHS[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= 12 else ""
        return self._find_first_word(name, name[:3]) if name else ""

    def _find_date_words(self, text: str, node: exp.Expr) -> str:
        """Return a date's year and named month in the question; empty if it names other years."""
        year = _YEAR.match(text)
        if year is None:
            return ""
        years = {word.folded for word in self._words if _YEAR.fullmatch(word.folded)}
        if years and year.group() not in years:
            return self._find_first_word(self._get_neighbouring_year(text, node))
        match = ISO_TIME.match(text)
        month = int(match["month"] or 0) if match else 0
        names = [MONTHS[month - 1]] if 1 <= month <= 12 else []
        return " ".join(word.text for word in self._words if word.folded in names or word.folded == year.group())

    def _get_neighbouring_year(self, text: str, node: exp.Expr) -> str:
        """Return the year before or after a bound's year, as 2023 for `< '2024-01-01'`."""
        kind, year, tokens = type(node.parent), int(text[:4]), {word.folded for word in self._words}
        if text[4:] in ("", "-01-01") and (kind is exp.LT or (kind is exp.GTE and tokens & _AFTER)):
            return str(year - 1)
        if text[4:] == "-12-31" and ((kind is exp.LTE and tokens & _BEFORE) or (kind is exp.GT and tokens & _SINCE)):
            return str(year + 1)
        return ""

    def _find_aggregate_word(self, part: exp.Expr) -> str:
        """Return the question's word for a comparison with an average, maximum or minimum."""
        for kind, names in _EXTREMES.items():
            if part.find(kind) is not None and part.find(exp.Select) is not None:
                return self._find_first_word(*names)
        return ""

    def _find_column_words(self, columns: Sequence[tuple[str, str]]) -> str:
        """Return the question's words for a column's name; empty if not found."""
        for _, column in columns:
            column_stems = set(stem_name(column)) - {"is", "has", "id", "on", "at", "date", "code"}
            matches = [word.text for word in self._words if word.stem in column_stems]
            if matches:
                return " ".join(dict.fromkeys(matches))
        return ""


def _is_month_literal(node: exp.Expr) -> bool:
    """Whether a literal is compared with the month of a date."""
    comparison = node.parent
    left = comparison.this if isinstance(comparison, exp.EQ | exp.In) else None
    left = left.this if isinstance(left, exp.Cast) else left
    if isinstance(left, exp.TimeToStr):
        return left.args["format"].name == "%m"
    return isinstance(left, exp.Month | exp.Substring) or (
        isinstance(left, exp.Extract) and left.name.upper() == "MONTH"
    )


def _list_condition_values(part: exp.Expr, query: Query) -> Iterator[tuple[str | float, exp.Expr]]:
    """Yield the texts and numbers of a condition, without format arguments of functions."""
    for node in query.find(exp.Literal, exp.Column, within=part):
        if isinstance(node, exp.Literal) and isinstance(node.parent, exp.TimeToStr) and node.arg_key == "format":
            continue
        value = query.literal(node)
        if value is not None:
            yield value, node
