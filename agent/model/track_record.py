"""A model's record: how often it was right, on which database, at what cost; one line a run, only ever added to."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ...tools.errors import SettingsError
from ...tools.folders import data_folder
from ...tools.json_lines import append_lines, check_writable

RECORD_FILE = "models.jsonl"


@dataclass(frozen=True, config=ConfigDict(extra="ignore"))
class Record:
    """What a run showed of a model on a database."""

    model: str
    database: str  # its short name
    n: int  # questions
    right_gold: int | None  # right by gold, or by what the questions accept; None where nothing told
    right_verdict: int | None  # right by verdicts; None where there are none
    calls: int  # replies of the model
    prompt_tokens: int  # of all of them
    time: str  # when the run ended, ISO 8601


_READER = TypeAdapter(Record)


def record_file(setting: str | Path | None = None) -> Path | None:
    """Return the file that a setting `record` names: None or empty for the one in the data folder, `off` for none."""
    if str(setting) == "off":
        return None
    return Path(setting) if setting else data_folder() / RECORD_FILE


def add_record(record: Record, path: Path) -> None:
    """Add a line; several processes may do so at once."""
    try:
        append_lines(path, json.dumps(asdict(record), ensure_ascii=False) + "\n")
    except OSError as error:
        raise SettingsError(f"the record of models cannot be written to {path}: {error}") from error


def check_record_file(path: Path) -> None:
    """Whether a record can be added to a file, before anything is spent on what it is of."""
    try:
        check_writable(path)
    except OSError as error:
        raise SettingsError(f"the record of models cannot be written to {path}: {error}") from error


def read_records(path: Path) -> Sequence[Record]:
    """Return all lines; none where there is no file. A line that a killed process left half written is passed over."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(_READER.validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                break
            fault = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, fault['loc']))} {fault['msg']}".strip()
            raise SettingsError(f"{path}, line {number}: not a record of a model: {why}") from error
    return records


STRONG = 0.9
"""The share of questions on which a strong model of today is right in one reply.

On 102 training questions one gave 88 right replies by gold, which does not rule 0.9 out; short and hasty ones gave 86,
which does, and asking twice made up for them.
"""

CHANCE = 0.05  # a record that a strong model would have less often than this is a weak one's


@dataclass(frozen=True)
class Recorded:
    """How often a model was right, on some databases together."""

    right: int = 0
    n: int = 0

    @property
    def weak(self) -> bool:
        """Whether the record rules out that it is a strong model's: the exact 95 % bound of its share is below.

        Few questions rule out little, so that no least number of them is needed.
        """
        return _chance_of_no_more(self.right, self.n) < CHANCE

    def __add__(self, other: Recorded) -> Recorded:
        return Recorded(self.right + other.right, self.n + other.n)


@lru_cache(maxsize=64)
def _chance_of_no_more(right: int, n: int) -> float:
    """Return how probable it is that a strong model has so many of `n` right, or fewer."""

    def exactly(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return math.exp(ways + k * math.log(STRONG) + (n - k) * math.log(1 - STRONG))

    return math.fsum(map(exactly, range(min(right, n) + 1)))


@dataclass(frozen=True)
class Standing:
    """How often a model was right on one database, and on all others."""

    here: Recorded = Recorded()
    elsewhere: Recorded = Recorded()


def recorded(model: str, path: Path) -> Recorded | None:
    """What a record says of a model on all databases, by verdicts where there are some; None where it says nothing.

    Approved answers say nothing of it: nobody approves what is wrong.
    """
    found = _by_database(model, path)
    return sum(found.values(), Recorded()) if found else None


def standing(model: str, database: str, path: Path) -> Standing:
    """Return what a record says of a model on a database, by its short name, and on others."""
    found = _by_database(model, path)
    others = [each for name, each in found.items() if name != database]
    return Standing(found.get(database, Recorded()), sum(others, Recorded()))


def _by_database(model: str, path: Path) -> Mapping[str, Recorded]:
    """Return what a record says of a model, by database; nothing where it cannot be read."""
    try:
        state = path.stat()
        return _recorded(path, state.st_mtime_ns, state.st_size).get(model, {})
    except (OSError, SettingsError):
        return {}


@lru_cache(maxsize=8)
def _recorded(path: Path, changed: int, size: int) -> Mapping[str, Mapping[str, Recorded]]:
    """By model and database; read again when the file is another."""
    sums: dict[str, dict[str, Recorded]] = {}
    for record in read_records(path):
        right = record.right_gold if record.right_verdict is None else record.right_verdict
        if right is not None and not (record.n == 1 and record.right_gold is None):
            mine = sums.setdefault(record.model, {})
            mine[record.database] = mine.get(record.database, Recorded()) + Recorded(right, record.n)
    return sums
