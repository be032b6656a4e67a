"""The node that runs the current SQL, read-only and within limits, once it is approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, cast

from langgraph.types import interrupt

from ...prompts.find_sql import begins_sql
from ...tools.database import Estimate, Table
from ...tools.errors import QueryError, QueryFailed
from ...tools.linking import find_copies
from ...tools.sql import CorrectedQuery, mend_names, read_query
from ...tools.sql.mend import find_misread_names, mend_enum_comparisons
from ..advice import with_fallback
from ..answers.phrasing import analyze_sql, dump_estimate, explain_query
from ..effects import Body, do
from ..model.turn_budget import get_remaining_requests, limit_to_remaining_seconds
from ..records import Attempt, AttemptSource, make_plain_result
from ..resources import Run
from ..state import AgentState, Update, dump, end_turn, get_attempts, load_turn

_OF_NAMES = ("unknown_table", "unknown_column")
_MISREAD = " (in double quotes, SQLite reads it as a text)"


def execute(state: AgentState, run: Run) -> Body[Update]:
    """Run the query, and add an attempt with the result or the classified error.

    Where settings want it, a person is asked first (LangGraph interrupt); nothing before that has an effect, so that
    the node can start over when it is resumed.
    """
    turn, draft = load_turn(state), (yield from _spell_names_for_engine(state["sql"], run))
    decision = ApprovalDecision("approve", draft)
    if turn.approve or run.settings.approve:
        can_save = run.resources.examples.can_save_examples
        meaning = yield from do(lambda: explain_query(analyze_sql(draft, run.resources.database)))
        cost = yield from do(lambda: run.resources.masked_database.estimate(draft, run.settings.limits))
        request = {
            "kind": "approve",
            "question": "Run this query?",
            "sql": draft,
            "choices": [*CHOICES, SAVE] if can_save else list(CHOICES),
            "explanation": meaning,
            "estimate": dump_estimate(cost),
        }
        decision = parse_approval_reply(interrupt(request), draft, can_save)
        if decision.action == "reject":
            explanation = f"The query was not approved{f': {decision.reason}' if decision.reason else '.'}"
            return end_turn(turn, "declined", explanation, "capped" if state.get("attempts") else "failed")
    sql = draft if decision.sql == draft else (yield from _spell_names_for_engine(decision.sql, run))

    def estimate_and_run_query(sql: str) -> tuple[Estimate | None, Table | QueryError]:
        limits = run.settings.limits
        cost = run.resources.masked_database.estimate(sql, limits)
        return cost, run.resources.tools.run_sql.call(
            sql=sql,
            limits=replace(limits, seconds=limit_to_remaining_seconds(limits.seconds)),
            cancellation=run.cancellation,
        )

    source, earlier = cast("AttemptSource", state.get("sql_source", "draft")), get_attempts(state)
    same = next((past for past in earlier if past.sql.strip() == sql.strip()), None)
    is_known = same is not None and not (same.error or "").endswith(_MISREAD)
    if same is not None and is_known and run.settings.gate and decision.action == "approve":
        # The model's last word: what it gave is known, and stops the turn.
        repetition = replace(same, source=source, feedback="", confidence=turn.confidence, comments=turn.comments)
        return {"attempts": [*state.get("attempts", []), dump(repetition)], "notes": [], "next": "critique"}
    run.emit({"event": "executing", "sql": sql})
    (cost, outcome), notes = (yield from do(partial(estimate_and_run_query, sql))), list[str]()
    misread = tuple[str, ...]()
    is_edited = decision.action == "edit" or (turn.written and state["sql"] != turn.written)
    needs_approval = turn.approve or run.settings.approve
    may_correct = isinstance(outcome, QueryError) and not (is_edited or needs_approval)
    if may_correct and (correction := (yield from do(partial(_correct_names, sql, outcome, state, run)))):
        retry = yield from do(partial(estimate_and_run_query, correction.sql))
        if not isinstance(retry[1], QueryError):
            sql, (cost, outcome) = correction.sql, retry
            notes = [f"{name} does not exist; read as {correct}" for name, correct in correction.names.items()]
    if run.settings.gate and not (is_edited or needs_approval or isinstance(outcome, QueryError)) and '"' in sql:
        names = yield from do(partial(_find_misread_names, sql, run))
        # One revision may bring the right name; if it does not, the answer says what was read.
        was_told = any((past.error or "").endswith(_MISREAD) for past in earlier)
        is_last = was_told or len(earlier) + 1 >= run.settings.max_attempts
        if names and not is_last and (yield from do(get_remaining_requests)) > 0:
            outcome = QueryFailed(f"no such column: {names[0]}{_MISREAD}", "unknown_column")
        else:
            misread = tuple(dict.fromkeys(names))
    attempt = Attempt(
        sql,
        "edited" if is_edited else source,
        confidence=turn.confidence,
        # A sentence is of its writer's query alone.
        comments=replace(turn.comments, say="") if is_edited or sql != draft else turn.comments,
        dialect=run.resources.database.dialect,
        estimate=cost,
        misread=misread,
    )
    if isinstance(outcome, QueryError):
        attempt = replace(attempt, error=str(outcome), error_kind=outcome.kind)
    else:
        attempt = replace(attempt, result=make_plain_result(outcome))
    columns = list(attempt.result.columns) if attempt.result else []
    event = {"sql": sql, "columns": columns, "row_count": attempt.row_count, "error": attempt.error}
    run.emit({"event": "executed", **event})
    update: Update = {"attempts": [*state.get("attempts", []), dump(attempt)], "notes": notes, "next": "critique"}
    return update | {"turn": dump(replace(turn, to_save=(*turn.to_save, sql)))} if decision.save else update


def _spell_names_for_engine(sql: str, run: Run) -> Body[str]:
    """Return the query with names spelled for the engine; may wait for a server."""
    return sql if run.resources.database.dialect == "sqlite" else (yield from do(lambda: run.spell(sql)))


@with_fallback("checks", ())
def _find_misread_names(sql: str, run: Run) -> Sequence[str]:
    """Return the double-quoted names that SQLite took for texts."""
    query = read_query(sql, run.schema) if run.resources.database.dialect == "sqlite" else None
    return find_misread_names(query) if query is not None else ()


@with_fallback("checks", None)
def _correct_names(sql: str, outcome: Table | QueryError, state: AgentState, run: Run) -> CorrectedQuery | None:
    """Return a failed query with misspelled names corrected, or None."""
    if not (run.settings.mend_names and isinstance(outcome, QueryError)):
        return None
    schema = run.schema
    if outcome.kind == "type_mismatch":
        return mend_enum_comparisons(sql, str(outcome), schema)
    if outcome.kind not in _OF_NAMES:
        return None
    part = schema.part(load_turn(state).shown)
    return mend_names(sql, part, find_copies(schema) | {table.name for table in part.tables if table.row_count == 0})


SAVE = "approve and save"  # what is offered besides where answers can be saved as examples

SAVED = frozenset({SAVE, "approved and saved", "save"})
APPROVED = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "run", "run it", "1"})
REJECTED = frozenset({"reject", "rejected", "no", "n", "stop", "2"})

CHOICES = ("approve", "reject")  # what is offered; a query instead of either replaces the one that was asked about


@dataclass(frozen=True)
class ApprovalDecision:
    """A person's decision whether a query runs, possibly with edited SQL."""

    action: Literal["approve", "edit", "reject"]
    sql: str  # what is to run; with `reject`, what was not
    reason: str = ""  # why it was rejected, in the person's words; may be empty
    save: bool = False  # whether the answer is to be saved as an example, if it comes from this query


