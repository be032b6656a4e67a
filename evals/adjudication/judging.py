"""A judge for answers that gold does not call right; each is put twice, with sides swapped."""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...agent.effects import Tally, Translator, arun, ask
from ...agent.model.turn_budget import TRIES, Budget, BudgetReached
from ...prompts.judge import Exhibit, Judgement, JudgeTask, Opinion, Word
from ...tools.database import Cell, Database, Limits, Table
from ...tools.database.quoting import quote
from ...tools.errors import DatabaseUnavailable, ModelError, QueryError, ReplyError, SettingsError, SQLParseError
from ...tools.linking import PastTurn, requested_tables
from ...tools.sql import regularize
from ..datasets.load import Closing, Dataset, GoldTurn, OneOpen, join_operators, load_dataset
from ..metrics.judging import Verdict
from ..runner.record import SHOWN_ROWS, RunSpec
from ..runner.results import read_results, write_results
from ..runner.run import GIVE_UP_AFTER, run_coroutine
from ..trial import read_trial
from ..trial.run import trial_dataset
from .ruling import (
    VERDICTS_FILE,
    RuledAnswer,
    Ruling,
    add_verdicts,
    append_rulings,
    judge_outcomes,
    now,
    read_rulings,
    tell_scores,
)


@dataclass(frozen=True)
class Case:
    """An answer beside the gold query."""

    question: GoldTurn
    sql: str
    gold: str


class Cases(Closing):
    """A builder of judge prompts for a dataset's cases."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self._databases = dataset, OneOpen()
        self._turns = {turn.id: turns[:place] for turns in dataset.interactions for place, turn in enumerate(turns)}
        self.close = self._databases.close

    def task(self, case: Case) -> JudgeTask:
        """Return the judge's prompt, with the answer before the gold query.

        Earlier turns have their gold queries: whoever asked has seen their results. All SQL is in the regular form, so
        that how it is written does not tell where it comes from.
        """
        question = case.question
        database = self._databases.at(self._dataset.place(question.database))
        schema = database.schema()
        answer_sql, gold_sql = join_operators(case.sql), join_operators(case.gold)
        answer, gold = (_run(database, sql) for sql in (answer_sql, gold_sql))
        data: list[tuple[str, str]] = []
        for name in sorted(requested_tables(schema, answer_sql) | requested_tables(schema, gold_sql))[:5]:
            rows = _run(database, f"SELECT * FROM {quote(name, database.dialect)} LIMIT 3")
            data.append((name, csv_text(rows.columns, rows.rows) if isinstance(rows, Table) else ""))
        before = self._turns.get(question.id, ())
        return JudgeTask(
            question=question.text,
            history=tuple(PastTurn(turn.text, sql=_regular("".join(turn.golds[:1]), database)) for turn in before),
            schema=schema,
            first=_exhibit(_regular(answer_sql, database), answer, gold),
            second=_exhibit(_regular(gold_sql, database), gold, answer),
            evidence=question.evidence,
            data=tuple(data),
        )


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows as CSV with quoted text, so that spaces and numbers stored as text show."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(columns)
    named = [["NULL" if cell is None else cell for cell in row] for row in rows]
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(named)
    return out.getvalue().replace('"NULL"', "NULL")


def _exhibit(sql: str, result: Table | QueryError, other: Table | QueryError) -> Exhibit:
    if isinstance(result, QueryError):
        return Exhibit(sql, str(result), None)
    rows, only = result.rows, ""
    # The rows that the other one lacks tell nothing if it has other columns, or all of them are seen anyway.
    if isinstance(other, Table) and len(result.columns) == len(other.columns):
        lacked = list((Counter(rows) - Counter(other.rows)).elements())
        if lacked and max(len(rows), len(other.rows)) > SHOWN_ROWS:
            only = csv_text(result.columns, lacked[:4])
    return Exhibit(sql, csv_text(result.columns, rows[:SHOWN_ROWS]), len(rows), only)


def _run(database: Database, sql: str) -> Table | QueryError:
    try:
        return database.execute(sql, Limits(seconds=30.0, rows=1_000))
    except QueryError as error:
        return error


def _regular(sql: str, database: Database) -> str:
    try:
        return regularize(sql, database.schema())
    except SQLParseError:
        return sql


PASSES = 2  # requests a case: a judge that prefers the first place says otherwise when the sides are swapped

_AFFORDABLE = Budget(calls=4 * TRIES, tokens=1_000_000, until=math.inf)
"""For one opinion; the model's own time limit holds, and calls that a client repeats by itself count."""


