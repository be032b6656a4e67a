"""What a turn costs: requests, tokens of their prompts, how much of a prompt repeats, and LangChain's beside ours."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from sqlalchemy.exc import DBAPIError

from tests.support.scripted import ScriptedModel, ScriptedPrompt

from ....agent import SQLAgent, make_settings
from ....tools.database import Database, Schema
from ....tools.database.rendering.text import identifiers
from ....tools.linking import STAR, PastTurn
from ....tools.sql import used_items
from ...baselines.langchain_agent import LangChainAgent
from ...datasets import Dataset, Question, load_dataset
from .large import LARGE, combine_databases
from .measure import Figures, Measure
from .registry import BenchOptions
from .replays import Drafts, play, read_strong

SETS = {"spider": "spider", "sparc": "sparc", "cosql": "cosql", "kaggle": "kaggle-dbqa"}
"""Each set's name among the drafts."""

ARM = "zero-shot"
"""The strong model's drafts that are played: those of one request."""

CHARACTERS_A_TOKEN = 4


_Asking = tuple[str, Path, Sequence[Question]]
"""A set's name, a database, and questions on it in conversations; `gold` of each is what the model replies."""


@dataclass(frozen=True)
class _Cost:
    """What the turns on one database cost; `shown` are those whose first prompt shows all that gold uses."""

    name: str
    turns: int
    sizes: Sequence[int]
    repeated: Sequence[float]
    shown: int


def _askings(options: BenchOptions) -> Iterator[_Asking]:
    lines = (options.folder / "strong_model" / "drafts.jsonl").read_text(encoding="utf-8").splitlines()
    drafts = [draft for line in lines if (draft := json.loads(line))["arm"] == ARM]
    for name, kept in SETS.items():
        some = [draft for draft in drafts if draft["dataset"] == kept][: options.limit]
        turns = [Question("", one["database"], one["question"], (one["sql"],), one["interaction"]) for one in some]
        for database, found in groupby(sorted(turns, key=attrgetter("database")), attrgetter("database")):
            yield name, _find_database(options.folder, database), list(found)
    large = combine_databases(load_dataset("spider", "dev", options.folder)).first(options.limit)
    for database, found in groupby(large.questions, attrgetter("database")):
        yield LARGE, large.database(database), list(found)


def _find_database(data: Path, database: str) -> Path:
    """Return the file of a database, whichever benchmark it is of."""
    folders = ("spider/database", "spider/test_database", "kaggle-dbqa/database")
    return next(path for folder in folders if (path := data / folder / database / f"{database}.sqlite").is_file())


def _cost(asking: _Asking) -> _Cost:
    """Play the replies, one question after another: each prompt but the first follows another on the database."""
    name, path, asked = asking
    model, shown = ScriptedModel(script=lambda prompt: ""), 0
    with SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        schema = agent.resources.database.schema()
        if name == LARGE:
            agent.resources.values.find("")  # goes on with the index as long as a turn may
        for _, turns in groupby(asked, attrgetter("interaction")):
            chat = agent.conversation()
            for turn in turns:
                model.script = lambda prompt, sql=turn.golds[0]: f"```sql\n{sql}\n```\nSure: 90"
                before = len(model.prompts)
                chat.ask(turn.text)
                shown += name == LARGE and _shows(model.prompts[before], turn.golds[0], schema)
    repeated = [_count_shared(*pair) / len(pair[1]) for pair in pairwise(model.prompts)]
    return _Cost(name, len(asked), [len(prompt) for prompt in model.prompts], repeated, shown)


def _count_costs(costs: list[_Cost]) -> Figures:
    """Return by set `calls` and mean `prompt_tokens` a turn, and the `cacheable_share` of prompts that follow another.

    `large` asks about a database of all others' tables: `gold_shown` is the share of its questions whose prompt shows
    all tables and columns that gold uses.
    """
    figures: Figures = {}
    for name in (*SETS, LARGE):
        some = [cost for cost in costs if cost.name == name]
        n = sum(cost.turns for cost in some)
        sizes = [size for cost in some for size in cost.sizes]
        repeated = [each for cost in some for each in cost.repeated]
        figures[name] = {
            "n": n,
            "calls": round(len(sizes) / max(n, 1), 3),
            "prompt_tokens": round(sum(sizes) / CHARACTERS_A_TOKEN / max(n, 1)),
            "cacheable_share": round(sum(repeated) / len(repeated), 3) if repeated else None,
            **({"gold_shown": round(sum(cost.shown for cost in some) / max(n, 1), 3)} if name == LARGE else {}),
        }
    return figures


