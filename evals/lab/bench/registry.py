"""Every measured figure by name; listing them imports none of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ....tools.errors import SettingsError

if TYPE_CHECKING:
    from pandas import DataFrame

DATA_VARIABLE = "TABLETURN_DATA"
"""Environment variable that names the folder of benchmark data."""


@dataclass(frozen=True)
class BenchOptions:
    """Options of a benchmark.

    Attributes:
        data: The folder of benchmark data; never None for a benchmark that needs it.
        limit: How many items to measure, for a quick look; None for all.
        official: The folder of the official evaluator, for figures that compare with it.
        replies: A file of stored replies, for figures that a model has a part in.
        model: Whom to ask for replies that are not stored; None asks nobody.
        base_url: Of an OpenAI-compatible server.
    """

    data: Path | None = None
    limit: int | None = None
    official: Path | None = None
    replies: Path | None = None
    model: str | None = None
    base_url: str | None = None

    @property
    def folder(self) -> Path:
        """The data folder, which `run_bench` checks."""
        assert self.data is not None
        return self.data


Figures = dict[str, object]
"""What a benchmark returns, ready for JSON."""


def share(flags: Collection[bool]) -> float:
    """Return the share of true flags, from 0 to 1; 0 if there are none."""
    return divide(sum(flags), len(flags))


def divide(part: float, whole: float) -> float:
    """Return a ratio rounded to four digits; 0 if `whole` is 0."""
    return round(part / whole, 4) if whole else 0.0


Row = Mapping[str, Any]
"""What came of a case, or of a part of it."""

Case = TypeVar("Case")


@dataclass(frozen=True)
class Measure(Generic[Case]):
    """A benchmark that collects the rows of all cases in a table and computes its figures.

    Attributes:
        cases: Yields what is asked, as far as the limit goes.
        ask: Returns or yields the rows of one case, all with the same fields.
        figures: Counts and divides: reads the figures off the table.
    """

    cases: Callable[[BenchOptions], Iterable[Case]]
    ask: Callable[[Case], Iterable[Row]]
    figures: Callable[[DataFrame], Figures]

    def __call__(self, options: BenchOptions) -> Figures:
        """Ask all cases, and tell on a terminal how many there were.

        Raises:
            SettingsError: There is no case, so that there is no figure.
        """
        from pandas import DataFrame
        from rich.console import Console
        from rich.progress import track

        cases = track(self.cases(options), "asking", console=Console(stderr=True), transient=True)
        rows = [row for case in cases for row in self.ask(case)]
        if not rows:
            raise SettingsError("there is nothing to measure: check that the databases exist")
        return self.figures(DataFrame(rows))


def keep_row(case: Row) -> Iterable[Row]:
    """Return the one row of a case that is a row already."""
    return (case,)


@dataclass(frozen=True)
class Bench:
    """A benchmark's module and summary.

    Attributes:
        module: A module beside this, or one of the tests for what must be none or all.
        summary: One line: what is measured.
        needs_data: Whether it reads benchmark data.
    """

    module: str
    summary: str
    needs_data: bool = True

    def load(self, name: str) -> Callable[[BenchOptions], Figures]:
        """Return the module's `measure_NAME` function, or `run` if it has only one benchmark."""
        module = import_module(self.module if self.module.startswith("tests.") else f"{__package__}.{self.module}")
        return getattr(module, f"measure_{name.replace('-', '_')}", None) or module.run


def _without_data(module: str, summary: str) -> Bench:
    return Bench(module, summary, needs_data=False)


