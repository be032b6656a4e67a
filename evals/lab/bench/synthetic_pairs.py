"""Any number of made-up question-SQL pairs, for measuring size and speed; no two questions are the same."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ....tools.examples import Example

_WORDS: dict[str, str] = tomllib.loads((Path(__file__).parent / "data" / "synthetic.toml").read_text("utf-8"))

NAMES = tuple(_WORDS["names"].split())
"""Of people and places that questions look for."""

_FORMS = (
    ("{o} the {l} of every {t} with a {c} above {n}{e}", "SELECT {l} FROM {t} WHERE {c} > {n}"),
    ("{o} the {l} of each {t} whose {c} is below {n}{e}", "SELECT {l} FROM {t} WHERE {c} < {n}"),
    ("How many {t}s have {v} as their {l}{e}", "SELECT count(*) FROM {t} WHERE {l} = '{v}'"),
    ("{o} the average {c} of {t}s for each {l}{e}", "SELECT {l}, avg({c}) FROM {t} GROUP BY {l}"),
    ("{o} the {n} {t}s with the highest {c}{e}", "SELECT * FROM {t} ORDER BY {c} DESC LIMIT {n}"),
    ("{o} {l}s that more than {n} {t}s share{e}", "SELECT {l} FROM {t} GROUP BY {l} HAVING count(*) > {n}"),
    ("{o} {t}s whose {l} contains {v}, sorted by {c}{e}", "SELECT * FROM {t} WHERE {l} LIKE '%{v}%' ORDER BY {c}"),
    ("What is the total {c} of {t}s whose {l} is not {v}{e}", "SELECT sum({c}) FROM {t} WHERE {l} != '{v}'"),
    (
        "{o} the {l} of {t}s with more {c} than the {t} of {v}{e}",
        "SELECT {l} FROM {t} WHERE {c} > (SELECT {c} FROM {t} WHERE {l} = '{v}')",
    ),
    (
        "{o} {t}s of a {u} whose {l} is {v}{e}",
        "SELECT {t}.* FROM {t} JOIN {u} ON {u}.{u}_id = {t}.{u}_id WHERE {u}.{l} = '{v}'",
    ),
    (
        "For each {u}, how many {t}s have a {c} of at least {n}{e}",
        "SELECT {u}.name, count(*) FROM {u} JOIN {t} ON {t}.{u}_id = {u}.{u}_id WHERE {t}.{c} >= {n} "
        "GROUP BY {u}.{u}_id",
    ),
    ("{o} {u}s without any {t}{e}", "SELECT * FROM {u} WHERE {u}_id NOT IN (SELECT {u}_id FROM {t})"),
)


def pairs(seed: int) -> Iterator[Example]:
    """Pairs over 300 databases of two tables each, without end; the same for the same seed."""
    choose = random.Random(seed)  # noqa: S311 - made-up data, no secret
    known = databases()
    openings = [part.strip() for part in _WORDS["openings"].split("|")]
    endings = _WORDS["endings"].split("|")
    seen: set[int] = set()
    while True:
        question, sql = choose.choice(_FORMS)
        table, other, columns, labels = choose.choice(known)
        fields = {
            "o": choose.choice(openings),
            "e": choose.choice(endings),
            "t": table,
            "u": other,
            "c": choose.choice(columns),
            "l": choose.choice(labels),
            "n": choose.randrange(2, 1_000),
            "v": choose.choice(NAMES),
        }
        asked = question.format(**fields)
        if hash(asked) in seen:
            continue
        seen.add(hash(asked))
        held = ", ".join((*columns, *labels))
        schema = f"{table}({table}_id, {other}_id, {held})\n{other}({other}_id, name, {held})"
        yield Example(asked, sql.format(**fields), f"{table}_{other}", schema, source="import:synthetic")


def databases() -> list[tuple[str, str, list[str], list[str]]]:
    """Two tables, the first referring to the second, and the columns of numbers and of texts that both have."""
    choose = random.Random(0)  # noqa: S311 - made-up data, no secret
    tables, columns, labels = (_WORDS[name].split() for name in ("tables", "columns", "labels"))
    drawn = ((choose.sample(tables, 2), choose.sample(columns, 6), choose.sample(labels, 6)) for _ in range(300))
    return [(table, other, numbers, texts) for (table, other), numbers, texts in drawn]
