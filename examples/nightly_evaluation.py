"""A nightly evaluation: a team's questions are asked again, reported, and compared with the night before.

    python examples/nightly_evaluation.py
    0 3 * * *  cd /srv/shop && OPENAI_API_KEY=... python nightly_evaluation.py || mail -s "look here" me@example.org

Needs `pip install 'tableturn[evals]'`. Each night has a folder in build/nightly, with its report.html. The exit code is
1 where a question passes less often than last night, or fewer than 80 % of the questions pass.
"""

import json
import os
import sys
from datetime import datetime
from pathlib import Path

from tableturn.evals.trial import TrialOptions, compare_trials, run_trial
from tableturn.tools.sample import build_sample

NIGHTS = Path("build/nightly")
QUESTIONS = Path(__file__).with_name("questions.yaml")
PASS = 0.8


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
        found = compare_trials(json.loads(last.read_text(encoding="utf-8")), results)
        print(f"{found['same']} questions as in {last.parent.name}, {len(found['better'])} better")
        for change in found["worse"]:
            print(f"  worse: {change['question']}: {change['why']}")
        good = good and not found["worse"]
    return 0 if good else 1


if __name__ == "__main__":
    shop = os.environ.get("TABLETURN_DB") or str(build_sample("build/kestrel.sqlite"))
    sys.exit(night(shop, os.environ.get("TABLETURN_MODEL")))
