"""Knowledge files: their fields, their entries, and their default places.

A text in the place of a term, a table, a column or a convention is its meaning. `extends` names files under this one:
a dbt `schema.yml`, Markdown notes, another knowledge file, or `database` for the comments that the database itself
holds.

Of dbt's `schema.yml` are read models, columns, tests (`relationships` are joins, `accepted_values` coded values),
semantic models and metrics: expressions of measures, ratios of them, and what is computed from other metrics; what
depends on a window of time (`cumulative`, `conversion`, an offset of a `derived` metric) is no expression over rows: it
is told by its name, and left out. See https://docs.getdbt.com/reference/configs-and-properties and
https://docs.getdbt.com/docs/build/metrics-overview.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator

from ..database.quoting import get_naming_rules
from ..errors import KnowledgeError
from ..folders import data_folder
from ..record_files import read_text_file
from ..validation import describe_fault
from ..words import find_intended_word, format_did_you_mean
from .entry import Entry, EntryKind, Item

if TYPE_CHECKING:
    from ..database import Database

DATABASE = "database"  # in `extends`: the comments that the database itself holds

# The entries of several files; of two that define the same, the later file's counts.
Layers = tuple[tuple[Entry, ...], ...]

_ENDING = ".knowledge.yaml"
_LARGEST = 5_000_000  # bytes of one file
_MOST = 1_000_000  # values in one file, repeated ones counted each time: a page of aliases can stand for billions

_DBT = ("models", "sources", "semantic_models", "seeds", "snapshots", "metrics")
_REF = re.compile(r"(?:ref|source)\(\s*['\"]([^'\"]+)['\"](?:\s*,\s*['\"]([^'\"]+)['\"])?\s*\)")
_DIMENSION = re.compile(r"\{\{\s*\w*[Dd]imension\(\s*['\"](?:\w+__)?(\w+)['\"][^)]*\)\s*\}\}")
_AGGREGATES = {
    "sum": "SUM({})",
    "average": "AVG({})",
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

write_path = get_naming_rules().format_table_path  # `table.column`, in quotes where needed

_Node = Mapping[str, Any]
_Placed = tuple[_Node, str]  # a metric or a measure, and its table

Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _KnowledgeSection(BaseModel):
    """A section of a knowledge file; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _expand_short_form(cls, data: Any) -> Any:
        """Turn a plain text into a section with that text as its first field."""
        if isinstance(data, str) and issubclass(cls, _ShortSection):
            return {next(name for name in cls.model_fields if name not in _AuthoredSection.model_fields): data}
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value != ""}  # pyright: ignore[reportUnknownVariableType]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core_schema)
        return {"anyOf": [schema, {"type": "string"}]} if issubclass(cls, _ShortSection) else schema


class _AuthoredSection(_KnowledgeSection):
    """A section with its author, time and rights."""

    author: str = Field("", description="Who wrote the entry. Default: the file's author.")
    added: str = Field("", description="When the entry was written, in ISO 8601.")
    unchecked: str = Field("", description="Why the SQL was not run when the entry was added; written by tableturn.")
    rights: str = Field("", description="Key of the rights under which the entry was added; written by tableturn.")


class _ShortSection(_AuthoredSection):
    """A section that may be written as a plain text, which becomes the first field."""


class Term(_ShortSection):
    """A business term and its meaning."""

    means: Words = Field(description="The word's meaning, as a colleague would be told.")
    sql: str = Field("", description="The same as an SQL condition, its columns qualified by tables.")
    also: list[Words] = Field([], description="Other names for it.")
    about: list[Words] = Field([], description="Tables and columns that the term concerns: table, or table.column.")


class Metric(_AuthoredSection):
    """A metric: an expression that queries use exactly as it is written here."""

    expression: Words = Field(description="An aggregate expression, its columns qualified by tables.")
    means: str = Field("", description="The metric's meaning.")
    where: str = Field("", description="An SQL condition that chooses the rows that count.")
    grain: str = Field("", description="What each row stands for, as in: one row per order line.")
    also: list[Words] = Field([], description="Other names for it.")
    about: list[Words] = Field([], description="Further tables and columns that the metric concerns.")


class ColumnNote(_ShortSection):
    """A description of a column and its coded values."""

    means: str = Field("", description="What the column contains.")
    also: list[Words] = Field([], description="Other names for it.")
    values: dict[str, str] = Field({}, description="Coded values and what they stand for.")


