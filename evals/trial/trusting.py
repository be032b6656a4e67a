"""Setting the level from which answers are trusted: asks one's own labelled questions, and keeps what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ...agent import SQLAgent
from ...agent.evidence.trust import Bound, fingerprints, keep_bound
from ...agent.settings import make_settings
from ...tools.errors import SettingsError
from ...tools.examples import database_identity, readable
from ...tools.words import words
from ..adjudication.ruling import now
from ..metrics.statistics import bounded
from ..runner import Listener
from .question import TrialQuestion, read_trial
from .run import TrialOptions, run_trial


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
        labels: A trial's question file; None for the answers that were approved or corrected.
        alpha: The share of wrong ones among trusted answers, at most.
        certainty: How sure that is to be.
        out: The folder that keeps the model's replies: what it said once is not asked again.
        path: The file of bounds.
        listener: Told about each answer.

    Raises:
        SettingsError: There are no labels, or some could not be asked.
    """
    with SQLAgent(
        options.database,
        model=options.model,
        settings=make_settings(options.settings, preset=options.preset),
        examples=options.examples,
        base_url=options.base_url,
    ) as agent:
        resources, settings = agent.resources, agent.settings
        identity, model = database_identity(resources.database), resources.translator(settings).model
        prints = fingerprints(resources, settings)
        questions = _approved(agent) if labels is None else read_trial(labels)
        # Evaluations change these, and a bound must be set with them as people will ask.
        as_asked = {name: getattr(settings, name) for name in ("conventions", "today")}
    # An approved answer would give away what is right for its own question.
    fields = {**as_asked, **options.settings, "verified": False, "own_examples": 0, "record": "off", "trust": "off"}
    results = run_trial(replace(options, settings=fields), out, listener, questions)
    if results["not_asked"]:
        raise SettingsError(f"{len(results['not_asked'])} questions could not be asked: start the same command again")
    found = bounded(judged_answers(results), alpha, certainty)
    bound = Bound(identity, model, alpha, certainty, **asdict(found), fingerprints=prints, time=now())
    keep_bound(bound, path)
    return bound


def judged_answers(results: Mapping[str, Any]) -> list[tuple[float, bool]]:
    """Return confidence and rightness of a trial's answers; what was declined or asked back, or failed, is no answer.

    The same query for the same question counts once, and as wrong if it was ever judged so: a bound takes labels that
    are independent of each other.
    """
    found: dict[tuple[tuple[str, ...], str], tuple[float, bool]] = {}
    for _, turns in groupby(results["questions"], lambda turn: turn["interaction"]):
        said: tuple[str, ...] = ()
        for turn in turns:
            said = (*said, _same(turn["question"]))
            if turn["status"] not in ("converged", "capped") or not turn["sql"] or turn["broken"]:
                continue
            key = (said, " ".join(turn["sql"].casefold().split()))
            if key not in found or not turn["ex"]:
                found[key] = (turn["confidence"], turn["ex"])
    return list(found.values())


def _same(question: str) -> str:
    """Return a question as it is compared with others: its words alone."""
    return " ".join(word.folded for word in words(question)) or question.strip()


def _approved(agent: SQLAgent) -> list[TrialQuestion]:
    """Return the answers that a person approved, or put in another's place, as questions that accept them."""
    database = agent.resources.database
    identity, store = database_identity(database), agent.resources.examples.own()
    accepted: dict[str, tuple[str, list[str]]] = {}
    for example in (hit.example for hit in store.visible(identity)) if store else ():
        known = example.owner == identity and example.source in ("approved", "verified")
        if known and readable(example, database) is not None:
            accepted.setdefault(_same(example.question), (example.question, []))[1].append(example.sql)
    if not accepted:
        raise SettingsError(
            "there are no labels: no answer about this database was approved or corrected yet; "
            "pass --labels with a trial's questions"
        )
    return [
        TrialQuestion.model_validate({"id": number, "turns": [{"question": question, "sql": sql}]})
        for number, (question, sql) in enumerate(accepted.values(), 1)
    ]
