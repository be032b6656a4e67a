"""Metrics of dbt's semantic layer as expressions: of measures, ratios of them, and what is computed from other metrics.

https://docs.getdbt.com/docs/build/metrics-overview. What depends on a window of time (`cumulative`, `conversion`, an
offset of a `derived` metric) is no expression over rows: it is told by its name, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..errors import KnowledgeError
from .entry import Entry
from .imports import listed, text

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
_DEEPEST = 20


@dataclass(frozen=True)
class _Measure:
    """An aggregate of a table's values; `fault` says why it is none that we write."""

    form: str
    value: str
    table: str
    fault: str = ""

    def sql(self, conditions: list[str]) -> str:
        """The aggregate over the rows that all conditions hold for."""
        if self.fault:
            raise KnowledgeError(self.fault)
        where = " AND ".join(conditions if len(conditions) == 1 else [f"({condition})" for condition in conditions])
        return self.form.format(f"CASE WHEN {where} THEN {self.value} END" if where else self.value)


@dataclass
class MetricReader:
    """Gathers measures and dimensions of a file, then reads its metrics."""

    source: str
    _measures: dict[str, _Measure] = field(default_factory=dict[str, _Measure])
    _dimensions: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def add_model(self, model: Mapping[str, Any], table: str) -> None:
        """A semantic model, whose measures and dimensions metrics may name."""
        names = self._dimensions.setdefault(table, {})
        for dimension in listed(model, "dimensions"):
            name = text(dimension, "name")
            names[name] = _column(text(dimension, "expr") or name, table)
        for measure in listed(model, "measures"):
            self._measures[text(measure, "name")] = _measure(measure, table)

    def metrics(self, listed_metrics: list[tuple[Mapping[str, Any], str]]) -> Iterator[Entry]:
        """The entries of metrics, each given with the table that it stands under, if any."""
        known = {text(metric, "name"): (metric, table) for metric, table in listed_metrics}
        for name, (metric, _) in known.items():
            label, means = text(metric, "label"), text(metric, "description") or text(metric, "label")
            also = (label,) if label and label.lower() != name.lower() else ()
            tables: list[str] = []
            try:
                sql, fault = self._sql(name, known, [], tables, 0), ""
            except KnowledgeError as error:
                sql, fault = "", str(error)
            about = tuple((table, "") for table in dict.fromkeys(tables))
            yield Entry(
                "metric", name.replace("_", " "), means, sql, also, about=about, source=self.source, fault=fault
            )

    def _sql(
        self,
        name: str,
        known: Mapping[str, tuple[Mapping[str, Any], str]],
        filters: list[str],
        tables: list[str],
        depth: int,
    ) -> str:
        """A metric's expression, or a measure's, over the rows that filters let through.

        Raises:
            KnowledgeError: It is of a kind that is no expression, or names what is not there.
        """
        if depth > _DEEPEST:
            raise KnowledgeError(f"the metric {name!r} is computed from itself")
        if name not in known:
            return self._aggregate(self._measures.get(name), name, filters, tables)
        metric, table = known[name]
        found = metric.get("type_params")
        given = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else metric
        filters = [*filters, *_filters(metric)]
        kind = text(metric, "type") or "simple"

        def part(node: Any) -> str:
            """The expression of what a metric names, with filters of its own."""
            inner = cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else {"name": node}
            if any(inner.get(key) for key in ("offset_window", "offset_to_grain")):
                raise KnowledgeError("it compares with another time (an offset), which is no expression over rows")
            called = str(inner.get("name") or "")
            own = [*filters, *_filters(inner)]
            if called == name:  # a metric is often called like the measure that it is of
                return self._aggregate(self._measures.get(called), called, own, tables)
            return self._sql(called, known, own, tables, depth + 1)

        match kind:
            case "simple" if text(metric, "agg"):
                return self._aggregate(_measure(metric, table), name, filters, tables)
            case "simple":
                return part(given.get("measure"))
            case "ratio":
                above, below = part(given.get("numerator")), part(given.get("denominator"))
                return f"({above}) * 1.0 / NULLIF({below}, 0)"
            case "derived":
                inputs = [*listed(given, "metrics"), *listed(given, "input_metrics")]
                plain = [name for name in cast("list[Any]", given.get("metrics") or []) if isinstance(name, str)]
                parts = {text(one, "alias") or text(one, "name"): part(one) for one in inputs}
                parts |= {one: part(one) for one in plain}
                return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: _within(parts, word[0]), text(given, "expr"))
            case _:
                raise KnowledgeError(
                    f"metrics of the type {kind!r} are not supported: they are no expression over rows"
                )

    def _aggregate(self, measure: _Measure | None, name: str, filters: list[str], tables: list[str]) -> str:
        if measure is None:
            raise KnowledgeError(f"there is no measure and no metric {name!r} in this file")
        tables.append(measure.table)
        names = self._dimensions.get(measure.table, {})
        conditions = [_DIMENSION.sub(lambda hit: names.get(hit[1], hit[1]), one) for one in filters]
        if rest := next((one for one in conditions if "{{" in one), ""):
            raise KnowledgeError(f"its filter has Jinja that is not read here: {rest}")
        return measure.sql(conditions)


def _within(parts: Mapping[str, str], word: str) -> str:
    return f"({parts[word]})" if word in parts else word


def _filters(node: Mapping[str, Any]) -> list[str]:
    given = node.get("filter")
    found = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [" ".join(one.split()) for one in found if isinstance(one, str) and one.strip()]


def _measure(measure: Mapping[str, Any], table: str) -> _Measure:
    name, kind = text(measure, "name"), text(measure, "agg")
    value = text(measure, "expr") or name
    form, fault = _AGGREGATES.get(kind, ""), ""
    if not form:
        fault = f"the aggregate {kind!r} of the measure {name!r} is not supported"
    elif "{{" in value:
        fault = f"the measure {name!r} has Jinja that is not read here: {value}"
    elif measure.get("non_additive_dimension"):
        fault = f"the measure {name!r} may not be added up over time (non_additive_dimension), which is not supported"
    return _Measure(form, _column(value, table), table, fault)


def _column(value: str, table: str) -> str:
    return f"{quoted(table)}.{quoted(value)}" if value.isidentifier() else value


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
