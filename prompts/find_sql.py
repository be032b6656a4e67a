"""The search for the one SQL statement in a model's reply, which is untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from ..tools.database.quoting import get_engine_name
from ..tools.errors import ReplyError
from ..tools.sql.parse import CHANGES, MAX_LENGTH, READS, find_statement_ends, parse, return_default_if_unparsable
from .reply_text import REFUSAL, FencedBlock, find_blocks, find_json_object, get_field, remove_reasoning_tags
from .reply_types import SQLDraft

LABELS: dict[str, str] = {
    # Asked for in English; a model that writes German may translate them all the same.
    "question": r"(?:self-contained |full |rephrased )?question|rephrased|meaning|frage",
    "say": r"say",
    "sure": r"(?:how )?sure|confidence|certainty|sicher(?:heit)?",
    "ambiguous": r"ask(?:ing)? back|clarification(?: needed)?|clarify(?:ing question)?|r(?:ü|ue)ckfrage",
    "unanswerable": r"cannot answer|can[’']t answer|cannot be answered|unanswerable|not answerable",
    "small_talk": r"small[ _-]?talk",
}
LABEL = re.compile(
    r"^[ \t>*#_-]{0,8}(?:" + "|".join(f"(?P<{name}>{words})" for name, words in LABELS.items()) + r")[ \t*_]{0,4}:(?!:)"
    r"[ \t*_]{0,4}(?P<text>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)

OTHER_READING = re.compile(
    r"^[ \t>*#_-]{0,8}(?:an)?other reading[ \t*_]{0,4}:[ \t*_]{0,4}(?P<words>[^\n]*)", re.IGNORECASE | re.MULTILINE
)

_START = re.compile(
    r"(?:SELECT|VALUES|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|PRAGMA|ATTACH|EXPLAIN)\b(?!\s*[:,.])"
    r"|BEGIN(?:\s+(?:TRANSACTION|WORK))?\s*;|START\s+TRANSACTION\s*;"
    # Words that begin sentences too, in one case and before what only statements have.
    r"|(?-i:(?=[A-Z]{2}|[a-z]))(?:(?:TRUNCATE|LOCK|RENAME)\s+TABLE|MERGE\s+INTO|REFRESH\s+MATERIALIZED|FROM\s+[\w\"`(]"
    r"|EXPORT\s+DATABASE|INSTALL\s+\w+;?$|CALL\s+[\w.\"`]+\s*\(|COPY\s[^\n]*\s(?:TO|FROM)\s+(?:'|STDIN|STDOUT|PROGRAM)"
    r"|DO\s+(?:\$|LANGUAGE\s|')|(?:GRANT|REVOKE)\s+(?:ALL|SELECT|INSERT|UPDATE|DELETE|USAGE|CREATE|EXECUTE|CONNECT)\b"
    r"|REINDEX\s+(?:TABLE|INDEX|SCHEMA|DATABASE)|COMMENT\s+ON\s+(?:TABLE|COLUMN|VIEW|DATABASE|SCHEMA)"
    r"|SET(?![^;]*;\s*(?:SELECT|WITH)\b)\s+(?:(?:LOCAL|SESSION|GLOBAL)\s+)?(?:[\w.@]+\s*=|(?-i:\w+\s+TO\b)|(?-i:ROLE)\s)"
    r"|(?-i:(?:TRUNCATE|VACUUM|ANALYZE|REINDEX|LOCK|GRANT|REVOKE|(?:UN)?PIVOT)\b(?!\s*[:,.])))"
    r"|WITH\s+(?:RECURSIVE\s+)?[\w\"`\[\]]+\s*(?:\(|AS\b)|\(\s*SELECT\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:--[^\n]*\n|/\*.*?\*/)", re.DOTALL)
_NEXT_LABEL = re.compile(
    r"^[ \t>*#-]{0,12}(?:\*\*|__)?"
    r"(?:sql\s*result|result|answer|explanation|notes?|question|q|a|sql|output|reasoning)"
    r"(?:\*\*|__)?\s*\d*\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_PROSE_LINE = re.compile(
    r"^(?:This|The|These|It|Here|Note|Explanation|In this|Which|However|If|You|I|We|Let|Please|Hope)\b"
    r"[ ,:]+[a-z`\"(]",
    re.MULTILINE,
)
_CLAUSES = (
    "FROM|WHERE|GROUP|ORDER|LIMIT|OFFSET|HAVING|UNION|INTERSECT|EXCEPT|JOIN|LEFT|RIGHT|FULL|INNER|CROSS|NATURAL|AND|OR|ON"
    "|SELECT|WINDOW"
)
_CONTINUES = re.compile(rf"\s*(?:(?:{_CLAUSES}|{_CLAUSES.lower()})\b|[(),])")
"""How a paragraph starts that still belongs to the statement: prose would have a capital there, then small letters."""

_SURELY = re.compile(r"[A-Z]{4,}\b|\(|--|[a-z]+\b[^\n]*\s(?i:from)\s")
"""In capitals, or in small letters with a FROM: SQL even where it does not parse."""

FROM = re.compile(r"\bfrom\b", re.IGNORECASE)

_PARSE_LIMIT = 10_000  # characters; whether something longer amid prose is SQL is not worth the time to find out

_SQL_LABEL = re.compile(
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
_TRANSACTION = re.compile(r"\A\s*(?:BEGIN(?:\s+(?:TRANSACTION|WORK))?|START\s+TRANSACTION)\s*;\s*", re.IGNORECASE)
_OTHER_LANGUAGES = frozenset({"python", "py", "python3", "json", "csv", "diff"})
_TAG = re.compile(r"<(sql|query|sqlquery|sql_query|answer|final_sql|final_answer)>", re.IGNORECASE)
_HALF_A_FENCE = re.compile(r"\n[ \t>]*[`~]{1,2}$")

_TRIES = 10  # positions in a reply that are looked at; one with more is no answer, and each costs a pass over the rest


def find_sql(text: str, dialect: str = "sqlite") -> SQLDraft:
    """Return the SQL that a reply gives as its answer, with notes on the rest of the reply.

    Of several fenced blocks the last counts, as replies that go step by step end with their answer, unless it is
    introduced as an alternative; of several statements the first.

    Raises:
        ReplyError: `empty`, `refused` or `malformed`, with a hint for a second try.
    """
    reply = remove_reasoning_tags(text)
    notes: list[str] = []
    read_prose = partial(_read_sql_from_prose, dialect=dialect)
    readers = (_read_sql_from_json, _read_sql_from_tags, _read_sql_from_labels, read_prose)
    if begins_sql(reply):
        readers = (read_prose, *readers)
    candidate = _read_sql_from_fences(reply, notes) or next((sql for reader in readers if (sql := reader(reply))), "")
    if not candidate:
        excerpt = " ".join(reply.split())[:160]
        block = "a fenced block that starts with ```sql"
        hint = f"Reply with exactly one {get_engine_name(dialect)} SELECT statement in {block}, and nothing else."
        if REFUSAL.search(reply):
            raise ReplyError(f"the model declined to write SQL: {excerpt}", "refused", hint)
        advice = f"Your last reply held no SQL. {hint}"
        raise ReplyError(f"the model's reply holds no SQL: {excerpt}", "malformed", advice)
    statement, follows = cut_statement(cut_at_label(_TRANSACTION.sub("", candidate), dialect), dialect)
    if follows:
        notes.append("The model wrote several statements; only the first was used.")
    if explain := _EXPLAIN.match(statement):
        statement = statement[explain.end() :]
        notes.append("The model put EXPLAIN before its query; the query itself was taken.")
    return SQLDraft(statement, notes=tuple(notes))


def find_partial_sql(reply: str) -> str:
    """Return the SQL in the beginning of a reply; empty if no statement has begun.

    What is given for a longer beginning goes on from what was given before, unless another block of SQL begins.
    """
    try:
        reply = remove_reasoning_tags(reply)
    except ReplyError:
        return ""
    blocks = [fence for fence in find_blocks(OTHER_READING.split(reply, maxsplit=1)[0]) if _contains_sql(fence)]
    if not blocks and not begins_sql(reply):
        return ""
    sql_start = _HALF_A_FENCE.sub("", blocks[-1].content) if blocks else reply
    # A sentence with places that a model writes behind its query without a fence is for nobody.
    return LABEL.split(sql_start, 1)[0].rstrip()


def _read_sql_from_fences(reply: str, notes: list[str]) -> str:
    fences = [fence for fence in find_blocks(reply) if _contains_sql(fence)]
    answers = [fence for fence in fences if not _ASIDE.search(fence.before)] or fences[:1]
    if len(fences) > 1:
        notes.append(f"The model wrote {len(fences)} queries; the one that it gave as its answer was taken.")
    return answers[-1].content if answers else ""


def _contains_sql(fence: FencedBlock) -> bool:
    return may_be_sql(fence) and begins_sql(fence.content, is_block="sql" in fence.language)


def may_be_sql(fence: FencedBlock) -> bool:
    """Whether a fenced block may be SQL: it is not marked as Python, JSON, CSV or a diff."""
    return fence.language not in _OTHER_LANGUAGES


def _read_sql_from_json(reply: str) -> str:
    statement = get_field(find_json_object(reply) or {}, "sql", "sql_query", "sqlquery", "query", "statement", "answer")
    if "```" in statement:
        return _read_sql_from_fences(statement, [])
    return statement if begins_sql(statement) else ""


def _read_sql_from_tags(reply: str) -> str:
    # Models that see data between tags like to answer between tags.
    for tag in islice(_TAG.finditer(reply), _TRIES):
        end = reply.lower().find(f"</{tag.group(1).lower()}>", tag.end())
        content = reply[tag.end() : end if end >= 0 else len(reply)].strip()
        if begins_sql(content):
            return content
    return ""


def _read_sql_from_labels(reply: str) -> str:
    for label in islice(_SQL_LABEL.finditer(reply), _TRIES):
        remainder = reply[label.end() :].lstrip(" \t\r\n`\"'")
        if begins_sql(remainder):
            return strip_trailing_prose(remainder)
    return ""


def _read_sql_from_prose(reply: str, dialect: str) -> str:
    if inline := _INLINE.search(reply):
        return inline.group(1)
    for start in islice(_find_statement_starts(reply), _TRIES):
        candidate = cut_at_label(strip_trailing_prose(reply[start:].lstrip(" \t>*`")), dialect)
        if is_sql_statement(candidate, dialect):
            return candidate
    return _read_sql_from_sentence(reply, dialect)


def _find_statement_starts(reply: str) -> Iterator[int]:
    """Yield the offset of each SQL statement, or of the comments before the statement."""
    position, comments = 0, -1
    for line in reply.splitlines(keepends=True):
        text = line.lstrip(" \t>*`")
        if text.startswith("--"):
            comments = position if comments < 0 else comments
        else:
            if begins_sql(text):
                yield position if comments < 0 else comments
            comments = -1
        position += len(line)


def _read_sql_from_sentence(reply: str, dialect: str) -> str:
    # Amid a sentence a query counts only where it parses, the one sign of its end, and has a FROM of its own.
    start = re.search(r"\bSELECT\s(?=[^\n]*\b(?i:from)\b)", reply)
    if start is None:
        return ""
    sentence = reply[start.start() :].split("\n", 1)[0]
    ends = [mark.start() for mark in islice(re.finditer(r";|[.:](?=\s|$)|$", sentence), _TRIES)]
    candidates = (sentence[:end].strip(" `\"'.") for end in ends)
    return next((candidate for candidate in candidates if can_parse_query(candidate, dialect)), "")


def begins_sql(text: str, *, is_block: bool = False) -> bool:
    """Whether `text` begins like a SQL statement, after any leading comments."""
    position = 0
    while comment := _COMMENT.match(text, position):
        position = comment.end()
    text = text[position:].lstrip()
    return bool(_START.match(text) or (is_block and (CHANGES.match(text) or READS.match(text))))


def strip_trailing_prose(text: str) -> str:
    """Cut off the prose that follows the SQL statement at the start of `text`."""
    ends = [len(text)]
    for pattern in (_NEXT_LABEL, _PROSE_LINE, re.compile(r"^[ \t>]*```", re.MULTILINE)):
        if match := pattern.search(text, 1):
            ends.append(match.start())
    text = text[: min(ends)]
    depth = start = 0
    for gap in re.finditer(r"\n[ \t]*\n", text):
        depth += text.count("(", start, gap.start()) - text.count(")", start, gap.start())
        start = gap.start()
        if depth <= 0 and not _CONTINUES.match(text, gap.end()):
            return text[: gap.start()]
    return text


def cut_statement(text: str, dialect: str = "sqlite") -> tuple[str, bool]:
    """Return the first SQL statement of `text`, and whether another one follows."""
    text = text.strip()
    if text.count("`") % 2:
        text = text.strip("`").strip()
    ends = find_statement_ends(text, dialect) if len(text) <= MAX_LENGTH else None  # longer ones will be refused
    if ends is None:
        return text.rstrip("; \n\t"), False
    return (text[: ends[0]].strip(), begins_sql(text[ends[0] + 1 :])) if ends else (text, False)


def is_sql_statement(text: str, dialect: str = "sqlite") -> bool:
    """Whether text that starts like a statement is SQL, not prose such as "Select the rows"."""
    if _SURELY.match(text) or CHANGES.match(text):
        return True
    return FROM.search(text) is not None and can_parse_query(cut_statement(text, dialect)[0], dialect)


@return_default_if_unparsable(False)
def can_parse_query(text: str, dialect: str = "sqlite") -> bool:
    """Whether `text` parses as one SQL query; False for a very long text."""
    return len(text) <= _PARSE_LIMIT and bool(parse(text, dialect))


def cut_at_label(text: str, dialect: str = "sqlite") -> str:
    """Cut off the labelled lines that follow the SQL statement at the start of `text`.

    A line within a text, a quoted name or a comment belongs to the statement.
    """
    for label in LABEL.finditer(text):
        statement = text[: label.start()]
        in_comment = label[0].lstrip(" \t").startswith("--") or statement.count("/*") > statement.count("*/")
        if not in_comment and begins_sql(statement) and find_statement_ends(statement, dialect) is not None:
            return statement.rstrip()
    return text
