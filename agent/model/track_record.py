"""A file of how often each model was right, on which database, at what cost; a line per run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ...tools.errors import SettingsError
from ...tools.folders import data_folder
from ...tools.record_files import read_file
from ...tools.validation import describe_fault
from ...tools.whole_files import append_lines, find_incomplete_last_line

RECORD_FILE = "models.jsonl"


@dataclass(frozen=True, config=ConfigDict(extra="ignore"))
class ModelRunRecord:
    """The result of a run of a model on a database, as a line of the record file."""

    model: str
    database: str  # its short name
    n: int  # questions
    right_gold: int | None  # right by gold, or by what the questions accept; None where nothing told
    right_verdict: int | None  # right by verdicts; None where there are none
    calls: int  # replies of the model
    prompt_tokens: int  # of all of them
    time: str  # when the run ended, ISO 8601


_READER = TypeAdapter(ModelRunRecord)


def get_record_file_path(setting: str | Path | None = None) -> Path | None:
    """Return the file path for the setting `record`; '' means the default, `off` no file."""
    if str(setting) == "off":
        return None
    return Path(setting) if setting else data_folder() / RECORD_FILE


def append_run_record(record: ModelRunRecord, path: Path) -> None:
    """Append a record to the file; several processes may do so at once."""
    append_lines(path, json.dumps(asdict(record), ensure_ascii=False) + "\n")


def check_record_file(path: Path) -> None:
    """Raise `SettingsError` if records cannot be added to a file."""
    read_records(path)
    append_lines(path, "")


def read_records(path: Path) -> Sequence[ModelRunRecord]:
    """Return all records in a file; an incomplete last line is skipped."""
    content = read_file(path) if os.access(path, os.F_OK) else b""
    lines = content.removesuffix(find_incomplete_last_line(content)).split(b"\n")
    records: list[ModelRunRecord] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(_READER.validate_json(line))
        except ValidationError as error:
            why = describe_fault(error.errors()[0])
            raise SettingsError(f"{path}, line {number}: not a record of a model ({why}); name another file") from error
    return records


STRONG = 0.9
"""The share of questions on which a strong model of today is right in one reply.

On 102 training questions one gave 88 right replies by gold, which does not rule 0.9 out; short and hasty ones gave 86,
which does, and asking twice made up for them.
"""

CHANCE = 0.05  # a record that a strong model would have less often than this is a weak one's


@dataclass(frozen=True)
class ModelScore:
    """The number of questions that a model answered correctly, over some databases."""

    right: int = 0
    n: int = 0

    @property
    def is_weak(self) -> bool:
        """Whether the share of right answers rules out a strong model, by an exact 95 % bound.

        Few questions rule out little, so that no least number of them is needed.
        """
        return _compute_strong_model_chance(self.right, self.n) < CHANCE

    def __add__(self, other: ModelScore) -> ModelScore:
        return ModelScore(self.right + other.right, self.n + other.n)


@lru_cache(maxsize=64)
def _compute_strong_model_chance(right: int, n: int) -> float:
    """Return the probability that a strong model has at most `right` of `n` answers right."""

    def compute_exact_probability(k: int) -> float:
        log_ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return math.exp(log_ways + k * math.log(STRONG) + (n - k) * math.log(1 - STRONG))

    return math.fsum(map(compute_exact_probability, range(min(right, n) + 1)))


@dataclass(frozen=True)
class ModelTrackRecord:
    """A model's scores on one database and on all others."""

    database: ModelScore = ModelScore()
    others: ModelScore = ModelScore()


def read_model_track_record(model: str, database: str, path: Path) -> ModelTrackRecord:
    """Return a model's scores on the database with this short name, and on other databases.

    Approved answers say nothing of it: nobody approves what is wrong.
    """
    scores = _read_scores_by_database(model, path)
    other_scores = [score for name, score in scores.items() if name != database]
    return ModelTrackRecord(scores.get(database, ModelScore()), sum(other_scores, ModelScore()))


def _read_scores_by_database(model: str, path: Path) -> Mapping[str, ModelScore]:
    """Return a model's scores by database; empty if the file cannot be read."""
    try:
        state = path.stat()
        return _sum_scores_by_model(path, state.st_mtime_ns, state.st_size).get(model, {})
    except (OSError, SettingsError):
        return {}


@lru_cache(maxsize=8)
def _sum_scores_by_model(path: Path, modified_at: int, size: int) -> Mapping[str, Mapping[str, ModelScore]]:
    """Return scores by model and database, cached until the file changes."""
    sums: dict[str, dict[str, ModelScore]] = {}
    for record in read_records(path):
        right = record.right_gold if record.right_verdict is None else record.right_verdict
        if right is not None and not (record.n == 1 and record.right_gold is None):
            mine = sums.setdefault(record.model, {})
            mine[record.database] = mine.get(record.database, ModelScore()) + ModelScore(right, record.n)
    return sums
