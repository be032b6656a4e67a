"""A question's words against the query: a superlative, an order or a comparison that is missing or turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..conditions import base_column, literal
from ..findings import Finding
from ..name_stems import name_stems
from ..scope import Resolution
from .comparisons import comparison_findings
from .words import conditions, is_flat, is_standing, reads_tables, stems_of, turns

_MOST = re.compile(r"(?<!\bat )\b(?:most|highest|largest|greatest|biggest|maximum)\b(?! of\b)")
_LEAST = re.compile(r"(?<!\bat )\b(?:least|lowest|smallest|fewest|minimum)\b(?! (?:\d|one\b|two\b|three\b))")

_OTHER_ENDS = re.compile(
    r"\b(?:\w{2,}est|first|last|top|bottom|best|worst|latter|final|ascending|descending|max|min|maximum|minimum"
    r"|second|third)\b"
)
"""Words that a query may answer in the superlative's place; -est takes in a few that are none."""

_HELD = re.compile(r"most|high|larg|great|big|max|least|low|small|few|min|top|best|worst|peak", re.IGNORECASE)
"""In a column's name: the superlative may be a value that is stored."""

_RANKS = re.compile(r"rank|pos|place|order|level|grade|class|priority|date|time|year|age|birth", re.IGNORECASE)
"""In a column's name: its smallest value may be the highest, as first place is."""

_PICKS = (exp.Max, exp.Min, exp.Limit, exp.Fetch, exp.Window, exp.Order, exp.All, exp.ArgMax, exp.ArgMin)
"""What may answer a superlative."""

_FREQUENT = frozenset(stems_of("common popular frequent frequently often"))
"""After `most` or `least`: what is counted is how often something comes."""

_ORDERED = re.compile(
    r"\b(?:(?P<down>descending|decreasing)|(?P<up>ascending|increasing|alphabetic\w*|lexicograph\w*))\b"
)


