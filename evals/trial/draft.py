"""Drafting a question file: from the schema, the knowledge file and a log of queries. A person goes over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import yaml

from ...agent.audit import BESIDE
from ...tools.database import ColumnSchema, Database, Schema, TableSchema
from ...tools.database.quoting import naming
from ...tools.errors import QueryError, SettingsError, SQLParseError
from ...tools.knowledge.suggest import statements
from ...tools.record_files import read_lines
from ...tools.sql import explain, parse_select, sql_skeleton

FROM_SCHEMA, FROM_LOG = 16, 20
"""Questions that are drafted from each, at most."""

_FEW = 30
"""Values up to which a column counts as one that rows are grouped by."""

_SHORT = 20
"""Characters of a value that stands for a group; longer ones are text."""

HEADER = """\
# Questions of a trial, drafted by `tableturn trial init`. Go over each: put it as people ask it, check what is
# accepted, take out what nobody asks. A question is accepted by sql (a query, or a list), value (12400,
# "about 12,400"), rows ("at least 3"), columns, or must: ask_back | decline; `turns` holds the turns of a conversation.
# `tableturn trial schema` prints the JSON schema of this file.
"""

Draft = Mapping[str, str]
"""A record of the question file: `question`, what is accepted, and `note`, where it comes from."""


def draft(database: Database, log: Path | None = None, knowledge: Path | None = None) -> list[Draft]:
    """Draft questions; each query runs and gives rows.

    Args:
        database: Whose schema is read.
        log: SQL statements, or JSON lines with `sql` and, if known, `question` (an audit trail).
        knowledge: A YAML file with `terms` and `metrics`.

    Raises:
        SettingsError: A file cannot be read.
    """
    schema = database.schema()
    drafts = [*_from_log(log, schema)] if log else []
    drafts += _from_knowledge(knowledge, schema) if knowledge else []
    drafts += islice((found for found in _SchemaDrafts(schema).all() if _gives_rows(found, database)), FROM_SCHEMA)
    kept = {found["question"]: found for found in drafts if _gives_rows(found, database)}
    question = "What will the weather be like tomorrow?"
    return [*kept.values(), {"question": question, "must": "decline", "note": "no table says: it must decline"}]


def write_draft(drafts: list[Draft], out: Path) -> None:
    """Write a question file.

    Raises:
        SettingsError: There is a file already, or it cannot be written.
    """
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(f"{HEADER}\n{yaml.safe_dump(drafts, sort_keys=False, allow_unicode=True, width=110)}")
    except FileExistsError:
        raise SettingsError(f"{out} is there already: name another file with --out") from None
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error}") from error


def _gives_rows(found: Draft, database: Database) -> bool:
    try:
        return "sql" not in found or bool(database.execute(found["sql"]).rows)
    except QueryError:
        return False


class _SchemaDrafts:
    """Drafts questions from a schema: of several kinds for each table."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._name = naming(schema.dialect).written

    def all(self) -> Iterator[Draft]:
        """Yield a question of each kind for each table, the tables with the most rows first, kind by kind."""
        tables = [table for table in self._schema.tables if table.kind == "table"]
        tables.sort(key=lambda table: -(table.row_count or 0))
        kinds = (self._count, self._group, self._count_related, self._average)
        for drafts in zip_longest(*([found for table in tables for found in kind(table)] for kind in kinds)):
            yield from (
                {"question": found[0], "sql": found[1], "note": "drafted from the schema"} for found in drafts if found
            )

    def _count(self, table: TableSchema) -> Iterator[tuple[str, str]]:
        yield f"How many {_words(table)} are there?", f"SELECT count(*) FROM {self._name(table.name)}"

    def _group(self, table: TableSchema) -> Iterator[tuple[str, str]]:
        for column in self._own_columns(table, "text"):
            if 1 < (column.distinct or 0) <= _FEW and all(len(str(value)) <= _SHORT for value in column.samples):
                name = self._name(column.name)
                sql = f"SELECT {name}, count(*) FROM {self._name(table.name)} GROUP BY {name}"
                yield f"How many {_words(table)} are there for each {_words(column)}?", sql
                return

    def _count_related(self, table: TableSchema) -> Iterator[tuple[str, str]]:
        for key in self._schema.foreign_keys:
            parent = self._schema.table(key.ref_table)
            if key.table != table.name or len(key.columns) != 1 or parent is None or parent is table:
                continue
            # A text that tells the parent's rows apart, as a name does.
            texts = [c for c in parent.columns if c.kind == "text" and c.distinct is not None]
            shown = [c for c in texts if c.distinct == parent.row_count and c.name not in key.ref_columns]
            if not shown:
                continue
            own, other = self._name(table.name), self._name(parent.name)
            reference, label = (f"{other}.{self._name(name)}" for name in (key.ref_columns[0], shown[0].name))
            yield (
                f"How many {_words(table)} are there for each of the {_words(parent)}?",
                f"SELECT {label}, count(*) FROM {other} JOIN {own} "
                f"ON {own}.{self._name(key.columns[0])} = {reference} GROUP BY {reference}, {label}",
            )
            return

    def _average(self, table: TableSchema) -> Iterator[tuple[str, str]]:
        for column in self._own_columns(table, "number"):
            named = re.search(r"(^|_)(id|no|nr|number|code|year|zip)$", column.name, re.IGNORECASE)
            if not column.primary_key and not named:
                sql = f"SELECT avg({self._name(column.name)}) FROM {self._name(table.name)}"
                yield f"What is the average {_words(column)} of {_words(table)}?", sql
                return

    def _own_columns(self, table: TableSchema, kind: str) -> list[ColumnSchema]:
        """Return the table's columns of a kind that refer to no other table."""
        keys = {name for key in self._schema.foreign_keys if key.table == table.name for name in key.columns}
        return [column for column in table.columns if column.kind == kind and column.name not in keys]


