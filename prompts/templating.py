"""Templates, and the rendering of untrusted text in them.

Questions, names, cell values, error messages and examples are data. Each stands in a block between an opening and a
closing tag; the tag's name is chosen so that it does not occur in the data, which therefore cannot end its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..tools.database.rendering.text import format_identifier, one_line
from ..tools.errors import ModelError

if TYPE_CHECKING:
    from jinja2 import Environment

LINE_LIMIT = 500  # characters of a one-line field: a question, a summary, a note
VALUE_LIMIT = 120  # characters of a database value; longer ones are matched by their beginning

BLOCK_LIMIT = 20_000
"""Characters of a block of data. The token budget usually cuts earlier; this holds back a single huge cell."""

CUT = " ... [cut]"
MESSAGE_OVERHEAD = 4  # tokens that chat formats spend on each message's role and borders

_PIECE = re.compile(r" ?[A-Za-z]{1,6}|\d{1,2}|[^\sA-Za-z\d]|\s+")
"""Byte-pair vocabularies split text about here: short word pieces with the space before them, two or three digits,
single signs, runs of white space. Six letters a piece and two digits keep the estimate above what they need."""

_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Message:
    """One chat message of a prompt."""

    role: str
    content: str


class PromptTooLarge(ModelError):
    """The smallest prompt for a task exceeds the token budget.

    What to do: raise `prompt_tokens`, or show fewer tables (`allow`, `deny`).
    """


def block(text: str, name: str, limit: int | None = BLOCK_LIMIT) -> str:
    """Wrap `text` in tags named `name`, numbered if the text contains such a tag."""
    is_cut = limit is not None and len(text) > limit
    inside = _CONTROLS.sub(" ", text[:limit]) + (CUT if is_cut else "")
    lower_text = inside.casefold()
    tags = chain([name], (f"{name}-{number}" for number in count(2)))
    tag = next(tag for tag in tags if f"<{tag}" not in lower_text and f"</{tag}" not in lower_text)
    return f"<{tag}>\n{inside.strip()}\n</{tag}>"


def line(text: str, limit: int = LINE_LIMIT) -> str:
    """Return `text` as one line, so that it cannot look like several entries of a list."""
    return one_line(text, limit).strip()


def value(text: str) -> str:
    """Format a database value as a SQL literal on one line."""
    literal = "'" + one_line(text, VALUE_LIMIT).replace("'", "''") + "'"
    return literal if len(text) <= VALUE_LIMIT else f"{literal} (cut off: match it with LIKE)"


@cache
def _make_jinja_environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # not loaded where no model is asked

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=False,  # noqa: S701 - prompts are plain text; data is fenced by `block`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        keep_trailing_newline=True,
    )
    filters = cast("dict[str, object]", environment.filters)
    filters.update(block=block, line=line, value=value, identifier=format_identifier)
    return environment


def render_messages(template: str, **values: object) -> tuple[Message, ...]:
    """Render the system and the user message of a template."""
    jinja_template = _make_jinja_environment().get_template(f"{template}.j2")
    messages: list[Message] = []
    for role in ("system", "user"):
        text = "".join(jinja_template.blocks[role](jinja_template.new_context(values)))
        # Template conditions leave empty lines behind.
        messages.append(Message(role, re.sub(r"\n{3,}", "\n\n", text).strip()))
    return tuple(messages)


@lru_cache(maxsize=64)
def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens in `text`, rather too high than too low.

    A sign outside ASCII counts two: older vocabularies spell many of them in two or three bytes. What a prompt begins
    with is the same from turn to turn, and is counted once.
    """
    pieces = len(_PIECE.findall(text))
    return pieces if text.isascii() else pieces + len(_NON_ASCII.findall(text))


def estimate_message_tokens(messages: Iterable[Message]) -> int:
    """Estimate the number of tokens in all messages of a prompt."""
    return sum(MESSAGE_OVERHEAD + estimate_tokens(message.content) for message in messages)