BENCHES: Mapping[str, Bench] = {
    "alarms": Bench("drafts", "right and wrong drafts that are sent back for a revision"),
    "basis": Bench("tests.corpus.basis", "what answers say that they rest on, and what of it is false"),
    "check": Bench("tests.corpus.golds", "findings on gold SQL, right and wrong drafts, and failing drafts foreseen"),
    "concurrency": _without_data("speed", "turns a second with 200 conversations, as a share of the ideal"),
    "confidence": Bench("trust", "how well confidence tells right from wrong, on drafts it was not calibrated on"),
    "declines": Bench("stored", "questions that cannot be answered, and ones that can, and how many are declined"),
    "disputes": Bench("stored", "gold queries that there is reason to doubt, and how many of a sample are sound"),
    "egress": _without_data("tests.corpus.attacks", "cells that may not leave, and how many left on any route"),
    "engines": Bench("engines", "gold queries, attacks, cost and large schemas on every engine that can be reached"),
    "engines-offline": Bench("offline", "EX of the offline translator on DuckDB and PostgreSQL, against SQLite"),
    "examples-scale": _without_data("scale", "the example store at 10,000, 100,000 and a million pairs (an hour)"),
    "examples-skeleton": Bench("retrieval", "retrieved examples that show the gold query's SQL skeleton"),
    "files": _without_data("large_data", "a first question asked of a CSV file of a gigabyte: seconds and memory"),
    "fuzz": _without_data("tests.corpus.attacks", "a million generated statements, and whether the file stays"),
    "gate": Bench("drafts", "drafts that end after one call, and their EX against the rest's"),
    "hidden": Bench("tests.corpus.attacks", "statements that try to read what is hidden, and gold queries refused"),
    "impact": _without_data("impact", "past answers that change found on changed databases, how many without a model"),
    "install": _without_data("speed", "packages and megabytes of a plain installation"),
    "judge-agreement": Bench("stored", "a judge's verdicts beside readers' and on mutants, from stored replies"),
    "kills": _without_data("tests.corpus.kills", "what killed commands said was done, and is lost"),
    "knowledge": Bench("retrieval", "definitions that questions need, and those shown to them that they don't"),
    "knowledge-scale": _without_data("scale", "looking through 1,000 terms and 100,000 verified queries (ten minutes)"),
    "langchain": Bench("costs", "requests and prompt tokens of LangChain's agent beside ours, the same queries played"),
    "ledger": Bench("tests.corpus.ledger", "planted faults that the ledger tells, false alarms, warnings, and its time"),
    "limits": _without_data("tests.corpus.attacks", "time, memory and temporary files that bombs take beyond limits"),
    "linking": Bench("linking", "redundancy and recall of the schema linker on SParC and CoSQL dev"),
    "linking-ablations": Bench("linking", "the schema linker, a part of what it is given taken away at a time"),
    "linking-scale": Bench("linking", "the schema linker on a thousand tables and ten thousand columns"),
    "mcp": _without_data("tests.corpus.server_attacks", "every tool of the MCP server, and bad arguments refused"),
    "mutants": _without_data("mutants", "small faults planted in guards, rights and limits: the share tests notice"),
    "never-worse": Bench("drafts", "EX after revisions that make drafts worse"),
    "non-interference": _without_data("tests.corpus.attacks", "turns over databases that differ in what is hidden"),
    "odd": _without_data("tests.corpus.odd_dialogues", "odd dialogues, databases and replies, and tracebacks"),
    "offline": Bench("offline", "EX of the offline translator on the published dev sets"),
    "overhead": _without_data("speed", "milliseconds a turn of everything but the model"),
    "papers": Bench("papers", "the papers' experiments that end, and rows that differ only in what they name"),
    "parity": Bench("tests.corpus.golds", "differences from the official evaluator's outcomes"),
    "poisoned": _without_data("tests.corpus.attacks", "cells and names that give orders, and how many left a fence"),
    "readonly-cost": Bench("speed", "gold queries behind the guard: same rows, and time against an open connection"),
    "regularize": Bench("tests.corpus.golds", "gold SQL with the same result once regularised"),
    "sandbox": _without_data("sandbox", "escapes held, cost of a warm run, and what 10,000 runs leave behind"),
    "schema-scale": _without_data("scale", "reading and rendering a schema of a thousand tables"),
    "score-speed": Bench("evaluating", "seconds to judge 1,034 predictions, ours and the official tool's"),
    "selection": Bench("drafts", "choosing among six published systems on Spider dev"),
    "selection-multiturn": Bench("drafts", "choosing between two systems turn by turn on SParC dev"),
    "serve": _without_data("speed", "the server with 200 conversations at once, one worker and two, and newcomers"),
    "serve-attacks": _without_data("tests.corpus.server_attacks", "hostile requests, and how many the server holds"),
    "serve-faults": _without_data(
        "tests.corpus.serve_faults", "turns answered and lost while things fail (half an hour)"
    ),
    "spark": _without_data("large_data", "a first question asked of ten million rows on Spark, and attacks on it"),
    "startup": _without_data("speed", "seconds of --help and of the first answer in a fresh process"),
    "suite": Bench("evaluating", "mutants of gold queries killed by the test suites built from them"),
    "terminal": _without_data("speed", "seconds from Ctrl-C to the end of a turn, and to a model's first words"),
    "trial": _without_data("evaluating", "seconds and calls of a trial of thirty questions on the sample database"),
    "trust": Bench("trust", "wrong answers among those marked trusted, over resampled labels, and how many are marked"),
    "turn-cost": Bench("costs", "requests and prompt tokens a turn, and what of a prompt repeats the one before"),
    "value-noise": Bench("retrieval", "values that prompts tell of, and how many of them the gold query means"),
    "values": Bench("retrieval", "gold SQL's text literals found among the values of a question"),
    "way": _without_data("way", "files entered, calls between them, and statements resolved in one warm turn"),
}
"""One line per benchmark; names in alphabetical order."""


def run_bench(name: str, options: BenchOptions) -> Figures:
    """Run a benchmark by name and return its figures.

    Args:
        name: A key of `BENCHES`.
        options: `data` falls back to `TABLETURN_DATA`.

    Raises:
        SettingsError: The name is unknown, or the data that it needs is not there.
    """
    bench = BENCHES.get(name)
    if bench is None:
        raise SettingsError(f"unknown benchmark {name!r}; known: {', '.join(BENCHES)}")
    variable = os.environ.get(DATA_VARIABLE)
    data = options.data or (Path(variable) if variable else None)
    if bench.needs_data and data is None:
        raise SettingsError(
            f"benchmark {name!r} reads benchmark data: set {DATA_VARIABLE} to its folder, or pass --data"
        )
    if data is not None and not data.is_dir():
        raise SettingsError(f"benchmark data: {data} is not a folder")
    figures = bench.load(name)(replace(options, data=data))
    return json.loads(json.dumps(figures, default=lambda value: value.item()))  # without the numbers of NumPy
