"""Chooses the answer among the attempts, phrases it, and remembers the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...prompts.replies import Rephrasing
from ...tools.errors import TableturnError
from ...tools.examples import database_identity
from ...tools.linking import PastTurn
from ...tools.values import ValueMatch
from ..choosing import choose, objection, votes
from ..comparing import compare_code, differs, same_answer
from ..confidence import confidence
from ..effects import Body, do
from ..learning import save_answer
from ..memory import past_turns, remember
from ..phrasing import phrase, remarks, summary
from ..records import (
    AnswerRecord,
    Attempt,
    AttemptView,
    CodeResult,
    NodeUsage,
    Outcome,
    Result,
    Status,
    dump,
    load,
    load_all,
)
from ..resources import Run
from ..state import AgentState

BY_CODE = "This comes from the pandas code alone: no query could be run."


def respond(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Never answers with an attempt worse than the first draft; says so when a result is empty, cut, or uncertain."""
    attempts = load_all(Attempt, state.get("attempts"))
    rephrasing = load(Rephrasing, state["rephrasing"])
    answer = yield from do(lambda: _answer(state, run, rephrasing, attempts))
    if answer.sql in state.get("to_save", ()):
        answer = yield from _saved(answer, run)
    sql = (answer.sql or "") if answer.status in ("converged", "capped") else ""
    turn = PastTurn(
        question=state["question"],
        rephrased=rephrasing.rephrased,
        sql=sql,
        result=summary(answer.columns, answer.rows, answer.truncated) if sql else answer.text,
        items=tuple((table, column, p) for table, column, p in state.get("items", [])),
    )
    return {"answer": dump(answer)} | remember(state, turn, answer.text, run.settings)


def _saved(answer: AnswerRecord, run: Run) -> Body[AnswerRecord]:
    """The answer with a note on how saving it went; what is wrong with the store costs the turn nothing."""

    def save() -> str:
        try:
            return f"saved as example {save_answer(answer, run.resources, run.settings).id}"
        except TableturnError as error:
            return str(error)

    note = yield from do(save)
    return replace(answer, notes=(*answer.notes, note))


def _answer(state: AgentState, run: Run, rephrasing: Rephrasing, attempts: tuple[Attempt, ...]) -> AnswerRecord:
    code_record = state.get("code_result")
    code = load(CodeResult, code_record) if code_record else None
    words = _words(state, rephrasing)
    chosen = choose(attempts, words, code) if attempts else None
    discarded = _discarded(attempts, chosen, words, code) if chosen else ""
    said = _say(state, chosen, code, discarded=bool(discarded))
    comparison = compare_code(chosen, code) if chosen else None
    doubts: tuple[str, ...] = ()
    if comparison is not None and differs(comparison):
        doubts = (f"the pandas code disagrees: {comparison.reason}",)
    result = said.result or Result((), ())
    by_node = {name: load(NodeUsage, record) for name, record in state.get("usage", {}).items()}
    translator = run.resources.translator(run.settings)
    return AnswerRecord(
        question=state["question"],
        rephrased=rephrasing.rephrased,
        intent=rephrasing.intent,
        sql=chosen.sql if chosen and not said.by_code else None,
        columns=result.columns,
        rows=result.rows,
        row_count=result.row_count,
        truncated=result.truncated,
        status=said.status,
        text=" ".join([said.text, *said.remarks]),
        confidence=confidence(chosen, said.status, comparison, votes(chosen, attempts) if chosen else 0),
        attempts=tuple(AttemptView(a.sql, a.error, a.row_count, a.feedback) for a in attempts),
        usage=sum(by_node.values(), NodeUsage()),
        translator=translator.name,
        model=translator.model,
        notes=(*dict.fromkeys(state.get("notes", [])), *said.remarks, *doubts),
        stopped="; ".join(filter(None, [state.get("stopped", "") or said.text, discarded])),
        simplified=rephrasing.simplified,
        self_contained=rephrasing.self_contained,
        database=database_identity(run.resources.database),
        usage_by_node=by_node,
    )


def _discarded(attempts: Sequence[Attempt], chosen: Attempt, words: str, code: CodeResult | None) -> str:
    """Why the answer is not the attempt that ended the loop; empty where it is, or gave the same."""
    tried = [attempt for attempt in attempts if attempt.source != "candidate"]
    last = tried[-1]
    if chosen is last or chosen.result is None or same_answer(chosen, last):
        return ""
    place = next(number for number, attempt in enumerate(tried, 1) if attempt is chosen)
    return f"attempt {place} is the answer, because the last one {objection(last, chosen, words, code)}"


def _words(state: AgentState, rephrasing: Rephrasing) -> str:
    """The person's words of this turn and the turns before, and the database values that they mention."""
    before = [turn.question for turn in past_turns(state)]
    heard = [message.text for message in state.get("messages", []) if message.type == "human"]
    values = [match.value for match in load_all(ValueMatch, state.get("values"))]
    return "\n".join([*before, *heard, state["question"], rephrasing.rephrased, *values])


@dataclass(frozen=True)
class _Said:
    """What the answer comes to: a status, words, what to know about it, and the result where there is one."""

    status: Status
    text: str
    remarks: tuple[str, ...] = ()
    result: Result | None = None
    by_code: bool = False


def _say(state: AgentState, chosen: Attempt | None, code: CodeResult | None, *, discarded: bool) -> _Said:
    """Caveats are of the last attempt, and so is convergence: neither is said of another one."""
    outcome = state.get("outcome")
    if outcome:
        ended = load(Outcome, outcome)
        return _Said(ended.status, ended.text)
    if chosen is not None and chosen.result is not None:
        status: Status = "capped" if discarded or state.get("stop") == "capped" else "converged"
        caveats = [] if discarded else state.get("caveats", [])
        known = (*caveats, *remarks(chosen, chosen.result, status))
        return _Said(status, _phrased(chosen.result), known, chosen.result)
    if code is not None:
        over = (f"The code saw only a sample of {', '.join(code.sampled)}.",) if code.sampled else ()
        return _Said("capped", _phrased(code.result), (BY_CODE, *over), code.result, by_code=True)
    why = chosen.error if chosen else "no query was written"
    return _Said("failed", f"No query for this question could be run: {why}")


def _phrased(result: Result) -> str:
    return phrase(result.columns, result.rows, result.truncated)
