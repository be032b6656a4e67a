"""Doubtful gold queries, and a judge's verdicts beside careful readers' and on mutants, which are wrong by design.

    python -m tableturn.evals.lab bench judge-agreement --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet (each of 208 cases twice) and stores it; without `--model` only FILE is read. Without
`--replies` that is `data/judge_replies.jsonl`, which a strong model once said to that command.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from ....agent.model.chat import PromptedTranslator
from ....prompts.judge import Word
from ....tools.errors import ModelError, SettingsError
from ....tools.record_files import read_lines
from ...adjudication.judging import Case, Cases, JudgedCase, agreement, judge_cases
from ...adjudication.ruling import Ruling, concerns, read_rulings
from ...datasets import Dataset, Question, load_dataset
from ..disputes.find import find_disputes
from ..disputes.golds import Dispute, Golds, published_predictions
from ..suite.mutants import mutants
from .measure import Figures, Measure, Whole, keep_case
from .registry import BenchOptions
from .stored import stored_model

SPLITS = {"spider": "dev", "sparc": "dev", "cosql": "dev", "kaggle-dbqa": "test"}
"""What the disputes and the verdicts are of."""

MUTATED = (("spider", "train"), ("cosql", "train"))
"""What the mutants are made of, half of each: single questions, and turns of conversations."""

STORED = Path(__file__).parent / "data" / "judge_replies.jsonl"
REVIEWED = Path(__file__).parents[1] / "disputes" / "data" / "reviewed.jsonl"

MUTANTS = 100
SEED = 16
_AT_ONCE = 256
"""Cases at once: a server behind which people answer is given all of them."""

_FAIR = ("LEFT JOIN", "DISTINCT")
"""Changes that a fair reading may make, too."""


def _disputed(options: BenchOptions) -> Iterator[tuple[Dataset, list[Dispute]]]:
    """Yield the disputes of each split; readers' verdicts count if the data folder has them."""
    verdicts = options.folder / "strong_model" / "verdicts.jsonl"
    rulings = read_rulings(verdicts) if verdicts.exists() else []
    for name, split in SPLITS.items():
        whole = load_dataset(name, split, options.folder)
        asked = whole.first(options.limit)
        yield asked, find_disputes(asked, rulings, published_predictions(options.folder, whole))


def _count_disputes(splits: list[tuple[Dataset, list[Dispute]]]) -> Figures:
    """Return by dataset `golds`, `disputed`, `kinds` (golds by what speaks against them), and the reviewed sample.

    Of 50 golds that were drawn from all that were listed, `sample` counts those still listed, and `sound_in_sample`
    those of them that a reader of question, query and data finds nothing wrong with.
    """
    figures: Figures = {}
    for asked, found in splits:
        disputed = {dispute.question.id for dispute in found}
        kinds = Counter(kind for _, kind in {(dispute.question.id, dispute.kind) for dispute in found})
        sample = [sound for question, sound in read_reviewed(asked.name, asked.split).items() if question in disputed]
        figures[asked.name] = {
            "golds": len(asked.questions),
            "disputed": len(disputed),
            "kinds": dict(sorted(kinds.items())),
            "sample": len(sample),
            "sound_in_sample": sum(sample),
        }
    return figures


def read_reviewed(dataset: str, split: str) -> Mapping[str, bool]:
    """Return by question id whether a reader found a listed gold sound: a sample drawn with a fixed seed."""
    records = cast("list[dict[str, Any]]", read_lines(REVIEWED.read_text(encoding="utf-8")))
    return {one["id"]: one["sound"] for one in records if (one["dataset"], one["split"]) == (dataset, split)}


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
        for ruling in rulings:
            if ruling.dataset == name:
                case = Case(_find_question(dataset, ruling), ruling.sql, ruling.gold)
                yield LabelledCase("verdicts", dataset, case, ruling.verdict)


def _find_question(dataset: Dataset, ruling: Ruling) -> Question:
    found = next((question for question in dataset.questions if concerns(ruling, question)), None)
    if found is None:
        raise SettingsError(f"no question of {dataset.name} {dataset.split} is {ruling.question!r} with that gold")
    return found


def mutant_cases(data: Path) -> Iterator[LabelledCase]:
    """Yield gold queries of training questions with one thing changed that changes the result."""
    for name, split in MUTATED:
        dataset = load_dataset(name, split, data)
        questions = list(dataset.questions)
        random.Random(SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
        with Golds(dataset) as golds:
            changed = ((question, sql) for question in questions if (sql := _make_mutant(golds, question)))
            for (question, sql), _ in zip(changed, range(MUTANTS // len(MUTATED)), strict=False):
                yield LabelledCase("mutants", dataset, Case(question, sql, question.golds[0]), "wrong")


def _make_mutant(golds: Golds, question: Question) -> str:
    """Return a mutant that says something else than the gold; empty if there is none."""
    schema = golds.schema(question)
    found = mutants(question.golds[0], schema) if schema is not None else []
    random.Random(f"{SEED} {question.id}").shuffle(found)  # noqa: S311
    gold = question.golds[0].upper()
    fair = (sql for sql in found if all(sql.upper().count(word) == gold.count(word) for word in _FAIR))
    return next((sql for sql in fair if golds.contradicts(question, sql)), "")


def _measure_agreement(options: BenchOptions) -> Figures:
    """Return `n`, `kappa`, `wrong_found` and `right_kept` over all cases, then of `verdicts` and of `mutants`.

    Raises:
        ModelError: A case could not be asked.
    """
    parts = (list(cases(options.folder))[: options.limit] for cases in (verdict_cases, mutant_cases))
    labelled = [one for part in parts for one in part]
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


MEASURES: Mapping[str, Measure[Any, Any] | Whole] = {
    "disputes": Measure(_disputed, keep_case, _count_disputes),
    "judge-agreement": Whole(_measure_agreement),
}
