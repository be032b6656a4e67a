"""A judge of answers that do not match gold; each is judged twice, with queries swapped."""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...agent.effects import BudgetTracker, Translator, arun, ask
from ...agent.model import BudgetReached, TurnBudget
from ...prompts.judge import JudgedQuery, JudgeTask, QueryVerdict, QueryVerdictPair, Word
from ...tools.database import Cell, Database, Limits, Table, hide_url_secrets, quote
from ...tools.errors import DatabaseUnavailable, ModelError, QueryError, ReplyError, SettingsError, SQLParseError
from ...tools.linking import PastTurn
from ...tools.sql import find_requested_tables, regularize
from ..datasets.load import ClosingContext, Dataset, GoldTurn, SingleDatabaseCache, join_operators, load_dataset
from ..metrics.judging import Verdict
from ..runner.record import SHOWN_ROWS, RunSpec
from ..runner.results import read_results, write_results
from ..runner.run import GIVE_UP_AFTER, run_coroutine
from .ruling import (
    VERDICTS_FILE,
    RuledAnswer,
    Ruling,
    add_verdict_scores,
    append_rulings,
    apply_rulings,
    format_scores_line,
    now,
    read_rulings,
)


@dataclass(frozen=True)
class JudgeCase:
    """A case to judge: an answer beside the gold query of the question."""

    question: GoldTurn
    sql: str
    gold: str


class JudgePromptBuilder(ClosingContext):
    """A builder of judge prompts for answers to a dataset's questions."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self._databases = dataset, SingleDatabaseCache()
        self._turns = {turn.id: turns[:index] for turns in dataset.interactions for index, turn in enumerate(turns)}
        self.close = self._databases.close

    def make_task(self, case: JudgeCase) -> JudgeTask:
        """Return the judge's task, with the answer before the gold query.

        Earlier turns have their gold queries: whoever asked has seen their results. All SQL is in the regular form, so
        that how it is written does not tell where it comes from.
        """
        question = case.question
        database = self._databases.open(self._dataset.locate(question.database))
        schema = database.schema()
        answer_sql, gold_sql = join_operators(case.sql), join_operators(case.gold)
        answer, gold = (_fetch_result_or_error(database, sql) for sql in (answer_sql, gold_sql))
        data: list[tuple[str, str]] = []
        for name in sorted(find_requested_tables(schema, answer_sql) | find_requested_tables(schema, gold_sql))[:5]:
            rows = _fetch_result_or_error(database, f"SELECT * FROM {quote(name, database.dialect)} LIMIT 3")
            data.append((name, format_rows_as_csv(rows.columns, rows.rows) if isinstance(rows, Table) else ""))
        past = self._turns.get(question.id, ())
        return JudgeTask(
            question=question.text,
            history=tuple(PastTurn(turn.text, sql=_regularize("".join(turn.golds[:1]), database)) for turn in past),
            schema=schema,
            first=_make_judged_query(_regularize(answer_sql, database), answer, gold),
            second=_make_judged_query(_regularize(gold_sql, database), gold, answer),
            evidence=question.evidence,
            data=tuple(data),
        )


def format_rows_as_csv(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows as CSV with quoted text, so that spaces and numeric texts can be seen."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(columns)
    cells = [["NULL" if cell is None else cell for cell in row] for row in rows]
    csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(cells)
    return buffer.getvalue().replace('"NULL"', "NULL")


def _make_judged_query(sql: str, result: Table | QueryError, counterpart: Table | QueryError) -> JudgedQuery:
    if isinstance(result, QueryError):
        return JudgedQuery(sql, str(result), None)
    rows, only = result.rows, ""
    # The rows that the other one lacks tell nothing if it has other columns, or all of them are seen anyway.
    if isinstance(counterpart, Table) and len(result.columns) == len(counterpart.columns):
        extra_rows = list((Counter(rows) - Counter(counterpart.rows)).elements())
        if extra_rows and max(len(rows), len(counterpart.rows)) > SHOWN_ROWS:
            only = format_rows_as_csv(result.columns, extra_rows[:4])
    return JudgedQuery(sql, format_rows_as_csv(result.columns, rows[:SHOWN_ROWS]), len(rows), only)


def _fetch_result_or_error(database: Database, sql: str) -> Table | QueryError:
    try:
        return database.execute(sql, Limits(seconds=30.0, rows=1_000))
    except QueryError as error:
        return error


def _regularize(sql: str, database: Database) -> str:
    try:
        return regularize(sql, database.schema())
    except SQLParseError:
        return sql


PASSES = 2  # requests a case: a judge that prefers the first place says otherwise when the sides are swapped

_AFFORDABLE = TurnBudget(calls=12, tokens=1_000_000, until=math.inf)
"""For one opinion: three tries, each of which a client may repeat three times; the model's own time limit holds."""


