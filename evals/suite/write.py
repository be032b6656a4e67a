"""The folder of a suite: never one that holds what this tool did not write."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from ...tools.errors import SettingsError
from ..official import MANIFEST


def check_folder(name: str, out: Path, original: Path) -> None:
    """Makes sure that a suite may be written, without writing.

    Args:
        name: The suite's.
        out: Folder of suites.
        original: The database that the suite is built from, which stays as it is.

    Raises:
        SettingsError: The folder of that name holds the original, or files that are not an earlier suite's, or no
            longer as that had them.
    """
    folder = out / name
    if original.resolve().parent == folder.resolve():
        raise SettingsError(f"{folder} holds the database that its suite is built from: choose another --out")
    try:
        held = sorted(path.name for path in folder.iterdir())
        written = _manifest(folder) if held else {}
        strange = [n for n in held if n != MANIFEST and (n not in written or written[n] != _digest(folder / n))]
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error
    if held and not written:
        strange = held
    if strange:
        raise SettingsError(
            f"{folder} holds {strange[0]}, which `suite build` did not write: choose another --out, or move it away"
        )


def write_suite(name: str, databases: Sequence[sqlite3.Connection], out: Path, original: Path) -> None:
    """Writes databases as a suite, with a manifest; an earlier suite of that name is replaced as a whole.

    Raises:
        SettingsError: As `check_folder`; or the folder cannot be written.
    """
    check_folder(name, out, original)
    folder = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".suite-") as temporary:
            made = Path(temporary) / "made"
            made.mkdir()
            for number, database in enumerate(databases):
                _write(database, made / (f"{name}_{number:03}.sqlite" if number else f"{name}.sqlite"))
            digests = {path.name: _digest(path) for path in sorted(made.iterdir())}
            (made / MANIFEST).write_text(json.dumps({"files": digests}, indent=1) + "\n", encoding="utf-8")
            if folder.exists():
                folder.rename(Path(temporary) / "old")
            made.rename(folder)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error


def _write(database: sqlite3.Connection, path: Path) -> None:
    with closing(sqlite3.connect(path)) as target:
        database.backup(target)
        # A write-ahead log would have readers leave files beside it.
        target.execute("PRAGMA journal_mode = DELETE")


def _manifest(folder: Path) -> dict[str, Any]:
    """Digests by file, as an earlier suite was written; empty where there is no readable manifest."""
    try:
        files: object = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return cast("dict[str, Any]", files) if isinstance(files, dict) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
