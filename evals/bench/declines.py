"""Questions that a database cannot answer and how many are declined, beside questions that it can: CoSQL's dialogues.

    tableturn bench declines --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet (120 turns, each after the gold queries of the turns before it) and stores it; without
`--model` only FILE is read. Without `--replies` that is `data/decline_replies.jsonl`.

The data's label says that the person who played the system could not answer, which says little of the database. In
`data/decline_labels.jsonl` a reader says of each question so labelled whether the schema and the conversation hold an
answer, and why; that was read before any reply.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from ...agent.settings import make_settings
from ...tools.errors import DatabaseUnavailable, ModelError
from ..datasets import Dataset, Question, load_dataset
from ..datasets.question import Outcome
from ..runner.agents import Agents
from ..runner.by_agent import AgentAnswering
from ..runner.record import TurnRecord
from .registry import BenchOptions
from .stored import UNSTORED, stored_model

STORED = Path(__file__).parent / "data" / "decline_replies.jsonl"

LABELS = Path(__file__).parent / "data" / "decline_labels.jsonl"

QUESTIONS = 60
"""Of each sort."""

SEED = 24

SETTINGS = {
    "today": "none",
    "record": "off",
    "request_seconds": 3_600,
    "request_retries": 0,
    "turn_seconds": 86_000,
}
"""What a person is given, but for what would not be the same tomorrow, and with patience where people answer."""

_SORTS: Mapping[str, Outcome] = {"unanswerable": "decline", "answerable": "answer"}


def run(options: BenchOptions) -> dict[str, object]:
    """Of each sort, the number of questions `n` and the rate `declined`; asking back is not declining.

    `unanswerable_verified` are those of `unanswerable` that a reader finds to be so, `unanswerable_doubted` those that
    the reader finds an answer to.
    """
    dataset = load_dataset("cosql-acts", "train", options.folder)
    most = min(options.limit or QUESTIONS, QUESTIONS)
    chosen = {sort: balanced(dataset, outcome, most) for sort, outcome in _SORTS.items()}
    model = stored_model(options.replies or STORED, options.model, options.base_url)
    found = asyncio.run(_answered(dataset, [turn for turns in chosen.values() for turn in turns], model))
    read = {label["question"]: label["verdict"] for label in map(json.loads, LABELS.read_text("utf-8").splitlines())}
    for verdict, sort in (("unanswerable", "unanswerable_verified"), ("answerable", "unanswerable_doubted")):
        chosen[sort] = [turn for turn in chosen["unanswerable"] if read.get(turn.id) == verdict]
    return {sort: _figures(turns, found) for sort, turns in chosen.items()}


def balanced(dataset: Dataset, outcome: Outcome, most: int) -> list[Question]:
    """So many questions, one of each database in turn, by a fixed seed."""
    order = random.Random(SEED)  # noqa: S311 - a sample, not a secret
    by_database: dict[str, list[Question]] = {}
    for question in dataset.questions:
        if question.expects is not None and question.expects.outcome == outcome:
            by_database.setdefault(question.database, []).append(question)
    databases = sorted(name for name in by_database if _is_there(dataset, name))
    order.shuffle(databases)
    for name in databases:
        order.shuffle(by_database[name])
    rounds = zip_longest(*(by_database[name] for name in databases))
    return list(islice((question for each in rounds for question in each if question is not None), most))


def _is_there(dataset: Dataset, database: str) -> bool:
    try:
        dataset.database(database)
    except DatabaseUnavailable:
        return False
    return True


async def _answered(dataset: Dataset, chosen: Sequence[Question], model: BaseChatModel) -> Mapping[str, TurnRecord]:
    """All at once: a server behind which people answer is given all of them."""
    interactions = {interaction[0].interaction: interaction for interaction in dataset.interactions}
    answering = AgentAnswering(Agents(dataset, model, make_settings(SETTINGS), None), "gold")

    async def answer(turn: Question) -> TurnRecord:
        turns = interactions[turn.interaction]
        others = {other.id: TurnRecord(other.id, "", "") for other in turns if other.id != turn.id}
        (record,) = [record async for record in answering.answers(turns, others)]
        return record

    try:
        records = await asyncio.gather(*map(answer, chosen))
    finally:
        answering.close()
    return {record.id: record for record in records}


def _figures(turns: Sequence[Question], found: Mapping[str, TurnRecord]) -> dict[str, object]:
    """See `run`.

    Raises:
        ModelError: A question could not be asked.
    """
    records = [found[turn.id] for turn in turns]
    unasked = [record for record in records if not record.asked or record.text == UNSTORED]
    if unasked:
        raise ModelError(f"{len(unasked)} of {len(turns)} questions have no reply: {unasked[0].text}")
    declined = sum(record.status == "unanswerable" for record in records)
    return {"n": len(turns), "declined": round(declined / len(turns), 4) if turns else None}
