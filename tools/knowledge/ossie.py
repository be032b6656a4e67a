"""The open semantic interchange format (Ossie, once OSI), version 1.0: read, and written.

https://github.com/open-semantic-interchange/OSI: datasets with fields, relationships, and metrics whose expressions
come in dialects. What the format has no place for (terms, conventions, coded values, what not to use) travels in the
instructions of `ai_context`, as the format intends, and comes back as conventions; of terms and coded values in a
`custom_extensions` entry of our own, which is read first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..database.schema import Schema
from .entry import Entry
from .imports import listed, text

VENDOR = "COMMON"
_OURS = "tableturn"
_DIALECTS = ("ANSI_SQL",)


def from_ossie(content: Mapping[str, Any], source: str) -> tuple[Entry, ...]:
    """The entries of a file of models."""
    found: list[Entry] = []
    for model in listed(content, "semantic_model"):
        ours = _ours(model)
        found += [Entry(**_tuples(fields), source=source) for fields in ours]
        if not ours and (rules := _instructions(model)):
            found.append(Entry("convention", rules, rules, source=source))
        tables: dict[str, str] = {}
        for dataset in listed(model, "datasets"):
            table = tables[text(dataset, "name")] = text(dataset, "source").rpartition(".")[2] or text(dataset, "name")
            found += _described(dataset, table, source)
        for relation in listed(model, "relationships"):
            on = _join(relation, tables)
            found.append(Entry("join", on, text(relation, "description"), on, source=source))
        for metric in listed(model, "metrics"):
            if sql := _expression(metric):
                name = text(metric, "name").replace("_", " ")
                found.append(Entry("metric", name, text(metric, "description"), sql, _synonyms(metric), source=source))
    first: dict[str, Entry] = {}
    for entry in found:  # what an export of ours put beside the model says more than the model
        first.setdefault(entry.key, entry)
    return tuple(first.values())


def _described(dataset: Mapping[str, Any], table: str, source: str) -> Iterator[Entry]:
    meaning, also = text(dataset, "description"), _synonyms(dataset)
    if meaning or also:
        yield Entry("table", table, meaning, also=also, about=((table, ""),), source=source)
    for field in listed(dataset, "fields"):
        column, meaning, also = _expression(field) or text(field, "name"), text(field, "description"), _synonyms(field)
        column = column.strip('"`')
        if meaning or also:
            place = ((table, column),)
            yield Entry("column", f"{table}.{column}", meaning, also=also, about=place, source=source)


def _expression(node: Mapping[str, Any]) -> str:
    """The expression in standard SQL, else in the first dialect; both spellings of the format are read."""
    given = node.get("expression")
    forms = listed({"dialects": given}, "dialects") if isinstance(given, list) else listed(given, "dialects")
    standard = [form for form in forms if text(form, "dialect") in _DIALECTS]
    return text((standard or forms)[0], "expression") if forms else ""


def _synonyms(node: Mapping[str, Any]) -> tuple[str, ...]:
    context = node.get("ai_context")
    found = cast("Mapping[str, Any]", context).get("synonyms") if isinstance(context, Mapping) else None
    return tuple(word for word in cast("list[Any]", found) if isinstance(word, str)) if isinstance(found, list) else ()


def _instructions(node: Mapping[str, Any]) -> str:
    context = node.get("ai_context")
    if isinstance(context, Mapping):
        return text(cast("Mapping[str, Any]", context), "instructions")
    return " ".join(context.split()) if isinstance(context, str) else ""


def _join(relation: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    left, right = (tables.get(text(relation, end), text(relation, end)) for end in ("from", "to"))
    pairs = zip(_names(relation, "from_columns"), _names(relation, "to_columns"), strict=False)
    return " AND ".join(f'"{left}"."{a}" = "{right}"."{b}"' for a, b in pairs)


def _names(node: Mapping[str, Any], key: str) -> list[str]:
    found = node.get(key)
    return [str(name) for name in cast("list[object]", found)] if isinstance(found, list) else []


def _ours(model: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Entries that an export of ours put beside the model."""
    for extension in listed(model, "custom_extensions"):
        try:
            data: Any = json.loads(text(extension, "data"))
        except ValueError:
            continue
        found = data.get(_OURS) if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType]
        if isinstance(found, list):
            return [fields for fields in cast("list[dict[str, Any]]", found) if set(fields) <= set(_KEPT)]
    return []


_KEPT = ("kind", "name", "text", "sql", "also", "about", "values", "author", "added")


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _frozen(value) for key, value in fields.items()}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in cast("list[Any]", value)) if isinstance(value, list) else value


def to_ossie(entries: Sequence[Entry], schema: Schema) -> dict[str, Any]:
    """A model of the database's tables, keys and definitions, as plain values to write as YAML or JSON."""
    notes = {entry.about[0]: entry for entry in entries if entry.kind in ("table", "column") and entry.about}
    instructions = " ".join(entry.line + "." for entry in entries if entry.kind in ("convention", "never", "term"))
    beside = [
        {key: getattr(entry, key) for key in _KEPT if getattr(entry, key)}
        for entry in entries
        if entry.kind in ("term", "convention", "never") or (entry.kind == "column" and entry.values)
    ]
    model: dict[str, Any] = {"name": schema.name}
    if instructions:
        model["ai_context"] = {"instructions": instructions}
    model["datasets"] = [
        _node(
            table.name,
            notes.get((table.name, "")),
            source=table.name,
            **({"primary_key": list(table.primary_key)} if table.primary_key else {}),
            fields=[
                _node(
                    column.name,
                    notes.get((table.name, column.name)),
                    expression=_in_dialect(column.name),
                    **({"dimension": {"is_time": True}} if column.kind == "time" else {}),
                )
                for column in table.columns
            ],
        )
        for table in schema.tables
    ]
    model["relationships"] = [
        {
            "name": f"{key.table}_{'_'.join(key.columns)}_to_{key.ref_table}",
            "from": key.table,
            "to": key.ref_table,
            "from_columns": list(key.columns),
            "to_columns": list(key.ref_columns),
        }
        for key in schema.foreign_keys
    ]
    model["metrics"] = [
        _node(entry.name.replace(" ", "_"), entry, expression=_in_dialect(entry.sql))
        for entry in entries
        if entry.kind == "metric"
    ]
    if beside:
        data = json.dumps({_OURS: beside}, ensure_ascii=False)
        model["custom_extensions"] = [{"vendor_name": VENDOR, "data": data}]
    return {"semantic_model": [model]}


def _in_dialect(sql: str) -> dict[str, Any]:
    return {"dialects": [{"dialect": "ANSI_SQL", "expression": sql}]}


def _node(name: str, note: Entry | None, **fields: Any) -> dict[str, Any]:
    described = {"description": note.text} if note and note.text else {}
    context = {"ai_context": {"synonyms": list(note.also)}} if note and note.also else {}
    return {"name": name, **fields, **described, **context}