class TableNote(_ShortSection):
    """A description of a table and its columns."""

    means: str = Field("", description="What a row of the table stands for.")
    also: list[Words] = Field([], description="Other names for it.")
    columns: dict[str, ColumnNote] = Field({}, description="The table's columns, by name.")


class Join(_ShortSection):
    """A join of two tables that the schema does not declare."""

    on: Words = Field(description="As in visits.customer_ref = customers.id; further pairs after AND.")
    means: str = Field("", description="What the join connects.")


class Convention(_ShortSection):
    """A business rule that queries follow."""

    says: Words = Field(description="The rule, in a sentence.")
    about: list[Words] = Field([], description="Tables and columns that the rule is about. Default: all.")


class ForbiddenItem(_ShortSection):
    """A table or column that must not be used."""

    use: Words = Field(description="A table, or table.column.")
    instead: str = Field("", description="What to use instead of it.")
    why: str = Field("", description="Why it must not be used.")


class KnowledgeFile(_KnowledgeSection):
    """The content of a knowledge file."""

    author: str = Field("", description="Who wrote the entries without an author.")
    extends: list[Words] = Field([], description="Paths of files that this one extends; `database` for its comments.")
    terms: dict[Words, Term] = Field({}, description="Business terms, by name.")
    metrics: dict[Words, Metric] = Field({}, description="Metrics: what is computed, and how.")
    tables: dict[Words, TableNote] = Field({}, description="Descriptions of tables, by name.")
    joins: list[Join] = Field([], description="Joins that the schema does not declare.")
    conventions: list[Convention] = Field([], description="Business rules.")
    never: list[ForbiddenItem] = Field([], description="Tables and columns that must not be used.")


def build_knowledge_json_schema() -> dict[str, Any]:
    """Return the JSON schema of knowledge files, for editors and for programs."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | KnowledgeFile.model_json_schema()
    return schema | {"title": "Knowledge of a database, for tableturn"}


def knowledge_path(database: Database) -> Path:
    """Return the path of the database's knowledge file, which may not exist."""
    location = database.location
    sidecar = Path(location).parent / (Path(location).stem + _ENDING)
    if "://" not in location and sidecar.is_file() and os.path.isfile(location):
        return sidecar
    code = hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return data_folder() / "knowledge" / f"{Path(database.name).name}-{code}{_ENDING}"


def read_knowledge(path: str | Path, files: list[Path] | None = None) -> Layers:
    """Read a knowledge file and the files it extends; return entries by layer, lowest first.

    `database` among what is extended gives a layer with one entry, which `Knowledge` replaces by the comments.
    Every file that is read is added to `files`, the first one first. One that is missing or wrong raises a
    `KnowledgeError` that names the file, the place and what to do.
    """
    return tuple(_read_knowledge_layers(Path(path), (), [] if files is None else files))


def _read_knowledge_layers(path: Path, ancestors: tuple[Path, ...], files: list[Path]) -> Iterator[tuple[Entry, ...]]:
    if path.resolve() in ancestors:
        raise KnowledgeError(f"{path} extends itself: take it out of `extends` of one of the files")
    if path.resolve() in files:
        return  # two files extend it: it lies beneath both
    files.append(path.resolve())
    file = parse_knowledge_file(read_knowledge_text(path), path)
    if not isinstance(file, KnowledgeFile):
        yield file
        return
    for base_path in file.extends:
        if base_path == DATABASE:
            yield (Entry("convention", DATABASE, source=DATABASE),)
        else:
            yield from _read_knowledge_layers(path.parent / base_path, (*ancestors, path.resolve()), files)
    yield tuple(_list_file_entries(file, path.name))


def read_knowledge_text(path: Path) -> str:
    """Return a knowledge file's text; raise `KnowledgeError` if unreadable or too large."""
    try:
        if path.exists() and not path.is_file():
            raise KnowledgeError(f"cannot read the knowledge file {path}: it is not a regular file")
        if path.stat().st_size > _LARGEST:
            raise KnowledgeError(f"{path} has more than {_LARGEST:,} bytes: divide it with `extends`")
    except OSError as error:
        raise KnowledgeError(f"cannot read the knowledge file {path}: {error.strerror}") from None
    return read_text_file(path, KnowledgeError)


