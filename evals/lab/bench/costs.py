"""Cost of a turn: requests, prompt tokens, repeated prefixes, and LangChain's beside ours.

One of the sets, `large`, asks questions of Spider dev on a database of all others' tables: finding the right tables
among many is what real databases ask for and benchmarks hardly do.
"""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import groupby, islice, pairwise, takewhile
from operator import attrgetter
from pathlib import Path

from langchain_core.messages import AIMessage, ToolMessage
from pandas import DataFrame
from sqlalchemy.exc import DBAPIError
from sqlglot import exp

from tests.support.scripted import ScriptedModel, ScriptedPrompt

from ....agent import SQLAgent, make_settings
from ....tools.database import Database, Schema
from ....tools.database.quoting import quote
from ....tools.database.rendering.text import NameFormatter
from ....tools.errors import DatabaseUnavailable, QueryError, SQLParseError
from ....tools.linking import STAR, PastTurn
from ....tools.sql import Query, find_used_schema_items
from ...baselines.langchain import LangChainAgent
from ...datasets import Dataset, GoldTurn, load_dataset
from ...official.execution import open_database_read_only
from .gold import PARTIAL
from .registry import BenchOptions, Figures, Measure, Row, wrap_row
from .replays import Drafts, play, read_strong_model_drafts
from .way import CHARACTERS_A_TOKEN

SETS = {"spider": "spider", "sparc": "sparc", "cosql": "cosql", "kaggle": "kaggle-dbqa"}
"""Each set's name among the drafts."""

ARM = "zero-shot"
"""The strong model's drafts that are played: those of one request."""

LARGE = "large"
"""The set of the large database, of which gold is played: nobody has drafts of it."""

QUESTIONS, SEED = 60, 7


def _read_questions_by_database(options: BenchOptions) -> Iterator[tuple[str, Path, Sequence[GoldTurn]]]:
    """Yield the questions of each set and database; gold is the query that the model replies."""
    strong = read_strong_model_drafts(options.folder, None)
    for name, kept in SETS.items():
        some = [turn for turn in strong.asked.questions if turn.interaction.startswith(f"{kept}/")][: options.limit]
        turns = [replace(turn, golds=(strong.drafts[ARM][turn.id],)) for turn in some]
        for database, found in groupby(sorted(turns, key=attrgetter("database")), attrgetter("database")):
            yield name, strong.asked.find_file(database), list(found)
    with tempfile.TemporaryDirectory() as folder:
        large = build_large_dataset(load_dataset("spider", "dev", options.folder), Path(folder)).head(options.limit)
        yield LARGE, large.find_file(LARGE), large.questions


def _ask_with_stored_replies(case: tuple[str, Path, Sequence[GoldTurn]]) -> Iterator[Row]:
    """Yield each turn's requests: their size, the share repeated, and if gold items are shown."""
    name, path, asked = case
    model = ScriptedModel(script=lambda prompt: "")
    with SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        schema = agent.resources.database.schema()
        if name == LARGE:
            agent.resources.values.find("")  # goes on with the index as long as a turn may
        for _, conversation in groupby(asked, attrgetter("interaction")):
            chat = agent.conversation()
            for turn in conversation:
                model.script = lambda prompt, sql=turn.golds[0]: f"```sql\n{sql}\n```\nSure: 90"
                before = len(model.prompts)
                chat.ask(turn.text)
                sent = model.prompts[before:]
                pairs = list(pairwise(model.prompts[max(before - 1, 0) :]))
                same = (takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False)) for pair in pairs)
                yield {
                    "set": name,
                    "calls": len(sent),
                    "characters": sum(map(len, sent)),
                    "pairs": len(pairs),
                    "repeated": sum(
                        sum(1 for _ in each) / len(new) for each, (_, new) in zip(same, pairs, strict=True)
                    ),
                    "shown": name == LARGE and _has_gold_schema_items(sent[0], turn.golds[0], schema),
                }


def _compute_costs_by_set(table: DataFrame) -> Figures:
    """Return calls and tokens per turn and the cacheable share of prompts, by set.

    Questions are asked one after another on a database, and the model replies with stored queries. `large` asks about a
    database of all others' tables: `gold_shown` is the share of its questions whose prompt shows all tables and columns
    that gold uses.
    """
    figures: Figures = {}
    for name, rows in table.groupby("set", sort=False):
        n, total = len(rows), rows[["calls", "characters", "pairs", "repeated", "shown"]].sum()
        figures[str(name)] = {
            "n": n,
            "calls": round(total["calls"] / n, 3),
            "prompt_tokens": round(total["characters"] / CHARACTERS_A_TOKEN / n),
            "cacheable_share": round(total["repeated"] / total["pairs"], 3) if total["pairs"] else None,
            **({"gold_shown": round(total["shown"] / n, 3)} if name == LARGE else {}),
        }
    return figures


