"""What a question mentions: which of its words stand for tables, columns, values, numbers and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ....tools.values.match import ValueMatch
from ..frames.frame import Column, Scalar
from .lexicon import ADJECTIVES, COMMANDS, COMPARATIVES, GENERIC, NOISE, NUMBERS, PHRASES, SUPERLATIVES
from .name_index import Hit, NameIndex
from .question_words import Word, spelled_out
from .spelling import corrected

_LONGEST = 5


@dataclass
class Mention:
    """A run of words with what it may stand for.

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
    hits: list[Hit] = field(default_factory=list[Hit])
    matches: list[ValueMatch] = field(default_factory=list[ValueMatch])
    table: str | None = None
    column: Column | None = None
    literal: Scalar | None = None
    hints: tuple[str, ...] = ()
    operator: str = ""
    descending: bool = False

    def meaning(self) -> str:
        """The words with the table, column or value that they were taken for; empty where for none."""
        column = f"{self.column.table}.{self.column.name}" if self.column else ""
        if self.kind == "v" and column:
            return f'"{self.text}" as the value {self.literal!r} of {column}'
        if self.kind not in "ctx" or not (column or self.table):
            return ""
        return f'"{self.text}" as the ' + (f"column {column}" if column and self.kind != "t" else f"table {self.table}")


def find_mentions(words: Sequence[Word], names: NameIndex, values: Iterable[ValueMatch]) -> list[Mention | str]:
    """The question as mentions and the words between them, in order; choices among tables are still open."""
    stems = [corrected(word, names) for word in words]
    options = [*_quoted(words), *_values(words, values), *_names(words, stems, names), *_phrases(words)]
    owner: list[Mention | None] = [None] * len(words)
    for _, mention in sorted(options, key=lambda option: -option[0]):
        if not any(owner[mention.start : mention.end]):
            owner[mention.start : mention.end] = [mention] * (mention.end - mention.start)
    found: list[Mention | str] = []
    for at, mention in enumerate(owner):
        if mention is None:
            found += [word] if (word := _plain(words, at)) is not None else []
        elif mention.start == at:
            found.append(mention.kind[1:] if mention.kind.startswith("=") else mention)
    return found


_Option = tuple[float, Mention]
"""A mention that the words may hold, with its weight: of two that overlap, the heavier is kept."""


def _quoted(words: Sequence[Word]) -> list[_Option]:
    return [(20.0, Mention("q", at, at + 1, w.text, literal=w.text)) for at, w in enumerate(words) if w.quoted]


def _values(words: Sequence[Word], values: Iterable[ValueMatch]) -> list[_Option]:
    spans: dict[tuple[int, int], list[ValueMatch]] = {}
    for match in values:
        start = next((i for i, word in enumerate(words) if word.end > match.start), len(words))
        end = next((i + 1 for i in range(len(words) - 1, -1, -1) if words[i].start < match.end), 0)
        if start < end:
            spans.setdefault((start, end), []).append(match)
    found: list[_Option] = []
    for (start, end), matches in spans.items():
        span = words[start:end]
        quoted = any(word.quoted for word in span)
        proper = any(word.text[:1].isupper() or word.text[:1].isdigit() for word in span[(start == 0) :])
        if quoted:
            matches = [m for m in matches if 1.25 * len(m.mention) >= len(span[0].text)]
        best = max((match.score for match in matches), default=0.0)
        if not quoted and not proper:
            if all(word.lower in COMMANDS or len(word.lower) < 3 for word in span):
                continue
            if len(span) == 1:
                matches = _of_common_word(span[0], words[start - 1].lower if start else "", matches)
        is_number = len(span) == 1 and span[0].text.replace(",", "").replace(".", "").isdigit()
        if not matches or is_number or best < (0.6 if quoted or matches[0].how == "abbreviation" else 0.8):
            continue
        weight = end - start + (30 if quoted else 0) + (0.6 if proper else 0.0) + (best - 1.0)
        keep = sorted((m for m in matches if m.score >= best - 0.1), key=lambda match: -match.score)
        text = " ".join(word.text for word in span)
        if keep:  # else all that was likely is what a common word cannot stand for
            found.append((weight, Mention("v", start, end, text, matches=keep, literal=keep[0].value)))
    return found


def _of_common_word(word: Word, before: str, matches: list[ValueMatch]) -> list[ValueMatch]:
    """The values that a single word in lower case may stand for."""
    is_code = all(m.value.isupper() and len(m.value) < 5 for m in matches) and matches[0].how != "abbreviation"
    if is_code and before not in ("in", "from", "at", "of", "code", "called", "named"):
        return []
    size = len(word.lower)
    matches = [m for m in matches if m.how != "typo" or abs(len(m.value) - size) < 3]
    # The town of Destin is no destination.
    matches = [m for m in matches if m.how != "inflection" or len(m.value) > 0.6 * size]
    is_verb = word.lower.endswith(("ed", "ing")) and all(match.how == "inflection" for match in matches)
    return [] if is_verb else matches