def parse_knowledge_file(text: str, path: Path) -> KnowledgeFile | tuple[Entry, ...]:
    """Parse a knowledge file, or the entries of Markdown notes or of a dbt `schema.yml`."""
    if path.suffix.lower() in (".md", ".markdown"):
        return _parse_markdown_entries(text, path.name)
    content = load_yaml(text, str(path))
    fields = _get_map(content)
    if any(isinstance(fields.get(key), list) for key in _DBT):
        return tuple(_parse_dbt_entries(fields, path.name))
    if content is not None and not isinstance(content, Mapping):
        raise KnowledgeError(f"{path} is not a knowledge file: those have terms:, metrics:, tables: and the like")
    try:
        return KnowledgeFile.model_validate(content or {})
    except ValidationError as error:
        raise KnowledgeError(f"{path}: {_describe_first_error(error)}") from None


def _describe_first_error(error: ValidationError) -> str:
    """Describe the first validation error in one line, with its place and a hint."""
    faults = error.errors(include_url=False)
    # A misspelt field is one too many and one missing: the former says what to do.
    fault = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    *names, last = fault["loc"]
    if fault["type"] != "extra_forbidden":
        return describe_fault(fault, separator=" > ")
    model: type[BaseModel] = KnowledgeFile
    for name in names[::2]:  # between the names of fields stand those that people give, or numbers
        model = get_args(model.model_fields[str(name)].annotation)[-1]
    fields = list(model.model_fields)
    # Names of fields are whole words: a part of one that is alike, as in `definitions` and `joins`, says nothing.
    near = find_intended_word(str(last), fields)
    hint = format_did_you_mean([repr(near[0])] if near else []) or f"there are {', '.join(fields)}"
    return f"{' > '.join(map(str, fault['loc']))}: there is no field {last!r} here; {hint}"


def _list_file_entries(file: KnowledgeFile, source: str) -> Iterator[Entry]:
    """Yield the entries of a knowledge file, in file order."""

    def make_entry(kind: EntryKind, name: str, section: Any, *texts: str, **more: Any) -> Entry:
        """Make an entry from one section of the file."""
        more.setdefault("about", tuple(map(_split_item_name, getattr(section, "about", ()))))
        fields = {name: getattr(section, name) for name in ("added", "unchecked", "rights")}
        fields |= {"author": section.author or file.author, "source": source}
        also = tuple(getattr(section, "also", ()))
        return Entry(kind, name, "; ".join(filter(None, texts)), also=also, **fields, **more)

    for name, term in file.terms.items():
        yield make_entry("term", name, term, term.means, sql=term.sql)
    for name, metric in file.metrics.items():
        sql = f"{metric.expression}\n{metric.where}" if metric.where else metric.expression
        yield make_entry("metric", name, metric, metric.means, metric.grain, sql=sql)
    for name, table in file.tables.items():
        if table.means or table.also:
            yield make_entry("table", name, table, table.means, about=((name, ""),))
        for column, note in table.columns.items():
            if note.means or note.also or note.values:
                values = tuple(note.values.items())
                yield make_entry("column", f"{name}.{column}", note, note.means, about=((name, column),), values=values)
    for join in file.joins:
        yield make_entry("join", join.on, join, join.means, sql=join.on)
    for rule in file.conventions:
        yield make_entry("convention", rule.says, rule, rule.says)
    for never in file.never:
        instead = f"use {never.instead} instead" if never.instead else ""
        yield make_entry("never", never.use, never, instead, never.why, about=(_split_item_name(never.use),))


def _split_item_name(name: str) -> Item:
    """Split `table.column` into table and column; the column is empty if there is no dot."""
    table, _, column = name.rpartition(".")
    return (table, column) if table else (name, "")


def describe_yaml_error(error: Exception) -> str:
    """Describe a YAML error and its position on one line."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def load_yaml(text: str, location: str) -> object:
    """Return the content of a YAML or JSON text, with every scalar as text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    def count_values(part: Any, counts: dict[int, int]) -> int:
        """Count the values in a part, with every repetition by an alias."""
        if id(part) not in counts:
            counts[id(part)] = _MOST  # of a part within itself
            parts: Iterable[Any] = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
            counts[id(part)] = 1 + sum(count_values(item, counts) for item in parts)
        return counts[id(part)]

    try:
        content = YAML(typ="base", pure=True).load(text)
        if count_values(content, {}) > _MOST:
            raise KnowledgeError(f"{location} has more than {_MOST:,} values once its aliases are expanded")
        return content
    except YAMLError as error:
        raise KnowledgeError(f"{location} is not YAML: {describe_yaml_error(error)}") from None
    except RecursionError:
        raise KnowledgeError(f"{location} is nested too deeply") from None


