"""dbt's properties files (`schema.yml`): models, columns, tests, semantic models and metrics.

https://docs.getdbt.com/reference/configs-and-properties and https://docs.getdbt.com/docs/build/semantic-models. Tests
`relationships` are joins, `accepted_values` with descriptions are coded values; for metrics see `dbt_metrics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from .dbt_metrics import MetricReader, quoted
from .entry import Entry
from .imports import listed, text

_REF = re.compile(r"(?:ref|source)\(\s*['\"]([^'\"]+)['\"](?:\s*,\s*['\"]([^'\"]+)['\"])?\s*\)")


def from_dbt(content: Mapping[str, Any], source: str) -> tuple[Entry, ...]:
    """The entries of a properties file."""
    found = [entry for model in _models(content) for entry in _described(model, source)]
    reader = MetricReader(source)
    metrics = [(metric, "") for metric in listed(content, "metrics")]
    for model in listed(content, "models"):
        metrics += [(metric, text(model, "name")) for metric in listed(model, "metrics")]
    for model in listed(content, "semantic_models"):
        table = _ref(text(model, "model")) or text(model, "name")
        if meaning := text(model, "description"):
            found.append(Entry("table", table, meaning, about=((table, ""),), source=source))
        reader.add_model(model, table)
        for dimension in listed(model, "dimensions"):
            column = text(dimension, "expr") or text(dimension, "name")
            meaning = text(dimension, "description")
            if meaning and column.isidentifier():
                found.append(Entry("column", f"{table}.{column}", meaning, about=((table, column),), source=source))
    return (*found, *reader.metrics(metrics))


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
                on = f"{quoted(table)}.{quoted(name)} = {quoted(target)}.{quoted(text(arguments, 'field'))}"
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


def _ref(given: str) -> str:
    found = _REF.search(given)
    return (found[2] or found[1]) if found else ""
