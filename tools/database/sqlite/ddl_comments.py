"""Comments that stand in a CREATE TABLE statement beside the table and its columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|\w+)
    |(?P<sign>[(),\n])""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {'"': '"', "`": "`", "[": "]", "'": "'"}


@dataclass
class _Reading:
    """Where the scan stands."""

    table: list[str] = field(default_factory=list[str])
    columns: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    waiting: list[str] = field(default_factory=list[str])
    depth: int = 0
    current: str = ""
    starting: bool = False
    fresh_line: bool = False

    def comment(self, text: str) -> None:
        if self.depth == 0:
            self.table.append(text)
        elif self.current and not self.fresh_line:
            self.columns.setdefault(self.current, []).append(text)
        else:
            self.waiting.append(text)

    def name(self, text: str) -> None:
        self.fresh_line = False
        if self.depth == 1 and self.starting:
            self.starting = False
            self.current = _unquoted(text).lower()
            if self.waiting:
                self.columns.setdefault(self.current, []).extend(self.waiting)
                self.waiting = []

    def sign(self, sign: str) -> None:
        if sign == "\n":
            self.fresh_line = True
        elif sign == "(":
            self.depth += 1
            self.starting = self.depth == 1
        elif sign == ")":
            self.depth -= 1
        elif self.depth == 1:
            self.starting = True


def ddl_comments(sql: str) -> tuple[str, Mapping[str, str]]:
    """The table's comment and its columns' comments by lower-case name.

    A comment belongs to the column on its line, or, on a line of its own, to the column after it; before the opening
    bracket, to the table.
    """
    if "--" not in sql and "/*" not in sql:
        return "", {}
    reading = _Reading()
    for match in _TOKEN.finditer(sql):
        if match["comment"]:
            reading.comment(_text(match["comment"]))
        elif match["name"]:
            reading.name(match["name"])
        else:
            reading.sign(match["sign"])
    columns = {name: " ".join(texts).strip() for name, texts in reading.columns.items()}
    return " ".join(reading.table).strip(), columns


def _text(comment: str) -> str:
    body = comment[2:] if comment.startswith("--") else comment[2:].removesuffix("*/")
    return " ".join(body.replace("*", " ").split())


def _unquoted(name: str) -> str:
    close = _QUOTES.get(name[0])
    return name[1:-1].replace(close * 2, close) if close and len(name) > 1 else name