Listener = Callable[[Case, Opinion, Opinion], object]
"""A function that is told what a judge says of a case's answer and of its gold: unclear if the two passes disagree."""


@dataclass
class JudgingEnd:
    """The end of a judging run."""

    calls: int = 0  # requests made
    left: int = 0  # cases that the budget of calls had no room for
    # Cases that could not be asked, with the reason.
    failed: list[tuple[Case, str]] = field(default_factory=list[tuple[Case, str]])


def judge_cases(
    cases: Sequence[Case],
    dataset: Dataset,
    judge: Translator,
    listener: Listener,
    *,
    jobs: int,
    calls: int | None = None,  # the most requests, repeated ones included; None for no limit
) -> JudgingEnd:
    """Judge cases, up to `jobs` at once, and report each to the listener."""
    end = JudgingEnd()
    most = math.inf if calls is None else calls
    waiting, failed_in_a_row = iter(cases), 0

    async def opinions(task: JudgeTask) -> Judgement:
        tally = Tally(_AFFORDABLE._replace(calls=int(min(most - end.calls, _AFFORDABLE.calls))))
        try:
            return (await arun(ask(task), judge, tally)).reply
        except ReplyError as error:
            unread = Opinion("unclear", "", f"The judge's reply cannot be read: {error}")
            return Judgement(unread, unread)
        finally:
            end.calls += tally.usage.llm_calls

    async def work() -> None:
        nonlocal failed_in_a_row
        for case in waiting:
            if most - end.calls < PASSES:
                end.left += 1
                continue
            try:
                task = shown.task(case)
                # Each query comes first once, which is fairer than chance.
                first, second = [await opinions(one) for one in (task, task.swap_queries())]
            except (DatabaseUnavailable, ModelError) as error:
                if isinstance(error, BudgetReached) and end.calls >= most:
                    end.left += 1
                    continue
                end.failed.append((case, str(error)))
                failed_in_a_row += 1
                if failed_in_a_row == GIVE_UP_AFTER:
                    why = f"as {GIVE_UP_AFTER} cases in a row failed: {error}"
                    raise ModelError(f"stopped after {end.calls} requests, {why}") from error
            else:
                failed_in_a_row = 0
                listener(case, _merge_opinions(first.first, second.second), _merge_opinions(first.second, second.first))

    async def work_together() -> None:
        # What a case takes is known when it is judged: with a limit there is one at a time.
        await asyncio.gather(*(work() for _ in range(jobs if calls is None else 1)))

    with Cases(dataset) as shown:
        run_coroutine(work_together())
    return end


