"""The journal of a run: one line a question, written when it is answered, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Set
from dataclasses import asdict
from pathlib import Path

from ...tools.errors import SettingsError
from ..closing import Closing
from .record import TurnRecord

JOURNAL_FILE = "journal.jsonl"


class Journal(Closing):
    """Records by question id, in memory and on disk.

    Raises:
        SettingsError: The file is no journal, or another process is writing it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        last = _last_records(path)
        self._records = _asked(last)
        self._unasked = last.keys() - self._records.keys()
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._lock()
        # A line that a killed run left half written is cut off; its question is asked again.
        self._file.seek(_whole_lines(path))
        self._file.truncate()

    def close(self) -> None:
        """See `Closing`."""
        self._file.close()

    @property
    def records(self) -> Mapping[str, TurnRecord]:
        """What is answered so far; questions that the model could not be asked are only lines in the file."""
        return self._records

    @property
    def unasked(self) -> Set[str]:
        """Questions that the model could not be asked when the journal was opened."""
        return self._unasked

    def add(self, record: TurnRecord) -> None:
        """Keeps a record; it is on disk when this returns.

        Raises:
            SettingsError: The question has one already.
        """
        if record.id in self._records:
            raise SettingsError(f"{self._path}: question {record.id} was answered twice")
        self._file.write(json.dumps(asdict(record)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if record.asked:
            self._records[record.id] = record

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not a POSIX system: no lock, as before two runs met
            return
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise SettingsError(f"{self._path} is being written by another run") from error


def read_journal(path: Path) -> dict[str, TurnRecord]:
    """Answers by question id; none where there is no file.

    Raises:
        SettingsError: A whole line is no record.
    """
    return _asked(_last_records(path))


def _asked(last: Mapping[str, TurnRecord]) -> dict[str, TurnRecord]:
    return {name: record for name, record in last.items() if record.asked}


def _last_records(path: Path) -> dict[str, TurnRecord]:
    """The last record of each question, also of those that the model could not be asked."""
    if not path.exists():
        return {}
    records: dict[str, TurnRecord] = {}
    for number, line in enumerate(path.read_bytes()[: _whole_lines(path)].splitlines(), 1):
        try:
            fields = json.loads(line)
            for name in ("columns", "attempts", "notes"):
                fields[name] = tuple(fields[name])
            for name in ("rows", "linked"):
                fields[name] = tuple(map(tuple, fields.get(name, ())))
            record = TurnRecord(**fields)
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"{path}, line {number}: not a record of a run: {error!r}") from error
        records[record.id] = record
    return records


def _whole_lines(path: Path) -> int:
    """Bytes up to and with the last line end."""
    return path.read_bytes().rfind(b"\n") + 1
