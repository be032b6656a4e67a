"""Chooses, for each mention, one of the tables, columns or values that it may stand for, by what stands around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....tools.values.match import ValueMatch
from ..frames.frame import Column
from .lexicon import CHAIN
from .mentions import Mention
from .name_index import Hit, NameIndex
from .question_words import spelled_out

Item = Mention | str


def resolve(items: Sequence[Item], names: NameIndex, context: Sequence[str] = ()) -> tuple[str, ...]:
    """Settles the tables, then the columns and values, in place.

    Args:
        items: A question's mentions and words.
        names: The schema.
        context: Tables that the conversation is about.

    Returns:
        Where no table is mentioned, those that the rest fits best: more than one only if they fit equally.
    """
    mentioned = _tables(items, names)
    anchors = [*mentioned, *(() if mentioned else context)]
    implied = () if anchors else _implied(items, names)
    anchors = anchors or list(implied[:1])
    for at, item in enumerate(items):
        if isinstance(item, Mention) and item.kind in "cx":
            _settle_column(item, at, items, anchors, names)
    _merge_years(items)
    for at, item in enumerate(items):
        if isinstance(item, Mention) and item.kind == "v":
            _settle_value(item, at, items, anchors, names)
    return implied


def _mentions(items: Iterable[Item], kinds: str) -> list[Mention]:
    return [item for item in items if isinstance(item, Mention) and item.kind in kinds]


def _tables(items: Sequence[Item], names: NameIndex) -> list[str]:
    """Chooses a table for each mention of one; tables beside other mentioned ones are preferred."""
    mentions = _mentions(items, "tx")
    sure = [m.hits[0].table for m in mentions if m.hits[0].score >= 0.9 and m.hits[0].column is None]
    chosen: list[str] = []
    for mention in mentions:
        options = [hit for hit in mention.hits if hit.column is None]

        def worth(hit: Hit) -> float:
            near = min((names.distance(hit.table, other) for other in sure if other != hit.table), default=0)
            return hit.score - 0.05 * min(near, 4) - 0.02 * len(hit.table) / 20 - 0.06 * names.is_junction(hit.table)

        mention.table = max(options, key=worth).table
        at = items.index(mention)
        before = [items[at - 1], items[at - 2]] if at > 1 else ["", ""]
        best = max(hit.score for hit in options)
        listed = before[0] in ("for", "all") or (
            before[0] == "of" and isinstance(before[1], Mention) and before[1].kind == "c"
        )
        if mention.kind == "x" and listed and best >= 0.8:
            mention.kind = "t"
        if best >= 0.5 and (mention.kind == "t" or best >= mention.hits[0].score):
            chosen.append(mention.table)
    return list(dict.fromkeys(chosen))


def _implied(items: Sequence[Item], names: NameIndex) -> tuple[str, ...]:
    """With no table mentioned: the tables that hold the most of what is; a key that leads elsewhere weighs less."""
    weights: dict[str, float] = {}
    for item in items:
        if isinstance(item, Mention):
            best: dict[str, float] = {}
            for hit in item.hits:
                leads = hit.column is not None and names.references(Column(hit.table, hit.column)) is not None
                best[hit.table] = max(best.get(hit.table, 0), hit.score - 0.05 * leads)
            for match in item.matches:
                best[match.table] = max(best.get(match.table, 0), match.score)
            for table, score in best.items():
                weights[table] = weights.get(table, 0) + score
    most = max(weights.values(), default=0.0)
    return tuple(table for table, weight in weights.items() if weight > most - 1e-9)


def _settle_column(mention: Mention, at: int, items: Sequence[Item], anchors: Sequence[str], names: NameIndex) -> None:
    before = _table_before(at, items)
    after = _table_after(at, items)

    def worth(hit: Hit) -> float:
        score = hit.score
        if before is not None and hit.table == before:
            score += 0.55
        elif after is not None:
            score += 0.5 - 0.2 * min(names.distance(hit.table, after), 4)
        if hit.table in anchors:
            score += 0.2
        near = min((names.distance(hit.table, other) for other in anchors), default=0)
        score -= 0.12 * min(near, 4)
        assert hit.column is not None
        if names.references(Column(hit.table, hit.column)):
            score -= 0.05
        return score

    options = [hit for hit in mention.hits if hit.column is not None]
    best = max(options, key=worth)
    owner = before or after or (anchors[0] if len(anchors) == 1 else None)
    if owner is not None and best.table != owner and mention.text.lower() in ("name", "names"):
        mention.column = names.title(owner)[0]
        return
    if best.column is not None and best.score < 0.9 and not names.says_key(mention.text):
        column = Column(best.table, best.column)
        entity = names.references(column) or (column.table if names.key(column.table) == column else None)
        if entity is not None and (entity != column.table or names.references(column) is None):
            mention.kind, mention.table = "t", entity
            return
    assert best.column is not None
    mention.column = Column(best.table, best.column)
    if mention.kind == "x" and mention.table != best.table and best.table in (before, after):
        mention.kind = "c"


def _merge_years(items: Sequence[Item]) -> None:
    """`opened in year 2005`: the second word says no more than the first column does."""
    before: Mention | None = None
    for item in items:
        if isinstance(item, str):
            before = before if item in ("in", "on", "of", "by") else None
        elif item.kind == "c" and item.column is not None:
            word = item.text.lower() if item.text.lower() in ("year", "date", "time") else ""
            if before is not None and before.column is not None and word in spelled_out(before.column.name):
                item.column = before.column
            before = item
        elif item.kind != "o":
            before = None


def _table_before(at: int, items: Sequence[Item]) -> str | None:
    while at and items[at - 1] in ("#who", "with", "has", "have", "having", "had"):
        at -= 1
    item = items[at - 1] if at else None
    return item.table if isinstance(item, Mention) and item.kind in ("t", "x") else None


def _table_after(at: int, items: Sequence[Item]) -> str | None:
    """The table that a column list such as `name and age of all singers` belongs to."""
    linked = False
    for item in items[at + 1 :]:
        if isinstance(item, str):
            if item.lstrip("#") not in CHAIN:
                return None
            linked = linked or item in ("of", "for", "in", "from", "#each")
        elif item.kind in ("t", "x") and linked:
            return item.table
        elif item.kind not in ("c", "x", "s", "v"):
            return None
    return None


def _settle_value(mention: Mention, at: int, items: Sequence[Item], anchors: Sequence[str], names: NameIndex) -> None:
    columns = _mentions(items[max(0, at - 4) : at + 3], "cx")
    next_to = _mentions((*items[max(0, at - 1) : at], *items[at + 1 : at + 2]), "v")
    neighbours = [match for item in next_to for match in item.matches]
    nouns = {item.table for item in _mentions(items[max(0, at - 2) : at + 2], "tx")}

    def worth(match: ValueMatch) -> float:
        near = min((names.distance(match.table, other) for other in anchors), default=0)
        score = match.score - 0.12 * min(near, 4) + (0.2 if match.table in anchors else 0.0)
        for item in columns:
            fits = [hit.score for hit in item.hits if (hit.table, hit.column) == (match.table, match.column)]
            score += 0.6 * max(fits, default=0.0)
        if match.table in nouns and names.title(match.table)[0].name == match.column:
            score += 0.15
        column = names.schema.column(match.table, match.column)
        if column is not None and column.kind == "text" and match.how == "exact":
            score += 0.05
        if names.references(Column(match.table, match.column)):
            score -= 0.03
        if any((m.table == match.table) and m.column != match.column for m in neighbours):
            score += 0.12
        return score

    best = max(mention.matches, key=worth)
    mention.table, mention.column, mention.literal = best.table, Column(best.table, best.column), best.value
