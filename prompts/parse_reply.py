"""The parser of the lines around the SQL of a reply.

Asked for are short labelled lines before or after one block of SQL; taken is what models make of that: other labels of
the same meaning, JSON with such keys, labels filled in with "none", or the SQL alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from ..tools.database.quoting import get_engine_name
from ..tools.errors import ReplyError
from .find_sql import FROM, LABEL, LABELS, OTHER_READING, begins_sql, cut_at_label, cut_statement, find_sql, may_be_sql
from .reply_text import find_blocks, find_json_object, get_field, remove_reasoning_tags
from .reply_types import Intent, OtherReading, Rephrasing, SQLDraft, WriterComments

ReplyForm = Literal["sql", "answer", "settle", "any"]
"""What a reply may be.

`sql`: a query, and nothing else is read. `answer`: a query with the lines around it. `settle`: that, or why there is
none. `any`: that, or a question to ask back.
"""

_NOTHING = re.compile(r"\W*(?:none|no|n/?a|nothing|empty|not applicable|not needed|-*)\W*", re.IGNORECASE)
_CHOICE = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+(\S[^\n]*)$", re.MULTILINE)
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")
_WORDS = {"high": 0.9, "certain": 0.95, "sure": 0.9, "medium": 0.6, "moderate": 0.6, "low": 0.3, "unsure": 0.3}
_JSON_KEYS = frozenset({"sql", "query", "intent", "ask_back", "cannot_answer", "small_talk"})
_MOST_CHOICES = 6


@dataclass(frozen=True)
class LabelledLines:
    """The texts of the labelled lines around a reply's SQL, with defaults for missing lines."""

    question: str = ""
    say: str = ""
    sure: float | None = None
    why: str = ""
    intent: Intent = "answerable"
    words: str = ""
    choices: tuple[str, ...] = ()


def parse_reply(text: str, question: str, dialect: str = "sqlite", form: ReplyForm = "any") -> SQLDraft:
    """Parse a reply into a draft: a query, or the reason why the reply has none.

    A query wins over lines that decline, unless it reads no table: models that were offered a line like to fill it in.

    Raises:
        ReplyError: It holds neither a query nor a line that may stand for one; its hint is for a second try.
    """
    if form == "sql":
        return find_sql(text, dialect)
    reply, other = _split_off_other_reading(remove_reasoning_tags(text), dialect)
    record = find_json_object(reply)
    if record is not None and not _JSON_KEYS & {key.casefold() for key in record}:
        record = None  # a value within a query
    lines = parse_labelled_lines(reply, dialect) if record is None else parse_json_fields(record)
    declines = lines.intent != "answerable"
    may_decline = form == "any" or (form == "settle" and lines.intent != "ambiguous")
    draft = None
    try:
        # Readings on offer may hold pieces of SQL: beside a line that declines only a block counts as the answer.
        blocks = "\n\n".join(f"```{fence.language}\n{fence.content}\n```" for fence in find_blocks(reply)) or "-"
        draft = find_sql(blocks if declines and record is None else reply, dialect)
    except ReplyError as error:
        if not declines:
            raise ReplyError(str(error), error.kind, _write_retry_hint(form, dialect)) from None
    if draft is not None and not (declines and may_decline and not FROM.search(draft.sql)):
        rephrasing = Rephrasing(lines.question, lines.question) if lines.question else None
        doubt = "" if _NOTHING.fullmatch(lines.why) else lines.why
        comments = WriterComments(lines.sure, doubt, other, lines.say)
        return replace(draft, comments=comments, understood=rephrasing)
    if not may_decline:
        kind = {"ambiguous": "asks back", "unanswerable": "declines"}.get(lines.intent, "answers nothing")
        raise ReplyError(f"the model {kind}: {lines.words}"[:200], "malformed", _write_retry_hint(form, dialect))
    return SQLDraft("", understood=Rephrasing(question, "", lines.intent, lines.words, lines.choices))


def _split_off_other_reading(reply: str, dialect: str) -> tuple[str, OtherReading | None]:
    """Split a reply into its main part and the other interpretation that it offers, if any."""
    blocks = find_blocks(reply)
    label = next((m for m in OTHER_READING.finditer(reply) if not any(m[0] in block.content for block in blocks)), None)
    if label is None:
        return reply, None
    before, after = reply[: label.start()], reply[label.end() :]
    words = label["words"].strip(' \t*_"“”`.')
    first_block = next(iter(find_blocks(after)), None)
    if first_block is None or not any(begins_sql(block.content) for block in find_blocks(before)):
        # Without a query of its own it is words alone; the label may then stand before the answer.
        return f"{before}\n{after}", None
    tail = after.split(first_block.content, 1)[1].split("\n", 2)[-1]
    try:
        # Of several statements nobody knows which is meant.
        has_several = cut_statement(first_block.content, dialect)[1]
        sql = "" if has_several else find_sql(f"```sql\n{first_block.content}\n```", dialect).sql
    except ReplyError:
        sql = ""
    return f"{before}\n{tail}", OtherReading(words, sql) if sql and not _NOTHING.fullmatch(words) else None


