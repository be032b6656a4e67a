"""A nightly evaluation: a team's questions are asked again, reported, and held against the answers of the night before.

    python examples/nightly_evaluation.py
    0 3 * * *  cd /srv/shop && OPENAI_API_KEY=... python nightly_evaluation.py || mail -s "look here" me@example.org

Needs `pip install 'tableturn[evals]'`. Each night has a folder in build/nightly, with its report.html. The exit code is
1 where fewer than 95 % of last night's answers stay as they were, or fewer than 80 % of the questions pass.
"""

import os
import sys
from datetime import datetime
from pathlib import Path

from tableturn.evals.impact import impact, read_side
from tableturn.evals.trial import TrialOptions, run_trial
from tableturn.tools.sample import build_sample

NIGHTS = Path("build/nightly")
QUESTIONS = Path(__file__).with_name("questions.yaml")
PASS, STAY = 0.8, 0.95


def night(database: str, model: str | None = None) -> int:
    """Holds one night's trial, prints what a person has to look at, and gives the exit code."""
    last = max(NIGHTS.glob("*/results.json"), default=None)
    out = NIGHTS / f"{datetime.now():%Y-%m-%d-%H%M%S}"
    results = run_trial(TrialOptions(database, QUESTIONS, model, gate=PASS), out, lambda record, verdict: None)
    if results["not_asked"]:
        print(f"{len(results['not_asked'])} questions could not be asked: is the model's server up?")
        return 1
    print(
        f"{100 * results['pass_rate']:.0f} % of {results['trial']['questions']} questions pass: {out / 'report.html'}"
    )
    for failure in results["failed"]:
        print(f"  fails: {failure['question']}: {failure['why']}")
    good = results["gate"]["met"]
    if last is not None:
        found = impact(read_side(str(last.parent)), read_side(str(out)), [])
        print(f"{100 * (found.kept or 0):.0f} % of {len(found.changes)} answers are as in {last.parent.name}")
        for change in found.changed:
            print(f"  changed: {change.past.question}: {change.why}\n    {change.past.sql}\n    {change.carried}")
        good = good and (found.kept or 0) >= STAY
    return 0 if good else 1


if __name__ == "__main__":
    shop = os.environ.get("TABLETURN_DB") or str(build_sample("build/kestrel.sqlite"))
    sys.exit(night(shop, os.environ.get("TABLETURN_MODEL")))