Listener = Callable[[JudgeCase, QueryVerdict, QueryVerdict], object]
"""A function that is told what a judge says of a case's answer and of its gold: unclear if the two passes disagree."""


@dataclass
class JudgingSummary:
    """The number of requests, open cases and failures of a judging run."""

    calls: int = 0  # requests made
    remaining: int = 0  # cases that the budget of calls had no room for
    # Cases that could not be asked, with the reason.
    failures: list[tuple[JudgeCase, str]] = field(default_factory=list[tuple[JudgeCase, str]])


def judge_cases(
    cases: Sequence[JudgeCase],
    dataset: Dataset,
    judge: Translator,
    listener: Listener,
    *,
    jobs: int,
    calls: int | None = None,  # the most requests, repeated ones included; None for no limit
    summary: JudgingSummary | None = None,  # what is added to, and counts for the limit
) -> None:
    """Judge cases, up to `jobs` at once, and report each to the listener."""
    summary = summary or JudgingSummary()
    most = math.inf if calls is None else calls
    waiting, failed_in_a_row = iter(cases), 0

    async def request_judgement(task: JudgeTask) -> QueryVerdictPair:
        tally = BudgetTracker(_AFFORDABLE._replace(calls=int(min(most - summary.calls, _AFFORDABLE.calls))))
        try:
            return (await arun(ask(task), judge, tally)).reply
        except ReplyError as error:
            opinion = QueryVerdict("unclear", "", f"The judge's reply cannot be read: {error}")
            return QueryVerdictPair(opinion, opinion)
        finally:
            summary.calls += tally.usage.llm_calls

    async def judge_waiting_cases() -> None:
        nonlocal failed_in_a_row
        for case in waiting:
            if most - summary.calls < PASSES:
                summary.remaining += 1
                continue
            try:
                task = builder.make_task(case)
                # Each query comes first once, which is fairer than chance.
                first, second = [await request_judgement(version) for version in (task, task.swap_queries())]
            except (DatabaseUnavailable, ModelError) as error:
                if isinstance(error, BudgetReached) and summary.calls >= most:
                    summary.remaining += 1
                    continue
                summary.failures.append((case, str(error)))
                failed_in_a_row += 1
                if failed_in_a_row == GIVE_UP_AFTER:
                    message = f"as {GIVE_UP_AFTER} cases in a row failed: {error}"
                    raise ModelError(f"stopped after {summary.calls} requests, {message}") from error
            else:
                failed_in_a_row = 0
                listener(case, _merge_opinions(first.first, second.second), _merge_opinions(first.second, second.first))

    async def run_judging_workers() -> None:
        # What a case takes is known when it is judged: with a limit there is one at a time.
        await asyncio.gather(*(judge_waiting_cases() for _ in range(jobs if calls is None else 1)))

    with JudgePromptBuilder(dataset) as builder:
        run_coroutine(run_judging_workers())


