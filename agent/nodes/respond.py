"""Chooses the answer among the attempts, phrases it, and remembers the turn."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from ...prompts.replies import Rephrasing
from ...tools.linking import PastTurn
from ..choosing import choose
from ..confidence import confidence
from ..convergence import compare_code
from ..effects import Body
from ..phrasing import phrase, remarks, summary
from ..records import (
    AnswerRecord,
    Attempt,
    AttemptView,
    CodeResult,
    NodeUsage,
    Outcome,
    Status,
    dump,
    dump_all,
    load,
    load_all,
)
from ..resources import Run
from ..state import AgentState


def respond(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Never answers with an attempt worse than the first draft; says so when a result is empty, cut, or uncertain."""
    yield from ()
    attempts = load_all(Attempt, state.get("attempts"))
    rephrasing = load(Rephrasing, state["rephrasing"])
    answer = _answer(state, run, rephrasing, attempts)
    turn = PastTurn(
        question=state["question"],
        rephrased=rephrasing.rephrased,
        sql=answer.sql or "" if answer.status in ("converged", "capped") else "",
        result=summary(answer.columns, answer.rows, answer.truncated) if answer.sql else answer.text,
        items=tuple((table, column, p) for table, column, p in state.get("items", [])),
    )
    turns = [*load_all(PastTurn, state.get("turns")), turn]
    return {
        "answer": dump(answer),
        "turns": dump_all(turns[-max(run.settings.history_window, 1) :]),
        "messages": [AIMessage(answer.text)],
    }


def _answer(state: AgentState, run: Run, rephrasing: Rephrasing, attempts: tuple[Attempt, ...]) -> AnswerRecord:
    chosen = choose(attempts) if attempts else None
    result = chosen.result if chosen else None
    status, text = _status(state, chosen)
    notes = list(dict.fromkeys(state.get("notes", [])))
    if chosen and result and status in ("converged", "capped"):
        notes += remarks(chosen, result, status)
        text = " ".join([phrase(result.columns, result.rows, result.truncated), *remarks(chosen, result, status)])
    code_record = state.get("code_result")
    code = load(CodeResult, code_record) if code_record else None
    by_node = {name: load(NodeUsage, record) for name, record in state.get("usage", {}).items()}
    translator = run.resources.translator(run.settings)
    return AnswerRecord(
        question=state["question"],
        rephrased=rephrasing.rephrased,
        intent=rephrasing.intent,
        sql=chosen.sql if chosen else None,
        columns=result.columns if result else (),
        rows=result.rows if result else (),
        row_count=result.row_count if result else 0,
        truncated=result.truncated if result else False,
        status=status,
        text=text,
        confidence=confidence(chosen, status, compare_code(chosen, code) if chosen else None),
        attempts=tuple(AttemptView(a.sql, a.error, a.row_count, a.feedback) for a in attempts),
        usage=sum(by_node.values(), NodeUsage()),
        translator=translator.name,
        model=translator.model,
        notes=tuple(notes),
        usage_by_node=by_node,
    )


def _status(state: AgentState, chosen: Attempt | None) -> tuple[Status, str]:
    """The turn's status, and what to say where there is no result."""
    outcome = state.get("outcome")
    if outcome:
        ended = load(Outcome, outcome)
        return ended.status, ended.text
    if chosen is None or chosen.result is None:
        why = chosen.error if chosen else "no query was written"
        return "failed", f"No query for this question could be run: {why}"
    return ("capped" if state.get("stop") == "capped" else "converged"), ""
