"""One line of a verdict file: what somebody says of one query as an answer to one question."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...prompts.judge import Kind, Word
from ...tools.errors import SettingsError
from ...tools.json_lines import append_lines, torn_line
from ...tools.record_files import read_lines
from ...tools.terminal import warn

VERDICTS_FILE = "verdicts.jsonl"
"""The verdict file that lies beside a run."""


class Ruling(BaseModel):
    """What was said of a query; it stands for every query with the same result.

    Attributes:
        dataset: The dataset's name; empty for any.
        id: The question's id; empty where its text tells it from others.
        question: As asked.
        sql: The query that is judged; an accepted one where the verdict is `right`. It may be the gold query itself.
        gold: The question's gold query, which tells questions of the same words apart; empty for any.
        verdict: `right` for an answer that whoever asked would accept, beside gold or against it.
        kind: What is wrong with it, where something is.
        why: A sentence.
        by: A person, or `model NAME`.
        at: When, as ISO 8601 has it.
        accepted: False for a proposal, which counts for nothing until a person takes it over.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = ""
    id: str = ""
    question: str = Field(min_length=1)
    sql: str = Field(min_length=1)
    gold: str = ""
    verdict: Word
    kind: Kind | Literal[""] = ""
    why: str = ""
    by: str = ""
    at: str = ""
    accepted: bool = True

    def said(self, verdict: Word, by: str, why: str = "") -> Ruling:
        """The same query with a person's own verdict, now, for which no reason that others gave stands."""
        told = {"verdict": verdict, "kind": "", "why": why, "by": by, "at": now(), "accepted": True}
        return self.model_copy(update=told)

    def taken_over(self, by: str) -> Ruling:
        """A proposal as a person's verdict, with its class and reason, now."""
        return self.model_copy(update={"by": by, "at": now(), "accepted": True})


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_rulings(path: Path) -> list[Ruling]:
    """Reads a verdict file, in its order: the last word on a query counts.

    A last line that a killed process left half written is passed over, and the next one takes its place.

    Raises:
        SettingsError: It cannot be read, or a line is no ruling; the message names the line and the field.
    """
    try:
        content = path.read_bytes()
        if torn := torn_line(content):
            _warn_torn(path, torn)
        records = read_lines(content.removesuffix(torn).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"verdicts: {path} cannot be read: {error}") from error
    rulings: list[Ruling] = []
    for number, record in enumerate(records, 1):
        try:
            rulings.append(Ruling.model_validate(record))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the record"
            raise SettingsError(f"verdicts: {path}, record {number}: {field}: {first['msg']}") from error
    return rulings


@lru_cache
def _warn_torn(path: Path, torn: bytes) -> None:
    """Says so once, however often the file is read."""
    warn(f"verdicts: {path}: its last line was left half written and is passed over: {torn.decode(errors='replace')}")


def append_rulings(path: Path, rulings: Iterable[Ruling]) -> None:
    """Adds rulings at the end of a verdict file, which is made where there is none; what is there stays.

    Raises:
        SettingsError: It cannot be written.
    """
    text = "".join(ruling.model_dump_json() + "\n" for ruling in rulings)
    try:
        append_lines(path, text)
    except OSError as error:
        raise SettingsError(f"verdicts: {path} cannot be written: {error}") from error


def rulings_beside(folder: Path, given: Path | None) -> list[Ruling]:
    """The rulings of the given file, or of the one beside a run; none where there is none beside it."""
    path = given or folder / VERDICTS_FILE
    return read_rulings(path) if given is not None or path.exists() else []
