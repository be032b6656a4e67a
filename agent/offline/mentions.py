"""The mentions of tables, columns, values, numbers and comparisons in a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ...tools.database.schema import Schema
from ...tools.values.match import ValueMatch
from .frame import Column, QueryFrame, Scalar
from .names import NameHit, StemIndex
from .sql import list_query_tables
from .words import ADJECTIVES, CHAIN, COMMANDS, COMPARATIVES, GENERIC, NOISE, NUMBERS, PHRASES, SUPERLATIVES, Token

_LONGEST = 5
_WHOLE_NAME = 0.6  # least score of a column of which more is said than half the name
_IDENTIFIERS = frozenset({"id", "ids", "code", "codes", "number", "numbers", "key", "no", "name", "names"})
"""Words that ask for an identifier itself, not for what it stands for."""


@dataclass
class Mention:
    """A run of words that may name a table, column, value, number or comparison.

    Attributes:
        kind: `t` table, `c` column, `x` either, `v` value, `q` a text that no column holds, `n` number,
            `o` comparison, `s` superlative; the grammar adds `a`, an aggregate or count.
        start: Index of the first word.
        end: Index past the last word.
        text: The words as written.
        hits: For tables and columns, best first.
        matches: For values.
        table: The table chosen.
        column: The column chosen (of the value, too).
        literal: The value or number.
        hints: For comparisons and superlatives, the column words that the adjective is about.
        operator: For comparisons.
        descending: For superlatives.
    """

    kind: str
    start: int
    end: int
    text: str
    hits: list[NameHit] = field(default_factory=list[NameHit])
    matches: list[ValueMatch] = field(default_factory=list[ValueMatch])
    table: str | None = None
    column: Column | None = None
    literal: Scalar | None = None
    hints: tuple[str, ...] = ()
    operator: str = ""
    descending: bool = False

    def meaning(self) -> str:
        """Return the words with the table, column or value that they stand for, or ''."""
        column = f"{self.column.table}.{self.column.name}" if self.column else ""
        if self.kind == "v" and column:
            return f'"{self.text}" as the value {self.literal!r} of {column}'
        if self.kind not in "ctx" or not (column or self.table):
            return ""
        return f'"{self.text}" as the ' + (f"column {column}" if column and self.kind != "t" else f"table {self.table}")


def find_mentions(words: Sequence[Token], names: StemIndex, values: Iterable[ValueMatch]) -> list[Mention | str]:
    """Return the question as mentions and other words, in order; tables are not chosen yet."""
    stems = [names.correct_stem(word) for word in words]
    quotes = [(20.0, Mention("q", at, at + 1, w.text, literal=w.text)) for at, w in enumerate(words) if w.quoted]
    options = [*quotes, *_find_values(words, values), *_find_names(words, stems, names), *_find_phrases(words)]
    owner: list[Mention | None] = [None] * len(words)
    for _, mention in sorted(options, key=lambda option: -option[0]):
        if not any(owner[mention.start : mention.end]):
            owner[mention.start : mention.end] = [mention] * (mention.end - mention.start)
    items: list[Mention | str] = []
    for at, mention in enumerate(owner):
        if mention is None:
            items += [word] if (word := _normalize_word(words, at)) is not None else []
        elif mention.start == at:
            items.append(mention.kind[1:] if mention.kind.startswith("=") else mention)
    return items


_Option = tuple[float, Mention]
"""A mention that the words may hold, with its weight: of two that overlap, the heavier is kept."""


def _find_values(words: Sequence[Token], values: Iterable[ValueMatch]) -> list[_Option]:
    spans: dict[tuple[int, int], list[ValueMatch]] = {}
    for match in values:
        start = next((i for i, word in enumerate(words) if word.end > match.start), len(words))
        end = next((i + 1 for i in range(len(words) - 1, -1, -1) if words[i].start < match.end), 0)
        if start < end:
            spans.setdefault((start, end), []).append(match)
    options: list[_Option] = []
    for (start, end), matches in spans.items():
        span = words[start:end]
        is_quoted = any(word.quoted for word in span)
        proper = any(word.text[:1].isupper() or word.text[:1].isdigit() for word in span[(start == 0) :])
        if is_quoted:
            matches = [m for m in matches if 1.25 * len(m.mention) >= len(span[0].text)]
        best = max((match.score for match in matches), default=0.0)
        if not is_quoted and not proper and all(word.lower in COMMANDS or len(word.lower) < 3 for word in span):
            continue
        is_number = len(span) == 1 and span[0].text.replace(",", "").replace(".", "").isdigit()
        if not matches or is_number or best < (0.6 if is_quoted or matches[0].how == "abbreviation" else 0.8):
            continue
        weight = end - start + (30 if is_quoted else 0) + (0.6 if proper else 0.0) + (best - 1.0)
        keep = sorted((m for m in matches if m.score >= best - 0.1), key=lambda match: -match.score)
        text = " ".join(word.text for word in span)
        if keep:  # else all that was likely is what a common word cannot stand for
            options.append((weight, Mention("v", start, end, text, matches=keep, literal=keep[0].value)))
    return options


def _find_names(words: Sequence[Token], stems: Sequence[str], names: StemIndex) -> list[_Option]:
    options: list[_Option] = []
    for start in range(len(words)):
        for size in range(1, _LONGEST + 1):
            end = start + size
            if end > len(words) or words[end - 1].quoted:
                break
            hits = names.find(tuple(part for stem in stems[start:end] for part in stem.split()))
            if not hits or hits[0].score < 0.4:
                continue
            if size == 1 and not _is_likely_name(words[start], start, hits[0]):
                continue
            near_hits = [hit for hit in hits if hit.score >= hits[0].score - 0.65][:40]
            tables = any(hit.column is None and hit.score >= hits[0].score - 0.3 for hit in near_hits)
            columns = any(hit.column is not None and hit.score >= hits[0].score - 0.3 for hit in near_hits)
            kind = "x" if tables and columns else "t" if tables else "c"
            weight = size + 0.4 * min(hits[0].score, 1.0)
            options.append((weight, Mention(kind, start, end, " ".join(w.text for w in words[start:end]), near_hits)))
    return options


def _is_likely_name(word: Token, index: int, hit: NameHit) -> bool:
    if index == 0 and word.lower in ("name", "list", "count", "order", "show"):
        return False
    if word.lower in COMMANDS and word.lower not in ("name", "names", "order", "number"):
        return False
    if word.lower in ("order", "orders"):
        return hit.score >= 0.6
    if word.lower == "number" or word.lower in SUPERLATIVES or word.lower in COMPARATIVES:
        return hit.score >= 0.9
    return len(word.lower) > 1 and not (word.stem in GENERIC and hit.score < 0.4)


def _find_phrases(words: Sequence[Token]) -> list[_Option]:
    options: list[_Option] = []
    lowers = [word.lower for word in words]
    for index, lower in enumerate(lowers):
        for phrase, marker in PHRASES.get(lower, ()):
            end = index + len(phrase)
            before_number = end < len(words) and lowers[end][:1].isdigit()
            if tuple(lowers[index:end]) == phrase and not (marker in ("#ormore", "#orless") and before_number):
                kind, operator = ("o", marker[2:]) if marker.startswith("@o") else ("=" + marker, "")
                options.append((len(phrase) + 0.35, Mention(kind, index, end, " ".join(phrase), operator=operator)))
        if single := _find_single_word_mention(words, index):
            options.append((single.end - single.start + 0.39, single))
    return options


def _find_single_word_mention(words: Sequence[Token], index: int) -> Mention | None:
    word = words[index]
    lower = word.lower
    before = words[index - 1].lower if index else ""
    after = words[index + 1].lower if index + 1 < len(words) else ""
    if lower in COMPARATIVES and lower != "expensive":
        operator, hints = COMPARATIVES[lower]
        end = index + 1
        if lower in ("more", "less") and after == "expensive":
            hints, end = ("price", "cost"), index + 2
        elif lower in ("more", "less") and after in ADJECTIVES:
            hints, end = ADJECTIVES[after], index + 2
        if end < len(words) and words[end].lower in ("than", "to"):
            end += 1
        elif lower in ("more", "less", "higher", "lower", "greater", "over", "later", "earlier") and after != "than":
            later = [other.lower for other in words[index + 1 : index + 6]]
            if "than" not in later[1:4] and not (lower == "over" and any(word[:1].isdigit() for word in later[:2])):
                return None
        return Mention("o", index, end, lower, operator=operator, hints=hints)
    if lower in SUPERLATIVES and not (lower in ("most", "least") and before == "at"):
        descending, hints = SUPERLATIVES[lower]
        if after in ADJECTIVES:
            return Mention("s", index, index + 2, f"{lower} {after}", hints=ADJECTIVES[after], descending=descending)
        return Mention("s", index, index + 1, lower, hints=hints, descending=descending)
    number = _parse_number(word, before, after)
    return None if number is None else Mention("n", index, index + 1, word.text, literal=number)


def _parse_number(word: Token, before: str, after: str) -> Scalar | None:
    if word.quoted:
        return None
    text = word.text.replace(",", "")
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    if word.lower[:1].isdigit() and ("-" in text or "/" in text):
        return word.text
    if word.lower == "one" and (
        before in ("which", "the", "that", "this", "what")
        or after in ("with", "is", "has")
        or (before == "only" and after in ("", ".", "?", "that", "who", "which", "from", "in"))
    ):
        return None
    return NUMBERS.get(word.lower)


def _normalize_word(words: Sequence[Token], index: int) -> str | None:
    lower = words[index].lower
    if lower == "a" and index and words[index - 1].lower in ("letter", "character"):
        return lower
    if lower in ("a", "an", "the") or lower in NOISE or lower in ("%", "$", "'s"):
        return None
    if lower in ("?", "!"):
        lower = "."
    return "," if lower == ";" else lower


Item = Mention | str


def resolve_mentions(items: Sequence[Item], names: StemIndex, context: Sequence[str] = ()) -> None:
    """Choose the tables, then the columns and values, of mentions; update the mentions in place.

    Args:
        items: A question's mentions and words.
        names: The schema.
        context: Tables that the conversation is about.
    """
    tables = _choose_mentioned_tables(items, names)
    anchors = tables or list(context) or _choose_implied_table(items, names)
    for index, item in enumerate(items):
        if isinstance(item, Mention) and item.kind in "cx":
            _choose_column(item, index, items, anchors, names)
    for index, item in enumerate(items):
        if isinstance(item, Mention) and item.kind == "v":
            _choose_value(item, index, items, anchors, names)


def _filter_mentions_by_kind(items: Iterable[Item], kinds: str) -> list[Mention]:
    return [item for item in items if isinstance(item, Mention) and item.kind in kinds]


def _choose_mentioned_tables(items: Sequence[Item], names: StemIndex) -> list[str]:
    """Choose a table for each table mention, preferring tables near other mentioned tables."""
    mentions = _filter_mentions_by_kind(items, "tx")
    sure = [m.hits[0].table for m in mentions if m.hits[0].score >= 0.9 and m.hits[0].column is None]
    tables: list[str] = []
    for mention in mentions:
        options = [hit for hit in mention.hits if hit.column is None]

        def score_table_hit(hit: NameHit) -> float:
            distance = min((names.count_joins(hit.table, other) for other in sure if other != hit.table), default=0)
            return hit.score - 0.05 * min(distance, 4) - 0.02 * len(hit.table) / 20

        mention.table = max(options, key=score_table_hit).table
        index = items.index(mention)
        before = [items[index - 1], items[index - 2]] if index > 1 else ["", ""]
        best = max(hit.score for hit in options)
        is_list = before[0] in ("for", "all") or (
            before[0] == "of" and isinstance(before[1], Mention) and before[1].kind == "c"
        )
        if mention.kind == "x" and is_list and best >= 0.8:
            mention.kind = "t"
        if best >= 0.5 and (mention.kind == "t" or best >= mention.hits[0].score):
            tables.append(mention.table)
    return list(dict.fromkeys(tables))


def _choose_implied_table(items: Sequence[Item], names: StemIndex) -> list[str]:
    """Return the table that contains most of the mentioned items; foreign keys count less."""
    weights: dict[str, float] = {}
    for item in items:
        if isinstance(item, Mention):
            best: dict[str, float] = {}
            for hit in item.hits:
                leads = hit.column is not None and names.find_parent(Column(hit.table, hit.column)) is not None
                best[hit.table] = max(best.get(hit.table, 0), hit.score - 0.05 * leads)
            for match in item.matches:
                best[match.table] = max(best.get(match.table, 0), match.score)
            for table, score in best.items():
                weights[table] = weights.get(table, 0) + score
    most = max(weights.values(), default=0.0)
    return [table for table, weight in weights.items() if weight > most - 1e-9][:1]


def _choose_column(mention: Mention, at: int, items: Sequence[Item], anchors: Sequence[str], names: StemIndex) -> None:
    """Choose the column that a mention stands for, and update the mention in place."""
    start = at
    while start and items[start - 1] in ("#who", "with", "has", "have", "having", "had"):
        start -= 1
    item = items[start - 1] if start else None
    before = item.table if isinstance(item, Mention) and item.kind in ("t", "x") else None
    after = _find_table_after_columns(at, items)

    def score_column_hit(hit: NameHit) -> float:
        score = hit.score
        if before is not None and hit.table == before:
            score += 0.55
        elif after is not None:
            score += 0.5 - 0.2 * min(names.count_joins(hit.table, after), 4)
        if hit.table in anchors:
            score += 0.2
        distance = min((names.count_joins(hit.table, other) for other in anchors), default=0)
        score -= 0.12 * min(distance, 4)
        assert hit.column is not None
        if names.find_parent(Column(hit.table, hit.column)):
            score -= 0.05
        return score

    options = [hit for hit in mention.hits if hit.column is not None]
    best = max(options, key=score_column_hit)
    owner = before or after or (anchors[0] if len(anchors) == 1 else None)
    if owner is not None and best.table != owner and mention.text.lower() in ("name", "names"):
        mention.column = names.find_titles(owner)[0]
        return
    if best.column is not None and best.score < 0.9 and mention.text.lower().split()[-1] not in _IDENTIFIERS:
        column = Column(best.table, best.column)
        entity = names.find_parent(column) or (column.table if names.key(column.table) == column else None)
        if entity is not None and (entity != column.table or names.find_parent(column) is None):
            mention.kind, mention.table = "t", entity
            return
    assert best.column is not None
    mention.column = Column(best.table, best.column)
    if mention.kind == "x" and mention.table != best.table and best.table in (before, after):
        mention.kind = "c"


def _find_table_after_columns(index: int, items: Sequence[Item]) -> str | None:
    """Return the table that a column list such as `name and age of all singers` belongs to."""
    has_link = False
    for item in items[index + 1 :]:
        if isinstance(item, str):
            if item.lstrip("#") not in CHAIN:
                return None
            has_link = has_link or item in ("of", "for", "in", "from", "#each")
        elif item.kind in ("t", "x") and has_link:
            return item.table
        elif item.kind not in ("c", "x", "s", "v"):
            return None
    return None


def _choose_value(mention: Mention, at: int, items: Sequence[Item], anchors: Sequence[str], names: StemIndex) -> None:
    """Choose the value that a mention stands for, and update the mention in place."""
    columns = _filter_mentions_by_kind(items[max(0, at - 4) : at + 3], "cx")
    adjacent = _filter_mentions_by_kind((*items[max(0, at - 1) : at], *items[at + 1 : at + 2]), "v")
    neighbours = [match for item in adjacent for match in item.matches]
    nouns = {item.table for item in _filter_mentions_by_kind(items[max(0, at - 2) : at + 2], "tx")}

    def score_value_match(match: ValueMatch) -> float:
        distance = min((names.count_joins(match.table, other) for other in anchors), default=0)
        score = match.score - 0.12 * min(distance, 4) + (0.2 if match.table in anchors else 0.0)
        for item in columns:
            fits = [hit.score for hit in item.hits if (hit.table, hit.column) == (match.table, match.column)]
            score += 0.6 * max(fits, default=0.0)
        if match.table in nouns and names.find_titles(match.table)[0].name == match.column:
            score += 0.15
        column = names.schema.column(match.table, match.column)
        if column is not None and column.kind == "text" and match.how == "exact":
            score += 0.05
        if names.find_parent(Column(match.table, match.column)):
            score -= 0.03
        if any((m.table == match.table) and m.column != match.column for m in neighbours):
            score += 0.12
        return score

    best = max(mention.matches, key=score_value_match)
    mention.table, mention.column, mention.literal = best.table, Column(best.table, best.column), best.value


def names_missing_table(mention: Mention, names: StemIndex) -> bool:
    """Whether a mention names only what a key column such as `city_id` refers to, with no table `city`."""
    is_part = bool(mention.hits) and mention.hits[0].score < _WHOLE_NAME
    keys = [Column(hit.table, hit.column) for hit in mention.hits if hit.column and hit.column.lower().endswith("id")]
    return is_part and any(names.find_parent(key) is None and names.key(key.table) != key for key in keys)


_TITLES = ("name", "names", "title", "titles")


def find_unused_mentions(mentions: Iterable[Mention], frame: QueryFrame, schema: Schema) -> list[Mention]:
    """Return mentions that contribute no table, column, literal or order to a query."""
    tables = list_query_tables(frame, schema)
    columns = {column for query in frame.list_queries() for column in query.columns()}
    literals = [str(literal).lower() for literal in frame.list_literals()]

    def is_mention_used(mark: Mention) -> bool:
        if mark.kind in ("v", "q", "n"):
            forms = {mark.literal, mark.text, *(match.value for match in mark.matches)}
            after = {mark.literal + 1} if isinstance(mark.literal, int) else set[int]()  # a year may be the bound after
            spelled_values = {str(value).lower() for value in forms | after}
            return mark.literal in (0, 1) or any(text in literal for text in spelled_values for literal in literals)
        if mark.kind == "s":
            return frame.is_ranking_query()
        if mark.kind in ("a", "o") or mark.text.lower() in _TITLES or mark.table in tables:
            return True
        targets = {Column(hit.table, hit.column) for hit in mark.hits if hit.column}
        return not columns.isdisjoint({*targets, mark.column})

    return [mark for mark in {id(mark): mark for mark in mentions}.values() if not is_mention_used(mark)]
