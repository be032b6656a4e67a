"""The node that chooses the answer, phrases it, and remembers the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from langgraph.graph import END
from langgraph.types import Overwrite

from ...tools.basis import Basis, Origin, build_query_basis
from ...tools.errors import SQLParseError, TableturnError
from ...tools.examples import database_identity
from ...tools.labels import IN_ENGLISH, Labels
from ...tools.ledger import Ledger
from ...tools.linking import PastTurn
from ...tools.masked_database import SentQueries, record_queries
from ...tools.sql import Query
from ..advice import call_with_fallback, with_fallback
from ..answers.answer import Answer
from ..answers.events import EARLY
from ..answers.phrasing import (
    WITHHELD,
    ColumnDisplay,
    analyze_sql,
    build_display,
    capitalize,
    explain_query,
    list_remarks,
    phrase_answer,
    put_result,
    summarize_answer,
)
from ..answers.sentence import names_other_value
from ..audit import make_record
from ..context.knowledge import find_used_knowledge, list_explained_words
from ..context.task_inputs import (
    choose_reply_form,
    choose_turn_locale,
    get_full_question,
    make_history_update,
    select_history,
)
from ..effects import Body, do
from ..evidence.choose_attempt import choose, compare_code_with_query, differs, get_rejection_reason, have_same_result
from ..evidence.confidence import assess_answer_confidence
from ..evidence.ledger import format_kept_totals_note, format_row_rules_note, make_row_ledger
from ..evidence.readings import ask_which_reading_is_meant, run_alternative_readings
from ..evidence.trust import UNTOLD, judge_answer_trust
from ..records import (
    AnswerRecord,
    AnswerSentence,
    Attempt,
    AttemptView,
    CodeResult,
    Note,
    PlainResult,
    Readings,
    Status,
    Turn,
    UsedKnowledge,
    add_usages,
)
from ..resources import Run
from ..state import AgentState, Update, dump, get_attempts, load_turn, load_usage, make_update
from ..verbs import approve


def write_final_answer(state: AgentState, run: Run) -> Body[Update]:
    """Choose the answer among the attempts, phrase the answer, and add the turn to the history.

    Where another reading of the question changes the answer, and settings say so, it asks which is meant.
    """
    turn = load_turn(state)

    def make_answer_recording_queries() -> tuple[AnswerRecord, SentQueries]:
        with record_queries() as queries:  # to see how sure the answer is and what it rests on
            return _make_answer_record(state, turn, run), queries

    answer, sent_queries = yield from do(make_answer_recording_queries)
    if (pending := ask_which_reading_is_meant(answer, turn, run.settings)) is not None:
        pending = replace(pending, sent=(*(attempt.sql for attempt in get_attempts(state)), *sent_queries.queries))
        return make_update("clarify", pending, attempts=[], drafts=Overwrite([]))
    if answer.sql in turn.to_save:
        answer = yield from _save_as_example(answer, run)
    if (audit := run.resources.audit) is not None:
        attempts = get_attempts(state)
        record = make_record(
            run.resources.database,
            run.thread,
            answer.question,
            sql=answer.sql,
            rows=answer.row_count,
            status=answer.status,
            refused=(*(attempt.sql for attempt in attempts if attempt.error_kind == "rejected"), *sent_queries.refused),
            queries=(*(attempt.sql for attempt in attempts), *sent_queries.queries),
        )
        yield from do(lambda: audit.write(record))
    sql = (answer.sql or "") if answer.status in ("converged", "capped") else ""
    # Where no query came, people are advised what to do; later turns are told what happened.
    is_raw = answer.status == "failed" or (turn.stop and turn.stop.why == turn.rephrasing.reply)
    text = turn.stop.why if turn.stop and is_raw and not answer.attempts else answer.text
    if answer.status == "failed" and answer.attempts and not (turn.stop and turn.stop.status == "failed"):
        text = f"No query for this question ran: {answer.attempts[-1].error}"
    counted = answer.ledger.write_line(IN_ENGLISH, answer.formats) if answer.ledger is not None else ""
    summary = " ".join(filter(None, (summarize_answer(answer), counted)))
    past = PastTurn(
        question=turn.question,
        rephrased=turn.rephrasing.rephrased,
        sql=sql,
        result=text if not sql else WITHHELD if answer.withheld else summary,
        items=turn.items,
        rights=run.resources.rights,
    )
    return {"answer": dump(answer), "next": END} | make_history_update(state, past, answer.text, run.settings)


def _save_as_example(answer: AnswerRecord, run: Run) -> Body[AnswerRecord]:
    """Save an answer as an example; return the answer with a note on the outcome."""
    labels = Answer(answer).labels

    def save_and_make_note() -> str:
        try:
            return labels.say("saved", id=approve(Answer(answer), run.resources, settings=run.settings).id)
        except TableturnError as error:
            return labels.say("not_saved", why=error)

    note = Note((yield from do(save_and_make_note)), "saved")
    return replace(answer, notes=(*answer.notes, note.text), noted=(*answer.noted, note))


def _make_answer_record(state: AgentState, turn: Turn, run: Run) -> AnswerRecord:
    attempts, code = get_attempts(state), turn.code_result
    best = run.settings.final == "best"  # as in the papers' loops, the last attempt otherwise
    chosen = attempts[-1] if attempts else None
    if attempts and best:
        chosen = call_with_fallback("checks", lambda: choose(attempts, code), chosen)
    reason = call_with_fallback("checks", lambda: _explain_discard(attempts, chosen, code), "") if chosen else ""
    by_code = code if best else None  # SQL-CRAFT's answer is always a query's
    query = analyze_sql(chosen.sql, run.resources.database) if chosen else None
    personal = run.resources.database.personal_tables
    sentence = chosen.comments.say if chosen else ""
    # The model did not know that no row has what it looked for; a value like it may have been meant.
    absent = [literal for literal in chosen.literals if literal.absent] if chosen else []
    labels = Labels(choose_turn_locale(state, turn, run.settings, sentence))
    rows_note = format_row_rules_note(query, personal, labels) if query and personal else ""
    if query and chosen and not rows_note and (tables := run.resources.database.tables_with_totals):
        rows_note = format_kept_totals_note(query, tables, chosen, turn, run, labels)
    conclusion = _make_conclusion(turn, chosen, query, by_code, run, rows_note, labels, has_better=bool(reason))
    comparison = compare_code_with_query(chosen, code) if chosen else None
    doubts: tuple[str, ...] = ()
    if comparison is not None and differs(comparison):
        doubts = (f"{labels.say('code_differs')}: {comparison.reason}",)
    sql = chosen.sql if chosen and not conclusion.by_code else None
    by_node = load_usage(state)
    query = query if sql else None
    knowledge = find_used_knowledge(query, turn)
    told = "" if absent or (chosen and chosen.misread) else sentence
    if told and chosen and query:
        past = (text for each in select_history(state, run) for text in (each.question, each.rephrased))
        terms = (text for entry in knowledge for text in (entry.name, entry.text, entry.sql))
        known = " ".join([get_full_question(turn), turn.rephrasing.rephrased, turn.evidence, *past, *terms])
        told = "" if names_other_value(chosen, query, known, run.resources.values.find) else told
    readings = run_alternative_readings(chosen, query, turn, run, labels) if chosen and sql else Readings()
    basis = find_answer_basis(chosen if sql else None, query, turn, run, knowledge, readings, labels)
    explanation = explain_query(query)
    proposals = list_explained_words(turn)
    word_notes = [Note(labels.say("explained", name=entry.name, text=entry.text), "explained") for entry in proposals]
    remarks = (*conclusion.remarks, *map(Note, doubts), *word_notes)
    translator = run.translator

    def make_answer(ledger: Ledger | None) -> AnswerRecord:
        line = ledger.write_line(labels, conclusion.looks.formats) if ledger else ""
        after = (*filter(None, (line, readings.line)), *(note.text for note in conclusion.remarks))
        rows_lost = int(bool(rows_note or (ledger and ledger.casts_doubt)) or any(literal.near for literal in absent))
        rows_lost += bool(line and ledger and ledger.repeats_material_rows)
        sure = assess_answer_confidence(
            attempts, chosen, conclusion.status, comparison, turn, run, readings.agreement, labels, rows_lost
        )
        trust = judge_answer_trust(sure.alone, run, labels) if sql and conclusion.result else UNTOLD
        record = AnswerRecord(
            question=turn.asked or turn.question,
            rephrased=turn.rephrasing.rephrased,
            intent=turn.rephrasing.intent,
            sql=sql,
            status=conclusion.status,
            text=" ".join([conclusion.text, *after]),
            confidence=sure.value,
            confidence_reason=sure.reason,
            trusted=trust.trusted,
            trust_reason=trust.reason,
            evidence=dict(sure.signals),
            attempts=tuple(AttemptView(a.sql, a.error, a.row_count, a.feedback) for a in attempts),
            usage=add_usages(by_node.values()),
            translator=translator.name,
            model=translator.model,
            notes=(*state.get("notes", []), *(note.text for note in remarks)),
            noted=tuple(note for note in remarks if note.kind),
            stopped="; ".join(filter(None, [turn.stop.why if turn.stop else conclusion.text, reason])),
            simplified=turn.rephrasing.simplified,
            # Asked for other words if the question leans on earlier turns, the model gave none.
            self_contained=turn.rephrasing.self_contained or choose_reply_form(turn, run.settings) != "sql",
            follow_up=bool(select_history(state, run)),
            database=database_identity(run.resources.database),
            usage_by_node=by_node,
            stop_kind=turn.stop.kind if turn.stop else "error",
            explanation=explanation,
            rights=run.resources.rights,
            estimate=chosen.estimate if chosen and sql else None,
            used_knowledge=knowledge,
            proposals=proposals,
            basis=replace(basis, counted=ledger.list_basis(labels)) if basis and ledger else basis,
            readings=readings,
            sentence=AnswerSentence(told, " ".join(after)) if told and sql and conclusion.result else None,
            ledger=ledger,
            locale=labels.locale,
        )
        return put_result(record, conclusion.result or PlainResult((), ()), conclusion.looks)

    def emit_early_answer() -> None:
        early_answer = make_answer(None)
        if ask_which_reading_is_meant(early_answer, turn, run.settings) is None:
            run.emit({"event": EARLY, "answer": dump(early_answer)})

    # Where turns are written down, no answer is given before that.
    begin = emit_early_answer if run.watched and run.resources.audit is None else None
    return make_answer(make_row_ledger(chosen, query, state, turn, run, begin) if chosen and sql else None)


def _explain_discard(attempts: Sequence[Attempt], best: Attempt, code: CodeResult | None) -> str:
    """Return why the last attempt is not the answer, or '' if it is."""
    chain = [attempt for attempt in attempts if attempt.source != "candidate"]
    last = chain[-1]
    if best is last or best.result is None or have_same_result(best, last):
        return ""
    number = next(number for number, attempt in enumerate(chain, 1) if attempt is best)
    return f"query {number} is the answer, because the last one {get_rejection_reason(last, best, code)}"


@dataclass(frozen=True)
class _Conclusion:
    """The status, text, remarks and result of an answer."""

    status: Status
    text: str
    remarks: tuple[Note, ...] = ()
    result: PlainResult | None = None
    looks: ColumnDisplay = field(default_factory=ColumnDisplay)
    by_code: bool = False


def _make_conclusion(
    turn: Turn,
    attempt: Attempt | None,
    query: Query | None,
    code: CodeResult | None,
    run: Run,
    rows_note: str,
    labels: Labels,
    *,
    has_better: bool,
) -> _Conclusion:
    """Return the conclusion of a turn: the status, text, remarks and result of the answer."""
    stop = turn.stop
    if stop and stop.status in ("failed", "unanswerable"):
        rephrasing, kind = turn.rephrasing, attempt.error_kind if stop.kind == "error" and attempt else None
        if rephrasing.intent == "unanswerable" and stop.why == rephrasing.reply and run.translator.name != "offline":
            return _Conclusion(stop.status, labels.say("cannot_answer", why=stop.why))
        return _Conclusion(stop.status, labels.say_error(stop.why, kind))
    if stop and stop.kind == "schema":
        return _Conclusion("converged", stop.why)
    if attempt is not None and attempt.result is not None:
        status: Status = "capped" if has_better or (stop and stop.status == "capped") else "converged"
        caveats = () if has_better else turn.caveats
        rules = (f"{capitalize(rows_note)}.",) if rows_note else ()
        notes = (*map(Note, caveats), *list_remarks(attempt.result, labels), *map(Note, rules))
        definitions = {entry.name: entry.text for entry in turn.knowledge}
        looks = build_display(query, attempt.result, labels.locale, definitions)
        return _Conclusion(status, phrase_answer(attempt.result, looks, attempt.literals), notes, attempt.result, looks)
    if code is not None:
        remarks = [labels.say("by_code")]
        if code.sampled:
            remarks.append(labels.say("sampled", tables=", ".join(code.sampled)))
        looks = build_display(None, code.result, labels.locale)
        text = phrase_answer(code.result, looks)
        return _Conclusion("capped", text, tuple(map(Note, remarks)), code.result, looks, by_code=True)
    why, kind = (attempt.error or "", attempt.error_kind) if attempt else ("", None)
    return _Conclusion("failed", labels.say_failure(why, kind))


_LONGEST = 20_000  # characters of a query whose basis is looked for


@with_fallback("basis", None)
def find_answer_basis(
    attempt: Attempt | None,
    query: Query | None,
    turn: Turn,
    run: Run,
    knowledge: Sequence[UsedKnowledge],
    readings: Readings,
    labels: Labels,
) -> Basis | None:
    """Return the facts on which an answer's query is based; None without a readable query."""
    if attempt is None or attempt.result is None or query is None or len(query.sql) > _LONGEST:
        return None
    try:
        origin: Origin = "definition" if any(entry.sql for entry in knowledge) else "generated"
        if run.translator.name == "offline":
            origin = "offline"
        if attempt.source == "verified" or attempt.source == "edited":
            origin = attempt.source
        basis = build_query_basis(query, get_full_question(turn), turn.values, origin=origin, labels=labels)
    except SQLParseError:
        return None
    date = basis.date
    if date is not None:
        date = replace(date, newest=run.resources.newest.find(date.table, date.column))
    result = attempt.result
    cut = basis.cut
    if result.truncated and not result.withheld:
        cut = labels.say("first_rows", count=labels.number(result.row_count))
    ties = basis.ties
    if ties_outcome := next((outcome for outcome in readings.tried if outcome.matter == "ties"), None):
        ties = labels.say("ties_cut" if ties_outcome.says else "no_ties", says=ties_outcome.says)
    return replace(
        basis,
        date=date,
        cut=cut,
        ties=ties,
        definitions=tuple(entry.name for entry in knowledge if entry.name),
        assumed=tuple(
            dict.fromkeys(one.assumed for one in readings.tried if one.says and one.assumed and one.matter != "ties")
        ),
        readings=readings.line,
    )
