"""Drafting a question file: from the schema, the knowledge file and a log of queries. A person goes over it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import yaml
from sqlglot import tokenize
from sqlglot.errors import SqlglotError

from ...agent.audit import BESIDE
from ...tools.database import ColumnSchema, Database, Schema, TableSchema
from ...tools.database.quoting import naming
from ...tools.errors import QueryError, SettingsError, SQLParseError
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


@dataclass(frozen=True)
class Draft:
    """One drafted question.

    Attributes:
        accepts: The fields that say what is accepted.
        note: Where it comes from.
    """

    question: str
    accepts: Mapping[str, Any]
    note: str


def draft(database: Database, log: Path | None = None, knowledge: Path | None = None) -> list[Draft]:
    """Drafts questions; each query runs and gives rows.

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
    drafts += islice((found for found in _from_schema(schema) if _gives_rows(found, database)), FROM_SCHEMA)
    kept = {found.question: found for found in drafts if _gives_rows(found, database)}
    declined = Draft("What will the weather be like tomorrow?", {"must": "decline"}, "no table says: it must decline")
    return [*kept.values(), declined]


def write_draft(drafts: list[Draft], out: Path) -> None:
    """Writes a question file.

    Raises:
        SettingsError: There is a file already, or it cannot be written.
    """
    records = [{"question": found.question, **found.accepts, "note": found.note} for found in drafts]
    text = HEADER + "\n" + yaml.safe_dump(records, sort_keys=False, allow_unicode=True, width=110)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SettingsError(f"{out} is there already: name another file with --out") from None
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error}") from error


def _gives_rows(found: Draft, database: Database) -> bool:
    if "sql" not in found.accepts:
        return True
    try:
        return bool(database.execute(found.accepts["sql"]).rows)
    except QueryError:
        return False


def _from_schema(schema: Schema) -> Iterator[Draft]:
    """A question of each kind for each table, the tables with the most rows first, kind by kind."""
    tables = sorted(
        (table for table in schema.tables if table.kind == "table"), key=lambda table: -(table.row_count or 0)
    )
    kinds = (_counted, _grouped, _related, _averaged)
    for drafts in zip_longest(*([found for table in tables for found in kind(table, schema)] for kind in kinds)):
        yield from (found for found in drafts if found is not None)


def _counted(table: TableSchema, schema: Schema) -> Iterator[Draft]:
    yield Draft(
        f"How many {_words(table.name)} are there?",
        {"sql": f"SELECT count(*) FROM {_name(table.name, schema)}"},
        _SCHEMA,
    )


def _grouped(table: TableSchema, schema: Schema) -> Iterator[Draft]:
    keys = {column for key in schema.foreign_keys for column in key.columns if key.table == table.name}
    for column in table.columns:
        coded = column.kind == "text" and all(len(str(value)) <= _SHORT for value in column.samples)
        if coded and column.name not in keys and 1 < (column.distinct or 0) <= _FEW:
            own = _name(column.name, schema)
            sql = f"SELECT {own}, count(*) FROM {_name(table.name, schema)} GROUP BY {own}"
            question = f"How many {_words(table.name)} are there for each {_words(column.name)}?"
            yield Draft(question, {"sql": sql}, _SCHEMA)
            return


def _related(table: TableSchema, schema: Schema) -> Iterator[Draft]:
    for key in schema.foreign_keys:
        parent = schema.table(key.ref_table)
        if key.table != table.name or len(key.columns) != 1 or parent is None or parent is table:
            continue
        shown = next((c for c in parent.columns if _names_a_row(c, parent) and c.name not in key.ref_columns), None)
        if shown is None:
            continue
        own, other = f"{_name(table.name, schema)}", f"{_name(parent.name, schema)}"
        reference = f"{other}.{_name(key.ref_columns[0], schema)}"
        label = f"{other}.{_name(shown.name, schema)}"
        yield Draft(
            f"How many {_words(table.name)} are there for each of the {_words(parent.name)}?",
            {
                "sql": f"SELECT {label}, count(*) FROM {other} JOIN {own} "
                f"ON {own}.{_name(key.columns[0], schema)} = {reference} GROUP BY {reference}, {label}"
            },
            _SCHEMA,
        )
        return


def _names_a_row(column: ColumnSchema, table: TableSchema) -> bool:
    """Whether a text tells the table's rows apart, as a name does."""
    return column.kind == "text" and column.distinct is not None and column.distinct == table.row_count


