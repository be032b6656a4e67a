"""Records turns, shows how they differ, and renews what is kept of them.

    python -m tests.golden record FOLDER [GROUP ...] [--commit COMMIT]
    python -m tests.golden diff FOLDER FOLDER [--lines 40]
    python -m tests.golden renew --reason "..." [--beside]

The same conversations are played by this checkout's code, or by that of any commit.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.installed_layout import ROOT, lay_out

from .databases import ENGINES, unavailable
from .play import Played, play
from .scripts import GROUPS
from .store import RENEWALS, Change, changes, compare, read_hashes, save, write


def main() -> int:
    """Run a command; 1 where `diff` shows a difference."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    record = commands.add_parser("record", help="write every turn in full, a file each")
    record.add_argument("folder", type=Path)
    record.add_argument("groups", nargs="*", metavar="GROUP")
    record.add_argument("--commit", help="whose code plays; this checkout's if left out")
    diff = commands.add_parser("diff", help="show how two folders differ")
    diff.add_argument("before", type=Path)
    diff.add_argument("after", type=Path)
    diff.add_argument("--lines", type=int, default=40, help="most lines shown of a turn")
    renew = commands.add_parser("renew", help="replace what is kept, with a reason")
    renew.add_argument("--reason", required=True)
    renew.add_argument("--beside", action="store_true", help="add to what is kept, as for another processor")
    for command in (record, renew):
        command.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    if unknown := {*getattr(given, "groups", ())} - {*GROUPS}:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    if given.command == "diff":
        return _diff(given.before, given.after, given.lines)
    if given.command == "renew":
        return _renew(given.reason, given.jobs, given.beside)
    if given.commit:
        return _record_of(given.commit, given.folder, given.groups, given.jobs)
    for name, turns in _played(given.groups or list(GROUPS), given.jobs):
        save(turns, name, given.folder)
    return 0


def _played(names: Sequence[str], jobs: int) -> Iterator[tuple[str, Sequence[Played]]]:
    """The turns of groups whose engines are here, as they are done."""
    for engine in ENGINES:
        if any(GROUPS[name].engine == engine for name in names) and (reason := unavailable(engine)):
            print(f"left out: {engine}, {reason}")
            names = [name for name in names if GROUPS[name].engine != engine]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from zip(names, pool.map(play, [GROUPS[name] for name in names]), strict=True)


def _record_of(commit: str, folder: Path, names: Sequence[str], jobs: int) -> int:
    """Record by the code of a commit, in a process that finds it as the installed package."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with TemporaryDirectory() as place, tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        code, layout = Path(place) / "code", Path(place) / "layout"
        tar.extractall(code, filter="data")
        lay_out(code, layout)
        command = [sys.executable, "-m", "tests.golden", "record", str(folder.absolute()), *names, f"--jobs={jobs}"]
        return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(layout)}, check=False).returncode


def _diff(before: Path, after: Path, lines: int) -> int:
    found = list(compare(before, after))
    for change in found:
        shown = str(change).splitlines()
        print("\n".join(shown[: lines + 1]))
        if len(shown) > lines + 1:
            print(f"... {len(shown) - lines - 1} more lines (--lines)")
        print()
    print(_counts(found))
    return 1 if found else 0


def _renew(reason: str, jobs: int, beside: bool) -> int:
    if missing := [f"{engine}: {why}" for engine in ENGINES if (why := unavailable(engine))]:
        print("not renewed, since all engines must be there:", *missing, sep="\n")
        return 2
    played = dict(_played(list(GROUPS), jobs))
    first = not read_hashes()
    found = [] if first else [change for name, turns in played.items() for change in changes(name, turns)]
    write(played, beside)
    turns = sum(map(len, played.values()))
    with RENEWALS.open("a") as file:
        file.write(f"\n- {datetime.now(UTC):%Y-%m-%d}: {reason} {f'{turns} turns.' if first else _counts(found)}\n")
    print(_counts(found))
    return 0


def _counts(found: Sequence[Change]) -> str:
    """How many turns differ, in which parts and groups."""
    parts = Counter(part for change in found for part in change.parts)
    groups = Counter(change.group for change in found)
    in_parts = ", ".join(f"{part} of {count}" for part, count in parts.items())
    in_groups = ", ".join(f"{name} {count}" for name, count in groups.most_common(8))
    more = f" and {len(groups) - 8} more groups" if len(groups) > 8 else ""
    return f"{len(found)} turns differ" + (f": {in_parts} ({in_groups}{more})." if found else ".")


if __name__ == "__main__":
    sys.exit(main())
