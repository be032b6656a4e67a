"""Every measured figure by name; listing them imports none of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from ...tools.errors import SettingsError

DATA_VARIABLE = "TABLETURN_DATA"
"""Environment variable that names the folder of benchmark data."""


@dataclass(frozen=True)
class BenchOptions:
    """What a benchmark may be told.

    Attributes:
        data: The folder of benchmark data; never None for a benchmark that needs it.
        limit: How many items to measure, for a quick look; None for all.
        official: The folder of the official evaluator, for figures that compare with it.
    """

    data: Path | None = None
    limit: int | None = None
    official: Path | None = None


@dataclass(frozen=True)
class Bench:
    """One benchmark.

    Attributes:
        module: Module of this package whose `run(options: BenchOptions) -> dict[str, object]` returns the figures.
        summary: One line: what is measured.
        needs_data: Whether it reads benchmark data.
    """

    module: str
    summary: str
    needs_data: bool = False


BENCHES: Mapping[str, Bench] = {
    "calibration": Bench("calibration", "expected calibration error of answers' confidence", needs_data=True),
    "check": Bench("check", "errors found in gold SQL, and failing predictions foreseen", needs_data=True),
    "concurrency": Bench("concurrency", "turns a second with 200 conversations, as a share of the ideal"),
    "examples-scale": Bench("examples_scale", "the example store at 10,000, 100,000 and a million pairs (an hour)"),
    "examples-skeleton": Bench(
        "examples_skeleton", "retrieved examples that show the gold query's SQL skeleton", needs_data=True
    ),
    "examples-voting": Bench("examples_voting", "overlap of independently voted example sets", needs_data=True),
    "fuzz": Bench("fuzz", "a million generated statements, and whether the database file stays as it is"),
    "gate": Bench("gate", "drafts that end after one call, and their EX against the rest's", needs_data=True),
    "linking": Bench("linking", "redundancy and recall of the schema linker on SParC and CoSQL dev", needs_data=True),
    "linking-ablations": Bench(
        "linking_ablations",
        "schema linker and choice of base SQL, a part taken away at a time",
        needs_data=True,
    ),
    "linking-scale": Bench(
        "linking_scale", "the schema linker on a thousand tables and ten thousand columns", needs_data=True
    ),
    "never-worse": Bench("never_worse", "EX after revisions that make drafts worse", needs_data=True),
    "offline": Bench("offline", "EX of the offline translator on the published dev sets", needs_data=True),
    "overhead": Bench("overhead", "milliseconds a turn of everything but the model"),
    "parity": Bench("parity", "differences from the official evaluator's outcomes", needs_data=True),
    "readonly-cost": Bench(
        "readonly_cost",
        "gold queries behind the guard: same rows, and time against an open connection",
        needs_data=True,
    ),
    "regularize": Bench("regularize", "gold SQL with the same result once regularised", needs_data=True),
    "revisions": Bench("revisions", "mutated gold queries of Spider train as drafts and as revisions", needs_data=True),
    "sandbox": Bench("sandbox", "escapes held, milliseconds that a warm run adds, and what 10,000 runs leave behind"),
    "schema-scale": Bench("schema_scale", "reading and rendering a schema of a thousand tables"),
    "score-speed": Bench(
        "score_speed", "seconds to judge 1,034 predictions, ours and the official tool's", needs_data=True
    ),
    "selection": Bench("selection", "choosing among six published systems on Spider dev", needs_data=True),
    "selection-multiturn": Bench(
        "selection_multiturn", "choosing between two systems turn by turn on SParC dev", needs_data=True
    ),
    "startup": Bench("startup", "seconds of --help and of the first answer in a fresh process"),
    "suite": Bench("suite", "mutants of gold queries that built test suites tell apart", needs_data=True),
    "values": Bench("values", "gold SQL's text literals found among the values of a question", needs_data=True),
}
"""One line a benchmark; names in alphabetical order."""


def run_bench(name: str, options: BenchOptions) -> dict[str, object]:
    """Runs a benchmark.

    Args:
        name: A key of `BENCHES`.
        options: `data` falls back to `TABLETURN_DATA`.

    Returns:
        The figures, ready for JSON.

    Raises:
        SettingsError: The name is unknown, or the data that it needs is not there.
    """
    bench = BENCHES.get(name)
    if bench is None:
        raise SettingsError(f"no benchmark is called {name!r}; known: {', '.join(BENCHES)}")
    data = options.data or _data_from_environment()
    if bench.needs_data and data is None:
        raise SettingsError(
            f"benchmark {name!r} reads benchmark data: set {DATA_VARIABLE} to its folder, or pass --data"
        )
    if data is not None and not data.is_dir():
        raise SettingsError(f"benchmark data: {data} is no folder")
    module = import_module(f".{bench.module}", __package__)
    run = cast("Callable[[BenchOptions], dict[str, object]]", module.run)
    return run(BenchOptions(data, options.limit, options.official))


def _data_from_environment() -> Path | None:
    root = os.environ.get(DATA_VARIABLE)
    return Path(root) if root else None
