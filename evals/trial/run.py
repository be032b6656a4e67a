"""Asking the questions of a trial: concurrent, resumable, and without a second call for the same prompt."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...tools.database import Database
from ...tools.errors import SettingsError
from ...tools.record_files import read_json
from ..datasets import Dataset, Question
from ..datasets.question import Expects
from ..runner.cache import kept_replies
from ..runner.journal import JOURNAL_FILE, Journal
from ..runner.kept import used_model
from ..runner.local_engine import local_engine, run_settings
from ..runner.model import CACHE_FILE
from ..runner.record import TurnRecord
from ..runner.run import answer_all
from ..runner.spec import SPEC_FILE, RunSpec, check_folder, write_spec
from .judge import TrialJudge, TrialVerdict
from .page import write_page
from .question import TrialFile, TrialTurn, read_trial
from .results import RESULTS_FILE, keep_results, read_trial_results, trial_results

_TRIAL = "trial "
"""What a trial's specification calls its dataset; the database follows."""


@dataclass(frozen=True)
class TrialOptions:
    """What a trial asks, of what.

    Attributes:
        database: A path, or a URL.
        questions: The question file.
        model: As for `tableturn ask`.
        base_url: Of an OpenAI-compatible server.
        preset: The agent's.
        settings: Fields that differ from the preset.
        examples: An example store.
        tries: How often each question is asked.
        jobs: Conversations at once.
        price: Dollars a million prompt and completion tokens; None leaves money out.
        gate: The least share of questions that must pass; None for no gate.
    """

    database: str
    questions: Path
    model: str | None = None
    base_url: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    examples: str | None = None
    tries: int = 1
    jobs: int = 4
    price: tuple[float, float] | None = None
    gate: float | None = None


class TrialListener(Protocol):
    """Told about each answer as it is judged."""

    def __call__(self, record: TurnRecord, verdict: TrialVerdict) -> None:
        """One more answer is judged."""
        ...


def run_trial(options: TrialOptions, out: Path, listener: TrialListener) -> dict[str, Any]:
    """Asks every question as often as wanted, judges the answers, and writes results and a page.

    A trial that was interrupted goes on where it was when it is started again with the same folder; one that is done is
    held again, and compared with the last.

    Args:
        options: The trial.
        out: Its folder: `results.json`, `previous.json`, `history.jsonl`, `report.html`, and every reply of the model.
        listener: Told about each answer.

    Returns:
        The results, as in `results.json`.

    Raises:
        SettingsError: The question file or a setting is wrong, or the folder holds something else.
        DatabaseUnavailable: The database cannot be used.
        ModelError: The model cannot be set up.
        RunStopped: The model could not be asked several questions in a row.
    """
    file = read_trial(options.questions)
    with Database.open(options.database) as database:
        location = database.location
    dataset, turns = trial_dataset(file, options)
    spec = RunSpec(
        _TRIAL + location,
        "all",
        options.model,
        options.preset,
        options.settings,
        examples=options.examples,
        base_url=options.base_url,
    )
    run_settings(spec, dataset)
    _begin(spec, dataset, out)
    start = time.perf_counter()
    kept = kept_replies(out / CACHE_FILE)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(out / JOURNAL_FILE))
        answering = stack.enter_context(local_engine(spec, dataset, out))
        write_spec(spec, dataset, out)
        judge = TrialJudge(dataset.place(dataset.questions[0].database), turns)
        judged = answer_all(dataset, answering, journal, judge, listener, options.jobs)
    label = used_model(options.model, options.base_url)
    new = kept_replies(out / CACHE_FILE) - kept
    results = trial_results(file, judged, options, label, location, time.perf_counter() - start, new)
    if not results["not_asked"]:
        keep_results(results, out)
        _forget(out)
        write_page(results, out)
    return results


def trial_dataset(file: TrialFile, options: TrialOptions) -> tuple[Dataset, dict[str, TrialTurn]]:
    """The questions as a run asks them, each as often as wanted, and what is accepted by their ids there."""
    place = options.database
    path = None if "://" in place else Path(place).absolute()
    name = path.name if path else place
    questions: list[Question] = []
    turns: dict[str, TrialTurn] = {}
    for question in file.questions:
        for number in range(1, options.tries + 1):
            interaction = f"{question.id}~{number}"
            for position, turn in enumerate(question.turns, 1):
                key = f"{interaction}.{position}"
                turns[key] = turn
                questions.append(
                    Question(
                        key,
                        name,
                        turn.question,
                        tuple(turn.sql),
                        interaction,
                        position,
                        turn.evidence,
                        expects=Expects(turn.must or "answer", turn.reply),
                        repeat=number if number > 1 else None,
                    )
                )
    return Dataset("trial", "all", tuple(questions), (path.parent,) if path else ()), turns


def _begin(spec: RunSpec, dataset: Dataset, out: Path) -> None:
    """Readies the folder: an interrupted trial of the same kind goes on, another one is forgotten.

    Raises:
        SettingsError: The folder holds a run of another command.
    """
    kept = out / SPEC_FILE
    if not kept.exists():
        check_folder(spec, dataset, out)
        if (out / RESULTS_FILE).exists():
            read_trial_results(out)
        return
    try:
        found = read_json(kept.read_text(encoding="utf-8"))
        dataset_name = found.get("dataset", "") if isinstance(found, dict) else ""
    except (OSError, ValueError) as error:
        raise SettingsError(f"{out} cannot hold a trial: {error}") from error
    if not str(dataset_name).startswith(_TRIAL):
        raise SettingsError(f"{out} holds a run of `tableturn eval`: name another folder with --out")
    try:
        check_folder(spec, dataset, out)
    except SettingsError:
        _forget(out)


def _forget(out: Path) -> None:
    """Leaves nothing to resume; replies are kept."""
    for name in (JOURNAL_FILE, SPEC_FILE):
        (out / name).unlink(missing_ok=True)
