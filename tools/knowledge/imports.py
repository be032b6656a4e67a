"""What other tools know of a database, as entries: dbt's properties files and Markdown notes.

Of dbt's `schema.yml`: models, columns, tests, semantic models and metrics. Tests `relationships` are joins,
`accepted_values` coded values. Metrics are expressions of measures, ratios of them, and what is computed from other
metrics; what depends on a window of time (`cumulative`, `conversion`, an offset of a `derived` metric) is no expression
over rows: it is told by its name, and left out. See https://docs.getdbt.com/reference/configs-and-properties and
https://docs.getdbt.com/docs/build/metrics-overview.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..errors import KnowledgeError
from .entry import Entry, Item

_DBT = ("models", "sources", "semantic_models", "seeds", "snapshots")
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
_DEEPEST = 20

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)$")
_BOLD = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[:=–—-]|means\b|is\b)?\s*(.+)$")
_PLAIN = re.compile(r"^([^.:=]{2,60}?)\s*(?::|=|\bmeans\b)\s+(.+)$")
_SQL = re.compile(r"`([^`]+)`\s*$")

_Node = Mapping[str, Any]
_Placed = tuple[_Node, str]  # a metric or a measure, and its table


def import_file(path: Path, content: object) -> tuple[Entry, ...] | None:
    """Return the entries of a dbt `schema.yml`; None for a knowledge file of our own."""
    fields = _node(content)
    if "semantic_model" in fields:
        raise KnowledgeError(
            f"{path} is an Ossie semantic model, which is no longer read: write the definitions in a knowledge file "
            "(YAML, `tableturn knowledge schema`), or extend a dbt schema.yml or Markdown notes"
        )
    if any(isinstance(fields.get(key), list) for key in (*_DBT, "metrics")):
        return tuple(_from_dbt(fields, path.name))
    return None


def from_markdown(text: str, source: str) -> tuple[Entry, ...]:
    """Return the entries of Markdown notes; what stands outside of lists is for people.

    A list item that begins with a word in bold, or `word: meaning`, is a term; others are conventions.
    """
    found: list[Entry] = []
    for item in _items(text):
        term = _BOLD.match(item) or _PLAIN.match(item)
        if term is None:
            found.append(Entry("convention", item, item, source=source))
            continue
        means, sql = term[2].strip().rstrip(":"), ""
        if (code := _SQL.search(means)) and "." in code[1]:
            sql, means = code[1], means[: code.start()].strip().rstrip(":,")
        name = term[1].strip(" :*_`")
        found.append(Entry("term", name, means or name, sql, source=source))
    return tuple(found)


def _items(text: str) -> list[str]:
    """Return list items, each on one line with what is indented under it."""
    items: list[list[str]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        if item := _ITEM.match(line):
            items.append([item[1].strip()])
        elif items and line[:1].isspace() and line.strip():
            items[-1].append(line.strip())
        elif line.strip():
            items.append([])
    return [" ".join(parts) for parts in items if parts]


def _node(value: object) -> _Node:
    """Return a mapping of a file that others wrote; what is none is empty."""
    return cast(_Node, value) if isinstance(value, Mapping) else {}


def _list(node: _Node, *keys: str) -> list[_Node]:
    """Return the mappings in lists of a node."""
    lists = [cast("list[Any]", node[key]) for key in keys if isinstance(node.get(key), list)]
    return [_node(part) for parts in lists for part in parts if isinstance(part, Mapping)]


def _text(node: _Node, key: str) -> str:
    """Return a text on one line; empty if there is none."""
    found = node.get(key)
    return " ".join(found.split()) if isinstance(found, str) else ""


def _from_dbt(content: _Node, source: str) -> Iterator[Entry]:
    models = _list(content, "models", "seeds", "snapshots")
    for model in (*models, *(table for each in _list(content, "sources") for table in _list(each, "tables"))):
        yield from _described(model, source)
    metrics = {_text(metric, "name"): (metric, "") for metric in _list(content, "metrics")}
    for model in _list(content, "models"):
        metrics |= {_text(metric, "name"): (metric, _text(model, "name")) for metric in _list(model, "metrics")}
    measures: dict[str, _Placed] = {}
    dimensions: dict[Item, str] = {}
    for model in _list(content, "semantic_models"):
        table = _ref(_text(model, "model")) or _text(model, "name")
        if meaning := _text(model, "description"):
            yield Entry.of_item(table, "", meaning, source=source)
        measures |= {_text(measure, "name"): (measure, table) for measure in _list(model, "measures")}
        for dimension in _list(model, "dimensions"):
            name, meaning = _text(dimension, "name"), _text(dimension, "description")
            column = _text(dimension, "expr") or name
            dimensions[table, name] = _column(column, table)
            if meaning and column.isidentifier():
                yield Entry.of_item(table, column, meaning, source=source)
    for name, (metric, _) in metrics.items():
        label, means = _text(metric, "label"), _text(metric, "description") or _text(metric, "label")
        also = (label,) if label and label.lower() != name.lower() else ()
        reader = _MetricReader(metrics, measures, dimensions)
        try:
            sql, fault = reader.sql(name, []), ""
        except KnowledgeError as error:
            sql, fault = "", str(error)
        about = tuple((table, "") for table in reader.tables)
        yield Entry("metric", name.replace("_", " "), means, sql, also, about=about, source=source, fault=fault)


def _described(model: _Node, source: str) -> Iterator[Entry]:
    table = _text(_node(model.get("config")), "alias") or _text(model, "identifier") or _text(model, "name")
    if meaning := _text(model, "description"):
        yield Entry.of_item(table, "", meaning, source=source)
    for column in _list(model, "columns"):
        name, meaning = _text(column, "name"), _text(column, "description")
        values: tuple[tuple[str, str], ...] = ()
        for test in _list(column, "tests", "data_tests"):
            for kind, given in test.items():
                # In the form before dbt 1.10, and in the one since.
                arguments = _node(_node(given).get("arguments")) or _node(given)
                target, accepted = _ref(_text(arguments, "to")), arguments.get("values")
                if kind == "relationships" and target:
                    on = f"{quoted(table)}.{quoted(name)} = {quoted(target)}.{quoted(_text(arguments, 'field'))}"
                    yield Entry("join", on, sql=on, source=source)
                if kind == "accepted_values" and isinstance(accepted, list):
                    values = tuple((str(value), str(value)) for value in cast("list[object]", accepted))
        if meaning or values:
            yield Entry.of_item(table, name, meaning, values=values, source=source)


def _ref(given: str) -> str:
    found = _REF.search(given)
    return (found[2] or found[1]) if found else ""


@dataclass(frozen=True)
class _MetricReader:
    """Metrics and measures by name, columns by table and dimension, and the tables that were read."""

    metrics: Mapping[str, _Placed]
    measures: Mapping[str, _Placed]
    dimensions: Mapping[Item, str]
    tables: dict[str, None] = field(default_factory=dict[str, None])

    def sql(self, name: str, filters: list[str], depth: int = 0) -> str:
        """Write a metric's expression, or a measure's, over the rows that filters let through."""
        if depth > _DEEPEST:
            raise KnowledgeError(f"the metric {name!r} is computed from itself")
        if name not in self.metrics:
            return self._aggregate(self.measures.get(name), name, filters)
        metric, _ = self.metrics[name]
        given = _node(metric.get("type_params")) or metric
        filters = [*filters, *_filters(metric)]

        def part(node: Any) -> str:
            """Write the expression of what a metric names, with filters of its own."""
            inner = _node(node) or {"name": node}
            if any(inner.get(key) for key in ("offset_window", "offset_to_grain")):
                raise KnowledgeError("it compares with another time (an offset), which is no expression over rows")
            called, own = str(inner.get("name") or ""), [*filters, *_filters(inner)]
            if called == name:  # a metric is often called like the measure that it is of
                return self._aggregate(self.measures.get(called), called, own)
            return self.sql(called, own, depth + 1)

        match kind := _text(metric, "type") or "simple":
            case "simple" if _text(metric, "agg"):
                return self._aggregate(self.metrics[name], name, filters)
            case "simple":
                return part(given.get("measure"))
            case "ratio":
                return f"({part(given.get('numerator'))}) * 1.0 / NULLIF({part(given.get('denominator'))}, 0)"
            case "derived":
                parts = {
                    _text(_node(one), "alias") or _text(_node(one), "name") or str(one): f"({part(one)})"
                    for key in ("metrics", "input_metrics")
                    for one in given.get(key) or ()
                }
                return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: parts.get(word[0], word[0]), _text(given, "expr"))
            case _:
                raise KnowledgeError(
                    f"metrics of the type {kind!r} are not supported: they are no expression over rows"
                )

    def _aggregate(self, measure: _Placed | None, name: str, filters: list[str]) -> str:
        """Write an aggregate over the rows that all filters hold for."""
        if measure is None:
            raise KnowledgeError(f"there is no measure and no metric {name!r} in this file")
        node, table = measure
        self.tables[table] = None
        conditions = [_DIMENSION.sub(lambda hit: self.dimensions.get((table, hit[1]), hit[1]), one) for one in filters]
        if rest := next((one for one in conditions if "{{" in one), ""):
            raise KnowledgeError(f"its filter has Jinja that is not read here: {rest}")
        called, kind = _text(node, "name"), _text(node, "agg")
        value = _column(_text(node, "expr") or called, table)
        if kind not in _AGGREGATES:
            raise KnowledgeError(f"the aggregate {kind!r} of the measure {called!r} is not supported")
        if "{{" in value:
            raise KnowledgeError(f"the measure {called!r} has Jinja that is not read here: {value}")
        if node.get("non_additive_dimension"):
            raise KnowledgeError(
                f"the measure {called!r} may not be added up over time (non_additive_dimension), which is not supported"
            )
        where = " AND ".join(conditions if len(conditions) == 1 else [f"({condition})" for condition in conditions])
        return _AGGREGATES[kind].format(f"CASE WHEN {where} THEN {value} END" if where else value)


def _filters(node: _Node) -> list[str]:
    given = node.get("filter")
    found = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [" ".join(one.split()) for one in found if isinstance(one, str) and one.strip()]


def _column(value: str, table: str) -> str:
    return f"{quoted(table)}.{quoted(value)}" if value.isidentifier() else value


def quoted(name: str) -> str:
    """Write a name as SQL has it."""
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
