"""Stored drafts in the agent: which are sent back, chosen, or made worse by revisions.

Mutations are revisions that a careless model makes of a good query: a part left out, or turned round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pandas import DataFrame
from sqlglot import exp

from ....agent.evidence.choose_attempt import have_same_result
from ....agent.records import Attempt, make_plain_result
from ....tools.errors import QueryError, SQLParseError
from ....tools.sql import parse_query_tree
from ...datasets import Dataset, GoldTurn, load_dataset
from .gold import DatasetDatabases
from .registry import BenchOptions, Figures, Measure, Row, divide, share
from .replays import (
    SYSTEMS,
    Drafts,
    StoredDrafts,
    judge_drafts_officially,
    play,
    play_and_judge_officially,
    read_dialogue_drafts,
    read_published_drafts,
    read_strong_model_drafts,
)

Flags = Mapping[str, bool]
"""What comes of a question, by name."""

LEAST_ALARMS = 10
"""Alarms below which a precision would say nothing."""

REVISED = {"gate": False, "max_attempts": 2}
"""Every draft is revised once, however good it looks."""

EVERY = 9
"""One question of Spider train in so many, if no limit is set."""

TRAIN_WITHOUT = ("baseball_1", "music_2", "soccer_1")
"""Databases that are not there or have no rows, so that results on them mean nothing."""

DIALOGUE_SYSTEMS = ("gpt-5.2_zero_shot", "gemini-3-pro_zero_shot")

_OPPOSITES: Mapping[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}


def mutate(sql: str, mutation: str) -> str:
    """Return the query with a mutation of `MUTATIONS` applied; unchanged if it does not apply."""
    try:
        tree = parse_query_tree(sql)
    except SQLParseError:
        return sql
    before = tree.sql("sqlite")
    after = MUTATIONS[mutation](tree).sql("sqlite")
    return sql if after == before else after


def _find_outermost_selects(tree: exp.Expr) -> list[exp.Select]:
    """Return the outermost SELECTs of a query; several for a compound query."""
    nested = (exp.Subquery, exp.In, exp.Exists, exp.CTE)
    return [select for select in tree.find_all(exp.Select) if select.find_ancestor(*nested) is None]


def _drop_last_selected_column(tree: exp.Expr) -> exp.Expr:
    for select in _find_outermost_selects(tree):
        if len(select.expressions) > 1:
            select.expressions[-1].pop()
    return tree


def _drop_last_condition(tree: exp.Expr) -> exp.Expr:
    """Drop the last condition of WHERE, or the whole clause if it is the only one."""
    for select in _find_outermost_selects(tree):
        where = select.args.get("where")
        if where is not None and isinstance(where.this, exp.And):
            where.set("this", where.this.this)
        elif where is not None:
            where.pop()
    return tree


def _drop_having_clauses(tree: exp.Expr) -> exp.Expr:
    for having in list(tree.find_all(exp.Having)):
        having.pop()
    return tree


def _drop_distinct_keywords(tree: exp.Expr) -> exp.Expr:
    for distinct in list(tree.find_all(exp.Distinct)):
        if isinstance(distinct.parent, exp.Count):
            distinct.replace(distinct.expressions[0])
        else:
            distinct.pop()
    return tree


def _drop_order_and_limit(tree: exp.Expr) -> exp.Expr:
    for clause in ("order", "limit"):
        tree.set(clause, None)
    return tree


def _drop_negations(tree: exp.Expr) -> exp.Expr:
    def remove_negation(node: exp.Expr) -> exp.Expr:
        return node.this if isinstance(node, exp.Not | exp.Except) else node

    return tree.transform(remove_negation)


def _reverse_comparisons(tree: exp.Expr) -> exp.Expr:
    for node in list(tree.find_all(*_OPPOSITES)):
        if not isinstance(node.find_ancestor(exp.Join, exp.Select, exp.Subquery), exp.Join):
            node.replace(_OPPOSITES[type(node)](this=node.this, expression=node.expression))
    return tree


def _reverse_sort_order(tree: exp.Expr) -> exp.Expr:
    for order in tree.find_all(exp.Ordered):
        down = not order.args.get("desc")
        order.set("desc", down)
        order.set("nulls_first", not down)
    return tree


MUTATIONS: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    "without_column": _drop_last_selected_column,
    "without_condition": _drop_last_condition,
    "without_having": _drop_having_clauses,
    "without_distinct": _drop_distinct_keywords,
    "without_limit": _drop_order_and_limit,
    "without_negation": _drop_negations,
    "turned_comparisons": _reverse_comparisons,
    "turned_order": _reverse_sort_order,
}
"""By name, what makes of a tree another one; the tree itself may change."""


def _make_mutated_drafts(dataset: Dataset, drafts: Drafts) -> dict[str, Drafts]:
    """Return mutated drafts by mutation; `other_question` has the drafts of other questions."""
    found: dict[str, Drafts] = {
        name: {question.id: mutate(drafts[question.id], name) for question in dataset.questions} for name in MUTATIONS
    }
    others: dict[str, str] = {}
    for question in dataset.questions:
        same = [drafts[other.id] for other in dataset.questions if other.database == question.database]
        own = drafts[question.id]
        # Neighbours often ask the same: half-way round the list.
        start = (same.index(own) + len(same) // 2) % len(same)
        others[question.id] = next((sql for sql in same[start:] + same[:start] if sql != own), own)
    return found | {"other_question": others}


def _read_spider_train_golds(options: BenchOptions) -> tuple[Dataset, Drafts]:
    """Return questions of Spider train with their gold queries as drafts."""
    whole = load_dataset("spider", "train", options.folder).without(TRAIN_WITHOUT)
    step = EVERY if options.limit is None else max(len(whole.questions) // options.limit, 1)
    asked = replace(whole, questions=whole.questions[::step])
    return asked, {question.id: question.golds[0] for question in asked.questions}


def _select_changed_questions(dataset: Dataset, drafts: Drafts, others: Drafts) -> Dataset:
    return replace(dataset, questions=tuple(one for one in dataset.questions if others[one.id] != drafts[one.id]))


def _list_published_drafts(options: BenchOptions) -> list[StoredDrafts]:
    return [read_published_drafts(options.folder, options.limit)]


def _check_one_call_drafts(replay: StoredDrafts) -> Iterator[Flags]:
    """Yield for each DAIL-SQL draft whether one call was made, and whether the answer is right."""
    for record, right in play_and_judge_officially(replay.asked, [replay.drafts[name] for name in SYSTEMS[:2]], {}):
        yield {"right": right, "ended": record.calls == 1}


def _compute_gate_figures(table: DataFrame) -> Figures:
    right, ended = table["right"], table["ended"]
    gated = {"ex_gated": share(right[ended]), "ex_rest": share(right[~ended])}
    return {"n": len(table), "one_call_share": share(ended), **gated}


measure_gate = Measure(_list_published_drafts, _check_one_call_drafts, _compute_gate_figures)


def _check_drafts_sent_back(case: tuple[str, StoredDrafts, Drafts]) -> Iterator[Row]:
    """Yield whether each draft is right, and whether it is sent back for revision."""
    name, replay, drafts = case
    for record, verdict in play(replay.asked, [drafts], {"max_attempts": 2}):
        right = replay.is_right(verdict, drafts[record.id])
        if right is not None:
            is_alarm = len(record.attempts) > 1 or any(each["error"] for each in record.attempts[:1])
            yield {"group": name, "right": right, "alarm": is_alarm}


def _compute_alarm_figures(table: DataFrame) -> Figures:
    """Return the rates of right and wrong drafts sent back, by group.

    Drafts are a strong model's, six published systems', and gold queries as they are and with one thing broken.
    """
    figures: Figures = {}
    for name, rows in table.groupby("group", sort=False):
        right, wrong, alarms = rows[rows["right"]]["alarm"], rows[~rows["right"]]["alarm"], rows["alarm"].sum()
        figures[str(name)] = {
            "n_right": len(right),
            "n_wrong": len(wrong),
            "right_sent_back": share(right),
            "wrong_sent_back": share(wrong),
            "precision": divide(wrong.sum(), alarms) if alarms >= LEAST_ALARMS else None,
        }
    return figures


def _read_draft_groups(options: BenchOptions) -> Iterator[tuple[str, StoredDrafts, Drafts]]:
    for name, read in (("strong", read_strong_model_drafts), ("published", read_published_drafts)):
        replay = read(options.folder, options.limit)
        yield from ((name, replay, drafts) for drafts in replay.drafts.values())
    asked, golds = _read_spider_train_golds(options)
    yield "mutated", StoredDrafts(asked, {}), golds
    for found in _make_mutated_drafts(asked, golds).values():
        yield "mutated", StoredDrafts(_select_changed_questions(asked, golds, found), {}), found


measure_alarms = Measure(_read_draft_groups, _check_drafts_sent_back, _compute_alarm_figures)


def _check_revised_drafts(replay: StoredDrafts) -> Iterator[Row]:
    """Yield whether each DAIL-SQL draft is right before and after each kind of revision."""
    asked = replay.asked
    drafts, next_best = (replay.drafts[name] for name in SYSTEMS[:2])
    right, second = (judge_drafts_officially(asked, found) for found in (drafts, next_best))
    bare = {question.id: drafts[question.id].rstrip(" ;") for question in asked.questions}
    revisers: Mapping[str, Drafts] = {
        "broken": {key: f"{sql} WHERE FROM" for key, sql in bare.items()},
        "empty": {key: f"SELECT * FROM ({sql}) LIMIT 0" for key, sql in bare.items()},
        "prose": dict.fromkeys(bare, "I believe that the query above is what was asked for."),
        **_make_mutated_drafts(asked, drafts),
        "next_best": next_best,
    }
    for name, found in revisers.items():
        # A revision that is the draft itself need not be played.
        played = play_and_judge_officially(_select_changed_questions(asked, drafts, found), [drafts, found], REVISED)
        changed = {record.id: is_right for record, is_right in played}
        for key, before in right.items():
            row = {"reviser": name, "draft": before, "second": second[key]}
            yield {**row, "right": changed.get(key, before), "changed": key in changed}


def _compute_revision_figures(table: DataFrame) -> Figures:
    """Return EX of the drafts before and after each kind of revision."""
    by_reviser = table.groupby("reviser", sort=False)
    first, after, changed = share(table["draft"]), by_reviser["right"].agg(share), by_reviser["changed"].sum()
    return {
        "n": by_reviser.size().iloc[0],
        "first_draft": first,
        "better_of_two": max(first, share(table["second"])),
        "after": dict(after),
        "changed": {name: changed[name] for name in MUTATIONS},
    }


measure_never_worse = Measure(_list_published_drafts, _check_revised_drafts, _compute_revision_figures)


def _check_chosen_drafts(replay: StoredDrafts) -> Iterator[Flags]:
    """Yield for each question whether the agent's choice and each system's query are right.

    Every system's query is a draft, results vote, and nothing is revised.
    """
    settings = {"candidates": len(replay.drafts), "merge": False, "max_attempts": 1}
    right = {name: judge_drafts_officially(replay.asked, drafts) for name, drafts in replay.drafts.items()}
    played = play_and_judge_officially(replay.asked, list(replay.drafts.values()), settings)
    with DatasetDatabases(replay.asked) as databases:
        for turn, (record, is_right) in zip(replay.asked.questions, played, strict=True):
            systems = {name: found[record.id] for name, found in right.items()}
            yield {"ours": is_right, "majority": systems[_find_majority(databases, turn, replay.drafts)], **systems}


def _compute_selection_figures(table: DataFrame) -> Figures:
    """Return EX of the best system, the majority, our choice and an oracle.

    `lost` counts, of the questions that some system has right and ours has not, how many systems have it right.
    """
    systems = table.drop(columns=["ours", "majority"])
    support = systems.sum(axis="columns")
    lost = support[~table["ours"] & (support > 0)].value_counts().sort_index()
    return {
        "n": len(table),
        "best_single": max(share(systems[name]) for name in systems),
        "majority": share(table["majority"]),
        "ours": share(table["ours"]),
        "oracle": share(support > 0),
        "lost": {str(count): n for count, n in lost.items()},
    }


measure_selection = Measure(_list_published_drafts, _check_chosen_drafts, _compute_selection_figures)


def _find_majority(databases: DatasetDatabases, question: GoldTurn, drafts: Mapping[str, Drafts]) -> str:
    """Return a system whose result is the most frequent; the first system breaks ties."""
    groups: list[list[tuple[str, Attempt]]] = []
    for name, found in drafts.items():
        try:
            table = databases.open(question.database).execute(found.get(question.id, ""))
        except QueryError:
            continue
        attempt = Attempt(found[question.id], result=make_plain_result(table))
        known = next((group for group in groups if have_same_result(group[0][1], attempt)), None)
        if known is None:
            groups.append([(name, attempt)])
        else:
            known.append((name, attempt))
    return max(groups, key=len)[0][0] if groups else next(iter(drafts))


def _compute_dialogue_figures(table: DataFrame) -> Figures:
    """Return EX of each system alone, of our choice, and of the better of the two."""
    first, second = (table[name] for name in DIALOGUE_SYSTEMS)
    ex = {"zero_shot": first, "other": second, "ours": table["ours"], "oracle": first | second}
    return {"n": len(table), **{name: share(found) for name, found in ex.items()}}


measure_selection_multiturn = Measure(
    lambda options: [read_dialogue_drafts(options.folder, "sparc", DIALOGUE_SYSTEMS, options.limit)],
    _check_chosen_drafts,
    _compute_dialogue_figures,
)
