"""An answer to a question."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from ...tools.charts import Chart, ChartRequest, Spec, choose, make_spec, parse_request
from ...tools.deprecation import make_old_property
from ...tools.export import export_rows
from ...tools.formats import PLAIN
from ...tools.labels import Labels, choose_locale
from ..advice import call_with_fallback, collect_failure_notes
from ..evidence.confidence import choose_confidence_level
from ..records import AnswerRecord, NoteKind

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R")

JSON_KEYS = (
    "question",
    "rephrased",
    "intent",
    "sql",
    "columns",
    "rows",
    "row_count",
    "truncated",
    "status",
    "text",
    "confidence",
    "attempts",
    "usage",
    "translator",
    "model",
    "stop_kind",
    "notes",
    "answered",
    "explanation",
    "basis",
    "used_knowledge",
    "chart",
    "estimate",
    "headings",
    "confidence_reason",
    "trusted",
    "trust_reason",
    "formats",
    "ledger",
    "note_kinds",
)
"""The keys of an answer's JSON form, in order: a contract with the programs that read it."""


class Answer(AnswerRecord):
    """An answer to one question.

    Attributes:
        record: All of it, as frozen data.
        question: The question, as asked.
        rephrased: The question made self-contained, in one regular form.
        intent: What kind of question it is: `answerable`, `ambiguous`, `unanswerable` or `small_talk`.
        sql: The query behind the answer; None if there is none.
        columns: The result's column names.
        rows: The result's rows, at most `Settings.rows`.
        row_count: The number of rows in `rows`.
        truncated: Whether the query has more rows than `rows`.
        status: How the turn ended: `converged`, `capped`, `needs_clarification` (also if a query waits for approval),
            `unanswerable` or `failed`.
        text: The answer in words, or why there is none; for `needs_clarification`, the question asked back.
        confidence: How sure the answer is, from 0 to 1.
        confidence_reason: What speaks against the answer, in words; empty where nothing does.
        trusted: Whether the confidence reaches the level that `tableturn trust fit` set for this database and model;
            None if no level applies.
        trust_reason: The data behind that level, or why no level applies; empty if none was set.
        attempts: Every query that the turn ran, with its error or row count and the feedback that led to the next one.
        usage: What the turn cost.
        usage_by_node: The same, node by node.
        translator: What wrote the query: a chat model (`prompted`), or the built-in offline translator (`offline`).
        model: The model's name.
        notes: What was left out of a prompt, repaired, or switched off, and what to know about the result.
        note_kinds: What each note is about, for programs: `cut` (there are more rows), `saved` (whether it was saved as
            an example), `explained` (a word that can be kept), or empty.
        noted: The notes that have such a kind.
        stopped: Why no further attempt was made, in words.
        stop_kind: Why no further attempt was made, for programs: `gate`, `same_sql`, `same_result`, `cycle`,
            `attempts`, `budget`, `edited`, `declined`, `asked`, `error` or `schema`; None in an answer that an earlier
            version saved.
        explanation: What the SQL means in plain words, derived from the SQL itself; empty if there is none.
        basis: What the answer is based on (`.text()` in about three lines): where its query comes from, its tables,
            dates and filters with the words of the question behind them, and what one row stands for; None without a
            query.
        sentence: The model's own sentence, with places for cells; `text` begins with it, filled, if the rows bear out
            what it claims.
        readings: What other readings of the question give, if the question leaves something open.
        ledger: Rows that the query's joins leave out or repeat, values that are missing in what it groups or averages,
            groups that differ only in case or spacing, the newest date beside the period asked about, and what was
            not counted; None if nothing was counted. `line` says what of it matters.
        used_knowledge: The definitions that the query uses.
        proposals: What could be learned from this turn; pass those that a person accepts to `SQLAgent.remember`.
        estimate: What the engine expected the query to read, before it ran; None if that is not known, or depends on
            values that may not be sent to a model.
        choices: For `needs_clarification`, the readings on offer.
        simplified: The question in plain common words; the same as `rephrased` if it was not simplified.
        self_contained: Whether `rephrased` can be understood without the earlier turns, as far as the model was asked.
        headings: The columns' names in words: what is counted instead of `COUNT(*)`.
        formats: How the cells of each column are written for people: a kind, and digits, currency or unit.
        database: `tableturn.tools.examples.database_identity` of the database that was asked.
        withheld: Whether rows that may not be sent to a model are missing here; `SQLAgent.deliver` adds them.
        thread: The conversation's thread in the checkpointer; empty for a question of its own.
        kept: What is stored of the answer: `record` without the rows that may not be sent to a model.
        locale: The locale of its text, such as `de`; empty for English. None if an earlier version saved it.
    """

    record: AnswerRecord
    kept: AnswerRecord
    thread: str
    withheld: bool  # pyright: ignore[reportIncompatibleVariableOverride] - which rows are missing is the record's

    def __init__(self, record: AnswerRecord, thread: str = "", kept: AnswerRecord | None = None) -> None:
        formats = record.formats or (PLAIN,) * len(record.columns)
        forms = {"headings": record.headings or record.columns, "formats": formats, "withheld": bool(record.withheld)}
        fields = {"record": record, "kept": record if kept is None else kept, "thread": thread}
        self.__dict__.update(vars(record) | forms | fields)

    def __eq__(self, other: object) -> bool:
        return self is other  # two answers that say the same are still two

    __hash__ = object.__hash__

    @property
    def answered(self) -> bool:
        """Whether the question was answered with a result."""
        return self.status in ("converged", "capped")

    @property
    def certainty(self) -> str:
        """The confidence in words, with the reason for doubt; empty without a reason."""
        reason = self.confidence_reason
        sure = self.labels.say(choose_confidence_level(self.confidence, reason))
        return f"{sure}: {reason}" if self.answered and reason else ""

    @property
    def trust(self) -> str:
        """A text on whether and why the answer is trusted; empty if no level is set."""
        if not self.answered or not self.trust_reason:
            return ""
        label = "" if self.trusted is None else f"{self.labels.say('trusted' if self.trusted else 'not_trusted')}: "
        return f"{label}{self.trust_reason}"

    @property
    def labels(self) -> Labels:
        """The labels around it, in its own language."""
        if self.locale is not None:
            return Labels(self.locale)
        return Labels(choose_locale(self.question, self.formats[0].locale if self.formats else ""))

    @property
    def note_kinds(self) -> tuple[NoteKind, ...]:
        """The kind of each note."""
        kinds: dict[str, NoteKind] = {note.text: note.kind for note in self.noted}
        return tuple(kinds.get(note, "") for note in self.notes)

    @cached_property
    def drawn(self) -> Chart | None:
        """The chart that fits the rows and the question; None if no chart fits."""
        return self.drawn_as(self._chart_request)

    def drawn_as(self, wish: ChartRequest | None) -> Chart | None:
        """Return the chart that fits the rows and a request; None if no chart fits."""
        if not self.answered or self.withheld:
            return None
        title = (self.rephrased if wish is None or not wish.question else wish.question) or self.question
        return self._call_chart_function(
            lambda: choose(self.headings, self.rows, wish, title=title, partial=self.truncated, formats=self.formats)
        )

    @cached_property
    def _chart_request(self) -> ChartRequest | None:
        """The chart that the question asks for; None if it asks for no chart."""
        return self._call_chart_function(lambda: parse_request(self.question))

    def _call_chart_function(self, call: Callable[[], R]) -> R | None:
        """Return the result of a chart function; None, with a note, if the function fails."""
        with collect_failure_notes() as notes:
            outcome = call_with_fallback("charts", call, None)
        self.__dict__["notes"] = tuple(dict.fromkeys((*self.notes, *notes)))
        return outcome

    @cached_property
    def chart(self) -> Spec | None:
        """The chart as a Vega-Lite specification with its data; None if no chart fits."""
        drawing = self.drawn
        return self._call_chart_function(lambda: make_spec(drawing)) if drawing else None

    @property
    def asks_for_chart(self) -> bool:
        """Whether the question asks for a chart."""
        return self._chart_request is not None

    pictured = make_old_property("pictured", "asks_for_chart", "0.3")

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Return the rows as CSV; texts that look like formulas get an apostrophe.

        Args:
            path: The file to write; None for the text itself.

        Raises:
            ExportError: The file cannot be written.
        """
        target = BytesIO() if path is None else path
        export_rows(self.columns, self.rows, target, "csv")
        return target.getvalue().decode() if isinstance(target, BytesIO) else None

    def to_excel(self, path: str | Path | BinaryIO) -> None:
        """Write the rows as an Excel workbook, in which no text is a formula.

        Args:
            path: The file to write, or a binary stream.

        Raises:
            ExportError: The file cannot be written, or openpyxl is missing (the extra `files`).
        """
        export_rows(self.columns, self.rows, path, "xlsx", self.formats, self.headings)

    def _repr_html_(self) -> str:
        from .render import render_answer_html

        return render_answer_html(self)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the rows as a data frame; repeated column names stay as they are."""
        import pandas as pd

        return pd.DataFrame([list(row) for row in self.rows], columns=pd.Index(list(self.columns), dtype="object"))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain JSON values, with exactly the keys of `JSON_KEYS`.

        `chart` is None unless the question asks for a picture: the attribute has one for every answer that one fits.
        `text` ends with the choices on offer, numbered, a line each, where there are any.
        """
        from .render import render_answer_json

        return render_answer_json(self)

    def to_json(self) -> str:
        """Return the answer as one line of JSON, with the keys of `JSON_KEYS`."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return f"Answer(status={self.status!r}, sql={self.sql!r}, row_count={self.row_count}, text={self.text!r})"
