"""Every measured figure by name; listing them imports none of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import cast

from ....tools.errors import SettingsError

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
        """`data`, of a benchmark that needs it."""
        assert self.data is not None
        return self.data


@dataclass(frozen=True)
class Bench:
    """One benchmark: the module of its name, whose `run(options: BenchOptions) -> dict[str, object]` measures.

    Attributes:
        summary: One line: what is measured.
        needs_data: Whether it reads benchmark data.
        table: The module in whose table `MEASURES` it is a row, if it has no module of its own.
    """

    summary: str
    needs_data: bool = True
    table: str = ""


BENCHES: Mapping[str, Bench] = {
    "alarms": Bench("right and wrong drafts that are sent back for a revision", table="drafts"),
    "basis": Bench(
        "what answers say of filters, grain and ranges on gold queries, and how much of it is false", table="answers"
    ),
    "check": Bench("errors found in gold SQL, and failing predictions foreseen"),
    "concurrency": Bench("turns a second with 200 conversations, as a share of the ideal", needs_data=False),
    "confidence": Bench(
        "how well answers' confidence tells right from wrong, on drafts it was not calibrated on", table="trust"
    ),
    "declines": Bench(
        "questions that cannot be answered, and ones that can, and how many are declined", table="stored"
    ),
    "disputes": Bench(
        "gold queries that there is reason to doubt, and how many of a reviewed sample are sound", table="verdicts"
    ),
    "egress": Bench("cells that may not leave, and how many left on any route", needs_data=False, table="attacks"),
    "engines": Bench("gold queries, attacks, cost and large schemas on every engine that can be reached"),
    "engines-offline": Bench("EX of the offline translator on DuckDB and PostgreSQL, against SQLite", table="offline"),
    "examples-scale": Bench("the example store at 10,000, 100,000 and a million pairs (an hour)", needs_data=False),
    "examples-skeleton": Bench("retrieved examples that show the gold query's SQL skeleton", table="retrieval"),
    "files": Bench("a first question asked of a CSV file of a gigabyte: seconds and memory", needs_data=False),
    "fuzz": Bench(
        "a million generated statements, and whether the database file stays as it is",
        needs_data=False,
        table="attacks",
    ),
    "gate": Bench("drafts that end after one call, and their EX against the rest's", table="drafts"),
    "grain": Bench("aggregates of repeated rows found where a join is planted, and alarms on gold"),
    "hidden": Bench(
        "statements that try to read or tell what is hidden, and gold queries refused with a table hidden",
        table="attacks",
    ),
    "impact": Bench(
        "past answers that change found on changed databases, and how many without a model",
        needs_data=False,
        table="impact",
    ),
    "install": Bench("packages and megabytes of a plain installation", needs_data=False),
    "judge-agreement": Bench(
        "a judge's verdicts beside readers' and on mutated golds, from stored replies", table="verdicts"
    ),
    "kills": Bench("what commands that are killed, or run side by side, said was done, and is lost", needs_data=False),
    "knowledge": Bench(
        "definitions that sixty questions need, and those shown to them that they don't", table="retrieval"
    ),
    "knowledge-scale": Bench(
        "looking through a thousand terms and a hundred thousand verified queries (ten minutes)", needs_data=False
    ),
    "langchain": Bench(
        "requests and prompt tokens of LangChain's SQL agent beside ours, the same queries played", table="costs"
    ),
    "learning": Bench(
        "EX on KaggleDBQA with 0, 3 and 9 verified queries a database, from stored replies", table="stored"
    ),
    "limits": Bench(
        "time, memory and temporary files that bombs take beyond their limits", needs_data=False, table="attacks"
    ),
    "linking": Bench("redundancy and recall of the schema linker on SParC and CoSQL dev", table="linking"),
    "linking-ablations": Bench("the schema linker, a part of what it is given taken away at a time", table="linking"),
    "linking-scale": Bench("the schema linker on a thousand tables and ten thousand columns"),
    "mcp": Bench(
        "every tool of the MCP server called by the SDK's client, and bad arguments refused", needs_data=False
    ),
    "mutants": Bench(
        "small faults planted in guards, rights, limits and judgements: the share that tests notice", needs_data=False
    ),
    "never-worse": Bench("EX after revisions that make drafts worse", table="drafts"),
    "non-interference": Bench(
        "turns over databases that differ in what may not leave or is hidden", needs_data=False, table="attacks"
    ),
    "odd": Bench("odd dialogues on odd databases, odd statements as replies, and tracebacks", needs_data=False),
    "offline": Bench("EX of the offline translator on the published dev sets", table="offline"),
    "overhead": Bench("milliseconds a turn of everything but the model", needs_data=False),
    "papers": Bench("the papers' experiments that end, and rows that differ from their base only in what they name"),
    "parity": Bench("differences from the official evaluator's outcomes"),
    "poisoned": Bench(
        "cells, comments and names that give orders, and how many left their fence", needs_data=False, table="attacks"
    ),
    "query-process": Bench("what a process of its own adds to a query, against the same in process", needs_data=False),
    "readonly-cost": Bench("gold queries behind the guard: same rows, and time against an open connection"),
    "regularize": Bench("gold SQL with the same result once regularised"),
    "revisions": Bench("mutated gold queries of Spider train as drafts and as revisions", table="drafts"),
    "rivals": Bench("other readings shown where a question hangs on them, and where it does not", table="answers"),
    "sandbox": Bench("escapes held, cost of a warm run, and what 10,000 runs leave behind", needs_data=False),
    "schema-scale": Bench("reading and rendering a schema of a thousand tables", needs_data=False),
    "score-speed": Bench("seconds to judge 1,034 predictions, ours and the official tool's", table="evaluating"),
    "selection": Bench("choosing among six published systems on Spider dev", table="drafts"),
    "selection-multiturn": Bench("choosing between two systems turn by turn on SParC dev", table="drafts"),
    "serve": Bench(
        "the server with 200 conversations at once, one worker and two, and while new people come", needs_data=False
    ),
    "serve-attacks": Bench("hostile requests, and how many the server holds", needs_data=False),
    "serve-faults": Bench("turns answered, refused and lost while things fail (half an hour)", needs_data=False),
    "spark": Bench("a first question asked of ten million rows on Spark, and attacks on it", needs_data=False),
    "startup": Bench("seconds of --help and of the first answer in a fresh process", needs_data=False),
    "suite": Bench("mutants of gold queries killed by the test suites built from them"),
    "terminal": Bench(
        "seconds to the end of a turn after Ctrl-C, and to the first words of a model on the screen", needs_data=False
    ),
    "trial": Bench(
        "seconds and calls of a trial of thirty questions on the sample database", needs_data=False, table="evaluating"
    ),
    "trust": Bench(
        "wrong answers among those marked trusted, over resampled labels, and how many are marked", table="trust"
    ),
    "turn-cost": Bench("requests and prompt tokens a turn, and what of a prompt repeats the one before", table="costs"),
    "value-noise": Bench("values that prompts tell of, and how many of them the gold query means", table="values"),
    "values": Bench("gold SQL's text literals found among the values of a question", table="values"),
    "way": Bench("files entered, calls between them, and statements resolved in one warm turn", needs_data=False),
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
    if name == "examples-voting":
        raise SettingsError("the benchmark 'examples-voting' is gone: run `tableturn experiment credit-table-3`")
    if bench is None:
        raise SettingsError(f"no benchmark is called {name!r}; known: {', '.join(BENCHES)}")
    variable = os.environ.get(DATA_VARIABLE)
    data = options.data or (Path(variable) if variable else None)
    if bench.needs_data and data is None:
        raise SettingsError(
            f"benchmark {name!r} reads benchmark data: set {DATA_VARIABLE} to its folder, or pass --data"
        )
    if data is not None and not data.is_dir():
        raise SettingsError(f"benchmark data: {data} is no folder")
    module = import_module(f".{bench.table or name.replace('-', '_')}", __package__)
    run = cast("Callable[[BenchOptions], dict[str, object]]", (module.MEASURES[name] if bench.table else module).run)
    return run(replace(options, data=data))
