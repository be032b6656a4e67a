"""The offline translator: does every task that needs no code by parsing, without a model.

It answers one question after another about one database: parse, edit, build, try, score.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from ...prompts.explain import ExplainTask
from ...prompts.find_sql import begins_sql
from ...prompts.generate import GenerateSQLTask
from ...prompts.rephrase import RephraseTask, SimplifyTask
from ...prompts.reply_types import Explanation, Rephrasing, SQLDraft
from ...prompts.revise import ReviseSQLTask
from ...prompts.task import Task
from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Cell, Limits
from ...tools.errors import NotUnderstood, QueryError, QueryFailed, QueryRejected
from ...tools.labels import IN_ENGLISH, Labels, find_language
from ...tools.linking import PastTurn
from ...tools.masked_database import MaskedDatabase
from ...tools.sql import Query, explain
from ...tools.values import ValueIndex
from ...tools.values.match import ValueMatch
from ..advice import with_fallback
from ..effects import Body, Done, FunctionEffect
from .certainty import compute_confidence, compute_parse_signals, has_important_unread_words, list_unread_words
from .compose import edit_base_query, is_follow_up_question
from .frame import QueryFrame, format_query_as_sentence
from .grammar import parse
from .mentions import names_missing_table
from .names import StemIndex
from .reading import CUES, NOTHING, ParseState, QuestionInput
from .sql import convert_frame_to_sql, read_sql
from .words import UNSPOKEN, split_question_into_words

_LONGEST = 1_000  # characters of a question: reading takes longer than its length grows
_TRIAL = Limits(seconds=0.05, rows=20)
_VALUES = 30
_NEGATION = re.compile(r"(?:#not|#isnot|#except)(?: \S+){0,2}")
_SQL_SIGN = re.compile(r"[*(=;]")
_PRONOUN = re.compile(
    r"\b(?:all )?(?:of )?(?P<pronoun>th(?:em|eirs?|ey)|hers?|his|him|he|she|its|th[eo]se(?! (?!are|were|have|is)\w))\b",
    re.IGNORECASE,
)


class UnresolvedPronoun(NotUnderstood):
    """A pronoun in the question refers to nothing asked before; `words` contains the pronoun.

    What to do: name what is meant.
    """


@dataclass(frozen=True)
class ParsedAnswer:
    """A parsed question with the SQL query for it and a confidence.

    Attributes:
        frame: What it means.
        sql: The query.
        confidence: Probability that it is right.
        notes: How the words were read.
        unread: Words that played no part.
        partial: Whether some of them certainly matter.
        signals: What the confidence weighs.
    """

    frame: QueryFrame
    sql: str
    confidence: float
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    partial: bool = False
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class Parser:
    """A parser of questions about one database; several threads may share one parser."""

    def __init__(self, database: Database, values: ValueIndex | None) -> None:
        self._database = database
        self._values = values
        self._names: StemIndex | None = None

    def names(self) -> StemIndex:
        """Return the name index of the database's current schema."""
        schema, names = self._database.schema(), self._names
        if names is None or names.schema is not schema:
            names = self._names = StemIndex(schema)
        return names

    def answer(self, question: str, base_sql: str = "", reply: str = "") -> ParsedAnswer:
        """Parse a question, as a follow-up if the question refers to the previous query; leave SQL as it is.

        Args:
            question: As asked.
            base_sql: The previous query; empty if there is none.
            reply: What the person said when something was asked back about this question.

        Raises:
            NotUnderstood: It cannot be read, or is SQL that does not run.
        """
        if self._is_sql(question):
            return ParsedAnswer(NOTHING, question, 1.0, ("read offline, without a model",), ())
        if len(question) > _LONGEST:
            raise NotUnderstood(f"Without a model I read {_LONGEST:,} characters at most; these are {len(question):,}.")
        names = self.names()
        question = CUES["greeting"].sub("", question) or question
        base = (_parse_base_query(base_sql, names.schema) if base_sql else None) or NOTHING
        request = QuestionInput(question, names, self._find_mentioned_values(question))
        if reply:
            pronoun = _find_unresolved_pronoun(question, parse(request)) if base is NOTHING else None
            start, end = pronoun.span() if pronoun else (len(question), len(question))
            question = f"{question[:start]}{'' if pronoun else '. '}{reply.strip(' .?!')}{question[end:]}"
            request = QuestionInput(question, names, self._find_mentioned_values(question))
        return self._parse_question(request, base)

    def _is_sql(self, question: str) -> bool:
        """Whether a question is SQL that runs; raise `NotUnderstood` if it is SQL that does not."""
        if not begins_sql(question):
            return False
        try:
            self._run_trial_query(question)
        except (QueryFailed, QueryRejected) as error:
            if _SQL_SIGN.search(question):
                raise NotUnderstood(IN_ENGLISH.say_error(error)) from error
            return False  # words, as in `Select the names of all stores`
        return True

    def _parse_question(self, request: QuestionInput, base: QueryFrame) -> ParsedAnswer:
        """Parse the question on its own, as a follow-up, or as an edit of the base query."""
        own_parse = parse(request, base)
        if base is NOTHING:
            if pronoun := _find_unresolved_pronoun(request.text, own_parse):
                word = pronoun["pronoun"]
                raise UnresolvedPronoun(f"Nothing was asked before, so I cannot tell what {word!r} means.", (word,))
            return self._build_parsed_answer(own_parse)
        kinds = {mark.kind for mark in own_parse.marks}
        context = NOTHING if kinds & {"v", "n"} and not kinds & {"t", "x"} else base
        if not is_follow_up_question(own_parse):
            return self._build_parsed_answer(parse(request, context))
        own_parse.frame, own_parse.editing = edit_base_query(own_parse), True
        return self._build_parsed_answer(own_parse, base)

    def _build_parsed_answer(self, state: ParseState, base: QueryFrame | None = None) -> ParsedAnswer:
        """Build the answer from a parsed question, and run the query once as a test."""
        left_out = list_unread_words(state)
        _check_understood(state, base, left_out)
        stems = {word.stem for word in split_question_into_words(state.question.text)}
        sql = convert_frame_to_sql(state.frame, state.names.schema, stems)
        try:
            rows = self._run_trial_query(sql)
        except (QueryFailed, QueryRejected) as error:
            raise NotUnderstood("I could not turn this question into a query that runs. Try other words.") from error
        signals = compute_parse_signals(state, rows)
        sure = round(compute_confidence(signals), 3)
        partial = has_important_unread_words(state)
        return ParsedAnswer(state.frame, sql, sure, _list_parsing_notes(state, left_out), left_out, partial, signals)

    def _run_trial_query(self, sql: str) -> tuple[tuple[Cell, ...], ...] | None:
        """Return the first rows of the query; None if they are withheld or take too long."""
        try:
            table = MaskedDatabase(self._database).execute(sql, _TRIAL)
        except (QueryFailed, QueryRejected):
            raise
        except QueryError:
            return None
        return None if table.withheld else table.rows

    def _find_mentioned_values(self, text: str) -> tuple[ValueMatch, ...]:
        return tuple(self._values.find(text, _VALUES)) if self._values else ()