def wording_findings(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """What the words make likely; proved only where nothing could account for it (`words`).

    Args:
        question: In lower case, one blank between words.
        tree: The query.
        resolution: Its names.
    """
    yield from _superlative(question, tree, resolution)
    yield from _sorted(question, tree, resolution)
    yield from comparison_findings(question, tree, resolution)


def _superlative(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    most, least = _MOST.search(question), _LEAST.search(question)
    asked = most or least
    if asked is None or (most and least):
        return
    if tree.find(*_PICKS) is None:
        columns = [reference.column for reference in resolution.references]
        if columns and not any(map(_HELD.search, columns)):
            message = f"The question asks for the {asked[0]}, but the query picks none out."
            certain = _surely_unpicked(question, asked, tree, resolution)
            yield Finding("question_contradicted", "warning", message, "", "order the rows and limit them", certain)
        return
    order, limited = tree.args.get("order"), tree.args.get("limit") is not None
    if order is None or not limited or len(order.expressions) != 1:
        return
    term = order.expressions[0]
    key = term.this.unnest()
    descending = bool(term.args.get("desc"))
    if descending == bool(most) or not isinstance(key, exp.Column | exp.Count | exp.Sum | exp.Avg | exp.Max | exp.Min):
        return
    if not any(_RANKS.search(column.name) for column in key.find_all(exp.Column)):
        place = resolution.text(term)
        first = "smallest" if most else "largest"
        message = f"The question asks for the {asked[0]}, but {place} puts the {first} first."
        advice = f"order by {resolution.text(term.this)} {'DESC' if most else 'ASC'}"
        certain = _is_plain(question, asked) and _says(question, asked, key, resolution) and _alone(tree)
        yield Finding("question_contradicted", "warning", message, place, advice, certain)


def _is_plain(question: str, asked: re.Match[str]) -> bool:
    """Whether the superlative is the only one, and nothing turns it round."""
    rest = f"{question[: asked.start()]} {question[asked.end() :]}"
    return not (turns(question) or _OTHER_ENDS.search(rest) or _MOST.search(rest) or _LEAST.search(rest))


def _alone(tree: exp.Expr) -> bool:
    """Whether the query's order is all that picks rows."""
    return len(list(tree.find_all(exp.Max, exp.Min, exp.Order, exp.Window, exp.All, exp.SetOperation))) == 1


def _says(question: str, asked: re.Match[str], key: exp.Expr, resolution: Resolution) -> bool:
    """Whether the words right after a superlative name what is ordered by, so that it is no adjective's: `most junior`.

    A count is named by the table that is counted, a column by its name.
    """
    after = stems_of(question[asked.end() :])[:3]
    if isinstance(key, exp.Count):
        tables = {word for scope in resolution.scopes for source in scope.sources for word in _table_stems(source)}
        return after[:2] == stems_of("number of") or bool(set(after[:2]) & tables or set(after[:1]) & _FREQUENT)
    column = next(key.find_all(exp.Column), None)
    if column is None or is_standing(key):
        return False
    return bool(set(after[:1] if asked[0] in ("most", "least") else after) & set(name_stems(column.name)))


def _table_stems(source: object) -> tuple[str, ...]:
    table = getattr(source, "table", None)
    return name_stems(table.name) if table is not None else ()


def _surely_unpicked(question: str, asked: re.Match[str], tree: exp.Expr, resolution: Resolution) -> bool:
    """Whether the superlative is of a number that the query neither shows nor asks about."""
    after = stems_of(question[asked.end() :])[:3]
    counted = after[:2] == stems_of("number of")
    the = question[: asked.start()].endswith("the ") or asked[0] not in ("most", "least") or counted
    if not the or asked[0] in ("maximum", "minimum") or not (_is_plain(question, asked) and is_flat(tree)):
        return False
    if not reads_tables(resolution) or tree.find(exp.Count, exp.Sum, exp.Avg, exp.Having, exp.Star) is not None:
        return False
    if any(map(_HELD.search, (table.name for table in tree.find_all(exp.Table)))):
        return False
    if not all(found.name.lower() in question for found in tree.find_all(exp.Literal)):
        return False
    if counted or set(after[:1]) & _FREQUENT:
        return True
    tables = [source.table for scope in resolution.scopes for source in scope.sources if source.table is not None]
    if any(set(after[:2]) & set(name_stems(table.name)) for table in tables):
        return True
    named = {
        column.name.lower()
        for table in tables
        for column in table.columns
        if column.kind == "number" and set(after) & set(name_stems(column.name))
    }
    return bool(named) and not named & {column.name.lower() for column in tree.find_all(exp.Column)}


def _sorted(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """`in descending order of age` where the query has `ORDER BY age`, or no order at all."""
    asked = list(_ORDERED.finditer(question))
    if len(asked) != 1 or not is_flat(tree) or turns(question) or tree.args.get("limit") is not None:
        return
    said = asked[0]
    order = tree.args.get("order")
    if _OTHER_ENDS.search(f"{question[: said.start()]} {question[said.end() :]}") or "order" not in question:
        return
    if order is None:
        if _gives_rows(tree, resolution) and reads_tables(resolution):
            message = f"The question asks for {said[0]} order, but the query has no ORDER BY."
            yield Finding("question_contradicted", "warning", message, "", "order the rows", proof=True)
        return
    term = order.expressions[0]
    if len(order.expressions) != 1 or bool(term.args.get("desc")) != (said["up"] is not None):
        return
    key = term.this.unnest()
    found = base_column(key, resolution)
    named = found is not None and bool(set(name_stems(found[1].name)) & set(stems_of(question)))
    alphabetical = said[0][:3] in ("alp", "lex")
    text = alphabetical and found is not None and found[1].kind == "text"
    if text or (not alphabetical and (named or isinstance(key, exp.Count)) and not is_standing(key)):
        place = resolution.text(term)
        message = f"The question asks for {said[0]} order, but the query has ORDER BY {place}."
        advice = f"order by {resolution.text(term.this)} {'ASC' if said['up'] else 'DESC'}"
        yield Finding("question_contradicted", "warning", message, place, advice, proof=True)


def _gives_rows(tree: exp.Expr, resolution: Resolution) -> bool:
    """Whether there may be several rows to order: no aggregate of them all, and no key that is fixed."""
    if tree.args.get("group") is None and tree.find(exp.AggFunc) is not None:
        return False
    for part in conditions(tree):
        found = base_column(part.this, resolution) if isinstance(part, exp.EQ) else None
        if found is not None and found[1].primary_key and literal(part.expression, resolution) is not None:
            return False
    return True
