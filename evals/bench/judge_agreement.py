"""A judge's verdicts beside those of careful readers, and on mutants of gold queries, which are wrong by design.

    tableturn bench judge-agreement --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet (each of 208 cases twice) and stores it; without `--model` only FILE is read. Without
`--replies` that is `data/judge_replies.jsonl`, which a strong model once said to that command.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...agent.model.chat import PromptedTranslator
from ...prompts.judge import Word
from ...tools.errors import ModelError, SettingsError
from ..adjudication.adjudicator import concerns
from ..adjudication.agreement import Agreement, agreement
from ..adjudication.cases import Case, Cases
from ..adjudication.judging import Finding, judge_cases
from ..adjudication.ruling import Ruling, read_rulings
from ..datasets import Dataset, Question, load_dataset
from ..disputes.dispute import Golds
from ..suite.mutants import mutants
from .registry import BenchOptions
from .stored import stored_model

SPLITS = {"spider": "dev", "sparc": "dev", "cosql": "dev", "kaggle-dbqa": "test"}
"""What the verdicts are on."""

MUTATED = (("spider", "train"), ("cosql", "train"))
"""What the mutants are made of, half of each: single questions, and turns of conversations."""

STORED = Path(__file__).parent / "data" / "judge_replies.jsonl"

MUTANTS = 100
SEED = 16
_AT_ONCE = 256
"""Cases at once: a server behind which people answer is given all of them."""

_FAIR = ("LEFT JOIN", "DISTINCT")
"""Changes that a fair reading may make, too."""


@dataclass(frozen=True)
class Labelled:
    """A case with the verdict that is known of its answer."""

    dataset: Dataset
    case: Case
    verdict: Word


def run(options: BenchOptions) -> dict[str, object]:
    """`n`, `kappa`, `wrong_found` and `right_kept` over all cases, then the same of `verdicts` and of `mutants`."""
    ruled = list(verdict_cases(options.folder))[: options.limit]
    mutated = list(mutant_cases(options.folder))[: options.limit]
    translator = PromptedTranslator(stored_model(options.replies or STORED, options.model, options.base_url))
    said = _judged([*ruled, *mutated], translator)
    parts = {"verdicts": ruled, "mutants": mutated}
    found = {name: _agreement(part, said) for name, part in parts.items()}
    return {**_figures(_agreement([*ruled, *mutated], said)), **{name: _figures(part) for name, part in found.items()}}


def verdict_cases(data: Path) -> Iterator[Labelled]:
    """The answers of a strong model that gold calls wrong, with what a careful reader says of them.

    Raises:
        SettingsError: A verdict is on no question of its dataset.
    """
    rulings = read_rulings(data / "strong_model" / "verdicts.jsonl")
    for name, split in SPLITS.items():
        dataset = load_dataset(name, split, data)
        for ruling in rulings:
            if ruling.dataset == name:
                yield Labelled(dataset, Case(_question(dataset, ruling), ruling.sql, ruling.gold), ruling.verdict)


def mutant_cases(data: Path) -> Iterator[Labelled]:
    """Gold queries of training questions with one thing changed that changes the result."""
    for name, split in MUTATED:
        dataset = load_dataset(name, split, data)
        questions = list(dataset.questions)
        random.Random(SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
        with Golds(dataset) as golds:
            changed = ((question, sql) for question in questions if (sql := _mutant(golds, question)))
            for (question, sql), _ in zip(changed, range(MUTANTS // len(MUTATED)), strict=False):
                yield Labelled(dataset, Case(question, sql, question.golds[0]), "wrong")


def _mutant(golds: Golds, question: Question) -> str:
    """One mutant that says something else than the gold; empty where there is none."""
    schema = golds.schema(question)
    found = mutants(question.golds[0], schema) if schema is not None else []
    random.Random(f"{SEED} {question.id}").shuffle(found)  # noqa: S311
    gold = question.golds[0].upper()
    fair = (sql for sql in found if all(sql.upper().count(word) == gold.count(word) for word in _FAIR))
    return next((sql for sql in fair if golds.contradicts(question, sql)), "")


def _question(dataset: Dataset, ruling: Ruling) -> Question:
    found = next((question for question in dataset.questions if concerns(ruling, question)), None)
    if found is None:
        raise SettingsError(f"no question of {dataset.name} {dataset.split} is {ruling.question!r} with that gold")
    return found


def _judged(labelled: Sequence[Labelled], translator: PromptedTranslator) -> Mapping[Case, Word]:
    """What the judge says of each answer.

    Raises:
        ModelError: A case could not be asked.
    """
    said: dict[Case, Word] = {}

    def keep(finding: Finding) -> None:
        said[finding.case] = finding.answer.verdict

    datasets = {entry.dataset.name + entry.dataset.split: entry.dataset for entry in labelled}
    for dataset in datasets.values():
        cases = list(dict.fromkeys(entry.case for entry in labelled if entry.dataset is dataset))
        with Cases(dataset) as shown:
            ended = judge_cases(cases, shown, translator, keep, jobs=_AT_ONCE)
        if ended.failed:
            raise ModelError(f"{len(ended.failed)} of {len(cases)} cases have no reply: {ended.failed[0][1]}")
    return said


def _agreement(labelled: Sequence[Labelled], said: Mapping[Case, Word]) -> Agreement:
    return agreement([(entry.verdict, said[entry.case]) for entry in labelled])


def _figures(found: Agreement) -> dict[str, object]:
    fields = asdict(found)
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in fields.items()}