def _parse_markdown_entries(text: str, source: str) -> tuple[Entry, ...]:
    """Return entries from the list items of a Markdown text; other text is ignored.

    A list item that begins with a word in bold, or `word: meaning`, is a term; others are conventions.
    """
    entries: list[Entry] = []
    for item in _split_list_items(text):
        term = _BOLD.match(item) or _PLAIN.match(item)
        if term is None:
            entries.append(Entry("convention", item, item, source=source))
            continue
        means, sql = term[2].strip().rstrip(":"), ""
        if (code := _SQL.search(means)) and "." in code[1]:
            sql, means = code[1], means[: code.start()].strip().rstrip(":,")
        name = term[1].strip(" :*_`")
        entries.append(Entry("term", name, means or name, sql, source=source))
    return tuple(entries)


def _split_list_items(text: str) -> list[str]:
    """Return the list items of a Markdown text, each joined with its indented lines."""
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


def _get_map(value: object) -> _Node:
    """Return the value if it is a mapping, else an empty mapping."""
    return cast(_Node, value) if isinstance(value, Mapping) else {}


def _list_maps(node: _Node, *keys: str) -> list[_Node]:
    """Return the mappings in the lists under `keys`."""
    lists = (cast("list[Any]", node[key]) for key in keys if isinstance(node.get(key), list))
    return [part for parts in lists for part in parts if isinstance(part, Mapping)]


def _get_text(node: _Node, key: str) -> str:
    """Return the text under `key` on one line; empty if there is none."""
    text = node.get(key)
    return " ".join(text.split()) if isinstance(text, str) else ""


def _parse_dbt_entries(content: _Node, source: str) -> Iterator[Entry]:
    models = _list_maps(content, "models", "seeds", "snapshots")
    for model in (*models, *(table for node in _list_maps(content, "sources") for table in _list_maps(node, "tables"))):
        yield from _parse_dbt_model_entries(model, source)
    parts = [(content, ""), *((model, _get_text(model, "name")) for model in _list_maps(content, "models"))]
    metrics = {_get_text(item, "name"): (item, table) for part, table in parts for item in _list_maps(part, "metrics")}
    measures: dict[str, _Placed] = {}
    dimensions: dict[Item, str] = {}
    for model in _list_maps(content, "semantic_models"):
        table = _find_referenced_table(_get_text(model, "model")) or _get_text(model, "name")
        if meaning := _get_text(model, "description"):
            yield Entry.make_item_description(table, "", meaning, source=source)
        measures |= {_get_text(measure, "name"): (measure, table) for measure in _list_maps(model, "measures")}
        for dimension in _list_maps(model, "dimensions"):
            name, meaning = _get_text(dimension, "name"), _get_text(dimension, "description")
            column = _get_text(dimension, "expr") or name
            dimensions[table, name] = _qualify_column(column, table)
            if meaning and column.isidentifier():
                yield Entry.make_item_description(table, column, meaning, source=source)
    for name, (metric, _) in metrics.items():
        label = _get_text(metric, "label")
        means = _get_text(metric, "description") or label
        also = (label,) if label and label.lower() != name.lower() else ()
        reader = _DbtMetricConverter(metrics, measures, dimensions)
        try:
            sql, fault = reader.sql(name, []), ""
        except KnowledgeError as error:
            sql, fault = "", str(error)
        items = tuple((table, "") for table in reader.tables)
        yield Entry("metric", name.replace("_", " "), means, sql, also, about=items, source=source, fault=fault)


def _parse_dbt_model_entries(model: _Node, source: str) -> Iterator[Entry]:
    config = _get_map(model.get("config"))
    table = _get_text(config, "alias") or _get_text(model, "identifier") or _get_text(model, "name")
    if meaning := _get_text(model, "description"):
        yield Entry.make_item_description(table, "", meaning, source=source)
    for column in _list_maps(model, "columns"):
        name, meaning = _get_text(column, "name"), _get_text(column, "description")
        values: tuple[tuple[str, str], ...] = ()
        for test in _list_maps(column, "tests", "data_tests"):
            for kind, options in test.items():
                # In the form before dbt 1.10, and in the one since.
                arguments = _get_map(_get_map(options).get("arguments")) or _get_map(options)
                target, choices = _find_referenced_table(_get_text(arguments, "to")), arguments.get("values")
                if kind == "relationships" and target:
                    condition = " = ".join(map(write_path, ((table, name), (target, _get_text(arguments, "field")))))
                    yield Entry("join", condition, sql=condition, source=source)
                if kind == "accepted_values" and isinstance(choices, list):
                    values = tuple((str(value), str(value)) for value in cast("list[object]", choices))
        if meaning or values:
            yield Entry.make_item_description(table, name, meaning, values=values, source=source)


