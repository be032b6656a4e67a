"""Doubtful gold queries, and a judge's verdicts beside careful readers' and on mutants, which are wrong by design.

    python -m tableturn.evals.lab bench judge-agreement --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet (each of 208 cases twice) and stores it; without `--model` only FILE is read. Without
`--replies` that is `data/judge_replies.jsonl`, which a strong model once said to that command.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ....agent.model.chat import PromptedTranslator
from ....prompts.judge import Word
from ....tools.errors import ModelError, SettingsError
from ....tools.record_files import read_lines
from ...adjudication.judging import Case, Cases, JudgedCase, agreement, judge_cases
from ...adjudication.ruling import concerns, read_rulings
from ...datasets import Dataset, Question, load_dataset
from ..disputes import Golds, find_disputes, published_predictions
from ..suite.mutants import mutants
from .registry import BenchOptions, Figures
from .stored import DATA, stored_model

SPLITS = {"spider": "dev", "sparc": "dev", "cosql": "dev", "kaggle-dbqa": "test"}
"""What the disputes and the verdicts are of."""

MUTATED = (("spider", "train"), ("cosql", "train"))
"""What the mutants are made of, half of each: single questions, and turns of conversations."""

STORED = DATA / "judge_replies.jsonl"

REVIEWED = DATA / "reviewed_disputes.jsonl"
"""Whether a reader found listed golds sound: a sample drawn with a fixed seed."""

MUTANTS = 100
SEED = 16
_AT_ONCE = 256
"""Cases at once: a server behind which people answer is given all of them."""

_FAIR = ("LEFT JOIN", "DISTINCT")
"""Changes that a fair reading may make, too."""


def measure_disputes(options: BenchOptions) -> Figures:
    """Return by dataset `golds`, `disputed`, `kinds` (golds by what speaks against them), and the reviewed sample.

    Of 50 golds that were drawn from all that were listed, `sample` counts those still listed, and `sound_in_sample`
    those of them that a reader of question, query and data finds nothing wrong with. Readers' verdicts count if the
    data folder has them.
    """
    verdicts = options.folder / "strong_model" / "verdicts.jsonl"
    rulings = read_rulings(verdicts) if verdicts.exists() else []
    reviewed: list[Any] = read_lines(REVIEWED.read_text(encoding="utf-8"))
    figures: Figures = {}
    for name, split in SPLITS.items():
        whole = load_dataset(name, split, options.folder)
        asked = whole.first(options.limit)
        found = find_disputes(asked, rulings, published_predictions(options.folder, whole))
        kinds = {(dispute.question.id, dispute.kind) for dispute in found}
        disputed = {question for question, _ in kinds}
        here = [one for one in reviewed if (one["dataset"], one["split"]) == (name, split) and one["id"] in disputed]
        figures[name] = {
            "golds": len(asked.questions),
            "disputed": len(disputed),
            "kinds": dict(sorted(Counter(kind for _, kind in kinds).items())),
            "sample": len(here),
            "sound_in_sample": sum(one["sound"] for one in here),
        }
    return figures


@dataclass(frozen=True)
class LabelledCase:
    """A case with the verdict that is known of its answer; `part` is what it is counted in."""

    part: str
    dataset: Dataset
    case: Case
    verdict: Word


def verdict_cases(data: Path) -> Iterator[LabelledCase]:
    """Yield the answers of a strong model that gold calls wrong, with what a careful reader says of them.

    Raises:
        SettingsError: A verdict is not on any question of its dataset.
    """
    rulings = read_rulings(data / "strong_model" / "verdicts.jsonl")
    for name, split in SPLITS.items():
        dataset = load_dataset(name, split, data)
        for ruling in (ruling for ruling in rulings if ruling.dataset == name):
            question = next((question for question in dataset.questions if concerns(ruling, question)), None)
            if question is None:
                raise SettingsError(f"no question of {name} {split} is {ruling.question!r} with that gold")
            yield LabelledCase("verdicts", dataset, Case(question, ruling.sql, ruling.gold), ruling.verdict)


def mutant_cases(data: Path) -> Iterator[LabelledCase]:
    """Yield gold queries of training questions with one thing changed that changes the result."""
    for name, split in MUTATED:
        dataset = load_dataset(name, split, data)
        questions = list(dataset.questions)
        random.Random(SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
        with Golds(dataset) as golds:
            changed = ((question, sql) for question in questions if (sql := _make_mutant(golds, question)))
            for question, sql in islice(changed, MUTANTS // len(MUTATED)):
                yield LabelledCase("mutants", dataset, Case(question, sql, question.golds[0]), "wrong")


def _make_mutant(golds: Golds, question: Question) -> str:
    """Return a mutant that says something else than the gold; empty if there is none."""
    schema = golds.schema(question)
    found = mutants(question.golds[0], schema) if schema is not None else []
    random.Random(f"{SEED} {question.id}").shuffle(found)  # noqa: S311
    gold = question.golds[0].upper()
    fair = (sql for sql in found if all(sql.upper().count(word) == gold.count(word) for word in _FAIR))
    return next((sql for sql in fair if golds.contradicts(question, sql)), "")


def measure_judge_agreement(options: BenchOptions) -> Figures:
    """Return `n`, `kappa`, `wrong_found` and `right_kept` over all cases, then of `verdicts` and of `mutants`.

    Raises:
        ModelError: A case could not be asked.
    """
    labelled = [one for cases in (verdict_cases, mutant_cases) for one in islice(cases(options.folder), options.limit)]
    model = stored_model(options.replies or STORED, options.model, options.base_url)
    said: dict[Case, Word] = {}

    def keep(finding: JudgedCase) -> None:
        said[finding.case] = finding.answer.verdict

    for dataset in {one.dataset.name + one.dataset.split: one.dataset for one in labelled}.values():
        cases = list(dict.fromkeys(one.case for one in labelled if one.dataset is dataset))
        with Cases(dataset) as shown:
            ended = judge_cases(cases, shown, PromptedTranslator(model), keep, jobs=_AT_ONCE)
        if ended.failed:
            raise ModelError(f"{len(ended.failed)} of {len(cases)} cases have no reply: {ended.failed[0][1]}")
    figures: dict[str, Figures] = {}
    for name in ("", "verdicts", "mutants"):
        found = agreement([(one.verdict, said[one.case]) for one in labelled if name in ("", one.part)])
        figures[name] = {key: round(v, 4) if isinstance(v, float) else v for key, v in asdict(found).items()}
    return {**figures.pop(""), **figures}
