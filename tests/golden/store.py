"""What is kept of the turns: hashes by part of all, and some in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from .play import PARTS, Played
from .scripts import GROUPS

HERE = Path(__file__).parent
HASHES = HERE / "hashes.json"
KEPT = HERE / "kept"
RENEWALS = HERE / "renewals.md"

_KEPT_GROUPS: Mapping[str, str] = {
    "clinic-sqlite-full": "1.1 1.3 2.1 3.2 4.1 4.2 4.3 5.2 6.1 6.4 7.2 8.1 8.4",
    "depot-sqlite-full": "3.4 5.2",
    "weather-duckdb-full": "1.2 2.3 3.2",
    "clinic-postgres-full": "2.1 2.3 8.1",
    "weather-mariadb-full": "2.1 2.2",
    "kestrel-sqlite-full": "1.2",
    "library-sqlite-credit": "1.2",
    "weather-mariadb-credit": "2.1",
    "weather-sqlite-craft": "1.1 2.1 3.7",
    "weather-duckdb-track": "1.1 1.2 2.1",
    "weather-sqlite-revision": "1.1 2.1 3.2",
    "depot-postgres-revision": "4.1",
    "library-sqlite-offline": "1.1 2.1 4.2",
    "kestrel-sqlite-offline": "1.1 1.2 1.3 1.4 1.5 4.1 4.2 4.5 4.9",
    "clinic-postgres-offline": "1.1 1.2",
    "weather-mariadb-offline": "2.5 3.1",
    "clinic-sqlite-candidates": "2.3",
    "library-duckdb-full": "1.2 3.4",
    "library-mariadb-full": "1.4",
    "weather-duckdb-craft": "1.1",
    "clinic-postgres-track": "4.1",
    "depot-sqlite-deny": "1.1",
    "weather-sqlite-small": "2.1",
}
"""Turns that are kept in full, of every way and engine."""


@dataclass(frozen=True)
class Change:
    """A turn that is not as it was.

    Attributes:
        group: Of the turn.
        turn: Its name and what is said.
        parts: Which differ; empty where the turn is there only before or after.
        text: The difference, where both are there in full.
    """

    group: str
    turn: str
    parts: Sequence[str]
    text: str = ""

    def __str__(self) -> str:
        head = f"{self.group} {self.turn}: {', '.join(self.parts) or 'there only before or after'}"
        return f"{head}\n{self.text}" if self.text else head


def read_hashes() -> dict[str, dict[str, str]]:
    """Return the hashes of every turn by group; of one turn in the order of `PARTS`.

    A part may have several, between slashes: near ties of examples fall otherwise on another processor.
    """
    return json.loads(HASHES.read_text()) if HASHES.is_file() else {}


def write(played: Mapping[str, Sequence[Played]], beside: bool = False) -> None:
    """Replace all that is kept of what differs, or add these hashes beside it."""
    before = read_hashes()

    def merge(name: str, turn: Played) -> str:
        parts = before.get(name, {}).get(turn.name, "").split() or turn.hashes
        pairs = list(zip(parts, turn.hashes, strict=True))
        if all(new in old.split("/") for old, new in pairs):
            return " ".join(parts)
        if not beside:
            return " ".join(turn.hashes)
        return " ".join(old if new in old.split("/") else f"{old}/{new}" for old, new in pairs)

    hashes = {name: {turn.name: merge(name, turn) for turn in turns} for name, turns in played.items()}
    HASHES.write_text(json.dumps(hashes, indent=0) + "\n")
    if beside:
        return
    KEPT.mkdir(exist_ok=True)
    for path in KEPT.iterdir():
        path.unlink()
    for name, wanted in _KEPT_GROUPS.items():
        for turn in played[name]:
            if turn.name in wanted.split():
                _kept(name, turn.name).write_text(turn.text)


def changes(name: str, played: Sequence[Played]) -> list[Change]:
    """Return how the turns of a group differ from what is kept."""
    before, found = read_hashes().get(name, {}), list[Change]()
    for turn in played:
        hashes = before.pop(turn.name, "").split()
        parts = [part for part, old, new in zip(PARTS, hashes, turn.hashes, strict=False) if new not in old.split("/")]
        if parts or not hashes:
            kept = _kept(name, turn.name)
            text = difference(kept.read_text(), turn.text) if kept.is_file() else ""
            found.append(Change(name, f"{turn.name} {turn.says!r}", parts, text))
    return [*found, *(Change(name, turn, ()) for turn in before)]


def save(played: Sequence[Played], name: str, folder: Path) -> None:
    """Write the turns of a group in full, a file each."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for turn in played:
        (folder / name / f"{turn.name}.txt").write_text(turn.text)


def compare(before: Path, after: Path) -> Iterator[Change]:
    """Yield how the turns of two folders differ, of the groups that are in both."""
    for name in [name for name in GROUPS if (before / name).is_dir() and (after / name).is_dir()]:
        for file in sorted({path.name for folder in (before, after) for path in (folder / name).iterdir()}, key=_order):
            one, other = (_read(folder / name / file) for folder in (before, after))
            if one != other:
                was, now = _parts(one), _parts(other)
                parts = [part for part in PARTS if was.get(part) != now.get(part)] if one and other else []
                said = (other or one).split("\n", 1)[0].removeprefix("# ")
                yield Change(name, f"{Path(file).stem} {said!r}", parts, difference(one, other))


def difference(before: str, after: str) -> str:
    """Return a unified diff of two texts."""
    return "\n".join(unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2))


def _order(file: str) -> list[int]:
    return [int(number) for number in file.split(".")[:2]]


def _read(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _parts(text: str) -> dict[str, str]:
    """The parts of a turn's text by name."""
    found: dict[str, str] = {}
    for part, following in zip(PARTS, (*PARTS[1:], None), strict=True):
        rest = text.partition(f"\n=== {part}\n")[2]
        found[part] = rest.partition(f"\n=== {following}\n")[0] if following else rest
    return found


def _kept(name: str, turn: str) -> Path:
    return KEPT / f"{name}-{turn}.txt"
