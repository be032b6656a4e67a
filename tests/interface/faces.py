"""The snapshots of this folder: what each is made by, and what is gone from it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.interface import python, schemas

HERE = Path(__file__).parent
RENEW = "python -m tests.interface"

LINES: dict[str, Callable[[], list[str]]] = {
    "openapi": schemas.openapi,
    "mcp": schemas.mcp,
    "commands": schemas.commands,
    "json": schemas.json_keys,
}
"""The faces that are lines of text, by the names of their files."""

NAMES = ("python", *LINES)


def snapshot(face: str) -> str:
    """What a face was when it was last written."""
    path = HERE / f"{face}.txt"
    return path.read_text("utf-8") if path.exists() else ""


def current(face: str) -> str:
    """What it is now."""
    if face == "python":
        return python.stubs(python.documented_names() | python.sections(snapshot(face)).keys())
    return "\n".join(LINES[face]()) + "\n"


def losses(face: str, old: str, new: str) -> list[str]:
    """What somebody who relies on the old face would miss, or would have to give besides."""
    if face == "python":
        return python.breakages(old, new)
    before, now = set(old.splitlines()), set(new.splitlines())
    gone = {
        line
        for line in before - now
        if line.removesuffix(schemas.REQUIRED) not in now and not any(_takes_more(line, one) for one in now - before)
    }
    return sorted(gone) + [
        f"{line} (new)"
        for line in sorted(now - before)
        if line.endswith(schemas.REQUIRED) and _owner(line, now) in before
    ]


_GIVEN = re.compile(r" (?:query|body|takes)[ .]| --")
_VALUES = re.compile(r'"[^"]*"(?:\|"[^"]*")*|<[^<>]*>')
"""A list of values: `"csv"|"json"`, or `<csv|json>` on the command line."""


def _takes_more(old: str, new: str) -> bool:
    """Whether a new line is the old one with more values that a caller may give."""
    if not _GIVEN.search(old) or _VALUES.sub("", old) != _VALUES.sub("", new):
        return False
    values = [[set(found.strip("<>").split("|")) for found in _VALUES.findall(line)] for line in (old, new)]
    return all(before <= now for before, now in zip(*values, strict=True))


def _owner(line: str, lines: Iterable[str]) -> str:
    """The command, operation or tool that a line is of."""
    return max((one for one in lines if line.startswith(f"{one} ")), key=len, default="")


def unlisted(face: str, lost: Iterable[str], table: dict[str, dict[str, str]] | None = None) -> list[str]:
    """Those that `removed.toml` does not tell of; a key stands for all that begins with it."""
    listed = (removed() if table is None else table).get(face, {})
    return [one for one in lost if not any(covers(key, one) for key in listed)]


def covers(key: str, one: str) -> bool:
    """Whether a key of the table tells of a line."""
    return one == key or (one.startswith(key) and not (one[len(key)].isalnum() or one[len(key)] in "_-"))


def removed() -> dict[str, dict[str, str]]:
    """What is removed or renamed since the last release, by face, and what to use instead."""
    return tomllib.loads((HERE / "removed.toml").read_text("utf-8"))
