"""Rendering templates, and the one way in which text that we did not write enters a prompt.

Questions, names, cell values, error messages and examples are data. Each stands in a block between an opening and a
closing tag; the tag's name is chosen so that it does not occur in the data, which therefore cannot end its block.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from .task import Message

LINE_LIMIT = 500
"""Characters of a one-line field: a question, a summary, a note."""

VALUE_LIMIT = 120
"""Characters of a database value; longer ones are matched by their beginning."""

BLOCK_LIMIT = 20_000
"""Characters of a block of data. The token budget usually cuts earlier; this holds back a single huge cell."""

CUT = "... [cut]"

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """`text` as one line of at most `limit` characters, so that it cannot look like several entries of a list."""
    flat = " ".join(_CONTROLS.sub(" ", text[: 4 * limit]).split())
    return flat if len(flat) <= limit and len(text) <= 4 * limit else flat[:limit] + CUT


def block(text: str, name: str, limit: int = BLOCK_LIMIT) -> str:
    """`text` between `<name>` and `</name>`; the name gets a number where the text itself holds such a tag."""
    inside = _CONTROLS.sub(" ", text[:limit]) + (CUT if len(text) > limit else "")
    folded = inside.casefold()
    tag, number = name, 1
    while f"<{tag}" in folded or f"</{tag}" in folded:
        number += 1
        tag = f"{name}-{number}"
    return f"<{tag}>\n{inside.strip()}\n</{tag}>"


def literal(value: str) -> str:
    """A database value as an SQL literal on one line."""
    if len(value) > VALUE_LIMIT:
        return f"{_quoted(one_line(value[:VALUE_LIMIT]))}... (cut: match it with LIKE)"
    return _quoted(one_line(value))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=False,  # noqa: S701 - prompts are plain text; data is fenced by `block`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = cast("dict[str, object]", environment.filters)
    filters.update(block=block, one_line=one_line, literal=literal)
    return environment


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.j2")


def render_messages(template: str, **values: object) -> tuple[Message, ...]:
    """The system and the user message of a template, which defines a Jinja block of each name."""
    found = _template(template)
    return tuple(
        Message(role, _squeeze("".join(found.blocks[role](found.new_context(values))))) for role in ("system", "user")
    )


def _squeeze(text: str) -> str:
    """Without the empty lines that template conditions leave behind."""
    return re.sub(r"\n{3,}", "\n\n", text).strip()
