"""What a page shows of finished runs and trials: tables, and the pictures of some of them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..adjudication.ruling import show_ex
from ..metrics.statistics import Comparison, Judged, compare, interval
from ..metrics.summary import percent
from .charts import draw_lines

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
        Section("Scores", names, _score_rows(found)),
        Section("EX by difficulty", names, _group_rows(found, "by_hardness")),
        Section("EX by turn", names, _group_rows(found, "by_turn")),
        _attempt_section(runs),
        Section("Declining and asking back", names, outcome_rows(found)),
        Section("Where accuracy was lost", names, _error_rows(found)),
        Section("Cost", names, _cost_rows(found)),
        Section("EX by database", names, _group_rows(found, "by_database")),
        _cost_section(runs),
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
    columns = ("model", "passed", "questions", "calls", "seconds")
    so_far = [
        Row(
            line["time"],
            (
                line["model"],
                _share_text(line["pass_rate"]),
                *(str(line["questions"]), str(line["calls"]), f"{line['seconds']:.1f}"),
            ),
        )
        for line in reversed(history)
    ]
    since = [_since(trial)] if trial["compared"] else []
    past = Section("Trials so far", columns, so_far if len(so_far) > 1 else ())
    return [Section("Trial", ("",), rows), *since, past]


def _since(trial: Results) -> Section:
    since = trial["compared"]
    elsewhere = f"; that was on {since['database']}" if since["database"] != trial["trial"]["database"] else ""
    rows = [
        ("passed", f"{_share_text(since['pass_rate'])} before ({since['model']}{elsewhere})"),
        ("as before", f"{since['same']} questions"),
        ("new", "; ".join(since["added_questions"])),
        ("gone", "; ".join(since["removed_questions"])),
    ]
    for name in ("worse", "better"):
        for change in since[name]:
            before, now = _share_text(change["before"]), _share_text(change["now"])
            otherwise = "; what is accepted was changed" if change["expects_otherwise"] else ""
            why = f": {change['why']}" if change["why"] else ""
            rows.append((name, f"{change['id']}: {change['question']}{why} ({before} before, {now} now{otherwise})"))
    return Section(f"Since {since['with']}", ("",), [Row(name, (text,)) for name, text in rows if text])


def _score_rows(runs: Sequence[Results]) -> list[Row]:
    """Return the main scores side by side, EX with its interval."""
    rows = [
        Row("questions", tuple(_counted(run["strict"]) for run in runs)),
        Row("EX, strict", tuple(_with_interval(run) for run in runs), tuple(run["strict"]["ex"] for run in runs)),
        *_verdict_rows(runs),
        _shares("EX, official", runs, "official", "ex"),
        _shares("EM", runs, "strict", "em"),
        _shares("runs", runs, "strict", "valid"),
    ]
    linking = [_shares("TRS@0.5", runs, "linking", "trs"), _shares("CRS@0.5", runs, "linking", "crs")]
    rows += [row for row in linking if any(share is not None for share in row.bars)]
    if any(run["strict"]["interactions"]["n"] < run["strict"]["n"] for run in runs):
        rows.append(_shares("interactions right", runs, "strict", "interactions", "ex"))
    return rows


def _verdict_rows(runs: Sequence[Results]) -> list[Row]:
    """Return EX by verdict, a range while something is open, and what is open; nothing where no run has rulings."""
    found = [run.get("by_verdict") or {} for run in runs]
    known = [scores if scores.get("ruled") else {} for scores in found]
    if not any(known):
        return []
    opened = tuple(f"{scores['unclear']}, {scores['unjudged']}" if scores else "-" for scores in known)
    return [
        Row("EX, by verdict", tuple(map(show_ex, known)), tuple(scores.get("low") for scores in known)),
        Row("unclear, unjudged", opened),
    ]


def _group_rows(runs: Sequence[Results], group: str) -> list[Row]:
    """Return EX by `by_hardness`, `by_turn` or `by_database`; nothing for one group, which the scores show."""
    names = list(dict.fromkeys(name for run in runs for name in run["strict"][group]))
    rows: list[Row] = []
    for name in names if len(names) > 1 else ():
        found = [run["strict"][group].get(name) for run in runs]
        cells = tuple(f"{percent(one['ex'])} of {one['judged']}" if one else "" for one in found)
        rows.append(Row(name, cells, tuple(one["ex"] if one else None for one in found)))
    return rows


def outcome_rows(runs: Sequence[Results]) -> list[Row]:
    """Return what became of questions where declining or asking back may be right; nothing where it may for none."""
    found = [run.get("outcomes") or {} for run in runs]
    kinds = list(dict.fromkeys(kind for scores in found for kind, n in scores.get("counts", {}).items() if n))
    if not kinds:
        return []
    counted = [
        Row(kind.replace("_", " "), tuple(str(scores["counts"][kind]) if scores else "-" for scores in found))
        for kind in kinds
    ]
    return [
        *counted,
        _shares("declined, of those to be", runs, "outcomes", "declined", "recall"),
        _shares("rightly, of those declined", runs, "outcomes", "declined", "precision"),
        _shares("asked back, of those to be", runs, "outcomes", "asked", "recall"),
        _shares("rightly, of those asked back", runs, "outcomes", "asked", "precision"),
        _shares("asked back, then right", runs, "outcomes", "useful"),
    ]


def _error_rows(runs: Sequence[Results]) -> list[Row]:
    """Return wrong answers by category, then by the clause that differs (CREDIT-SQL figure 7)."""
    classes = [Counter(q["error_class"] for q in run["questions"] if q["error_class"]) for run in runs]
    clauses = [Counter(f"differs in {name}" for q in run["questions"] for name in q["clauses"]) for run in runs]
    counts = {name: [run[name] for run in kind] for kind in (classes, clauses) for run in kind for name in run}
    most = max((max(found) for found in counts.values()), default=1)
    return [Row(name, tuple(map(str, found)), tuple(count / most for count in found)) for name, found in counts.items()]


def _cost_rows(runs: Sequence[Results]) -> list[Row]:
    """Return calls, tokens and seconds."""
    keys = {"model calls": "llm_calls", "prompt tokens": "prompt_tokens", "completion tokens": "completion_tokens"}
    rows = [Row(name, tuple(f"{run['cost'][key]:,}" for run in runs)) for name, key in keys.items()]
    seconds = [sorted(question["seconds"] for question in run["questions"]) or [0.0] for run in runs]
    rows.append(Row("seconds a turn, p50", tuple(f"{statistics.median(times):.2f}" for times in seconds)))
    rows.append(Row("seconds a turn, p95", tuple(f"{times[int(0.95 * (len(times) - 1))]:.2f}" for times in seconds)))
    return rows


def _attempt_section(runs: Mapping[str, Results]) -> Section:
    """Show convergence: EX if every turn had stopped at its nth attempt (revision chain, figure 3)."""
    most = max((len(q["attempts_right"]) for run in runs.values() for q in run["questions"]), default=0)
    right = {n: {name: _right_at(run, n) for name, run in runs.items()} for n in range(1, most + 1)}
    rows = [
        Row(f"after attempt {n}", tuple(map(percent, found.values())), tuple(found.values()))
        for n, found in right.items()
    ]
    values = [
        {"curve": name, "x": n, "y": 100 * (share or 0.0)}
        for n, found in right.items()
        for name, share in found.items()
    ]
    title = "EX by attempt"
    return Section(title, list(runs), rows, draw_lines(title, "attempt", values) if most > 1 else "")


def _right_at(run: Results, attempt: int) -> float | None:
    judged = [q["attempts_right"] for q in run["questions"] if q["ex"] is not None and q["golds"]]
    right = [bool(attempts) and attempts[min(attempt, len(attempts)) - 1] is True for attempts in judged]
    return statistics.fmean(right) if right else None


def _cost_section(runs: Mapping[str, Results]) -> Section:
    """Show EX against cost; without rows where fewer than two runs asked a model."""
    points: list[dict[str, Any]] = []
    for name, run in runs.items():
        tokens, ex = run["cost"]["prompt_tokens"] + run["cost"]["completion_tokens"], run["strict"]["ex"]
        if tokens and ex is not None and run["questions"]:
            points.append({"curve": name, "x": round(tokens / len(run["questions"])), "y": 100 * ex})
    rows = [Row(point["curve"], (f"{point['x']:,}", f"{point['y']:.1f}")) for point in points]
    if len(rows) < 2:
        return Section("EX against cost", ())
    chart = draw_lines("EX against tokens a question", "tokens a question", points)
    return Section("EX against cost", ("tokens a question", "EX"), rows, chart)


def compare_runs(first: Results, second: Results) -> Comparison:
    """Compare two runs by the questions that both judged: the same in words, database and gold, not in ids alone."""
    known = {question["id"]: _identity(question) for question in second["questions"]}
    same = {q["id"] for q in first["questions"] if known.get(q["id"]) == _identity(q)}
    ours, theirs = ({name: o for name, o in _judged(run).items() if name in same} for run in (first, second))
    return compare(ours, theirs)


def _identity(question: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what makes a question the same in another run."""
    return question["question"], question["database"], tuple(question["golds"])


def _judged(run: Results) -> dict[str, Judged]:
    """Return outcomes by question; they depend on their interaction, or on their database if none has two turns."""
    dialogues = any(question["turn"] > 1 for question in run["questions"])
    key = "interaction" if dialogues else "database"
    return {q["id"]: Judged(q[key], q["ex"], q["interaction"]) for q in run["questions"] if q["ex"] is not None}


def _with_interval(run: Results) -> str:
    found = interval(list(_judged(run).values()))
    share = percent(run["strict"]["ex"])
    return share if found is None else f"{share} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _counted(scores: Mapping[str, Any]) -> str:
    """Return how many questions, and how many of them the shares are of if that differs."""
    n, judged = scores["n"], scores["judged"]
    return str(n) if judged == n else f"{n}, {judged} judged"


def _shares(name: str, runs: Sequence[Results], *keys: str) -> Row:
    """Return the share that each run has under nested keys."""
    shares: list[Any] = list(runs)
    for key in keys:
        shares = [(found or {}).get(key) for found in shares]
    return Row(name, tuple(map(percent, shares)), tuple(shares))


def _share_text(share: float | None) -> str:
    return "-" if share is None else f"{percent(share).removesuffix('.0')} %"
