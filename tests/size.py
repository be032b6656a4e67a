"""Lines and Python tokens by room; `python -m tests.size` writes the numbers that fell into tests/size.toml.

A line is a line of the file, blank ones and docstrings too. A token is one of Python, without comments, docstrings,
line ends and indentation: lines that are merely squeezed keep their tokens.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).parent / "size.toml"

_LAYOUT = frozenset(
    (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    )
)


@dataclass(frozen=True)
class Room:
    """A row of the table.

    Attributes:
        files: Globs from the root of the repository.
        without: Globs of what is left out of them.
        lines: The number of lines held.
        tokens: The number of Python tokens held; None for a room that is not Python.
        aim: The house plan's ceiling of lines, if it has one.
        reason: Why a number was raised.
    """

    name: str
    files: Sequence[str]
    lines: int
    tokens: int | None = None
    without: Sequence[str] = ()
    aim: int | None = None
    reason: str = ""

    def paths(self) -> Iterator[Path]:
        """Yield the room's files."""
        left_out = {path for glob in self.without for path in ROOT.glob(glob)}
        yield from sorted({path for glob in self.files for path in ROOT.glob(glob) if path.is_file()} - left_out)


def read_rooms() -> list[Room]:
    """Return the table's rows."""
    return parse_rooms(TABLE.read_text(encoding="utf-8"))


def parse_rooms(text: str) -> list[Room]:
    """Return the rows of a table's text."""
    table: dict[str, dict[str, Any]] = tomllib.loads(text)
    return [Room(name, **row) for name, row in table.items()]


def read_earlier_rooms() -> list[Room]:
    """Return the rows of the table before its last change, committed or not; none where git does not tell."""
    git = shutil.which("git")
    if git is None:
        return []

    def run(*command: str) -> str:
        return subprocess.run([git, *command], cwd=ROOT, capture_output=True, text=True, check=False).stdout

    for commit in run("log", "--format=%H", "-n", "2", "--", "tests/size.toml").split():
        text = run("show", f"{commit}:tests/size.toml")
        if text and text != TABLE.read_text(encoding="utf-8"):
            return parse_rooms(text)
    return []


def measure_room(room: Room) -> tuple[int, int | None]:
    """Return how many lines and Python tokens a room has now."""
    texts = [path.read_text(encoding="utf-8") for path in room.paths()]
    tokens = None if room.tokens is None else sum(map(count_tokens, texts))
    return sum(len(text.splitlines()) for text in texts), tokens


@cache  # a file may belong to two rooms
def count_tokens(source: str) -> int:
    """Return the number of Python tokens without comments, docstrings and layout."""
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    return sum(
        token.type not in _LAYOUT and token.start not in docstrings
        for token in tokenize.generate_tokens(StringIO(source).readline)
    )


def main() -> None:
    """Write the numbers that fell; print all, with what the plan aims at."""
    text = TABLE.read_text(encoding="utf-8")
    for room in read_rooms():
        lines, tokens = measure_room(room)
        for key, held, now in (("lines", room.lines, lines), ("tokens", room.tokens, tokens)):
            if held is not None and now is not None and now < held:
                text = re.sub(rf'(\["{re.escape(room.name)}"\]\n(?:.+\n)*?{key} = )\d+', rf"\g<1>{now}", text)
        more = f", {tokens:,} tokens" if tokens is not None else ""
        print(f"{room.name}: {lines:,} lines{more}{f'; plan {room.aim:,}' if room.aim else ''}")
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
