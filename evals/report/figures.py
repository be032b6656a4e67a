"""The figures of a report, from the results of finished runs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..metrics.statistics import Comparison, Interval, Judged, compare, interval

Results: TypeAlias = Mapping[str, Any]
"""A run's results.json."""


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        name: What it shows.
        cells: The text of each run's cell.
        bars: How long the bar behind each cell is, from 0 to 1; None for none.
    """

    name: str
    cells: tuple[str, ...]
    bars: tuple[float | None, ...] = ()


def score_rows(runs: Sequence[Results]) -> list[Row]:
    """The main scores side by side, EX with its interval."""
    rows = [
        Row("questions", tuple(_counted(run["strict"]) for run in runs)),
        Row("EX, strict", tuple(_with_interval(run) for run in runs), tuple(run["strict"]["ex"] for run in runs)),
        *verdict_rows(runs),
        _shares("EX, official", [run["official"]["ex"] for run in runs]),
        _shares("EM", [run["strict"]["em"] for run in runs]),
        _shares("runs", [run["strict"]["valid"] for run in runs]),
    ]
    for name, key in (("TRS@0.5", "trs"), ("CRS@0.5", "crs")):
        if any(key in run.get("linking", {}) for run in runs):
            rows.append(_shares(name, [run.get("linking", {}).get(key) for run in runs]))
    if any(run["strict"]["interactions"]["n"] < run["strict"]["n"] for run in runs):
        rows.append(_shares("interactions right", [run["strict"]["interactions"]["ex"] for run in runs]))
    return rows


def verdict_rows(runs: Sequence[Results]) -> list[Row]:
    """EX by verdict, a range while something is open, and what is open; nothing where no run has rulings."""
    found = [run.get("by_verdict") or {} for run in runs]
    if not any(scores.get("ruled") for scores in found):
        return []
    known = [scores if scores.get("ruled") else {} for scores in found]
    return [
        Row("EX, by verdict", tuple(map(_by_verdict, known)), tuple(scores.get("low") for scores in known)),
        Row("unclear, unjudged", tuple(_open(scores) for scores in known)),
    ]


def group_rows(runs: Sequence[Results], group: str) -> list[Row]:
    """EX by `by_hardness`, `by_turn` or `by_database`; nothing where there is one group, which the scores show."""
    names = list(dict.fromkeys(name for run in runs for name in run["strict"][group]))
    if len(names) < 2:
        return []
    scores = {name: [run["strict"][group].get(name) for run in runs] for name in names}
    return [
        Row(name, tuple(map(_group_cell, found)), tuple(one["ex"] if one else None for one in found))
        for name, found in scores.items()
    ]


def outcome_rows(runs: Sequence[Results]) -> list[Row]:
    """What became of questions where declining or asking back may be right; nothing where it may for none."""
    found = [run.get("outcomes") or {} for run in runs]
    kinds = list(dict.fromkeys(kind for scores in found for kind, n in scores.get("counts", {}).items() if n))
    if not kinds:
        return []
    counted = [
        Row(kind.replace("_", " "), tuple(str(scores["counts"][kind]) if scores else "-" for scores in found))
        for kind in kinds
    ]
    shares = [
        _shares(name, [scores[side][share] if scores else None for scores in found])
        for name, side, share in (
            ("declined, of those to be", "declined", "recall"),
            ("rightly, of those declined", "declined", "precision"),
            ("asked back, of those to be", "asked", "recall"),
            ("rightly, of those asked back", "asked", "precision"),
        )
    ]
    return [*counted, *shares, _shares("asked back, then right", [scores.get("useful") for scores in found])]


def error_rows(runs: Sequence[Results]) -> list[Row]:
    """Wrong answers by category, then by the clause that differs (CREDIT-SQL figure 7)."""
    classes = [Counter(q["error_class"] for q in run["questions"] if q["error_class"]) for run in runs]
    clauses = [Counter(f"differs in {name}" for q in run["questions"] for name in q["clauses"]) for run in runs]
    names = [
        name for counts in (classes, clauses) for name in dict.fromkeys(name for count in counts for name in count)
    ]
    counts = {name: [a[name] or b[name] or 0 for a, b in zip(classes, clauses, strict=True)] for name in names}
    most = max((max(found) for found in counts.values()), default=1)
    return [Row(name, tuple(map(str, found)), tuple(count / most for count in found)) for name, found in counts.items()]


def cost_rows(runs: Sequence[Results]) -> list[Row]:
    """Calls, tokens and seconds."""
    rows = [
        ("model calls", "llm_calls"),
        ("prompt tokens", "prompt_tokens"),
        ("completion tokens", "completion_tokens"),
    ]
    found = [Row(name, tuple(f"{run['cost'][key]:,}" for run in runs)) for name, key in rows]
    seconds = [sorted(question["seconds"] for question in run["questions"]) or [0.0] for run in runs]
    found.append(Row("seconds a turn, p50", tuple(f"{statistics.median(times):.2f}" for times in seconds)))
    found.append(Row("seconds a turn, p95", tuple(f"{times[int(0.95 * (len(times) - 1))]:.2f}" for times in seconds)))
    return found


def attempt_rows(runs: Sequence[Results]) -> list[Row]:
    """EX if every turn had stopped at its nth attempt (revision chain, figure 3)."""
    numbers = range(1, _most_attempts(runs) + 1)
    return [_shares(f"after attempt {n}", [_right_at(run, n) for run in runs]) for n in numbers]


@dataclass(frozen=True)
class Tick:
    """A horizontal line of a chart, with its label."""

    y: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A small line chart, in the units of its drawing.

    Attributes:
        title: Of the table below it.
        lines: Points of each run, as SVG writes them; none where there is nothing to see.
        ticks: Lines across.
        left: Where the lines start.
    """

    title: str
    lines: tuple[str, ...]
    ticks: tuple[Tick, ...]
    width: int = 360
    height: int = 150
    left: int = 34