def parse_approval_reply(reply: object, sql: str, can_save: bool) -> ApprovalDecision:
    """Parse a reply to an approval request: words, a query, or the fields of a decision.

    Whatever is neither consent nor a query is a rejection, with the words as its reason: nothing runs by mistake. So is
    the number of a choice that was not offered.
    """
    if isinstance(reply, Mapping):
        return _parse_decision_fields(cast("Mapping[object, object]", reply), sql)
    words = str(reply).strip()
    bare_words = words.lower().rstrip(".!")
    if bare_words in APPROVED:
        return ApprovalDecision("approve", sql)
    if bare_words in SAVED or (can_save and bare_words == "3"):
        return ApprovalDecision("approve", sql, save=True)
    if begins_sql(words):
        return ApprovalDecision("edit", words)
    return ApprovalDecision("reject", sql, "" if bare_words in REJECTED else words)


def _parse_decision_fields(fields: Mapping[object, object], sql: str) -> ApprovalDecision:
    action, new_sql = _get_text_field(fields, "action").lower(), _get_text_field(fields, "sql")
    save = fields.get("save") is True or _get_text_field(fields, "save").lower() == "true"
    if new_sql and action in ("edit", "approve", ""):
        return ApprovalDecision("approve" if new_sql == sql else "edit", new_sql, save=save)
    if action == "approve":
        return ApprovalDecision("approve", sql, save=save)
    return ApprovalDecision("reject", sql, _get_text_field(fields, "reason"))


def _get_text_field(fields: Mapping[object, object], name: str) -> str:
    return str(fields.get(name, "")).strip()
