"""dbt's properties files (`schema.yml`): models, columns, tests, semantic models and metrics.

https://docs.getdbt.com/reference/configs-and-properties and https://docs.getdbt.com/docs/build/semantic-models. Tests
`relationships` are joins, `accepted_values` with descriptions are coded values; metrics of the types `simple` and
`ratio` become expressions over the measures that they name. Expressions with Jinja in them are passed over, but for
`{{ Dimension('entity__column') }}` in filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from .entry import Entry
from .imports import listed, text

_REF = re.compile(r"(?:ref|source)\(\s*['\"]([^'\"]+)['\"](?:\s*,\s*['\"]([^'\"]+)['\"])?\s*\)")
_DIMENSION = re.compile(r"\{\{\s*\w*[Dd]imension\(\s*['\"](?:\w+__)?(\w+)['\"][^)]*\)\s*\}\}")
_AGGREGATES = {
    "sum": "SUM({})",
    "average": "AVG({})",
    "avg": "AVG({})",
    "min": "MIN({})",
    "max": "MAX({})",
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
}


def from_dbt(content: Mapping[str, Any], source: str) -> tuple[Entry, ...]:
    """The entries of a properties file."""
    found = [entry for model in _models(content) for entry in _described(model, source)]
    measures: dict[str, tuple[str, str]] = {}
    for model in listed(content, "semantic_models"):
        table = _ref(text(model, "model")) or text(model, "name")
        if meaning := text(model, "description"):
            found.append(Entry("table", table, meaning, about=((table, ""),), source=source))
        for measure in listed(model, "measures"):
            sql = _measure(measure, table)
            if sql:
                measures[text(measure, "name")] = (sql, table)
        for dimension in listed(model, "dimensions"):
            column = text(dimension, "expr") or text(dimension, "name")
            meaning = text(dimension, "description")
            if meaning and column.isidentifier():
                found.append(Entry("column", f"{table}.{column}", meaning, about=((table, column),), source=source))
    found += [entry for metric in listed(content, "metrics") if (entry := _metric(metric, measures, source))]
    return tuple(found)


def _models(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for kind in ("models", "seeds", "snapshots"):
        yield from listed(content, kind)
    for source in listed(content, "sources"):
        yield from listed(source, "tables")


def _described(model: Mapping[str, Any], source: str) -> Iterator[Entry]:
    config = model.get("config")
    alias = text(cast("Mapping[str, Any]", config), "alias") if isinstance(config, Mapping) else ""
    table = alias or text(model, "identifier") or text(model, "name")
    if meaning := text(model, "description"):
        yield Entry("table", table, meaning, about=((table, ""),), source=source)
    for column in listed(model, "columns"):
        name, meaning = text(column, "name"), text(column, "description")
        values: tuple[tuple[str, str], ...] = ()
        for kind, arguments in _tests(column):
            target = _ref(text(arguments, "to"))
            if kind == "relationships" and target:
                on = f"{_quoted(table)}.{_quoted(name)} = {_quoted(target)}.{_quoted(text(arguments, 'field'))}"
                yield Entry("join", on, sql=on, source=source)
            accepted = arguments.get("values")
            if kind == "accepted_values" and isinstance(accepted, list):
                values = tuple((str(value), str(value)) for value in cast("list[object]", accepted))
        if meaning or values:
            place = ((table, name),)
            yield Entry("column", f"{table}.{name}", meaning, about=place, values=values, source=source)


def _tests(column: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Tests with their arguments, in the form before dbt 1.10 and in the one since."""
    for test in (*listed(column, "tests"), *listed(column, "data_tests")):
        for kind, given in test.items():
            if isinstance(given, Mapping):
                arguments = cast("Mapping[str, Any]", given)
                inner = arguments.get("arguments")
                yield kind, cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else arguments


def _measure(measure: Mapping[str, Any], table: str) -> str:
    """A measure's expression, qualified; empty where it is of a kind that we don't write."""
    form = _AGGREGATES.get(text(measure, "agg"))
    value = text(measure, "expr") or text(measure, "name")
    if form is None or "{{" in value:
        return ""
    return form.format(f"{_quoted(table)}.{_quoted(value)}" if value.isidentifier() else value)


def _metric(metric: Mapping[str, Any], measures: Mapping[str, tuple[str, str]], source: str) -> Entry | None:
    name = text(metric, "name")
    found = metric.get("type_params")
    given = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
    kind = text(metric, "type")
    sql, table = "", ""
    if kind == "simple":
        sql, table = measures.get(_named(given.get("measure")), ("", ""))
    elif kind == "ratio":
        parts = [measures.get(_named(given.get(part)), ("", "")) for part in ("numerator", "denominator")]
        if all(part for part, _ in parts):
            sql, table = f"{parts[0][0]} * 1.0 / NULLIF({parts[1][0]}, 0)", parts[0][1]
    if not sql:
        return None
    where = _DIMENSION.sub(r"\1", text(metric, "filter"))
    if "{{" in where:
        return None
    means = text(metric, "description") or text(metric, "label")
    label = text(metric, "label")
    also = (label,) if label and label.lower() != name.lower() else ()
    words = name.replace("_", " ")
    about = ((table, ""),)
    return Entry("metric", words, means, f"{sql}\n{where}" if where else sql, also, about, source=source)


def _named(given: Any) -> str:
    return given if isinstance(given, str) else text(cast("Mapping[str, Any]", given or {}), "name")


def _ref(given: str) -> str:
    found = _REF.search(given)
    return (found[2] or found[1]) if found else ""


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