@with_fallback("follow-up", None)
def _parse_base_query(sql: str, schema: Schema) -> QueryFrame | None:
    """Parse the previous query into a frame; return None if a frame cannot express it."""
    return read_sql(sql, schema)


def _find_unresolved_pronoun(question: str, state: ParseState) -> re.Match[str] | None:
    """Return a pronoun of a first question that refers to nothing in the question, or None."""
    match = _PRONOUN.search(question)
    starts = [question.lower().find(m.text.lower()) for m in state.marks if m.kind in "tcxv" and m.text]
    return match if match and not any(-1 < start < match.start() for start in starts) else None


def _check_understood(state: ParseState, base: QueryFrame | None, words: tuple[str, ...]) -> None:
    """Raise `NotUnderstood` if a frame does not answer the question."""
    frame = state.frame
    beyond = tuple(word for word in state.text.split() if word in UNSPOKEN)
    if beyond:
        raise NotUnderstood(f"I cannot compute this without a model: {', '.join(beyond)}.", beyond)
    says_nothing = not state.marks and not state.pending and base in (None, frame)
    # The key of a table that the schema lacks, or that is hidden, is no answer about its rows.
    keys = [mark.text for mark in state.marks if names_missing_table(mark, state.names)]
    if keys := [key for key in keys if f"{key} of " not in state.question.text]:  # not `the mentor of Ann`
        words, says_nothing = tuple(dict.fromkeys((*words, *keys))), True
    if not frame.list_tables() or says_nothing:
        tables = [table.name for table in state.names.schema.tables]
        problem = (
            f"I did not understand: {', '.join(words)}." if words else "I found nothing to look up in this question."
        )
        offer = f"The database has {', '.join(tables[:8])}{' and more' * (len(tables) > 8)}."
        raise NotUnderstood(f"{problem} {offer}", words)
    if _NEGATION.search(state.text):
        raise NotUnderstood("I did not understand what is left out. Say it another way.", words)
    if frame.shows_only_fixed_columns():
        raise NotUnderstood("I cannot tell what you want to know. Name what to show or count.", words)


def _list_parsing_notes(state: ParseState, unread_words: tuple[str, ...]) -> tuple[str, ...]:
    notes = ["read offline, without a model" + ", as a change to the previous query" * state.editing]
    notes += [meaning for mark in state.marks if (meaning := mark.meaning())]
    notes += ["patterns: " + ", ".join(dict.fromkeys(state.patterns))] * bool(state.patterns)
    notes += ["not used: " + ", ".join(unread_words)] * bool(unread_words)
    return tuple(dict.fromkeys(notes))


R = TypeVar("R")
_DECLINE = 0.12  # confidence below which no SQL is written
_DOUBTFUL = 0.4  # confidence below which a person is told that the question was not read well enough
_CACHE_SIZE = 1_024  # answers that are kept from the rephrasing of their questions for the writing of their SQL
_MAX_CHOICES = 6  # tables of which a person is asked to choose what a word stands for, at most


