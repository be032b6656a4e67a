"""Parts of a reply: text without reasoning, fenced blocks, JSON. Linear in its length."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

from ..tools.errors import ReplyError

REPLY_LIMIT = 400_000
"""Characters of a reply that are read: more than any query or code may have, in case a server keeps to no limit."""

_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*$", re.MULTILINE)
REFUSAL = re.compile(
    r"\b(?:i(?:['’]| a)m (?:sorry|not able|unable)|i apologi[sz]e|i (?:cannot|can not|can['’]t|won['’]t|will not)"
    r"|i must decline|as an ai|not possible to answer|(?:cannot|can['’]t) be answered"
    r"|unable to (?:help|answer|generate|provide))",
    re.IGNORECASE,
)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_JSON_TRIES = 20


@dataclass(frozen=True)
class FencedBlock:
    """A fenced code block of a reply."""

    language: str  # lower case, empty where none is given
    content: str
    before: str  # the text since the previous block, which often says what the block is


def remove_reasoning_tags(text: str) -> str:
    """Remove reasoning tags and their content from a reply.

    Raises:
        ReplyError: If nothing is left (`empty`).
    """
    chunks: list[str] = []
    depth, position = 0, 0
    text = text[:REPLY_LIMIT]
    for tag in _REASONING.finditer(text):
        if tag.group(1):
            if depth == 0:
                chunks.clear()  # some servers swallow the opening tag: all before the closing one was reasoning
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                chunks.append(text[position : tag.start()])
            depth += 1
        position = tag.end()
    if depth == 0:
        chunks.append(text[position:])
    answer = "".join(chunks).strip()
    if not answer:
        raise ReplyError("the model's reply is empty", "empty", "Your last reply was empty. Write the answer itself.")
    return answer


def find_blocks(text: str) -> tuple[FencedBlock, ...]:
    """Return the fenced blocks in order; a block that is not closed runs to the end."""
    fences: list[FencedBlock] = []
    opening: re.Match[str] | None = None
    last_end = 0
    for mark in (*_FENCE.finditer(text), None):
        if opening is None:
            opening = mark
        elif mark is None or (mark.group(1).startswith(opening.group(1)) and not mark.group(2)):
            content = text[opening.end() : mark.start() if mark else len(text)].strip()
            fences.append(FencedBlock(opening.group(2).lower(), content, text[last_end : opening.start()].strip()))
            opening, last_end = None, mark.end() if mark else len(text)
    return tuple(fences)


def find_json_object(text: str) -> dict[str, object] | None:
    """Return the first JSON object in the text, fenced or bare, or None."""
    decoder = json.JSONDecoder(strict=False)
    start = -1
    for _ in range(_JSON_TRIES):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        for candidate in (text[start:], _TRAILING_COMMA.sub("", text[start:])):
            try:
                value, _ = decoder.raw_decode(candidate)
                # Escapes may spell halves of surrogate pairs, which nothing else could encode.
                value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return cast("dict[str, object]", value)
    return None


def get_field(record: dict[str, object], *names: str) -> str:
    """Return the first non-empty text among the named fields, ignoring case; '' if none has."""
    values = {key.casefold(): value.strip() for key, value in record.items() if isinstance(value, str)}
    return next((values[name] for name in names if values.get(name)), "")
