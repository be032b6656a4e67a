"""Setting the level from which answers are trusted: asks one's own labelled questions, and keeps what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...agent import SQLAgent
from ...agent.evidence.trust import Bound, Fingerprints, fingerprints, keep_bound
from ...agent.settings import make_settings
from ...tools.errors import SettingsError
from ...tools.examples import database_identity, readable
from ...tools.record_files import read_records
from ...tools.words import words
from ..adjudication.ruling import now
from ..datasets.plain import Text
from ..metrics.statistics import bounded
from ..records import parse_record
from ..runner import Listener
from .question import TrialQuestion, read_trial
from .run import TrialOptions, ask_questions


class Label(BaseModel):
    """An answer that somebody judged; the question is to be understood by itself."""

    model_config = ConfigDict(frozen=True)

    question: Text
    sql: Text
    right: bool


Labelled = tuple[list[TrialQuestion], frozenset[str]]
"""Questions with what they accept, and the ids of those whose query is known to be wrong.

Of the latter an answer that gives the same is wrong; of another nothing is known.
"""


def fit_bound(
    options: TrialOptions,
    labels: Path | None,
    alpha: float,
    certainty: float,
    out: Path,
    path: Path,
    listener: Listener,
) -> Bound:
    """Ask the labelled questions, set the bound, and keep it in the file of bounds `path`.

    Args:
        options: Of whom; its questions are those of the labels.
        labels: A trial's question file, or judged answers; None for the answers that were approved or corrected.
        alpha: The share of wrong ones among trusted answers, at most.
        certainty: How sure that is to be.
        out: The folder that keeps the model's replies: what it said once is not asked again.
        path: The file of bounds.
        listener: Told about each answer.

    Raises:
        SettingsError: There are no labels, or some could not be asked.
    """
    with open_agent(options) as agent:
        identity, model, prints = state_of(agent)
        questions, inverted = _approved(agent) if labels is None else read_labels(labels)
        # Evaluations change these, and a bound must be set with them as people will ask.
        as_asked = {name: getattr(agent.settings, name) for name in ("conventions", "today")}
    # An approved answer would give away what is right for its own question.
    fields = {**as_asked, **options.settings, "verified": False, "own_examples": 0, "record": "off", "trust": "off"}
    results = ask_questions(questions, replace(options, settings=fields), out, listener)
    if results["not_asked"]:
        raise SettingsError(f"{len(results['not_asked'])} questions could not be asked: start the same command again")
    found = bounded(judged_answers(results, inverted), alpha, certainty)
    bound = Bound(identity, model, alpha, certainty, **asdict(found), fingerprints=prints, time=now())
    keep_bound(bound, path)
    return bound


def open_agent(options: TrialOptions) -> SQLAgent:
    """Open an agent like those of a trial."""
    return SQLAgent(
        options.database,
        model=options.model,
        settings=make_settings(options.settings, preset=options.preset),
        examples=options.examples,
        base_url=options.base_url,
    )


def state_of(agent: SQLAgent) -> tuple[str, str, Fingerprints]:
    """Return the database's identity, the model's name, and the fingerprints as they are now."""
    resources, settings = agent.resources, agent.settings
    model = resources.translator(settings).model
    return database_identity(resources.database), model, fingerprints(resources, settings)


def judged_answers(results: Mapping[str, Any], inverted: frozenset[str]) -> list[tuple[float, bool]]:
    """Return confidence and rightness of a trial's answers; what was declined or asked back, or failed, is no answer.

    The same query for the same question counts once, and as wrong if any label says so: a bound takes labels that
    are independent of each other.
    """
    found: dict[tuple[tuple[str, ...], str], tuple[float, bool]] = {}
    for interaction, turns in groupby(results["questions"], lambda turn: turn["interaction"]):
        wrong = interaction.rpartition("~")[0] in inverted
        said: tuple[str, ...] = ()
        for turn in turns:
            said = (*said, _same(turn["question"]))
            answered = turn["status"] in ("converged", "capped") and turn["sql"] and not turn["broken"]
            if not answered or (wrong and not turn["ex"]):
                continue
            key = (said, " ".join(turn["sql"].casefold().split()))
            if key not in found or wrong or not turn["ex"]:
                found[key] = (turn["confidence"], turn["ex"] and not wrong)
    return list(found.values())


def _same(question: str) -> str:
    """Return a question as it is compared with others: its words alone."""
    return " ".join(word.folded for word in words(question)) or question.strip()


def read_labels(path: Path) -> Labelled:
    """Read a trial's question file, or records of `question`, `sql` and `right`.

    Raises:
        SettingsError: It is neither.
    """
    records = read_records(path)
    if not any(isinstance(record, Mapping) and "right" in record for record in records):
        return read_trial(path), frozenset()
    return labelled(
        [parse_record(Label, record, f"{path}, record {number}") for number, record in enumerate(records, 1)]
    )


def labelled(labels: Sequence[Label]) -> Labelled:
    """Return judged answers as questions: what is right is accepted; if nothing is, what is wrong stands for it."""
    spelled: dict[str, str] = {}
    by_verdict: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for label in labels:
        question = spelled.setdefault(_same(label.question), " ".join(label.question.split()))
        by_verdict[label.right].setdefault(question, []).append(label.sql)
    accepted = by_verdict[True]
    wrong = {question: sql for question, sql in by_verdict[False].items() if question not in accepted}
    questions = [
        TrialQuestion.model_validate({"id": number, "turns": [{"question": question, "sql": sql}]})
        for number, (question, sql) in enumerate((accepted | wrong).items(), 1)
    ]
    return questions, frozenset(found.id for found in questions if found.title in wrong)


def _approved(agent: SQLAgent) -> Labelled:
    """Return answers that a person approved, or put in another's place."""
    database = agent.resources.database
    identity, store = database_identity(database), agent.resources.examples.own()
    own = [hit.example for hit in store.visible(identity)] if store else []
    kept = [
        Label(question=example.question, sql=example.sql, right=True)
        for example in own
        if example.owner == identity
        and example.source in ("approved", "verified")
        and readable(example, database) is not None
    ]
    if not kept:
        raise SettingsError(
            "there are no labels: no answer about this database was approved or corrected yet; "
            "pass --labels with a trial's questions, or with lines of question, sql and right"
        )
    return labelled(kept)
