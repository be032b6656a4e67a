"""The report page of runs and trials: tables, also shown on the terminal, and questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, get_args

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from ...prompts.judge import Kind
from ...tools.errors import SettingsError
from ...tools.record_files import read_file
from ...tools.whole_files import write_text_atomically
from ...tools.words import format_count
from ..adjudication.ruling import format_ex
from ..datasets.load import SUFFIXES
from ..metrics.statistics import JudgedOutcome, compare_runs, compute_interval, number_repeats
from ..metrics.summary import format_percent
from ..runner.results import hide_passwords, read_results

Results: TypeAlias = Mapping[str, Any]  # a run's results.json


@dataclass(frozen=True)
class ReportRow:
    """A row of a report table."""

    name: str  # what it shows
    cells: tuple[str, ...]
    bars: tuple[float | None, ...] = ()  # how long the bar behind each cell is, from 0 to 1; None for none


@dataclass(frozen=True)
class Section:
    """A titled table of the report page."""

    title: str
    columns: Sequence[str]  # names of all but the first
    rows: Sequence[ReportRow]  # without any, the section is left out


def make_run_sections(runs: Mapping[str, Results]) -> list[Section]:
    """Return tables that compare runs: scores, where accuracy was lost, and cost.

    Of predictions that were only judged, a run may have the scores of one mode alone.
    """
    names, results = list(runs), list(runs.values())
    scores = [run.get("strict") or run["official"] for run in results]
    counts = [(score["n"], score["judged"]) for score in scores]
    questions = [run.get("questions", ()) for run in results]
    strict = _make_share_row("EX, strict", results, "strict", "ex")
    intervals = [
        compute_interval([(item.cluster, item.right) for item in _index_outcomes(run).values()]) for run in questions
    ]
    ranges = [f" ({100 * bounds.low:.1f} to {100 * bounds.high:.1f})" if bounds else "" for bounds in intervals]
    verdicts = [entry if entry.get("ruled") else {} for entry in (run.get("by_verdict") or {} for run in results)]
    unclear = [f"{entry['unclear']}, {entry['unjudged']}" if entry else "-" for entry in verdicts]
    has_dialogues = any(score["interactions"]["n"] < score["n"] for score in scores)
    rows = [
        ReportRow("questions", tuple(f"{n}, {judged} judged" if judged < n else str(n) for n, judged in counts)),
        ReportRow(strict.name, tuple(map(str.__add__, strict.cells, ranges)), strict.bars),
        ReportRow("EX, by verdict", tuple(map(format_ex, verdicts)), tuple(entry.get("low") for entry in verdicts)),
        *([ReportRow("unclear, unjudged", tuple(unclear))] if any(verdicts) else []),
        _make_share_row("EX, official", results, "official", "ex"),
        _make_share_row("EM", scores, "em"),
        _make_share_row("runs", scores, "valid"),
        _make_share_row("TRS@0.5", results, "linking", "trs"),
        _make_share_row("CRS@0.5", results, "linking", "crs"),
        *([_make_share_row("interactions right", scores, "interactions", "ex")] if has_dialogues else []),
    ]
    groups = {"EX by difficulty": "by_hardness", "EX by turn": "by_turn", "EX by database": "by_database"}
    return [
        Section("Scores", names, [row for row in rows if not row.bars or any(bar is not None for bar in row.bars)]),
        *(Section(title, names, _make_group_rows([item[group] for item in scores])) for title, group in groups.items()),
        Section("EX by attempt", names, _make_attempt_rows(questions)),
        Section("Declining and asking back", names, _make_outcome_rows(results)),
        Section("Where accuracy was lost", names, _make_error_rows(questions)),
        Section("Cost", names, _make_cost_rows(results) if all(questions) else ()),
    ]


def _make_share_row(name: str, runs: Sequence[Results], *keys: str) -> ReportRow:
    """Return a row with the share that each run's results have under nested keys."""
    shares: list[Any] = list(runs)
    for key in keys:
        shares = [(share or {}).get(key) for share in shares]
    return ReportRow(name, tuple(map(format_percent, shares)), tuple(shares))


