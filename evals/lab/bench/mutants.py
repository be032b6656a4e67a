"""Mutation testing: the share of small planted faults that a module's tests notice.

Own code rather than a library: cosmic-ray and mutmut mutate every place in every way and start the tests anew for each;
here a seed draws places, one mutant for each, and `planting` forks from a process that has collected the tests.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.planting import MUTANTS, Mutant, sample_mutants

from ....tools.errors import SettingsError
from .registry import BenchOptions, Figures
from .stand_in import ROOT

_MUTANTS = 300
_WORKERS = 2
_SEED = 20261122

AREAS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
    (Path(__file__).parent / "data" / "mutants.toml").read_text("utf-8")
)
"""Code that is mutated, and the tests that should notice: globs from the root of the repository."""


def run(options: BenchOptions) -> Figures:
    """Run the tests of each area with mutants of its code; return the share detected.

    Raises:
        SettingsError: An area's tests fail without a mutant.
    """
    number = min(options.limit or _MUTANTS, _MUTANTS)
    code = {area: held["code"] for area, held in AREAS.items()}
    mutants = sample_mutants(code, number, random.Random(_SEED))  # noqa: S311 - a sample that can be drawn again
    by_area = {area: [mutant for mutant in mutants if mutant.area == area] for area in AREAS}
    by_area = {area: own for area, own in by_area.items() if own}
    tests = [AREAS[area]["tests"] for area in by_area]
    with ThreadPoolExecutor(_WORKERS) as workers:
        killed = dict(zip(by_area, workers.map(_run_tests_with_mutants, tests, by_area.values()), strict=True))
    survivors = [one for area, own in by_area.items() for one, dead in zip(own, killed[area], strict=True) if not dead]
    return {
        "mutants": len(mutants),
        "killed": round(1 - len(survivors) / len(mutants), 3),
        "by_area": {area: round(sum(dead) / len(dead), 3) for area, dead in killed.items()},
        "survivors": sorted(f"{each.path}:{each.line} {each.change}" for each in survivors),
    }


def _run_tests_with_mutants(tests: Sequence[str], mutants: list[Mutant]) -> list[bool]:
    """Return for each mutant of an area whether the area's tests detect it."""
    with TemporaryDirectory() as folder:
        plan = Path(folder, "mutants.json")
        plan.write_text(json.dumps([asdict(mutant) for mutant in mutants]), "utf-8")
        plugins = ("asyncio", "syrupy", "hypothesispytest", "tests.support.planting", "no:cacheprovider")
        options = [part for plugin in plugins for part in ("-p", plugin)]
        # Others that are installed, langsmith's for one, take longer to load than most mutants take.
        environment = {**os.environ, MUTANTS: str(plan), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        ran = subprocess.run(  # noqa: S603 - Python, with words of ours
            [sys.executable, "-m", "pytest", "-q", "-m", "not (data or studio or extra)", *options, *tests],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise SettingsError(f"{' '.join(tests)} fail on the unchanged code: {ran.stdout[-2000:]}")
        return json.loads(plan.read_text("utf-8"))