def _names(words: Sequence[Word], stems: Sequence[str], names: NameIndex) -> list[_Option]:
    found: list[_Option] = []
    for start in range(len(words)):
        for size in range(1, _LONGEST + 1):
            end = start + size
            if end > len(words) or words[end - 1].quoted:
                break
            hits = names.find(tuple(part for said in stems[start:end] for part in said.split()))
            if not hits or hits[0].score < 0.4:
                continue
            if size == 1 and not (_worth(words[start], start, hits[0]) and _noun(words, start, hits[0])):
                continue
            kept = [hit for hit in hits if hit.score >= hits[0].score - 0.65][:40]
            tables = any(hit.column is None and hit.score >= hits[0].score - 0.3 for hit in kept)
            columns = any(hit.column is not None and hit.score >= hits[0].score - 0.3 for hit in kept)
            kind = "x" if tables and columns else "t" if tables else "c"
            weight = size + 0.4 * min(hits[0].score, 1.0)
            found.append((weight, Mention(kind, start, end, " ".join(w.text for w in words[start:end]), kept)))
    return found


def _worth(word: Word, at: int, hit: Hit) -> bool:
    if at == 0 and word.lower in ("name", "list", "count", "order", "show"):
        return False
    if word.lower in COMMANDS and word.lower not in ("name", "names", "order", "number"):
        return False
    if word.lower in ("order", "orders"):
        return hit.score >= 0.6
    if word.lower == "number" or word.lower in SUPERLATIVES or word.lower in COMPARATIVES:
        return hit.score >= 0.9
    return len(word.lower) > 1 and not (word.stem in GENERIC and hit.score < 0.4)


def _noun(words: Sequence[Word], at: int, hit: Hit) -> bool:
    """Whether a word is no mere verb: `released` stands for a release date only before a time."""
    lower = words[at].lower
    if hit.score >= 0.9 or not lower.endswith(("ed", "ing")):
        return True
    if lower in spelled_out(hit.column or hit.table):
        return True
    return at + 1 < len(words) and words[at + 1].lower in (
        "in",
        "on",
        "before",
        "after",
        "between",
        "since",
        "at",
        "by",
        "from",
    )


def _phrases(words: Sequence[Word]) -> list[_Option]:
    found: list[_Option] = []
    lowers = [word.lower for word in words]
    for at, lower in enumerate(lowers):
        for phrase, marker in PHRASES.get(lower, ()):
            end = at + len(phrase)
            before_number = end < len(words) and lowers[end][:1].isdigit()
            if tuple(lowers[at:end]) == phrase and not (marker in ("#ormore", "#orless") and before_number):
                kind, operator = ("o", marker[2:]) if marker.startswith("@o") else ("=" + marker, "")
                found.append((len(phrase) + 0.35, Mention(kind, at, end, " ".join(phrase), operator=operator)))
        if single := _single(words, at):
            found.append((single.end - single.start + 0.39, single))
    return found


def _single(words: Sequence[Word], at: int) -> Mention | None:
    word = words[at]
    lower = word.lower
    before = words[at - 1].lower if at else ""
    after = words[at + 1].lower if at + 1 < len(words) else ""
    if lower in COMPARATIVES and lower != "expensive":
        operator, hints = COMPARATIVES[lower]
        end = at + 1
        if lower in ("more", "less") and after == "expensive":
            hints, end = ("price", "cost"), at + 2
        elif lower in ("more", "less") and after in ADJECTIVES:
            hints, end = ADJECTIVES[after], at + 2
        if end < len(words) and words[end].lower in ("than", "to"):
            end += 1
        elif lower in ("more", "less", "higher", "lower", "greater", "over", "later", "earlier") and after != "than":
            later = [other.lower for other in words[at + 1 : at + 6]]
            if "than" not in later[1:4] and not (lower == "over" and any(word[:1].isdigit() for word in later[:2])):
                return None
        return Mention("o", at, end, lower, operator=operator, hints=hints)
    if lower in SUPERLATIVES and not (lower in ("most", "least") and before == "at"):
        descending, hints = SUPERLATIVES[lower]
        if after in ADJECTIVES:
            return Mention("s", at, at + 2, f"{lower} {after}", hints=ADJECTIVES[after], descending=descending)
        return Mention("s", at, at + 1, lower, hints=hints, descending=descending)
    number = _number(word, before, after)
    return None if number is None else Mention("n", at, at + 1, word.text, literal=number)


def _number(word: Word, before: str, after: str) -> Scalar | None:
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


def _plain(words: Sequence[Word], at: int) -> str | None:
    lower = words[at].lower
    if lower == "a" and at and words[at - 1].lower in ("letter", "character"):
        return lower
    if lower in ("a", "an", "the") or lower in NOISE or lower in ("%", "$", "'s"):
        return None
    if lower in ("?", "!"):
        lower = "."
    return "," if lower == ";" else lower
