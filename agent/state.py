"""The graph's state: plain JSON values only, one part for the conversation and one for the turn at hand."""

from __future__ import annotations

from typing import Annotated, Any

from langgraph.graph import MessagesState
from typing_extensions import TypedDict

Record = dict[str, Any]
"""A record's JSON form; `agent/records.py` names the types."""


def gathered(before: list[Record], more: list[Record]) -> list[Record]:
    """What nodes that run side by side add to one list; adding nothing empties it."""
    return [*before, *more] if more else []


class AgentInput(TypedDict, total=False):
    """What starts a turn: chat messages, the last one a person's, or a bare question."""

    messages: list[Any]
    question: str


class AgentState(MessagesState):
    """What nodes read and write.

    Of the conversation: `messages` (as chat front ends want them) and `turns` (the sliding window). Everything else is
    of the turn at hand and is reset when the next one starts.

    Attributes:
        turns: Earlier turns (`PastTurn`), oldest first, at most the window.
        question: The question as asked.
        clarification: What was asked back and what the person said, not yet read by `rephrase`.
        clarifications: Times this turn has asked back.
        rephrasing: A `Rephrasing`.
        values: Database values that the question mentions (`ValueMatch`), the surest first; prompts for SQL show
            `Settings.values` of them.
        items: The linker's probabilities, `[table, column or None, p]`, most probable first.
        kept: The schema shown: `[table, [columns]]`, most probable first.
        marked: Schema items that earlier turns used, `[table, column]`; the column is empty for the table itself.
        stars: Tables of which all columns are asked for, `[table, place among its columns]`.
        base: The past turn whose SQL is edited (`PastTurn`), or None.
        examples: Few-shot examples (`Example`).
        code: Pandas code, where reasoned; empty otherwise.
        code_result: Its `CodeResult`, or None.
        code_error: Why the code gave none; empty if it ran or there is none.
        sql: The query to run next: what a person edits in a checkpoint.
        sql_source: Where that query came from.
        sql_confidence: The translator's own confidence in it, or None.
        attempts: Queries run so far (`Attempt`).
        feedback: What the next revision is told (`Feedback`), or None.
        approve: Whether this turn's queries wait for approval, also when it is resumed with other settings.
        candidates: How many drafts are written side by side.
        candidate: The number of the draft that a `candidate` node is to write, from 0.
        began: When the drafts side by side were begun, in Unix time.
        drafts: What those nodes wrote (`CandidateDraft`), in any order.
        to_save: Queries that a person approved with the wish to save the answer, should it come from one of them.
        stop: Why the loop ended: `converged`, `gated`, `capped`, or empty.
        stopped: The same in words.
        outcome: An `Outcome` that ends the turn early, or None.
        caveats: What the answer must say about the query, one sentence each.
        notes: For the answer: what was left out, repaired, or switched off.
        usage: Node name to `NodeUsage`.
        next: The node that comes next, chosen by the last one.
        answer: The `AnswerRecord`; None until `respond` has run.
    """

    turns: list[Record]
    question: str
    clarification: list[str] | None
    clarifications: int
    rephrasing: Record
    values: list[Record]
    items: list[list[Any]]
    kept: list[list[Any]]
    marked: list[list[str]]
    stars: list[list[Any]]
    base: Record | None
    examples: list[Record]
    code: str
    code_result: Record | None
    code_error: str
    sql: str
    sql_source: str
    sql_confidence: float | None
    attempts: list[Record]
    feedback: Record | None
    approve: bool
    candidates: int
    candidate: int
    began: float
    drafts: Annotated[list[Record], gathered]
    to_save: list[str]
    stop: str
    stopped: str
    outcome: Record | None
    caveats: list[str]
    notes: list[str]
    usage: dict[str, Record]
    next: str
    answer: Record | None


class AgentOutput(MessagesState, total=False):
    """What a turn gives back: the chat messages and the answer."""

    answer: Record | None


def fresh_turn(question: str) -> dict[str, Any]:
    """The turn's part of the state as it stands before the first node."""
    return {
        "question": question,
        "clarification": None,
        "clarifications": 0,
        "rephrasing": {},
        "values": [],
        "items": [],
        "kept": [],
        "marked": [],
        "stars": [],
        "base": None,
        "examples": [],
        "code": "",
        "code_result": None,
        "code_error": "",
        "sql": "",
        "sql_source": "draft",
        "sql_confidence": None,
        "attempts": [],
        "feedback": None,
        "approve": False,
        "candidates": 1,
        "candidate": 0,
        "began": 0.0,
        "drafts": [],
        "to_save": [],
        "stop": "",
        "stopped": "",
        "outcome": None,
        "caveats": [],
        "notes": [],
        "usage": {},
        "answer": None,
    }
