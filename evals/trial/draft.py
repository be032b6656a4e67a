"""Drafting a question file from the knowledge file and a log of queries. A person goes over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import yaml

from ...agent.audit import BESIDE
from ...tools.database import Database, Schema
from ...tools.database.quoting import naming
from ...tools.errors import QueryError, SettingsError, SQLParseError
from ...tools.knowledge import read_knowledge
from ...tools.knowledge.fragment import outer_columns, parse_fragment
from ...tools.sql import explain, spell_tables, sql_skeleton
from ..impact import read_history

HEADER = """\
# Questions of a trial, drafted by `tableturn trial init`. Go over each: put it as people ask it, check what is
# accepted, take out what nobody asks. A question is accepted by sql (a query, or a list), value (12400,
# "about 12,400"), rows ("at least 3"), columns, or must: ask_back | decline; `turns` holds the turns of a conversation.
# `tableturn trial schema` prints the JSON schema of this file.
"""

Draft = Mapping[str, str]
"""A record of the question file: `question`, what is accepted, and `note`, where it comes from."""


def draft(database: Database, log: Path | None = None, knowledge: Path | None = None) -> list[Draft]:
    """Draft questions from a log (SQL, or an audit trail) and a knowledge file; each query runs and gives rows.

    Raises:
        SettingsError: Neither is given, or the log cannot be read.
        KnowledgeError: The knowledge file is missing or wrong.
    """

    def gives_rows(found: Draft) -> bool:
        with suppress(QueryError):
            return "sql" not in found or bool(database.execute(found["sql"]).rows)
        return False

    if not log and not knowledge:
        raise SettingsError(
            "nothing to draft from: name a log of queries or a knowledge file (--from-log, --knowledge)"
        )
    schema = database.schema()
    drafts = [*_from_log(log, schema)] if log else []
    drafts += _from_knowledge(knowledge, schema) if knowledge else []
    kept = {found["question"]: found for found in filter(gives_rows, drafts)}
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


def _from_knowledge(path: Path, schema: Schema) -> Iterator[Draft]:
    for entry in (entry for layer in read_knowledge(path) for entry in layer):
        note = f"drafted from the {entry.kind} {entry.name!r}"
        if entry.kind == "term":
            question = f"How many are there: {entry.name}?"
            yield {"question": question, "rows": "at least 1", "note": f"{note}: give what is accepted"}
        elif entry.kind == "metric":
            expression = parse_fragment(entry.sql, schema.dialect)
            tables = {tuple(part.name for part in column.parts[:-1]) for column in outer_columns(expression)}
            accepted = {"rows": "at least 1"}
            if len(tables) == 1:
                table = naming(schema.dialect).written_path(tables.pop())
                sql = f"SELECT {expression.sql(schema.dialect)} FROM {table}"
                accepted = {"sql": spell_tables(sql, schema)}
            yield {"question": f"What is the {entry.name}?", **accepted, "note": f"{note}: check it"}


def _from_log(path: Path, schema: Schema) -> Iterator[Draft]:
    """Yield the log's commonest forms of query, each by its last occurrence."""
    forms: dict[str, list[tuple[str, str]]] = {}
    for past in read_history(path, schema.dialect):
        # A query that a person ran beside a turn need not answer its question.
        if past.sql and past.status not in BESIDE:
            with suppress(SQLParseError):
                forms.setdefault(sql_skeleton(past.sql, schema.dialect), []).append((past.question, past.sql))
    for pairs in sorted(forms.values(), key=len, reverse=True)[:20]:
        sql, question = pairs[-1][1], next((words for words, _ in reversed(pairs) if words), "")
        note = f"from the log, {len(pairs)} time{'' if len(pairs) == 1 else 's'} in this form"
        if not question:
            words = explain(sql, schema).rstrip(".")
            question = f"Show me {words[:1].lower()}{words[1:]}" if words else sql
            note += ": put it in your own words"
        yield {"question": question, "sql": sql, "note": note}
