"""Scores over verdicts and model records, and of the linker against gold queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from ...agent.model import ModelRunRecord
from ...tools.database import Schema
from ...tools.linking import STAR
from ...tools.sql import read_query
from .judging import Verdict
from .statistics import compute_wilson_interval


@dataclass(frozen=True)
class Scores:
    """The accuracy scores of a run, from 0 to 1; None if no question could be judged."""

    n: int  # the number of questions or interactions: of `eval`, those with a gold query
    ex: float | None  # execution accuracy over the `judged` ones
    em: float | None  # exact set match over those that it can judge
    valid: float | None  # share of the `judged` ones whose prediction runs
    judged: int  # the number with a verdict on EX. An interaction has one if all of its turns have one.


@dataclass(frozen=True)
class Summary:
    """All scores of a run: overall, and by interaction, difficulty, turn and database."""

    all: Scores  # over questions (question match)
    interactions: Scores  # scores over interactions; all turns of one must be right (interaction match)
    by_hardness: dict[str, Scores]  # scores by difficulty, easiest first
    # Scores by place in the interaction; `>4` from the fifth turn on, as in the official tool.
    by_turn: dict[str, Scores]
    by_database: dict[str, Scores]  # scores by database
    unjudged: list[str]  # ids of questions without a verdict on EX because their gold fails
    not_asked: list[str]  # ids of questions without a verdict because model or database was out of reach
    disputed: dict[str, str]  # why a gold query is doubtful, by question id. The question still counts.


_LEVELS = ("easy", "simple", "medium", "moderate", "hard", "challenging", "extra")


def summarize(verdicts: Sequence[Verdict]) -> Summary:
    """Compute all scores over verdicts; the turns of an interaction must be adjacent."""

    def score_by_group(key: Callable[[Verdict], str]) -> dict[str, Scores]:
        return {name: compute_scores(list(group)) for name, group in groupby(sorted(verdicts, key=key), key=key)}

    by_level = score_by_group(lambda verdict: verdict.hardness or "unknown")
    levels = sorted(by_level, key=lambda level: _LEVELS.index(level) if level in _LEVELS else len(_LEVELS))
    interactions: list[Verdict] = []
    for _, group in groupby(verdicts, lambda verdict: verdict.question.interaction):
        turns = list(group)
        # An interaction has no outcome if one of its turns has none.
        outcomes = ([turn.ex for turn in turns], [turn.em for turn in turns])
        ex, em = (None if None in values else all(values) for values in outcomes)
        interactions.append(replace(turns[0], ex=ex, em=em, valid=all(turn.valid for turn in turns)))
    return Summary(
        all=compute_scores(verdicts),
        interactions=compute_scores(interactions),
        by_hardness={level: by_level[level] for level in levels},
        by_turn=score_by_group(lambda verdict: str(verdict.question.turn) if verdict.question.turn <= 4 else ">4"),
        by_database=score_by_group(lambda verdict: verdict.question.database),
        unjudged=[verdict.question.id for verdict in verdicts if verdict.ex is None and verdict.was_asked],
        not_asked=[verdict.question.id for verdict in verdicts if not verdict.was_asked],
        disputed={verdict.question.id: verdict.question.disputed for verdict in verdicts if verdict.question.disputed},
    )


def share(outcomes: Iterable[bool | None]) -> float | None:
    """Return the share of true outcomes among the known ones; None if none is known."""
    values = [outcome for outcome in outcomes if outcome is not None]
    return sum(values) / len(values) if values else None


def compute_scores(verdicts: Sequence[Verdict]) -> Scores:
    """Compute the accuracy scores over verdicts."""
    results = [verdict for verdict in verdicts if verdict.ex is not None]
    ex, em = share(verdict.ex for verdict in results), share(verdict.em for verdict in verdicts)
    return Scores(len(verdicts), ex, em, share(verdict.valid for verdict in results), len(results))


def dump_scores(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the scores over verdicts as JSON data, as commands print and runs store them."""
    fields = asdict(summarize(verdicts))
    return {**fields.pop("all"), **fields}


def format_percent(share: float | None) -> str:
    """Format a share as a percentage; a dash for None."""
    return "-" if share is None else f"{100 * share:.1f}"


def compute_model_standings(records: Sequence[ModelRunRecord]) -> list[dict[str, Any]]:
    """Return each model's record per database, as `tableturn models --json` prints it."""

    def sum_right_and_judged(outcomes: Iterable[tuple[int | None, int]]) -> dict[str, int] | None:
        counts = [(right, n) for right, n in outcomes if right is not None]
        return {"right": sum(right for right, _ in counts), "judged": sum(n for _, n in counts)} if counts else None

    standings: list[dict[str, Any]] = []
    key = attrgetter("model", "database")
    for (model, database), group in groupby(sorted(records, key=key), key=key):
        runs = list(group)
        standings.append(
            {
                "model": model,
                "database": database,
                "runs": len(runs),
                "n": sum(record.n for record in runs),
                "by_gold": sum_right_and_judged((record.right_gold, record.n) for record in runs),
                "by_verdict": sum_right_and_judged((record.right_verdict, record.n) for record in runs),
                "calls": sum(record.calls for record in runs),
                "prompt_tokens": sum(record.prompt_tokens for record in runs),
                "last": max(record.time for record in runs),
            }
        )
    return standings