def _averaged(table: TableSchema, schema: Schema) -> Iterator[Draft]:
    for column in table.columns:
        if _measures(column, table, schema):
            yield Draft(
                f"What is the average {_words(column.name)} of {_words(table.name)}?",
                {"sql": f"SELECT avg({_name(column.name, schema)}) FROM {_name(table.name, schema)}"},
                _SCHEMA,
            )
            return


def _measures(column: ColumnSchema, table: TableSchema, schema: Schema) -> bool:
    keys = {name for key in schema.foreign_keys if key.table == table.name for name in key.columns}
    named = re.search(r"(^|_)(id|no|nr|number|code|year|zip)$", column.name, re.IGNORECASE)
    return column.kind == "number" and not column.primary_key and column.name not in keys and not named


_SCHEMA = "drafted from the schema"


def _from_knowledge(path: Path, schema: Schema) -> Iterator[Draft]:
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(found, Mapping):
        raise SettingsError(f"{path}: expected `terms` and `metrics`")
    for name, entry in knowledge_entries(found.get("metrics"), path):
        yield Draft(
            f"What is the {name}?", _metric_accepts(entry, schema), f"drafted from the metric {name!r}: check it"
        )
    for name, _ in knowledge_entries(found.get("terms"), path):
        note = f"drafted from the term {name!r}: give what is accepted"
        yield Draft(f"How many are there: {name}?", {"rows": "at least 1"}, note)


def knowledge_entries(section: object, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and fields of a knowledge file's section, whether it is a list of records or fields by name.

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


def _metric_accepts(entry: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The metric's own query, where its fields give one."""
    expression = str(entry.get("sql") or entry.get("expression") or "").strip()
    table = schema.table(str(entry.get("table", "")))
    if re.match(r"(select|with)\b", expression, re.IGNORECASE):
        return {"sql": expression}
    if expression and table is not None:
        return {"sql": f"SELECT {expression} FROM {_name(table.name, schema)}"}
    return {"rows": "at least 1"}


def _from_log(path: Path, schema: Schema) -> Iterator[Draft]:
    """The log's commonest forms of query, each by its last occurrence."""
    times: Counter[str] = Counter()
    last: dict[str, tuple[str, str]] = {}
    for question, sql in read_log(path, schema.dialect):
        try:
            parse_select(sql, schema.dialect)
            form = sql_skeleton(sql)
        except SQLParseError:
            continue
        times[form] += 1
        last[form] = (question or last.get(form, ("", ""))[0], sql)
    for form, count in times.most_common(FROM_LOG):
        question, sql = last[form]
        note = f"from the log, {count} time{'' if count == 1 else 's'} in this form"
        words = question or _explained(sql, schema)
        yield Draft(words, {"sql": sql}, note if question else f"{note}: put it in your own words")


def read_log(path: Path, dialect: str = "sqlite") -> Iterator[tuple[str, str]]:
    """Questions, empty where unknown, with the SQL that a log holds for them.

    Raises:
        SettingsError: It cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            for record in read_lines(text):
                if not isinstance(record, Mapping) or record.get("status") in BESIDE:
                    continue  # a query that a person ran beside a turn need not answer its question
                if record.get("sql") and not turned_down(record):
                    yield str(record.get("question") or ""), str(record["sql"])
            return
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    yield from (("", statement) for statement in _statements(text, dialect))


def turned_down(record: Mapping[str, Any]) -> bool:
    """Whether an audit trail's query was refused; a turn in which another one was may have an answer all the same."""
    refused = record.get("refused")
    return record.get("sql") in refused if isinstance(refused, list) else bool(refused)


def _statements(text: str, dialect: str) -> Iterator[str]:
    """The statements of a text: between semicolons, or one a line where there are none."""
    try:
        ends = [t.start for t in tokenize(text, read=dialect) if t.text == ";" and t.start == t.end]
    except SqlglotError:
        ends = []
    parts = (
        [text[a:b].lstrip(";") for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
        if ends
        else text.splitlines()
    )
    yield from (part.strip() for part in parts if part.strip())


def _explained(sql: str, schema: Schema) -> str:
    words = explain(sql, schema).rstrip(".")
    return f"Show me {words[:1].lower()}{words[1:]}" if words else sql


def _words(name: str) -> str:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ")
    return " ".join(spaced.split()).lower()


def _name(name: str, schema: Schema) -> str:
    return naming(schema.dialect).written(name)
