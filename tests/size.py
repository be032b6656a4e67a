"""Lines and Python tokens by room; `python -m tests.size` writes the numbers that fell into tests/size.toml.

`python -m tests.size --because "a new phrase"` also raises those that grew, and adds the phrase to their reasons.

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
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from tableturn.tools.words import FUNCTION_WORDS

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


def read_earlier_tables() -> list[list[Room]]:
    """Return the rows of every earlier table, the last first; none where git does not tell."""
    # By first parents each table is followed by the next one. A shallow clone knows the last ones alone.
    commits = run_git("log", "--first-parent", "--format=%H", "--", "tests/size.toml").split()
    texts = (run_git("show", f"{commit}:tests/size.toml") for commit in commits)
    return [parse_rooms(text) for text in texts if text and text != TABLE.read_text(encoding="utf-8")]


def find_growth(now: Room, earlier: Sequence[Room]) -> Iterator[str]:
    """Yield what a room does now that its earlier rows, the last first, did not, without a reason for it."""
    earlier = earlier or [Room(now.name, now.files, 0, now.tokens and 0, now.without)]
    before = earlier[0]
    # Held against all of them: a rise does not get old by another commit, only by a number that falls again. A reason
    # that was used up by then, as an old branch has, is not new.
    used = ["; ".join(row.reason for row in earlier[place:]) for place in range(len(earlier))]
    if any(
        _is_larger(now, row) and not _has_new_phrase(now.reason, said) for row, said in zip(earlier, used, strict=True)
    ):
        yield NO_REASON
    if before.tokens is not None and now.tokens is None:
        yield "its tokens are not counted"
    if before.aim is not None and (now.aim is None or now.aim > before.aim):
        yield "its aim was raised or is gone"
    if now.aim is not None and now.lines > now.aim and not now.reason:
        yield "it is over its aim without a reason"
    if left := set(before.paths()) - set(now.paths()):
        yield f"{len(left)} of its files are not counted"


NO_REASON = (
    "its number was raised, and its reason has no new phrase: three words or more of this project, two of which are no "
    "mere particles"
)


def _is_larger(now: Room, before: Room) -> bool:
    return now.lines > before.lines or (now.tokens or 0) > (before.tokens or 0)


def _has_new_phrase(reason: str, before: str) -> bool:
    """Whether a reason names something that it did not name before, in words."""
    known = set(_split_phrases(before))
    new = [word for phrase in _split_phrases(reason) if phrase not in known for word in _read_words(phrase)]
    telling = {word for word in new if len(word) > 3} - FUNCTION_WORDS
    return (
        len(new) >= 3 and len(telling) >= 2 and not telling <= set(_read_words(before)) and {*new} <= _read_vocabulary()
    )


def _split_phrases(reason: str) -> list[str]:
    return [phrase.strip(" .") for phrase in re.split("[;,]", reason.lower())]


def _read_words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text.lower())


@cache
def _read_vocabulary() -> set[str]:
    """Return the words that the project's pages and modules use."""
    paths = {path for room in read_rooms() for path in room.paths() if path.suffix == ".py"}
    pages = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    return {word for path in (*paths, *pages) for word in _read_words(path.read_text(encoding="utf-8"))}


_FOREIGN = (
    *("serve/page/vendor/", "serve/page/icon.svg", "tools/linking/data/forests.npz"),
    "docs/assets/iframe-worker.js",
)
_FITTED = ("tools/linking/data/associations.json", "tools/expectation/data/expectation.json")


def find_roomless_files(names: Iterable[str], rooms: Iterable[Room]) -> list[str]:
    """Return the product's files that belong to no room: all but what others wrote and what was fitted."""
    counted = {path.relative_to(ROOT).as_posix() for room in rooms for path in room.paths()}
    others = ("tests/", *_FOREIGN, *_FITTED)
    return [
        name
        for name in names
        if name not in counted
        and not name.startswith(others)
        and not name.endswith("/py.typed")
        # At the top, in docs and in examples also lies what is read, not run.
        and (name.startswith(_ROOMS) or name.endswith(_CODE) or name.startswith("Makefile"))
    ]


_ROOMS = ("agent/", "tools/", "prompts/", "serve/", "evals/", ".ci/")
_CODE = (".py", ".js", ".sql", ".sh", ".toml")


def list_tracked_files() -> list[str]:
    """Return the names of the files that git tracks; none where git does not tell."""
    return run_git("ls-files").splitlines()


def run_git(*command: str) -> str:
    """Return what git writes; an empty text where there is no git or no clone."""
    git = shutil.which("git")
    if git is None:
        return ""
    return subprocess.run([git, *command], cwd=ROOT, capture_output=True, text=True, check=False).stdout


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
    """Write the numbers that fell, and with a reason those that grew; print all, with what the plan aims at."""
    parser = ArgumentParser(description="Hold each room's lines and tokens in tests/size.toml.")
    parser.add_argument(
        "--because", default="", metavar="PHRASE", help="raise what grew, for a reason not given before"
    )
    because = parser.parse_args().because.replace('"', "'")
    text = TABLE.read_text(encoding="utf-8")
    for room in read_rooms():
        lines, tokens = measure_room(room)
        row = replace(room, lines=lines, tokens=tokens)
        if because and _is_larger(row, room):
            row = replace(row, reason=f"{room.reason}; {because}".removeprefix("; "))
            if not _has_new_phrase(row.reason, room.reason):
                unknown = sorted({*_read_words(because)} - _read_vocabulary())
                parser.error(
                    f"no reason for {room.name}: give three words or more, of them two that are longer than three "
                    "letters and one that its reasons lack"
                    + (f"; not in pages or modules: {', '.join(unknown)}" if unknown else "")
                )
        elif _is_larger(row, room):
            row = replace(row, lines=min(lines, room.lines), tokens=min(tokens or 0, room.tokens or 0))
        text = _rewrite_row(text, row)
        more = f", {tokens:,} tokens" if tokens is not None else ""
        print(f"{room.name}: {lines:,} lines{more}{f'; plan {room.aim:,}' if room.aim else ''}")
    TABLE.write_text(text, encoding="utf-8")


def _rewrite_row(text: str, room: Room) -> str:
    """Return the table's text with a room's numbers and reason."""
    head, name, rest = text.partition(f'["{room.name}"]\n')
    row, blank, rest = rest.partition("\n\n")
    row = re.sub(r"^lines = .*", f"lines = {room.lines}", row, flags=re.MULTILINE)
    row = re.sub(r"^tokens = .*", f"tokens = {room.tokens}", row, flags=re.MULTILINE)
    row = re.sub(r"\n?^reason = .*", "", row, flags=re.MULTILINE)
    return (
        head + name + row.rstrip("\n") + (f'\nreason = "{room.reason}"' if room.reason else "") + (blank or "\n") + rest
    )


if __name__ == "__main__":
    main()