def _make_group_rows(runs: Sequence[Mapping[str, Any]]) -> list[ReportRow]:
    """Return rows of execution accuracy by group; empty for a single group."""
    names = list(dict.fromkeys(name for run in runs for name in run))
    rows: list[ReportRow] = []
    for name in names if len(names) > 1 else ():
        scores = [run.get(name) for run in runs]
        cells = tuple(f"{format_percent(score['ex'])} of {score['judged']}" if score else "" for score in scores)
        rows.append(ReportRow(name, cells, tuple(score["ex"] if score else None for score in scores)))
    return rows


def _make_outcome_rows(runs: Sequence[Results]) -> list[ReportRow]:
    """Return rows about declining and asking back: outcomes, precision and recall."""
    counts = [(run.get("outcomes") or {}).get("counts", {}) for run in runs]
    kinds = dict.fromkeys(kind for tally in counts for kind, n in tally.items() if n)
    if not kinds:
        return []
    return [
        *(ReportRow(kind.replace("_", " "), tuple(str(tally.get(kind, "-")) for tally in counts)) for kind in kinds),
        _make_share_row("declined when right (recall)", runs, "outcomes", "declined", "recall"),
        _make_share_row("right to decline (precision)", runs, "outcomes", "declined", "precision"),
        _make_share_row("asked back when right (recall)", runs, "outcomes", "asked", "recall"),
        _make_share_row("right to ask back (precision)", runs, "outcomes", "asked", "precision"),
        _make_share_row("asked back, then right", runs, "outcomes", "useful"),
    ]


