"""What the agent makes of stored drafts: which it sends back, which it chooses, and if revisions make them worse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....agent.attempts.compare import same_answer
from ....agent.records import Attempt, plain_result
from ....tools.errors import QueryError
from ...datasets import Dataset, Question, load_dataset
from ...runner import TurnRecord
from .gold import Databases
from .measure import Figures, Measure, Whole, divide, merge_figures, share
from .mutations import MUTATIONS, mutate_drafts, swap_drafts
from .registry import BenchOptions
from .replays import (
    SYSTEMS,
    Drafts,
    Replay,
    judge_officially,
    play,
    play_officially,
    read_multiturn,
    read_published,
    read_strong,
)

LEAST_ALARMS = 10
"""Alarms below which a precision would say nothing."""

REVISED = {"gate": False, "max_attempts": 2}
"""Every draft is revised once, however good it looks."""

EVERY = 9
"""One question of Spider train in so many, where no limit is set."""

TRAIN_WITHOUT = ("baseball_1", "music_2", "soccer_1")
"""Databases that are not there or have no rows, so that results on them mean nothing."""

DIALOGUE_SYSTEMS = ("gpt-5.2_zero_shot", "gemini-3-pro_zero_shot")

Group = tuple[str, Replay, Drafts]
"""Drafts of some questions, by the name of the group that they are counted in."""


def _train_golds(options: BenchOptions) -> tuple[Dataset, Drafts]:
    """Return questions of Spider train with their gold queries as drafts."""
    whole = load_dataset("spider", "train", options.folder).without(TRAIN_WITHOUT)
    step = EVERY if options.limit is None else max(len(whole.questions) // options.limit, 1)
    asked = replace(whole, questions=whole.questions[::step])
    return asked, {question.id: question.golds[0] for question in asked.questions}


def _revised(asked: Dataset, questions: Sequence[Question], drafts: Drafts, revisions: Drafts) -> dict[str, bool]:
    """Return by id whether each question's answer is right if its draft is followed by its revision."""
    played = play_officially(replace(asked, questions=tuple(questions)), [drafts, revisions], REVISED)
    return {record.id: right for record, right in played}


def _changed(asked: Dataset, drafts: Drafts, others: Drafts) -> list[Question]:
    return [question for question in asked.questions if others[question.id] != drafts[question.id]]


def _gate(options: BenchOptions) -> Figures:
    """Return what ends after one call, with DAIL-SQL's drafts revised by DIN-SQL's."""
    replay = read_published(options.folder, options.limit)
    judged = play_officially(replay.asked, [replay.drafts[name] for name in SYSTEMS[:2]], {})
    return {
        "n": len(judged),
        "one_call_share": share([record.calls == 1 for record, _ in judged]),
        "ex_gated": share([right for record, right in judged if record.calls == 1]),
        "ex_rest": share([right for record, right in judged if record.calls > 1]),
    }


def _alarm_groups(options: BenchOptions) -> Iterator[Group]:
    """Yield a strong model's drafts, six published systems', and gold queries as they are and with one thing broken."""
    for name, replay in (
        ("strong", read_strong(options.folder, options.limit)),
        ("published", read_published(options.folder, options.limit)),
    ):
        yield from ((name, replay, drafts) for drafts in replay.drafts.values())
    asked, golds = _train_golds(options)
    yield "mutated", Replay(asked, {}), golds
    for found in _mutants(asked, golds).values():
        changed = replace(asked, questions=tuple(_changed(asked, golds, found)))
        yield "mutated", Replay(changed, {}), found


def _alarms(group: Group) -> tuple[str, list[tuple[bool, bool]]]:
    """Return whether each draft is right, and whether it was sent back: it is then answered with itself."""
    name, replay, drafts = group
    judged: list[tuple[bool, bool]] = []
    for record, verdict in play(replay.asked, [drafts], {"max_attempts": 2}):
        right = replay.is_right(verdict, drafts[record.id])
        if right is not None:
            judged.append((right, len(record.attempts) > 1 or any(each["error"] for each in record.attempts[:1])))
    return name, judged


def _count_alarms(groups: list[tuple[str, list[tuple[bool, bool]]]]) -> Figures:
    """Return rates of drafts sent back; `precision` is the share of alarms on wrong drafts, None of too few alarms."""
    figures: Figures = {}
    for name in dict.fromkeys(name for name, _ in groups):
        judged = [one for group, found in groups if group == name for one in found]
        right = [alarm for is_right, alarm in judged if is_right]
        wrong = [alarm for is_right, alarm in judged if not is_right]
        alarms = sum(right) + sum(wrong)
        figures[name] = {
            "n_right": len(right),
            "n_wrong": len(wrong),
            "right_sent_back": share(right),
            "wrong_sent_back": share(wrong),
            "precision": divide(sum(wrong), alarms) if alarms >= LEAST_ALARMS else None,
        }
    return figures


def _mutants(asked: Dataset, drafts: Drafts) -> dict[str, Drafts]:
    found: dict[str, Drafts] = {name: mutate_drafts(asked, drafts, name) for name in MUTATIONS}
    return found | {"other_question": swap_drafts(asked, drafts)}


def _revision_cases(options: BenchOptions) -> Iterator[tuple[str, Dataset, Drafts, Drafts]]:
    asked, golds = _train_golds(options)
    yield "n", asked, golds, golds
    for name, mutants in _mutants(asked, golds).items():
        yield name, asked, golds, mutants