def _find_referenced_table(text: str) -> str:
    match = _REF.search(text)
    return (match[2] or match[1]) if match else ""


@dataclass(frozen=True)
class _DbtMetricConverter:
    """A converter of dbt metrics to SQL; `tables` collects the tables that metrics read."""

    metrics: Mapping[str, _Placed]
    measures: Mapping[str, _Placed]
    dimensions: Mapping[Item, str]
    tables: dict[str, None] = field(default_factory=dict[str, None])

    def sql(self, name: str, filters: list[str], depth: int = 0) -> str:
        """Write the SQL of a metric or measure over the rows that pass the filters."""
        if depth > _DEEPEST:
            raise KnowledgeError(f"the metric {name!r} is computed from itself")
        if name not in self.metrics:
            return self._write_measure_aggregate(self.measures.get(name), name, filters)
        metric, _ = self.metrics[name]
        params = _get_map(metric.get("type_params")) or metric
        filters = [*filters, *_read_filter_conditions(metric)]

        def part(node: Any) -> str:
            """Write the SQL of an input metric or measure with its filters."""
            inner = _get_map(node) or {"name": node}
            if any(inner.get(key) for key in ("offset_window", "offset_to_grain")):
                raise KnowledgeError("it compares with another period (an offset), which is not supported")
            input_name, input_filters = str(inner.get("name") or ""), [*filters, *_read_filter_conditions(inner)]
            if input_name == name:  # a metric is often called like the measure that it is of
                return self._write_measure_aggregate(self.measures.get(input_name), input_name, input_filters)
            return self.sql(input_name, input_filters, depth + 1)

        match kind := _get_text(metric, "type") or "simple":
            case "simple" if _get_text(metric, "agg"):
                return self._write_measure_aggregate(self.metrics[name], name, filters)
            case "simple":
                return part(params.get("measure"))
            case "ratio":
                return f"({part(params.get('numerator'))}) * 1.0 / NULLIF({part(params.get('denominator'))}, 0)"
            case "derived":
                parts = {
                    _get_text(_get_map(raw), "alias") or _get_text(_get_map(raw), "name") or str(raw): f"({part(raw)})"
                    for key in ("metrics", "input_metrics")
                    for raw in params.get(key) or ()
                }
                return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: parts.get(word[0], word[0]), _get_text(params, "expr"))
            case _:
                raise KnowledgeError(f"metrics of type {kind!r} are not supported: they are not expressions over rows")

    def _write_measure_aggregate(self, measure: _Placed | None, name: str, filters: list[str]) -> str:
        """Write a measure's aggregate over rows that pass all filters."""
        if measure is None:
            raise KnowledgeError(f"there is no measure and no metric {name!r} in this file")
        node, table = measure
        self.tables[table] = None
        conditions = [_DIMENSION.sub(lambda hit: self.dimensions.get((table, hit[1]), hit[1]), raw) for raw in filters]
        if jinja := next((text for text in conditions if "{{" in text), ""):
            raise KnowledgeError(f"its filter contains Jinja that is not supported: {jinja}")
        label, kind = _get_text(node, "name"), _get_text(node, "agg")
        value = _qualify_column(_get_text(node, "expr") or label, table)
        if kind not in _AGGREGATES:
            raise KnowledgeError(f"the aggregate {kind!r} of the measure {label!r} is not supported")
        if "{{" in value:
            raise KnowledgeError(f"the measure {label!r} contains Jinja that is not supported: {value}")
        if node.get("non_additive_dimension"):
            raise KnowledgeError(
                f"the measure {label!r} may not be added up over time (non_additive_dimension), which is not supported"
            )
        where = " AND ".join(conditions if len(conditions) == 1 else [f"({condition})" for condition in conditions])
        return _AGGREGATES[kind].format(f"CASE WHEN {where} THEN {value} END" if where else value)


def _read_filter_conditions(node: _Node) -> list[str]:
    value = node.get("filter")
    filters = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [" ".join(text.split()) for text in filters if isinstance(text, str) and text.strip()]


def _qualify_column(value: str, table: str) -> str:
    return write_path((table, value)) if value.isidentifier() else value