def _make_error_rows(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[ReportRow]:
    """Return rows of wrong answers by category and by differing clause (CREDIT-SQL figure 7)."""
    classes = [Counter(question["error_class"] for question in run if question["error_class"]) for run in runs]
    clauses = [Counter(f"differs in {name}" for question in run for name in question["clauses"]) for run in runs]
    counts = {name: [run[name] for run in kind] for kind in (classes, clauses) for run in kind for name in run}
    most = max((max(numbers) for numbers in counts.values()), default=1)
    return [
        ReportRow(name, tuple(map(str, numbers)), tuple(count / most for count in numbers))
        for name, numbers in counts.items()
    ]


def _make_cost_rows(runs: Sequence[Results]) -> list[ReportRow]:
    keys = {"model calls": "llm_calls", "prompt tokens": "prompt_tokens", "completion tokens": "completion_tokens"}
    rows = [ReportRow(name, tuple(f"{run['cost'][key]:,}" for run in runs)) for name, key in keys.items()]
    seconds = [[question["seconds"] for question in run["questions"]] for run in runs]
    return rows + [
        ReportRow(f"seconds a turn, p{part}", tuple(f"{np.percentile(times, part):.2f}" for times in seconds))
        for part in (50, 95)
    ]


def _make_attempt_rows(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[ReportRow]:
    """Return rows of execution accuracy as if each turn had stopped at attempt n."""
    attempt_lists = [[q["attempts_right"] for q in run if q["ex"] is not None and q["golds"]] for run in runs]
    rows: list[ReportRow] = []
    for n in range(1, max((len(attempts) for run in attempt_lists for attempts in run), default=0) + 1):
        ends = [[attempts[:n][-1:] == [True] for attempts in run] for run in attempt_lists]
        shares = tuple(fmean(run) if run else None for run in ends)
        rows.append(ReportRow(f"after attempt {n}", tuple(map(format_percent, shares)), shares))
    return rows


def make_trial_sections(trial: Results) -> list[Section]:
    """Return tables of a trial's results, and of the changes since the last trial."""
    cost, gate, interval = trial["cost"], trial["gate"], trial["interval"]
    rate = _format_percent(trial["pass_rate"])
    rate += f" ({_format_percent(interval[0])} to {_format_percent(interval[1])})" if interval else ""
    questions = trial["trial"]["questions"]
    tries = f"{format_count(questions, 'question', 'questions')}, {format_count(trial['tries'], 'try', 'tries')} each"
    dollars = "" if cost["dollars"] is None else f", ${cost['dollars']:.4f}"
    seconds = cost["turn_seconds"] / (questions * trial["tries"])
    rows = {
        "passed": rate,
        "wanted": f"at least {_format_percent(gate['least'])}" if gate else "",
        "in every try": f"{_format_percent(trial['stable_rate'])} of {tries}",
        "unstable": str(len(trial["unstable"])),
        "calls": f"{cost['calls']}, {cost['prompt_tokens']} + {cost['completion_tokens']} tokens{dollars}",
        "seconds": f"{trial['seconds']:.1f}, {seconds:.2f} a question",
    }
    sections = [Section("Trial", ("",), [ReportRow(name, (text,)) for name, text in rows.items() if text])]
    if changes := trial["compared"]:
        elsewhere = f"; that was on {changes['database']}" if changes["database"] != trial["trial"]["database"] else ""
        lines = [
            ("passed", f"{_format_percent(changes['pass_rate'])} before ({changes['model']}{elsewhere})"),
            ("unchanged", f"{changes['same']} questions"),
            ("new", "; ".join(changes["added_questions"])),
            ("gone", "; ".join(changes["removed_questions"])),
        ]
        for name in ("worse", "better"):
            for change in changes[name]:
                shares = f"{_format_percent(change['before'])} before, {_format_percent(change['now'])} now"
                shares += "; the accepted answer changed" if change["expects_otherwise"] else ""
                reason = f": {change['why']}" if change["why"] else ""
                lines.append((name, f"{change['id']}: {change['question']}{reason} ({shares})"))
        sections.append(
            Section(f"Since {changes['with']}", ("",), [ReportRow(name, (text,)) for name, text in lines if text])
        )
    return sections


def _format_percent(share: float | None) -> str:
    return "-" if share is None else f"{format_percent(share).removesuffix('.0')} %"


def _index_outcomes(questions: Sequence[Mapping[str, Any]]) -> dict[object, JudgedOutcome]:
    """Return outcomes of judged questions by identity, clustered by interaction or database."""
    # Questions of two runs are the same if words, database and gold are: ids may be numbers, which move.
    keys = number_repeats((q["question"], q["database"], *q["golds"]) for q in questions)
    key = "interaction" if any(question["turn"] > 1 for question in questions) else "database"
    return {
        identity: JudgedOutcome(q[key], q["ex"], q["interaction"])
        for identity, q in zip(keys, questions, strict=True)
        if q["ex"] is not None
    }


def write_report(folders: Sequence[Path], out: Path) -> list[str]:
    """Write a report page on finished runs or trials; return their comparisons with the first.

    It asks for nothing from anywhere: style, script and data are in it, and it forbids the rest.
    """
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = list(map(str, folders))
    runs = {name: read_results(folder) for name, folder in zip(names, folders, strict=True)}
    environment = Environment(
        loader=PackageLoader("tableturn.evals.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {}  # keys stay in their order
    try:
        for run in runs.values():
            hide_passwords(run)
        (first_name, base), *other_runs = ((name, _index_outcomes(run["questions"])) for name, run in runs.items())
        comparisons = [(name, compare_runs(base, outcomes)) for name, outcomes in other_runs]
        trials = [section for run in runs.values() if "trial" in run for section in make_trial_sections(run)]
        page = environment.get_template("page.html.j2").render(
            names=list(runs),
            sections=[*trials, *make_run_sections(runs)],
            runs=[{"baseline": None, **run["run"], "calls": run["cost"]["llm_calls"]} for run in runs.values()],
            comparisons=comparisons,
            kinds=get_args(Kind),
            questions=[
                {"name": name, "dataset": _get_dataset_name(run["run"]["dataset"]), "questions": run["questions"]}
                for name, run in runs.items()
            ],
        )
    except KeyError as error:
        raise SettingsError(f"the results of a run have no {error}: start the run again") from error
    except (TypeError, AttributeError) as error:
        raise SettingsError(f"the results of a run are damaged ({error}): start the run again") from error
    if out.exists() and (content := read_file(out)) and not content.startswith(b"<!doctype html>"):
        raise SettingsError(f"{out} is not a report, and is not changed: name another file with --out")
    try:
        write_text_atomically(out, page)
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error}") from error
    lines: list[str] = []
    for (name, comparison), (_, outcomes) in zip(comparisons, other_runs, strict=True):
        nothing = f"{name} is not compared with {first_name}: no question is judged in both."
        alone = len(base) - comparison.n, len(outcomes) - comparison.n
        note = f" Not paired: {alone[0]} of {first_name}, {alone[1]} of {name}." if any(alone) else ""
        lines.append((comparison.describe(first_name, name) if comparison.n else nothing) + note)
    return lines


def _get_dataset_name(name: str) -> str:
    """Return the name of a dataset, given as a name or a file, as verdict files write it."""
    path = Path(name)
    return "trial" if name.startswith("trial ") else path.stem if path.suffix in SUFFIXES else name