def _shows(prompt: str, gold: str, schema: Schema) -> bool:
    """Whether a prompt's schema, in the compact form, has all tables and columns that a query uses."""
    used, written = used_items(gold, schema), identifiers(schema)
    for table in used.tables:
        columns = [written(column) for of, column in used.columns if of == table and column != STAR]
        line = re.search(rf"^{re.escape(written(table))}\^?\((.*)$", prompt, re.MULTILINE)
        if line is None or not all(re.search(rf"(^|, ){re.escape(column)}[*^]* ", line[1]) for column in columns):
            return False
    return True


def _count_shared(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _tool_caller(sql: str, tables: Sequence[str], *, checks: bool) -> Callable[[ScriptedPrompt], AIMessage]:
    """Return the script of a model that calls the agent's tools in the order that its prompt asks for.

    It knows the query, and takes no detour. If it `checks`, the query goes through the checker first, a request of its
    own, as the prompt and the tools' descriptions demand of the model.
    """
    steps = [
        ("sql_db_list_tables", {"tool_input": ""}),
        ("sql_db_schema", {"table_names": ", ".join(tables)}),
        *([("sql_db_query_checker", {"query": sql})] if checks else []),
        ("sql_db_query", {"query": sql}),
    ]

    def script(prompt: ScriptedPrompt) -> AIMessage:
        if len(prompt.messages) == 1:  # the checker's own request
            return AIMessage(sql)
        done = sum(isinstance(message, ToolMessage) for message in prompt.messages)
        if done == len(steps):
            return AIMessage("This is what the query gives.")
        name, arguments = steps[done]
        return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{done}"}])

    return script


TurnCosts = Mapping[str, tuple[int, int]]
"""Requests and prompt tokens by the turn's id."""


def play_turns(asked: Dataset, drafts: Drafts, *, checks: bool) -> TurnCosts:
    """Return the cost of each turn to LangChain's agent, without those in which its toolkit fails on the database."""
    model = ScriptedModel(script=lambda prompt: "", usage=None)
    agent = LangChainAgent(asked, model, make_settings(), "predicted")
    found: dict[str, tuple[int, int]] = {}
    for _, turns in groupby(asked.questions, attrgetter("interaction")):
        past: list[PastTurn] = []
        for turn in turns:
            sql = drafts[turn.id]
            with Database.open(str(asked.database(turn.database))) as database, suppress(DBAPIError):
                tables = sorted(used_items(sql, database.schema()).tables)
                model.script = _tool_caller(sql, tables, checks=checks)
                usage = asyncio.run(agent.take(turn, past, database)).usage
                found[turn.id] = (usage.llm_calls, usage.prompt_tokens)
            past.append(PastTurn(turn.text, sql=sql))
    return found


def _play_ours(asked: Dataset, drafts: Drafts) -> TurnCosts:
    return {record.id: (record.calls, record.tokens[0]) for record, _ in play(asked, [drafts], {})}


def _agents(options: BenchOptions) -> Iterator[tuple[str, Dataset, Callable[[], TurnCosts]]]:
    strong = read_strong(options.folder, options.limit)
    asked, drafts = strong.asked, strong.drafts[ARM]
    yield "tableturn", asked, lambda: _play_ours(asked, drafts)
    yield "langchain", asked, lambda: play_turns(asked, drafts, checks=True)
    yield "langchain_unchecked", asked, lambda: play_turns(asked, drafts, checks=False)


def _compare_agents(arms: list[tuple[str, int, TurnCosts]]) -> Figures:
    """Return what the strong model's stored queries cost our agent, and LangChain's by the tools that it calls.

    LangChain's model is played at its best: it looks at the schema of the tables that its query reads and at no other,
    and never tries twice. `langchain` sends the query through the checker, as the prompt demands; `langchain_unchecked`
    does not. Tokens are estimated for both alike, from the texts of messages: the descriptions of tools, which a
    provider counts too, and the arguments of calls are left out. Only turns that all three end are counted;
    `langchain_failed` are those in which the toolkit cannot read the schema.
    """
    ended = set[str].intersection(*(set(costs) for _, _, costs in arms))
    n = max(len(ended), 1)
    failed = next(questions - len(costs) for name, questions, costs in arms if name == "langchain")
    figures: Figures = {"n": len(ended), "langchain_failed": failed}
    for name, _, costs in arms:
        calls, tokens = (sum(costs[turn][place] for turn in ended) for place in (0, 1))
        figures[name] = {"calls": round(calls / n, 3), "prompt_tokens": round(tokens / n)}
    return figures


MEASURES: Mapping[str, Measure[Any, Any]] = {
    "langchain": Measure(_agents, lambda arm: (arm[0], len(arm[1].questions), arm[2]()), _compare_agents),
    "turn-cost": Measure(_askings, _cost, _count_costs),
}