def _from_knowledge(path: Path, schema: Schema) -> Iterator[Draft]:
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(found, Mapping):
        raise SettingsError(f"{path}: expected `terms` and `metrics`")
    for name, entry in knowledge_entries(found.get("metrics"), path):
        note = f"drafted from the metric {name!r}: check it"
        yield {"question": f"What is the {name}?", **_metric_accepts(entry, schema), "note": note}
    for name, _ in knowledge_entries(found.get("terms"), path):
        note = f"drafted from the term {name!r}: give what is accepted"
        yield {"question": f"How many are there: {name}?", "rows": "at least 1", "note": note}


def knowledge_entries(section: object, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield names and fields of a knowledge file's section, whether it is a list of records or fields by name.

    Raises:
        SettingsError: It is neither.
    """
    if section is not None and not isinstance(section, Mapping | list):
        raise SettingsError(f"{path}: expected records with names under `terms` and `metrics`, found {section!r:.80}")
    if isinstance(section, Mapping):
        for name, entry in section.items():
            yield str(name), entry if isinstance(entry, Mapping) else {"definition": entry}
    elif isinstance(section, list):
        for entry in section:
            if isinstance(entry, Mapping) and entry.get("name"):
                yield str(entry["name"]), entry


def _metric_accepts(entry: Mapping[str, Any], schema: Schema) -> Draft:
    """Return the metric's own query, if its fields give one."""
    expression = str(entry.get("sql") or entry.get("expression") or "").strip()
    table = schema.table(str(entry.get("table", "")))
    if re.match(r"(select|with)\b", expression, re.IGNORECASE):
        return {"sql": expression}
    if expression and table is not None:
        return {"sql": f"SELECT {expression} FROM {naming(schema.dialect).written(table.name)}"}
    return {"rows": "at least 1"}


def _from_log(path: Path, schema: Schema) -> Iterator[Draft]:
    """Yield the log's commonest forms of query, each by its last occurrence."""
    forms: dict[str, list[tuple[str, str]]] = {}
    for question, sql in read_log(path, schema.dialect):
        try:
            parse_select(sql, schema.dialect)
            forms.setdefault(sql_skeleton(sql), []).append((question, sql))
        except SQLParseError:
            continue
    for pairs in sorted(forms.values(), key=len, reverse=True)[:FROM_LOG]:
        sql, question = pairs[-1][1], next((words for words, _ in reversed(pairs) if words), "")
        note = f"from the log, {len(pairs)} time{'' if len(pairs) == 1 else 's'} in this form"
        if not question:
            words = explain(sql, schema).rstrip(".")
            question = f"Show me {words[:1].lower()}{words[1:]}" if words else sql
            note += ": put it in your own words"
        yield {"question": question, "sql": sql, "note": note}


def read_log(path: Path, dialect: str = "sqlite") -> Iterator[tuple[str, str]]:
    """Yield questions, empty if unknown, with the SQL that a log holds for them.

    Raises:
        SettingsError: It cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        records = read_lines(text) if path.suffix == ".jsonl" else None
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if records is None:
        yield from (("", statement) for statement in _statements(text, dialect))
        return
    for record in records:
        if not isinstance(record, Mapping) or record.get("status") in BESIDE:
            continue  # a query that a person ran beside a turn need not answer its question
        if record.get("sql") and not turned_down(record):
            yield str(record.get("question") or ""), str(record["sql"])


def turned_down(record: Mapping[str, Any]) -> bool:
    """Whether an audit trail's query was refused; a turn in which another one was may have an answer all the same."""
    refused = record.get("refused")
    return record.get("sql") in refused if isinstance(refused, list) else bool(refused)


def _statements(text: str, dialect: str) -> list[str]:
    """Return the statements of a text: between semicolons, or one per line if there are none."""
    found = list(statements(text, dialect))
    if len(found) == 1 and not text.rstrip().endswith(";"):
        found = text.splitlines()
    return [statement.strip() for statement in found if statement.strip()]


def _words(named: TableSchema | ColumnSchema) -> str:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", named.name).replace("_", " ")
    return " ".join(spaced.split()).lower()