measure_turn_cost = Measure(_read_questions_by_database, _ask_with_stored_replies, _compute_costs_by_set)


def _has_gold_schema_items(prompt: str, gold: str, schema: Schema) -> bool:
    """Whether a prompt's compact schema has all tables and columns that the gold query uses."""
    used, written = find_used_schema_items(gold, schema), NameFormatter(schema)
    for table in used.tables:
        columns = [written(column) for of, column in used.columns if of == table and column != STAR]
        line = re.search(rf"^{re.escape(written.quote_table(table))}\^?\((.*)$", prompt, re.MULTILINE)
        if line is None or not all(re.search(rf"(^|, ){re.escape(column)}[*~^]*[ ,)]", line[1]) for column in columns):
            return False
    return True


TurnCosts = Mapping[str, tuple[int, int]]
"""Requests and prompt tokens by the turn's id."""


def _play_both_agents(options: BenchOptions) -> Iterator[Row]:
    """Yield the cost of each turn that our agent finishes, and that LangChain's finishes."""
    strong = read_strong_model_drafts(options.folder, options.limit)
    asked, drafts = strong.asked, strong.drafts[ARM]
    costs: dict[str, TurnCosts] = {
        "tableturn": {record.id: (record.calls, record.tokens[0]) for record, _ in play(asked, [drafts], {})},
        "langchain": measure_langchain_turn_costs(asked, drafts, checks=True),
        "langchain_unchecked": measure_langchain_turn_costs(asked, drafts, checks=False),
    }
    for agent, found in costs.items():
        for turn, (calls, tokens) in found.items():
            yield {"agent": agent, "turn": turn, "calls": calls, "prompt_tokens": tokens}