def _write_retry_hint(form: ReplyForm, dialect: str) -> str:
    query = f"Reply with one {get_engine_name(dialect)} SELECT statement in a fenced block that starts with ```sql"
    if form == "answer":
        return f"{query}: the one that comes closest to what is asked."
    lines = '"Cannot answer:" or "Small talk:"'
    if form == "any":
        return f'{query}, or with a line that starts with "Ask back:", {lines}.'
    return f"{query}, or with a line that starts with {lines}. Do not ask back: take the likeliest reading."


def _remove_fenced_sql(reply: str, dialect: str) -> str:
    # A block that is lines with SQL among them is read as those lines.
    for fence in find_blocks(reply):
        lines = ""
        if may_be_sql(fence) and LABEL.search(fence.content):
            sql = cut_at_label(fence.content, dialect) if begins_sql(fence.content) else ""
            lines = fence.content[len(sql) :]
        reply = reply.replace(fence.content, lines or " ") if fence.content else reply
    return reply


def parse_labelled_lines(reply: str, dialect: str = "sqlite") -> LabelledLines:
    """Parse the labelled lines of a reply."""
    lines, text = LabelledLines(), _remove_fenced_sql(reply, dialect)
    labels = list(LABEL.finditer(text))
    for label, following in zip(labels, [*labels[1:], None], strict=False):
        name = next(name for name in LABELS if label[name] is not None)
        words = label["text"].strip(' \t*_"“”`')
        remainder = text[label.end() : following.start() if following else len(text)]
        if name == "sure":
            sure, reason = _parse_confidence(words)
            lines = replace(lines, sure=sure, why=reason)
        elif name in ("question", "say"):
            text_so_far = lines.question if name == "question" else lines.say
            lines = lines if text_so_far or _NOTHING.fullmatch(words) else replace(lines, **{name: words})
        elif lines.intent == "answerable":
            words = words or next(iter(remainder.strip().splitlines()), "").strip()
            if not _NOTHING.fullmatch(words):
                choices = tuple(_CHOICE.findall(remainder))[:_MOST_CHOICES] if name == "ambiguous" else ()
                lines = replace(lines, intent=cast("Intent", name), words=words, choices=_strip_markdown(choices))
    return lines


def parse_json_fields(record: dict[str, object]) -> LabelledLines:
    """Parse the fields of a JSON reply except the SQL."""
    label = get_field(record, "intent", "type", "label").lower().replace(" ", "_").replace("-", "_")
    intent = cast("Intent", label) if label in get_args(Intent) else "answerable"
    words = get_field(record, "reply", "reason", "response", "clarification")
    for name, keys in (
        ("ambiguous", ("ask_back", "ask back", "clarify")),
        ("unanswerable", ("cannot_answer", "cannot answer")),
        ("small_talk", ("small_talk", "small talk")),
    ):
        if (text := get_field(record, *keys)) and not _NOTHING.fullmatch(text):
            intent, words = cast("Intent", name), text
    fields = {key.casefold(): value for key, value in record.items()}
    confidence = next((fields[key] for key in ("sure", "confidence", "certainty") if key in fields), "")
    sure, reason = _parse_confidence(str(confidence))
    items = next((fields[key] for key in ("choices", "readings", "options") if key in fields), ())
    entries = cast("list[object]", items) if isinstance(items, list) else []
    choices = tuple(entry for entry in entries if isinstance(entry, str) and entry.strip())[:_MOST_CHOICES]
    question = get_field(record, "question", "rephrased", "rephrased_question")
    sentence, reason = get_field(record, "say"), reason or get_field(record, "why")
    return LabelledLines(question, sentence, sure, reason, intent, words, _strip_markdown(choices))


def _strip_markdown(choices: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(choice.strip(' \t*_"“”`') for choice in choices)


def _parse_confidence(text: str) -> tuple[float | None, str]:
    """Return a confidence from 0 to 1 and its reason; `85`, `85 %` and `0.85` are equal."""
    number = _NUMBER.search(text)
    if number is None:
        term = next((word for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS), "")
        return _WORDS.get(term), ""
    value = float(number[1])
    hundredths = number[2] == "%" or value > 1 or "." not in number[1]
    reason = re.sub(r"^\s*/\s*100", "", text[number.end() :]).strip(" \t,;:.–—-()")
    return min(value / 100 if hundredths else value, 1.0), reason