def _merge_opinions(one: Opinion, other: Opinion) -> Opinion:
    """Return one opinion of two passes."""
    if one.verdict == other.verdict:
        return one
    said = " ".join(f"{opinion.verdict.capitalize()}: {opinion.why}" for opinion in (one, other))
    return Opinion("unclear", "", f"The two passes disagree. {said}")


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge's verdicts beside people's on the same answers."""

    n: int  # answers that both judged
    agreed: int  # those with the same verdict
    # Cohen's: agreement beyond chance, 1 for all; None if both have one and the same verdict throughout.
    kappa: float | None
    wrong_found: float | None  # share of what people call wrong that the judge calls wrong; None if there is none
    right_kept: float | None  # likewise of what people call right

    @property
    def told(self) -> str:
        """The agreement in one line."""
        kappa = "-" if self.kappa is None else f"{self.kappa:.2f}"
        parts = [f"{self.agreed} of {self.n} verdicts as given (kappa {kappa})"]
        for name, share in (("wrong answers found", self.wrong_found), ("right answers kept", self.right_kept)):
            parts += [] if share is None else [f"{name} {100 * share:.0f} %"]
        return ", ".join(parts)


def agreement(pairs: Sequence[tuple[Word, Word]]) -> JudgeAgreement:
    """Compare verdicts: people's first, the judge's second."""
    from sklearn.metrics import cohen_kappa_score

    varied = len({word for pair in pairs for word in pair}) > 1
    kappa = float(cohen_kappa_score(*zip(*pairs, strict=True))) if varied else None
    judged: dict[Word, list[Word]] = {}
    for given, word in pairs:
        judged.setdefault(given, []).append(word)
    found = {word: words.count(word) / len(words) for word, words in judged.items()}
    agreed = sum(given == word for given, word in pairs)
    return JudgeAgreement(len(pairs), agreed, kappa, found.get("wrong"), found.get("right"))


@dataclass(frozen=True)
class FinishedRun:
    """A finished run with the rulings on it."""

    folder: Path
    dataset: Dataset  # the whole split
    kept: dict[str, Any]  # its results.json
    verdict_file: Path  # where the rulings on it are, and further ones go

    @classmethod
    def read(cls, folder: Path, data: Path | None, verdict_file: Path | None) -> FinishedRun:
        """Read a run's folder and its dataset."""
        kept = read_results(folder)
        try:
            spec = RunSpec(**kept["run"])
        except (KeyError, TypeError) as error:
            raise SettingsError(f"the results in {folder} are damaged ({error}): finish the run again") from error
        if "trial" in kept:
            asked = read_trial(Path(kept["trial"]["questions_file"]))
            dataset, _ = trial_dataset(asked, kept["trial"]["database"], kept["tries"])
        else:
            dataset = load_dataset(spec.dataset, spec.split, data)
        return cls(folder, dataset, kept, verdict_file or folder / VERDICTS_FILE)

    def propose(self, by: str, case: Case, answer: Opinion, gold: Opinion) -> None:
        """Add the judge's opinion of a case to the verdict file as a proposed ruling."""
        about = {
            "dataset": self.dataset.name,
            "id": case.question.id,
            "question": case.question.text,
            "gold": case.gold,
        }
        about |= {"by": by, "at": now(), "accepted": False}
        sides = ((case.sql, answer), (case.gold, gold))
        rulings = [Ruling.model_validate({**about, "sql": sql, **asdict(opinion)}) for sql, opinion in sides]
        append_rulings(self.verdict_file, rulings)

    @property
    def rulings(self) -> list[Ruling]:
        """The verdict file's rulings, as it is now."""
        return read_rulings(self.verdict_file) if self.verdict_file.exists() else []

    def verdicts(self) -> list[Verdict]:
        """Return gold's verdicts on the answers to questions that have gold queries."""
        questions = {question.id: question for question in self.dataset.questions}
        unasked = self.kept["strict"]["not_asked"]
        try:
            found = [
                Verdict(questions[one["id"]], one["sql"], one["ex"], valid=one["valid"], asked=one["id"] not in unasked)
                for one in self.kept["questions"]
            ]
        except KeyError as error:
            asked = f"{self.dataset.name} {self.dataset.split}"
            raise SettingsError(f"the run's questions are not those of {asked}: {error}") from error
        return [verdict for verdict in found if verdict.question.golds]

    def disagreements(self) -> dict[Case, RuledAnswer]:
        """Return the ruled outcome of each answer that runs and that gold does not call right."""
        answers = [one for one in self.verdicts() if one.asked and one.sql.strip()]
        verdicts = [one for one in answers if one.ex is None or (one.valid and not one.ex)]
        outcomes = judge_outcomes(self.dataset, verdicts, self.rulings)
        return {Case(one.question, one.sql, one.question.golds[0]): outcomes[one.question.id] for one in verdicts}

    def judge_again(self) -> str:
        """Update the run's results from the verdict file; return the scores in one line."""
        add_verdicts(self.kept, self.dataset, self.verdicts(), self.rulings)
        write_results(self.kept, self.folder)
        return tell_scores(self.kept["by_verdict"], self.kept["strict"]["ex"])
