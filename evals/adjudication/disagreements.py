"""The answers of a finished run that gold does not call right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.errors import SettingsError
from ..datasets import Dataset, load_dataset
from ..metrics import Verdict
from ..runner.results import read_results, write_results
from ..runner.spec import RunSpec
from .adjudicator import Outcome
from .cases import Case
from .ruling import Ruling, rulings_beside
from .scores import ByVerdict, by_verdict


@dataclass(frozen=True)
class Disagreement:
    """An answer that gold does not call right.

    Attributes:
        case: The answer and the first gold.
        outcome: What rulings say of it.
        record: What the run keeps of the question: results, hardness and so on.
    """

    case: Case
    outcome: Outcome
    record: Mapping[str, Any]


@dataclass(frozen=True)
class FinishedRun:
    """A finished run with the rulings on it.

    Attributes:
        folder: The run's.
        dataset: The whole split.
        results: Its results.json.
        rulings: Of its verdict file.
        verdict_file: Where further rulings go.
    """

    folder: Path
    dataset: Dataset
    results: dict[str, Any]
    rulings: tuple[Ruling, ...]
    verdict_file: Path

    @classmethod
    def read(cls, folder: Path, data: Path | None, verdict_file: Path) -> FinishedRun:
        """Reads a run's folder and its dataset.

        Raises:
            SettingsError: There is no finished run, its dataset cannot be read, or no longer has its questions.
        """
        results = read_results(folder)
        try:
            spec = RunSpec(**results["run"])
        except (KeyError, TypeError) as error:
            raise SettingsError(f"the results in {folder} are damaged ({error}): finish the run again") from error
        dataset = load_dataset(spec.dataset, spec.split, data)
        given = verdict_file if verdict_file.exists() else None
        return cls(folder, dataset, results, tuple(rulings_beside(folder, given)), verdict_file)

    def verdicts(self) -> list[Verdict]:
        """How gold judged the answers; what is to be declined has none, and is scored by its outcome."""
        return [verdict for verdict in recorded_verdicts(self.results, self.dataset) if verdict.question.golds]

    def disagreements(self) -> list[Disagreement]:
        """Answers that run and that gold calls wrong or cannot be judged by, in the dataset's order."""
        verdicts = [
            verdict
            for verdict in self.verdicts()
            if verdict.asked and verdict.sql.strip() and (verdict.ex is None or (verdict.ex is False and verdict.valid))
        ]
        records = {record["id"]: record for record in self.results["questions"]}
        found = by_verdict(self.dataset, verdicts, self.rulings)
        return [
            Disagreement(
                Case(verdict.question, verdict.sql, verdict.question.golds[0]),
                found.outcomes[verdict.question.id],
                records[verdict.question.id],
            )
            for verdict in verdicts
        ]

    def judged_again(self) -> ByVerdict:
        """Reads the verdict file as it is now, and puts what it comes to into the run's results."""
        rulings = rulings_beside(self.folder, self.verdict_file if self.verdict_file.exists() else None)
        found = with_verdicts(self.results, self.dataset, self.verdicts(), rulings)
        write_results(self.results, self.folder)
        return found


def recorded_verdicts(results: Mapping[str, Any], dataset: Dataset) -> list[Verdict]:
    """The strict verdicts of a run's results.

    Raises:
        SettingsError: The dataset lacks a question, or a result is damaged.
    """
    questions = {question.id: question for question in dataset.questions}
    unasked = set(results["strict"]["not_asked"])
    try:
        return [
            Verdict(
                questions[record["id"]],
                record["sql"],
                record["ex"],
                record["em"],
                record["valid"],
                record["hardness"],
                record["error"],
                asked=record["id"] not in unasked,
            )
            for record in results["questions"]
        ]
    except KeyError as error:
        raise SettingsError(f"the run's questions are not those of {dataset.name} {dataset.split}: {error}") from error


def with_verdicts(
    results: dict[str, Any], dataset: Dataset, verdicts: Iterable[Verdict], rulings: Iterable[Ruling]
) -> ByVerdict:
    """Adds what rulings say to a run's results.

    `by_verdict` has the scores, and whether there are any rulings at all (`ruled`); each question its `ruling`.
    """
    known = list(rulings)
    found = by_verdict(dataset, verdicts, known)
    told = found.as_json()
    per_question = told.pop("per_question")
    results["by_verdict"] = {**told, "ruled": bool(known)}
    for record in results["questions"]:
        record["ruling"] = per_question.get(record["id"])
    return found