def _revisions(case: tuple[str, Dataset, Drafts, Drafts]) -> Figures:
    """Return `kept`, EX with gold as the draft and its mutation as the revision, and `mended`, EX the other way round.

    The latter is of those mutations that are wrong.
    """
    name, asked, golds, mutants = case
    if name == "n":
        return {name: len(golds)}
    changed = _changed(asked, golds, mutants)
    right = judge_officially(replace(asked, questions=tuple(changed)), mutants)
    wrong = [question for question in changed if not right[question.id]]
    return {
        name: {
            "changed": len(changed),
            "wrong": len(wrong),
            "kept": share(_revised(asked, changed, golds, mutants).values()),
            "mended": share(_revised(asked, wrong, mutants, golds).values()),
        }
    }


def _never_worse(options: BenchOptions) -> Figures:
    """Return EX of DAIL-SQL's drafts, and `after` each kind of revision; `next_best` is the second system's query."""
    replay = read_published(options.folder, options.limit)
    asked = replay.asked
    drafts, next_best = (replay.drafts[name] for name in SYSTEMS[:2])
    right = judge_officially(asked, drafts)
    bare = {question.id: drafts[question.id].rstrip(" ;") for question in asked.questions}
    mutants = _mutants(asked, drafts)
    revisers: Mapping[str, Drafts] = {
        "broken": {key: f"{sql} WHERE FROM" for key, sql in bare.items()},
        "empty": {key: f"SELECT * FROM ({sql}) LIMIT 0" for key, sql in bare.items()},
        "prose": dict.fromkeys(bare, "I believe that the query above is what was asked for."),
        **mutants,
        "next_best": next_best,
    }
    changed = {name: _changed(asked, drafts, found) for name, found in revisers.items()}
    # A revision that is the draft itself need not be played.
    after = {name: right | _revised(asked, changed[name], drafts, found) for name, found in revisers.items()}
    first = share(right.values())
    return {
        "n": len(right),
        "first_draft": first,
        "better_of_two": max(first, share(judge_officially(asked, next_best).values())),
        "after": {name: share(found.values()) for name, found in after.items()},
        "changed": {name: len(changed[name]) for name in MUTATIONS},
    }


def _choose(replay: Replay) -> list[tuple[TurnRecord, bool]]:
    """Return what the agent chooses: every system's query is a draft, results vote, and nothing is revised."""
    settings: dict[str, Any] = {"candidates": len(replay.drafts), "merge": False, "max_attempts": 1}
    return play_officially(replay.asked, list(replay.drafts.values()), settings)


def _selection(options: BenchOptions) -> Figures:
    """Return EX of the best system, of the most frequent result, of our choice and of the best that there is.

    `lost` counts, of the questions that some system has right and ours has not, how many systems have it right.
    """
    replay = read_published(options.folder, options.limit)
    right = {name: judge_officially(replay.asked, found) for name, found in replay.drafts.items()}
    ours = _choose(replay)
    support = [sum(found[record.id] for found in right.values()) for record, _ in ours]
    lost = [count for (_, is_right), count in zip(ours, support, strict=True) if count and not is_right]
    return {
        "n": len(ours),
        "best_single": max(share(found.values()) for found in right.values()),
        "majority": share([right[name][question] for question, name in _majority(replay).items()]),
        "ours": share([is_right for _, is_right in ours]),
        "oracle": share([count > 0 for count in support]),
        "lost": {str(count): lost.count(count) for count in sorted(set(lost))},
    }


def _majority(replay: Replay) -> Mapping[str, str]:
    """Return by question a system whose result is the most frequent; the first system breaks ties."""
    chosen: dict[str, str] = {}
    with Databases(replay.asked) as databases:
        for question in replay.asked.questions:
            groups: list[list[tuple[str, Attempt]]] = []
            for name, found in replay.drafts.items():
                attempt = _run(databases, question.database, found.get(question.id, ""))
                known = next((group for group in groups if same_answer(group[0][1], attempt)), None)
                if known is not None:
                    known.append((name, attempt))
                elif attempt.result is not None:
                    groups.append([(name, attempt)])
            chosen[question.id] = max(groups, key=len)[0][0] if groups else next(iter(replay.drafts))
    return chosen


def _run(databases: Databases, database: str, sql: str) -> Attempt:
    try:
        return Attempt(sql, result=plain_result(databases.open(database).execute(sql)))
    except QueryError as error:
        return Attempt(sql, error=str(error), error_kind=error.kind)


def _multiturn(options: BenchOptions) -> Figures:
    """Return EX by question of GPT-5.2 alone, of Gemini-3-pro alone, of our choice turn by turn, and of the best."""
    replay = read_multiturn(options.folder, "sparc", DIALOGUE_SYSTEMS, options.limit)
    first, second = (judge_officially(replay.asked, drafts) for drafts in replay.drafts.values())
    ours = _choose(replay)
    return {
        "n": len(ours),
        "zero_shot": share(first.values()),
        "other": share(second.values()),
        "ours": share([right for _, right in ours]),
        "oracle": share([right or second[key] for key, right in first.items()]),
    }


MEASURES: Mapping[str, Measure[Any, Any] | Whole] = {
    "alarms": Measure(_alarm_groups, _alarms, _count_alarms),
    "gate": Whole(_gate),
    "never-worse": Whole(_never_worse),
    "revisions": Measure(_revision_cases, _revisions, merge_figures),
    "selection": Whole(_selection),
    "selection-multiturn": Whole(_multiturn),
}