def format_share_with_interval(share: Mapping[str, int] | None) -> str:
    """Format a share of right answers in percent with Wilson's interval; a dash for None."""
    if share is None:
        return "-"
    interval = compute_wilson_interval(share["right"], share["judged"])
    interval_text = f" ({100 * interval.low:.0f} to {100 * interval.high:.0f})" if interval else ""
    return f"{100 * share['right'] / max(1, share['judged']):.1f}{interval_text}"


CUTOFF = 0.5  # the threshold s of TRS@0.5 and CRS@0.5

LinkedItems: TypeAlias = Sequence[tuple[str, str | None, float]]
"""Tables (column None), columns, and `*` for all of a table's, with their probabilities."""

Turn: TypeAlias = tuple[str, Schema, LinkedItems]  # a gold query, its schema, and what was linked


class _SchemaItems(NamedTuple):
    """The tables and columns of a query, in lower case, without `*`."""

    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


def compute_mean_redundancy(turns: Iterable[Turn]) -> dict[str, float]:
    """Return mean redundancy scores `trs`, `crs` and `crs_all`, from 0 (best) to 1, or {}.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures, and over
    all tables of the database, which is what equation 13 says. Turns whose gold cannot be read do not count.
    """
    trs: list[float] = []
    crs: list[float] = []
    all_crs: list[float] = []
    for schema, gold, links in _read_used_and_linked_items(turns):
        trs.append(compute_redundancy(gold.tables, links.tables))
        for name in sorted({table.name.lower() for table in schema.tables} | gold.tables):
            gold_pairs, linked_pairs = ({pair for pair in items.columns if pair[0] == name} for items in (gold, links))
            all_crs.append(compute_redundancy(gold_pairs, linked_pairs))
            if name in gold.tables:
                crs.append(all_crs[-1])
    if not trs:
        return {}
    return {"trs": fmean(trs), "crs": fmean(crs), "crs_all": fmean(all_crs), "turns": len(trs)}


def score_linking(turns: Iterable[Turn]) -> dict[str, float]:
    """Return precision, recall and F1 of linked tables and columns, from 0 to 1 (A.2).

    Used and not used are the two classes: `weighted` means them by how many there are of each, `macro` as equals. Keys
    are `table_weighted_p`, `_r` and `_f1`, `table_macro_...`, `column_weighted_...`, `column_macro_...`.
    """
    from sklearn.metrics import precision_recall_fscore_support

    pairs: dict[str, list[tuple[bool, bool]]] = {"table": [], "column": []}
    for schema, gold, linking in _read_used_and_linked_items(turns):
        for table in schema.tables:
            name = table.name.lower()
            pairs["table"].append((name in gold.tables, name in linking.tables))
            columns = [(name, column.name.lower()) for column in table.columns]
            pairs["column"] += [(pair in gold.columns, pair in linking.columns) for pair in columns]
    scores: dict[str, float] = {}
    for kind, outcomes in pairs.items():
        for average in ("weighted", "macro") if outcomes else ():
            truth, predictions = zip(*outcomes, strict=True)
            three = precision_recall_fscore_support(truth, predictions, average=average, zero_division=0)[:3]  # pyright: ignore[reportArgumentType]
            names = (f"{kind}_{average}_{name}" for name in ("p", "r", "f1"))
            scores |= {name: float(value) for name, value in zip(names, three, strict=True)}
    return scores


def _read_used_and_linked_items(turns: Iterable[Turn]) -> Iterator[tuple[Schema, _SchemaItems, _SchemaItems]]:
    """Yield the schema, used items and linked items of each turn whose gold can be read."""
    for gold, schema, items in turns:
        query = read_query(gold, schema)
        if query is None or not query.tables:
            continue
        use = query.usage
        columns = ((table.lower(), name.lower()) for table, name in use.columns if name != STAR)
        gold_items = _SchemaItems(frozenset(name.lower() for name in use.tables), frozenset(columns))
        likely_items = [(table.lower(), column) for table, column, p in items if p >= CUTOFF]
        columns = ((table, column.lower()) for table, column in likely_items if column is not None and column != STAR)
        yield (
            schema,
            gold_items,
            _SchemaItems(frozenset(table for table, column in likely_items if column is None), frozenset(columns)),
        )


def compute_redundancy(gold: Collection[object], items: Collection[object]) -> float:
    """Return the share of extra items (equation 11); 1 if any gold item is missing."""
    if set(gold) == set(items):
        return 0.0
    if set(gold) - set(items):
        return 1.0
    return len(set(items) - set(gold)) / len(items)