def _merge_opinions(first: QueryVerdict, second: QueryVerdict) -> QueryVerdict:
    """Merge the opinions of two passes; the result is unclear if their verdicts differ."""
    if first.verdict == second.verdict:
        return first
    reasons = " ".join(f"{opinion.verdict.capitalize()}: {opinion.why}" for opinion in (first, second))
    return QueryVerdict("unclear", "", f"The two passes disagree. {reasons}")


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of a judge's verdicts with people's verdicts on the same answers."""

    n: int  # answers that both judged
    agreed: int  # those with the same verdict
    # Cohen's: agreement beyond chance, 1 for all; None if both have one and the same verdict throughout.
    kappa: float | None
    wrong_found: float | None  # share of what people call wrong that the judge calls wrong; None if there is none
    right_kept: float | None  # likewise of what people call right

    @property
    def text(self) -> str:
        """The agreement as one line of text."""
        kappa = "-" if self.kappa is None else f"{self.kappa:.2f}"
        phrases = [f"the judge agrees with {self.agreed} of {self.n} verdicts (kappa {kappa})"]
        for name, share in (("wrong answers found", self.wrong_found), ("right answers kept", self.right_kept)):
            phrases += [] if share is None else [f"{name} {100 * share:.0f} %"]
        return ", ".join(phrases)


def compute_agreement(pairs: Sequence[tuple[Word, Word]]) -> JudgeAgreement:
    """Compute the agreement of a judge with people from pairs: a person's verdict, a judge's."""
    from sklearn.metrics import cohen_kappa_score

    has_variation = len({word for pair in pairs for word in pair}) > 1
    kappa = float(cohen_kappa_score(*zip(*pairs, strict=True))) if has_variation else None
    replies: dict[Word, list[Word]] = {}
    for verdict, word in pairs:
        replies.setdefault(verdict, []).append(word)
    shares = {word: words.count(word) / len(words) for word, words in replies.items()}
    agreements = sum(verdict == word for verdict, word in pairs)
    return JudgeAgreement(len(pairs), agreements, kappa, shares.get("wrong"), shares.get("right"))


@dataclass(frozen=True)
class FinishedRun:
    """A finished evaluation run, with its dataset and its verdict file."""

    folder: Path
    dataset: Dataset  # the questions as they were asked, whatever their file says now
    results: dict[str, Any]  # its results.json
    verdict_file: Path  # where the rulings on it are, and further ones go

    @classmethod
    def read(cls, folder: Path, data: Path | None, verdict_file: Path | None) -> FinishedRun:
        """Read the results of a finished run, and the dataset of the questions that it asked."""
        results = read_results(folder)
        try:
            spec = RunSpec(**results["run"])
            location = str(results["trial"]["database"]) if "trial" in results else ""
            name, arguments = location if "://" in location else Path(location).name, (spec.dataset, spec.split, data)
            dataset = Dataset("trial", "all", (), (Path(location).parent,)) if location else load_dataset(*arguments)
            # Results hide passwords, and those of earlier versions lack what was told beside a question.
            urls = {hide_url_secrets(question.database): question.database for question in dataset.questions}
            hints = {question.id: question.evidence for question in dataset.questions}
            questions = tuple(
                GoldTurn(
                    *(record["id"], name or str(urls.get(record["database"], record["database"])), record["question"]),
                    *(tuple(record["golds"]), record["interaction"], record["turn"]),
                    record.get("hint", record.get("accepted", {}).get("evidence", hints.get(record["id"], ""))),
                )
                for record in results["questions"]
            )
        except (KeyError, TypeError) as error:
            raise SettingsError(f"the results in {folder} are damaged ({error}): finish the run again") from error
        return cls(folder, replace(dataset, questions=questions), results, verdict_file or folder / VERDICTS_FILE)

    def append_proposed_rulings(self, by: str, case: JudgeCase, answer: QueryVerdict, gold: QueryVerdict) -> None:
        """Append the judge's opinions on a case to the verdict file, as proposed rulings."""
        question = case.question
        about = {"dataset": self.dataset.name, "id": question.id, "question": question.text, "gold": case.gold}
        about |= {"database": hide_url_secrets(question.database), "by": by, "at": now(), "accepted": False}
        opinions = ((case.sql, answer), (case.gold, gold))
        rulings = [Ruling.model_validate({**about, "sql": sql, **asdict(opinion)}) for sql, opinion in opinions]
        append_rulings(self.verdict_file, rulings)

    @property
    def rulings(self) -> list[Ruling]:
        """The rulings that are now in the verdict file."""
        return read_rulings(self.verdict_file, allow_missing=True)

    def list_gold_verdicts(self) -> list[Verdict]:
        """Return whether the run's answers match gold; skip questions without a gold query."""
        questions = {question.id: question for question in self.dataset.questions}
        missing = self.results["strict"]["not_asked"]
        verdicts = [
            Verdict(questions[row["id"]], row["sql"], row["ex"], valid=row["valid"], was_asked=row["id"] not in missing)
            for row in self.results["questions"]
        ]
        return [verdict for verdict in verdicts if verdict.question.golds]

    def find_disagreements(self) -> dict[JudgeCase, RuledAnswer]:
        """Return answers that run but do not match gold, each with the verdict by the rulings."""
        answers = [verdict for verdict in self.list_gold_verdicts() if verdict.was_asked and verdict.sql.strip()]
        verdicts = [verdict for verdict in answers if verdict.ex is None or (verdict.valid and not verdict.ex)]
        outcomes = apply_rulings(self.dataset, verdicts, self.rulings)
        return {JudgeCase(row.question, row.sql, row.question.golds[0]): outcomes[row.question.id] for row in verdicts}

    def update_verdict_scores(self) -> str:
        """Update the run's results from the verdict file; return the scores in one line."""
        verdicts = self.list_gold_verdicts()
        add_verdict_scores(self.results, self.dataset, verdicts, self.rulings)
        write_results(self.results, self.folder)
        return format_scores_line(self.results["by_verdict"], verdicts)