ATTEMPTS = "EX by attempt"
"""The title of the chart and table of convergence."""


def attempt_chart(runs: Sequence[Results]) -> Chart:
    """Convergence: EX over attempts (revision chain, figure 3); nothing where no turn made two."""
    most = _most_attempts(runs)
    series = [[100 * (_right_at(run, n) or 0.0) for n in range(1, most + 1)] for run in runs]
    if most < 2:
        return Chart(ATTEMPTS, (), ())
    low = 5 * math.floor(min(map(min, series)) / 5)
    high = max(low + 5, 5 * math.ceil(max(map(max, series)) / 5))
    chart = Chart(ATTEMPTS, (), ())
    step = (chart.width - chart.left - 6) / (most - 1)

    def height(share: float) -> float:
        return round(chart.height - 10 - (share - low) / (high - low) * (chart.height - 20), 1)

    lines = (
        " ".join(f"{chart.left + place * step:.1f},{height(share)}" for place, share in enumerate(points))
        for points in series
    )
    return replace(chart, lines=tuple(lines), ticks=tuple(Tick(height(share), str(share)) for share in (low, high)))


@dataclass(frozen=True)
class Spot:
    """A run in the chart of accuracy against cost, in the units of its drawing."""

    x: float
    y: float
    tokens: float
    ex: float


@dataclass(frozen=True)
class CostChart:
    """EX against tokens a question.

    Attributes:
        spots: One a run; None for a run without a model or without a judged question.
        ticks: Lines across.
        most: Tokens a question at the right end.
    """

    spots: tuple[Spot | None, ...]
    ticks: tuple[Tick, ...]
    most: int
    width: int = 360
    height: int = 170
    left: int = 34


