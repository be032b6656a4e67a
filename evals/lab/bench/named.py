"""Whether a row differs from its base only in what it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ...experiments.experiment import Experiment, Row
from .requests import Request, Turns, requests_of

_BLOCK = re.compile(r"^<([a-z-]+)>\n(.*?)\n?^</\1>", re.MULTILINE | re.DOTALL)
_SQL_LINE = re.compile(r"^SQL: .*$", re.MULTILINE)
_EXAMPLES = frozenset(["example", "examples", "approved"])


def as_named(row: Row, experiment: Experiment) -> str:
    """Why a row does not do what it says; empty where it does.

    A method itself changes nothing but its dataset. Another program that answers (a baseline with a module of its own)
    says nothing that could be compared: it declares `program` alone.
    """
    if row.combine is not None:
        of = experiment.row(row.combine.of)
        wrong = bool(row.settings) or row.combine.first > of.seeds
        return f"{of.name} has only {of.seeds} runs, or the row has settings" if wrong else ""
    if row.base is None:
        return "it has settings and names no base" if row.settings or row.changes else ""
    if row.changes == ("program",):
        return "" if row.baseline else "no other program answers"
    base = experiment.row(row.base)
    found, said = differences(requests_of(base, experiment), requests_of(row, experiment)), frozenset(row.changes)
    undeclared, missing = sorted(found - said), sorted(said - found)
    parts = [f"also changes {', '.join(undeclared)}"] if undeclared else []
    return "; ".join(parts + ([f"does not change {', '.join(missing)}"] if missing else []))


def differences(base: Turns, row: Turns) -> frozenset[str]:
    """What differs between the requests of two rows.

    Returns:
        Words of these: `request TASK` (asked by one of the two alone), `temperature`, `system` (what the system is
        told), `text` (what is said around the blocks), the name of a block (`schema`, `base-sql`, `result` ...), and of
        demonstrations `example number`, `example choice`, or `example SQL` where the same ones are written otherwise.
    """
    return frozenset(word for before, after in zip(base, row, strict=True) for word in _of_turn(before, after))


def _of_turn(base: Sequence[Request], row: Sequence[Request]) -> Iterator[str]:
    for task in {request.task for request in (*base, *row)}:
        ours, theirs = ([one for one in requests if one.task == task] for requests in (row, base))
        for one, other in zip_longest(ours, theirs):
            if one is None or other is None:
                yield f"request {task}"
            else:
                yield from _of_request(other, one)


def _of_request(base: Request, row: Request) -> Iterator[str]:
    if base.temperature != row.temperature:
        yield "temperature"
    if base.system != row.system:
        yield "system"
    before, after = _blocks(base.user), _blocks(row.user)
    if _around(base.user) != _around(row.user):
        yield "text"
    for name in {*before, *after} - _EXAMPLES:
        if before.get(name) != after.get(name):
            yield name
    yield from _of_examples(*(_demonstrations(blocks) for blocks in (before, after)))


def _blocks(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for match in _BLOCK.finditer(text):
        found.setdefault(match[1], []).append(match[2])
    return found


def _around(text: str) -> list[str]:
    """The lines outside blocks, but for the headings of those that are not there."""
    return [line for line in _BLOCK.sub("", text).splitlines() if line.strip()]


def _demonstrations(blocks: dict[str, list[str]]) -> list[str]:
    """The examples that are shown: a block each, question and SQL on two lines, or the SQL alone on one."""
    shown = list(blocks.get("example", ()))
    for text in blocks.get("examples", ()):
        lines = text.splitlines()
        step = 2 if any(line.startswith("SQL: ") for line in lines) else 1
        shown += ["\n".join(lines[start : start + step]) for start in range(0, len(lines), step)]
    return shown


def _of_examples(before: list[str], after: list[str]) -> Iterator[str]:
    if len(before) != len(after):
        yield "example number"
    elif before != after:
        same = [_SQL_LINE.sub("", one) for one in before] == [_SQL_LINE.sub("", one) for one in after]
        yield "example SQL" if same else "example choice"
