"""Finding the one SQL statement in a model's reply, which is untrusted and rarely just SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from ..tools.database.quoting import engine_name
from ..tools.errors import ReplyError
from .reply_text import Fence, clean_reply, find_fences, find_json, is_refusal, text_field
from .statement_text import before_labels, first_statement, is_sql, parses, starts_like_sql, until_prose


def hint(engine: str = "SQLite") -> str:
    """What a second try is asked for, in the words of the database's engine."""
    block = "a fenced block that starts with ```sql"
    return f"Reply with exactly one {engine} SELECT statement in {block}, and nothing else."


_LABEL = re.compile(
    r"^[ \t>*#-]{0,12}(?:\*\*|__)?(?:(?:final|corrected|revised|new|updated|the|answer)\s+)?"
    r"(?:sql\s*query|sqlite|sql|query)(?:\s+(?:query|statement|is))?\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(r"(?<!`)`((?:SELECT|WITH)\s[^`\n]+)`(?!`)", re.IGNORECASE)
_ASIDE = re.compile(
    r"alternativ|equivalent|you could also|you can also|another way|optional|for comparison|to verify|sanity check",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(r"EXPLAIN\s+(?:QUERY\s+PLAN\s+|ANALY[SZ]E\s+)?", re.IGNORECASE)
_OTHER_LANGUAGES = frozenset({"python", "py", "python3", "json", "csv", "diff"})
_TAG = re.compile(r"<(sql|query|sqlquery|sql_query|answer|final_sql|final_answer)>", re.IGNORECASE)

_HALF_A_FENCE = re.compile(r"\n[ \t>]*[`~]{1,2}$")

_TRIES = 10
"""Positions in a reply that are looked at; one with more is no answer, and each costs a pass over the rest."""


@dataclass(frozen=True)
class SQLReply:
    """The statement found, and remarks on what else the reply held."""

    sql: str
    notes: tuple[str, ...] = ()


def find_sql(text: str, dialect: str = "sqlite") -> SQLReply:
    """The statement that the reply gives as its answer.

    Of several fenced blocks the last counts, since a reply that goes step by step ends with its answer, but not one
    that is introduced as an alternative. Of several statements in one block the first counts.

    Args:
        text: The reply.
        dialect: Of the SQL that was asked for, by sqlglot's name.

    Raises:
        ReplyError: `empty`, `refused` or `malformed`, with a hint for a second try.
    """
    reply = clean_reply(text)
    notes: list[str] = []
    from_prose = partial(_from_prose, dialect=dialect)
    readers = (_from_json, _from_tags, _from_labels, from_prose)
    if starts_like_sql(reply):
        readers = (from_prose, *readers)
    candidate = _from_fences(reply, notes) or next((found for read in readers if (found := read(reply))), "")
    if not candidate:
        raise _no_sql(reply, engine_name(dialect))
    statement, more = first_statement(before_labels(candidate, dialect), dialect)
    if more:
        notes.append("The model wrote several statements; only the first was used.")
    if explain := _EXPLAIN.match(statement):
        statement = statement[explain.end() :]
        notes.append("The model put EXPLAIN before its query; the query itself was taken.")
    return SQLReply(statement, tuple(notes))


def sql_so_far(reply: str) -> str:
    """The statement as far as it can be told from the beginning of a reply; empty where none has begun.

    What is given for a longer beginning goes on from what was given before, unless another block of SQL begins.
    """
    try:
        reply = clean_reply(reply)
    except ReplyError:
        return ""
    blocks = [fence for fence in find_fences(reply) if _holds_sql(fence)]
    if blocks:
        return _HALF_A_FENCE.sub("", blocks[-1].content).rstrip()
    return reply if starts_like_sql(reply) else ""


def _no_sql(reply: str, engine: str) -> ReplyError:
    shown = " ".join(reply.split())[:160]
    if is_refusal(reply):
        return ReplyError(f"the model declined to write SQL: {shown}", "refused", hint(engine))
    advice = f"Your last reply held no SQL. {hint(engine)}"
    return ReplyError(f"the model's reply holds no SQL: {shown}", "malformed", advice)


def _from_fences(reply: str, notes: list[str]) -> str:
    found = [fence for fence in find_fences(reply) if _holds_sql(fence)]
    plain = [fence for fence in found if not _ASIDE.search(fence.before)] or found[:1]
    if len(found) > 1:
        notes.append(f"The model wrote {len(found)} queries; the one that it gave as its answer was taken.")
    return plain[-1].content if plain else ""


def _holds_sql(fence: Fence) -> bool:
    return may_hold_sql(fence) and starts_like_sql(fence.content, is_block="sql" in fence.language)


def may_hold_sql(fence: Fence) -> bool:
    """Whether a block is not said to be in another language."""
    return fence.language not in _OTHER_LANGUAGES


def _from_json(reply: str) -> str:
    record = find_json(reply)
    if record is None:
        return ""
    found = text_field(record, "sql", "sql_query", "sqlquery", "query", "statement", "answer")
    if "```" in found:
        return _from_fences(found, [])
    return found if starts_like_sql(found) else ""


def _from_tags(reply: str) -> str:
    """Models that see data between tags like to answer between tags."""
    for tag in islice(_TAG.finditer(reply), _TRIES):
        end = reply.lower().find(f"</{tag.group(1).lower()}>", tag.end())
        content = reply[tag.end() : end if end >= 0 else len(reply)].strip()
        if starts_like_sql(content):
            return content
    return ""


def _from_labels(reply: str) -> str:
    for label in islice(_LABEL.finditer(reply), _TRIES):
        rest = reply[label.end() :].lstrip(" \t\r\n`\"'")
        if starts_like_sql(rest):
            return until_prose(rest)
    return ""


def _from_prose(reply: str, dialect: str) -> str:
    if inline := _INLINE.search(reply):
        return inline.group(1)
    for start in islice(_statement_lines(reply), _TRIES):
        candidate = before_labels(until_prose(reply[start:].lstrip(" \t>*`")), dialect)
        if is_sql(candidate, dialect):
            return candidate
    return _from_sentence(reply, dialect)


def _statement_lines(reply: str) -> Iterator[int]:
    """Where lines start that begin as a statement does, or the comment lines just before such a line."""
    position, comments = 0, -1
    for line in reply.splitlines(keepends=True):
        text = line.lstrip(" \t>*`")
        if text.startswith("--"):
            comments = position if comments < 0 else comments
        else:
            if starts_like_sql(text):
                yield position if comments < 0 else comments
            comments = -1
        position += len(line)


def _from_sentence(reply: str, dialect: str) -> str:
    """A query in the middle of a sentence counts only where it parses: there is no other sign of its end."""
    start = re.search(r"\bSELECT\s", reply)
    if start is None:
        return ""
    sentence = reply[start.start() :].split("\n", 1)[0]
    ends = [mark.start() for mark in islice(re.finditer(r";|[.:](?=\s|$)|$", sentence), _TRIES)]
    tried = (sentence[:end].strip(" `\"'.") for end in ends)
    return next((candidate for candidate in tried if parses(candidate, dialect)), "")