def cost_chart(runs: Sequence[Results]) -> CostChart | None:
    """EX against cost; None where fewer than two runs asked a model."""
    known = [_tokens_and_ex(run) for run in runs]
    points = [point for point in known if point is not None]
    if len(points) < 2:
        return None
    most = max(tokens for tokens, _ in points)
    low = min(95, 5 * math.floor(20 * min(ex for _, ex in points)))
    high = min(100, max(low + 5, 5 * math.ceil(20 * max(ex for _, ex in points) + 0.01)))
    blank = CostChart((), (), round(most))

    def height(percent: float) -> float:
        return round(blank.height - 26 - (percent - low) / (high - low) * (blank.height - 40), 1)

    def spot(tokens: float, ex: float) -> Spot:
        x = blank.left + 8 + tokens / most * (blank.width - blank.left - 20)
        return Spot(round(x, 1), height(100 * ex), tokens, ex)

    ticks = tuple(Tick(height(percent), str(percent)) for percent in (low, high))
    return replace(blank, spots=tuple(spot(*point) if point else None for point in known), ticks=ticks)


def _tokens_and_ex(run: Results) -> tuple[float, float] | None:
    """Tokens a question, and EX."""
    tokens = run["cost"]["prompt_tokens"] + run["cost"]["completion_tokens"]
    ex, asked = run["strict"]["ex"], len(run["questions"])
    return (tokens / asked, ex) if tokens and asked and ex is not None else None


@dataclass(frozen=True)
class Against:
    """A further run against the first.

    Attributes:
        common: Questions that both judged: the same in words, database and gold, not in their ids alone.
        most: Questions of the larger run.
        found: The comparison over these; None where there are none.
    """

    common: int
    most: int
    found: Comparison | None


def comparisons(runs: Sequence[Results]) -> list[Against]:
    """Each further run against the first, by the questions that both judged."""
    first, *others = runs
    return [_against(first, other) for other in others]


def _against(first: Results, second: Results) -> Against:
    known = {question["id"]: _identity(question) for question in second["questions"]}
    same = {q["id"] for q in first["questions"] if known.get(q["id"]) == _identity(q)}
    ours, theirs = ({name: o for name, o in _judged(run).items() if name in same} for run in (first, second))
    common = len(ours.keys() & theirs.keys())
    most = max(len(first["questions"]), len(second["questions"]))
    return Against(common, most, compare(ours, theirs) if common else None)


def _identity(question: Mapping[str, Any]) -> tuple[object, ...]:
    """What makes a question the same in another run."""
    return question["question"], question["database"], tuple(question["golds"])


def _most_attempts(runs: Sequence[Results]) -> int:
    return max((len(q["attempts_right"]) for run in runs for q in run["questions"]), default=0)


def _right_at(run: Results, attempt: int) -> float | None:
    judged = [q["attempts_right"] for q in run["questions"] if q["ex"] is not None]
    right = [bool(attempts) and attempts[min(attempt, len(attempts)) - 1] is True for attempts in judged]
    return sum(right) / len(right) if right else None


def _judged(run: Results) -> dict[str, Judged]:
    """Outcomes by question; they hang together within an interaction, or within a database where none has two turns."""
    dialogues = any(question["turn"] > 1 for question in run["questions"])
    key = "interaction" if dialogues else "database"
    return {q["id"]: Judged(q[key], q["ex"], q["interaction"]) for q in run["questions"] if q["ex"] is not None}


def _with_interval(run: Results) -> str:
    found: Interval | None = interval(list(_judged(run).values()))
    share = _percent(run["strict"]["ex"])
    return share if found is None else f"{share} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _group_cell(scores: Mapping[str, Any] | None) -> str:
    return "" if scores is None else f"{_percent(scores['ex'])} of {scores['judged']}"


def _counted(scores: Mapping[str, Any]) -> str:
    """How many questions, and how many of them the shares are of where that differs."""
    n, judged = scores["n"], scores["judged"]
    return str(n) if judged == n else f"{n}, {judged} judged"


def _by_verdict(scores: Mapping[str, Any]) -> str:
    if scores.get("ex") is not None:
        return _percent(scores["ex"])
    return "-" if scores.get("low") is None else f"{_percent(scores['low'])} to {_percent(scores['high'])}"


def _open(scores: Mapping[str, Any]) -> str:
    return f"{scores['unclear']}, {scores['unjudged']}" if scores else "-"


def _shares(name: str, shares: Sequence[float | None]) -> Row:
    return Row(name, tuple(map(_percent, shares)), tuple(shares))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