class OfflineTranslator:
    """A deterministic replacement for a model: parses questions by grammar, schema and values.

    Args:
        database: What is asked about.
        values: Its value index; made on first use if not given.
    """

    name = "offline"
    model = "offline"
    reads_examples = False
    understands = False

    def __init__(self, database: Database, values: ValueIndex | None = None) -> None:
        self._engine = Parser(database, values if values is not None else ValueIndex.open(database))
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str, str, str], ParsedAnswer] = {}

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """Yield an effect that performs the task, and return the result."""
        return (yield FunctionEffect(lambda: self.do(task)))

    def do(self, task: Task[R]) -> Done[R]:
        """Perform a task, blocking until the task is done.

        Raises:
            NotUnderstood: The question cannot be read, or the task needs a model.
        """
        return Done(cast("R", self._dispatch_task(task)))

    def _dispatch_task(self, task: object) -> object:
        match task:
            case RephraseTask():
                return self._rephrase_question(task)
            case SimplifyTask():
                return task.question
            case GenerateSQLTask():
                return self._generate_draft(task)
            case ReviseSQLTask():
                # It knows no better: the loop ends.
                return self._generate_draft(task.generate)
            case ExplainTask():
                return Explanation(explain(Query.of(task.sql, task.schema.dialect, task.schema)))
            case _:
                raise NotUnderstood(
                    "The offline translator cannot do this: choose a model with --model, or leave out what needs one."
                )

    def _rephrase_question(self, task: RephraseTask) -> Rephrasing:
        if CUES["small_talk"].match(task.question):
            reply = "I am here to answer questions about this database. Ask me one."
            return Rephrasing(task.question, task.question, "small_talk", reply)
        base = _find_last_query(task.history)
        try:
            answer = self._engine.answer(task.question, base, task.clarification[1] if task.clarification else "")
        except UnresolvedPronoun as error:
            asks = f'What does "{error.words[0]}" stand for?'
            tables = tuple(table.name.replace("_", " ") for table in task.schema.tables[:_MAX_CHOICES])
            return Rephrasing(task.question, task.question, "ambiguous", asks, tables)
        except NotUnderstood as error:
            return Rephrasing(task.question, task.question, "unanswerable", _explain_refusal(task.question, error))
        sentence = task.question if answer.frame is NOTHING else format_query_as_sentence(answer.frame)
        with self._lock:
            self._answers[task.question, base, sentence, self._engine.names().schema.version] = answer
            if len(self._answers) > _CACHE_SIZE:
                del self._answers[next(iter(self._answers))]
        # Where what was passed over matters, declining serves a person better.
        if answer.partial or answer.confidence < _DOUBTFUL or _asks_to_write(task.question, answer.unread):
            return Rephrasing(sentence, sentence, "unanswerable", _explain_refusal(task.question, answer))
        return Rephrasing(sentence, sentence)

    def _generate_draft(self, task: GenerateSQLTask) -> SQLDraft:
        answer = self._get_parsed_answer(task)
        if answer.confidence < _DECLINE:
            raise NotUnderstood(_explain_refusal(task.question, answer), answer.unread)
        return _make_draft_from_answer(answer)

    def _get_parsed_answer(self, task: GenerateSQLTask) -> ParsedAnswer:
        """Return the answer cached when the question was rephrased, or parse the question again."""
        base = _find_last_query(task.history)
        past = self._answers.get((task.question, base, task.rephrasing.rephrased, self._engine.names().schema.version))
        return past or self._engine.answer(task.question, base)


def _find_last_query(history: tuple[PastTurn, ...]) -> str:
    """Return the latest SQL query in the history; empty if there is none."""
    return next((turn.sql for turn in reversed(history) if turn.sql), "")


def _make_draft_from_answer(answer: ParsedAnswer) -> SQLDraft:
    caveats = (f"Not understood and left out: {', '.join(answer.unread)}.",) if answer.unread else ()
    return SQLDraft(answer.sql, answer.confidence, answer.notes, caveats)


def _explain_refusal(question: str, why: ParsedAnswer | NotUnderstood) -> str:
    """Return why a question has no answer: first its language, if it is in words, not English."""
    language = "" if begins_sql(question) and _SQL_SIGN.search(question) else find_language(question)
    if language not in ("", "en"):
        return Labels(language).say("only_english")
    if _asks_to_write(question, why.words if isinstance(why, NotUnderstood) else why.unread):
        return IN_ENGLISH.say("reads_only")
    if isinstance(why, NotUnderstood):
        return str(why)
    if why.unread:
        return f"I did not understand: {', '.join(why.unread)}. Use other words, or choose a model."
    empty = " No row fits that." if why.signals["no row"] else ""
    return f'I am not sure that you mean "{format_query_as_sentence(why.frame)}".{empty} Use other words.'


def _asks_to_write(question: str, unread: tuple[str, ...]) -> bool:
    """Whether a question asks for a change of the data, by a verb that the parser left out."""
    match = CUES["writes"].match(question)
    return match is not None and match["verb"].lower() in map(str.lower, unread)