def _compare_costs(table: DataFrame) -> Figures:
    """Return the cost of the same stored queries for our agent and for LangChain's.

    LangChain's model is played at its best: it looks at the schema of the tables that its query reads and at no other,
    and never tries twice. `langchain` sends the query through the checker, as the prompt demands; `langchain_unchecked`
    does not. Tokens are estimated for both alike, from the texts of messages: the descriptions of tools, which a
    provider counts too, and the arguments of calls are left out. Only turns that all three end are counted;
    `langchain_failed` are those in which the toolkit cannot read the schema.
    """
    turns = table["agent"].value_counts()
    ended = table[table.groupby("turn")["agent"].transform("size") == len(turns)]
    figures: Figures = {"n": len(ended) // len(turns), "langchain_failed": turns["tableturn"] - turns["langchain"]}
    for agent, rows in ended.groupby("agent", sort=False):
        figures[str(agent)] = {
            "calls": round(rows["calls"].mean(), 3),
            "prompt_tokens": round(rows["prompt_tokens"].mean()),
        }
    return figures


measure_langchain = Measure(_play_both_agents, wrap_row, _compare_costs)


def measure_langchain_turn_costs(dataset: Dataset, drafts: Drafts, *, checks: bool) -> TurnCosts:
    """Play stored queries through LangChain's agent; return the cost of each turn.

    The model knows the query, and calls the agent's tools in the order that its prompt asks for, without a detour. If
    it `checks`, the query goes through the checker first, a request of its own, as the prompt and the tools'
    descriptions demand of the model.
    """
    model = ScriptedModel(script=lambda prompt: "", usage=None)
    agent = LangChainAgent(dataset, model, make_settings(), "predicted")
    found: dict[str, tuple[int, int]] = {}
    for _, turns in groupby(dataset.questions, attrgetter("interaction")):
        past: list[PastTurn] = []
        for turn in turns:
            sql = drafts[turn.id]
            with Database.open(str(dataset.find_file(turn.database))) as database, suppress(DBAPIError):
                used = find_used_schema_items(sql, database.schema())
                steps = [
                    ("sql_db_list_tables", {"tool_input": ""}),
                    ("sql_db_schema", {"table_names": ", ".join(sorted(used.tables))}),
                    *([("sql_db_query_checker", {"query": sql})] if checks else []),
                    ("sql_db_query", {"query": sql}),
                ]

                def reply_to_prompt(
                    prompt: ScriptedPrompt, sql: str = sql, steps: Sequence[tuple[str, dict[str, str]]] = steps
                ) -> AIMessage:
                    if len(prompt.messages) == 1:  # the checker's own request
                        return AIMessage(sql)
                    done = sum(isinstance(message, ToolMessage) for message in prompt.messages)
                    if done == len(steps):
                        return AIMessage("This is what the query gives.")
                    name, arguments = steps[done]
                    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{done}"}])

                model.script = reply_to_prompt
                usage = asyncio.run(agent.answer_turn(turn, past, database)).usage
                found[turn.id] = (usage.llm_calls, usage.prompt_tokens)
            past.append(PastTurn(turn.text, sql=sql))
    return found


def build_large_dataset(spider: Dataset, folder: Path) -> Dataset:
    """Copy the tables of all Spider databases into one database; return its dataset.

    Its questions are drawn by a seed from those whose gold gives the same rows there as on its own database.
    """
    found = {path.stem: path for databases in reversed(spider.databases) for path in databases.glob("*/*.sqlite")}
    files = [path for name, path in sorted(found.items()) if name == path.parent.name and _is_complete_database(path)]
    path = folder / LARGE / f"{LARGE}.sqlite"
    _copy_tables_into_one_file(files, path)
    drawn = list(spider.questions)
    random.Random(SEED).shuffle(drawn)  # noqa: S311 - a draw that can be repeated, not a secret
    with Database.open(path) as large:
        carried = (_rewrite_question_for_large(question, spider, large) for question in drawn)
        questions = tuple(islice((question for question in carried if question is not None), QUESTIONS))
    return Dataset(LARGE, spider.split, questions, (folder,), root=spider.root)


def _is_complete_database(path: Path) -> bool:
    """Whether a database is complete and has rows."""
    try:
        with closing(open_database_read_only(path)) as connection:
            named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            tables = [quote(name) for (name,) in connection.execute(named)]
            rows = (connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in tables)
            return path.stem not in PARTIAL and any(rows)
    except sqlite3.Error:
        return False


def _copy_tables_into_one_file(files: Sequence[Path], path: Path) -> None:
    """Copy every table, with keys and rows, into one database."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None, uri=True)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        for file in files:
            with Database.open(file) as database:
                schema = database.schema()
            connection.execute("ATTACH ? AS one", (f"{file.absolute().as_uri()}?mode=ro&immutable=1",))
            connection.execute("BEGIN")
            for table in schema.tables:
                if table.kind != "table":
                    continue
                own = quote(_make_large_table_name(schema, table.name))
                parts = [f"{quote(column.name)} {column.type}" for column in table.columns]
                if table.primary_key:
                    parts.append(f"PRIMARY KEY ({_join_quoted_names(table.primary_key)})")
                parts += [
                    f"FOREIGN KEY ({_join_quoted_names(key.columns)}) REFERENCES "
                    f"{quote(_make_large_table_name(schema, key.ref_table))} ({_join_quoted_names(key.ref_columns)})"
                    for key in schema.foreign_keys
                    if key.table == table.name and not key.inferred
                ]
                names = _join_quoted_names([column.name for column in table.columns])
                connection.execute(f"CREATE TABLE {own} ({', '.join(parts)})")
                connection.execute(f"INSERT INTO {own} ({names}) SELECT {names} FROM one.{quote(table.name)}")
            connection.execute("COMMIT")
            connection.execute("DETACH one")


def _join_quoted_names(names: Sequence[str]) -> str:
    return ", ".join(map(quote, names))


def _make_large_table_name(schema: Schema, table: str) -> str:
    return f"{schema.name}__{table}"


def rewrite_for_large_database(sql: str, schema: Schema) -> str:
    """Rewrite a query on one database for the large database of all tables.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    query = Query.of(sql, schema.dialect, schema)
    edit = query.edit()
    for scope in query.scopes:
        for source in scope.sources:
            node = edit.of(source.node)
            if source.table is None or not isinstance(node, exp.Table):
                continue
            if not node.alias:
                node.set("alias", exp.TableAlias(this=node.this.copy()))
            node.set("this", exp.to_identifier(_make_large_table_name(schema, source.table.name), quoted=True))
    return edit.sql


def _rewrite_question_for_large(question: GoldTurn, spider: Dataset, large: Database) -> GoldTurn | None:
    """Return the question for the large database, or None if the gold rows differ there."""
    if question.database in PARTIAL or question.disputed:
        return None
    try:
        with Database.open(spider.find_file(question.database)) as own:
            gold = rewrite_for_large_database(question.golds[0], own.schema())
            rows = own.execute(question.golds[0]).rows
        if rows and rows == large.execute(gold).rows:
            return replace(question, database=LARGE, golds=(gold,))
    except (QueryError, SQLParseError, DatabaseUnavailable):
        pass
    return None
