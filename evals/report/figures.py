"""What a page shows of finished runs and trials: tables, and the pictures of some of them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from ..metrics.statistics import Comparison, Interval, Judged, compare, interval
from .charts import draw_lines, draw_points

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


@dataclass(frozen=True)
class Section:
    """A table of a page, and the picture of it.

    Attributes:
        title: Over both.
        columns: Names of all columns but the first.
        rows: Its lines; without any, the section is left out.
        picture: An SVG element; empty for none.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Row] = ()
    picture: str = ""


def run_sections(runs: Mapping[str, Results]) -> list[Section]:
    """Set runs side by side: scores, where accuracy was lost, and cost."""
    names, found = list(runs), list(runs.values())
    return [
        Section("Scores", names, score_rows(found)),
        Section("EX by difficulty", names, group_rows(found, "by_hardness")),
        Section("EX by turn", names, group_rows(found, "by_turn")),
        Section(ATTEMPTS, names, attempt_rows(found), attempt_chart(runs)),
        Section("Declining and asking back", names, outcome_rows(found)),
        Section("Where accuracy was lost", names, error_rows(found)),
        Section("Cost", names, cost_rows(found)),
        Section("EX by database", names, group_rows(found, "by_database")),
        cost_section(runs),
    ]


def trial_sections(trial: Results, history: Sequence[Any]) -> list[Section]:
    """Show what a trial found: what passed, what changed since the last one, and the trials so far."""
    cost, gate, low_high = trial["cost"], trial["gate"], trial["interval"]
    rate = _share_text(trial["pass_rate"])
    rate += f" ({_share_text(low_high[0])} to {_share_text(low_high[1])})" if low_high else ""
    tries = f"{trial['questions']} questions, {trial['tries']} {'try' if trial['tries'] == 1 else 'tries'} each"
    calls = f"{cost['prompt_tokens']} + {cost['completion_tokens']} tokens"
    calls += "" if cost["dollars"] is None else f", ${cost['dollars']:.4f}"
    seconds = cost["turn_seconds"] / (trial["questions"] * trial["tries"])
    rows = [
        Row("passed", (rate,), (trial["pass_rate"],)),
        *([Row("wanted", (f"at least {_share_text(gate['least'])}",))] if gate else []),
        Row("in every try", (f"{_share_text(trial['stable_rate'])} of {tries}",)),
        Row("unstable", (str(len(trial["unstable"])),)),
        Row("calls", (f"{cost['calls']} ({cost['new_replies']} new), {calls}",)),
        Row("seconds", (f"{trial['seconds']:.1f}, {seconds:.2f} a question",)),
    ]
    return [Section("Trial", ("",), rows), *_since(trial), _so_far(history)]


def _since(trial: Results) -> list[Section]:
    since = trial["compared"]
    if not since:
        return []
    elsewhere = f"; that was on {since['database']}" if since["database"] != trial["trial"]["database"] else ""
    rows = [
        Row("passed", (f"{_share_text(since['pass_rate'])} before ({since['model']}{elsewhere})",)),
        Row("as before", (f"{since['same']} questions",)),
    ]
    rows += [
        Row(name, ("; ".join(questions),))
        for name, questions in (("new", since["added_questions"]), ("gone", since["removed_questions"]))
        if questions
    ]
    rows += [
        Row(
            name,
            (
                f"{change['id']}: {change['question']} ({_share_text(change['before'])} before, "
                f"{_share_text(change['now'])} now{_otherwise(change)})",
            ),
        )
        for name in ("worse", "better")
        for change in since[name]
    ]
    return [Section(f"Since {since['with']}", ("",), rows)]


def _otherwise(change: Mapping[str, Any]) -> str:
    return "; what is accepted was changed" if change["expects_otherwise"] else ""


def _so_far(history: Sequence[Mapping[str, Any]]) -> Section:
    columns = ("model", "passed", "questions", "calls", "seconds")
    rows = [
        Row(
            line["time"],
            (
                line["model"],
                _share_text(line["pass_rate"]),
                str(line["questions"]),
                str(line["calls"]),
                f"{line['seconds']:.1f}",
            ),
        )
        for line in reversed(history)
    ]
    return Section("Trials so far", columns, rows if len(rows) > 1 else ())


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


ATTEMPTS = "EX by attempt"
"""The title of the picture and table of convergence."""


def attempt_chart(runs: Mapping[str, Results]) -> Markup:
    """Draw convergence: EX over attempts (revision chain, figure 3); nothing where no turn made two."""
    most = _most_attempts(list(runs.values()))
    values = [
        {"curve": name, "x": n, "y": 100 * (_right_at(run, n) or 0.0)}
        for name, run in runs.items()
        for n in range(1, most + 1)
    ]
    return draw_lines(ATTEMPTS, "attempt", values) if most > 1 else Markup("")


def cost_section(runs: Mapping[str, Results]) -> Section:
    """Show EX against cost; without rows where fewer than two runs asked a model."""
    known = {name: point for name, run in runs.items() if (point := _tokens_and_ex(run)) is not None}
    if len(known) < 2:
        return Section("EX against cost", ())
    rows = [Row(name, (f"{tokens:,.0f}", _percent(ex))) for name, (tokens, ex) in known.items()]
    values = [{"curve": name, "x": tokens, "y": 100 * ex} for name, (tokens, ex) in known.items()]
    chart = draw_points("EX against tokens a question", "tokens a question", values)
    return Section("EX against cost", ("tokens a question", "EX"), rows, chart)


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
    judged = [q["attempts_right"] for q in run["questions"] if q["ex"] is not None and q["golds"]]
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


def _share_text(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %".replace(".0 %", " %")
