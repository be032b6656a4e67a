"""From a frame to a sentence: the regular "Give me ..." form of a question (CREDIT-SQL 3.1)."""

from __future__ import annotations

from ....tools.stemming import plural
from ....tools.values.schema_words import name_words
from .frame import Condition, Frame, Term, Value

_AGGREGATES = {"sum": "the total {}", "avg": "the average {}", "min": "the lowest {}", "max": "the highest {}"}
_OPERATORS = {
    "=": "is", "!=": "is not", ">": "is more than", ">=": "is at least", "<": "is less than", "<=": "is at most",
    "like": "is like", "not like": "is not like", "in": "is among", "not in": "is not among",
    "null": "is missing", "not null": "is not missing",
}  # fmt: skip
_COMBINED = {"intersect": "that are also in: ", "union": "together with: ", "except": "without: "}


def give_me(frame: Frame) -> str:
    """One self-contained sentence that asks for the frame."""
    return f"Give me {_query(frame)}."


def _query(frame: Frame) -> str:
    tables = frame.used()
    shown = " and ".join(_term(term, tables) for term in frame.select) or "everything"
    parts = [f"the different values of {shown}" if frame.distinct else shown]
    subjects = [table for table in tables if not _counted(frame, table)]
    if subjects:
        parts.append("of " + " with ".join(_plural(table) for table in subjects))
    if frame.group:
        parts.append("for each " + " and ".join(_plain(column.name) for column in frame.group))
    conditions = [" or ".join(_condition(c, tables) for c in group) for group in frame.where]
    conditions += [_condition(condition, tables) for condition in frame.having]
    if conditions:
        parts.append("where " + " and ".join(conditions))
    if frame.order:
        keys = " and ".join(f"{_term(t, tables)} {'from highest' if d else 'from lowest'}" for t, d in frame.order)
        parts.append(f"sorted by {keys}")
    if frame.limit is not None:
        after = f" after the first {frame.offset}" if frame.offset else ""
        parts.append(("only the first" if frame.limit == 1 else f"only the first {frame.limit}") + after)
    sentence = parts[0] + "".join(f"{',' if part.startswith(('sorted', 'only')) else ''} {part}" for part in parts[1:])
    if frame.combine is not None:
        sentence += f", {_COMBINED[frame.combine[0]]}{_query(frame.combine[1])}"
    return sentence


def _counted(frame: Frame, table: str) -> bool:
    """Whether the only thing said of a table is how many rows it has."""
    return frame.select[:1] == (Term(None, "count"),) and frame.used()[-1:] == (table,)


def _term(term: Term, tables: tuple[str, ...]) -> str:
    if term.column is None:
        if term.aggregate != "count":
            return "everything"
        return f"the number of {_plural(tables[-1])}" if tables else "the number of rows"
    name = _plain(term.column.name)
    if term.aggregate == "count":
        return f"the number of {'different ' if term.distinct else ''}{name}"
    form = _AGGREGATES.get(term.aggregate, "the {}")
    return f"the {name}" if term.aggregate == "sum" and name.startswith("total") else form.format(name)


def _plain(name: str) -> str:
    return " ".join(name_words(name)) or name


def _plural(table: str) -> str:
    return plural(_plain(table))


def _condition(condition: Condition, tables: tuple[str, ...]) -> str:
    term = _term(condition.term, tables)
    if condition.operator == "between":
        low, high = condition.value if isinstance(condition.value, tuple) else ("", "")
        return f"{term} is between {low} and {high}"
    verb = _OPERATORS[condition.operator]
    return f"{term} {verb} {_value(condition.value)}".rstrip()


def _value(value: Value) -> str:
    if isinstance(value, Frame):
        return _query(value)
    return f"'{value}'" if isinstance(value, str) else "" if value is None else str(value)
