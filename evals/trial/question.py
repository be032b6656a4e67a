"""The question file of a trial: what is asked, and what is accepted (docs/test.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictFloat, StrictInt, model_validator

from ...tools.database import Table
from ...tools.errors import SettingsError
from ...tools.record_files import read_records
from ...tools.words import stem_name
from ..datasets.load import Queries, Text, check_unique_ids, parse_record

_NUMBER = r"[-+]?\d[\d,_ ]*(?:\.\d+)?|[-+]?\.\d+"
_VALUE = re.compile(
    rf"(?P<about>about|around|roughly|approximately|~|≈)?\s*(?P<number>{_NUMBER})\s*%?"
    rf"(?:\s*(?:within|±|\+/-)\s*(?P<width>{_NUMBER})\s*(?P<percent>%)?)?",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?:(?P<bound>at least|>=|at most|<=|exactly)\s*)?(?P<low>\d+)(?:\s*(?:to|-|–)\s*(?P<high>\d+))?(?:\s*rows?)?",
    re.IGNORECASE,
)


def parse_value(value: float | str) -> tuple[float, float] | str:
    """Parse the accepted `value` of a question: a range of numbers, or a text.

    >>> parse_value("about 12,400")
    (11780.0, 13020.0)
    """
    if value == "" or (not isinstance(value, str) and not math.isfinite(value)):
        raise ValueError(f"a value must be a finite number or a text, not {value!r}")
    # Not in powers of ten, as Python writes 1e20.
    text = value.strip() if isinstance(value, str) else f"{Decimal(repr(value)):f}"
    match = _VALUE.fullmatch(text)
    if match is None:
        return text
    number = _parse_number(match["number"])
    if match["width"]:
        tolerance = _parse_number(match["width"]) * (abs(number) / 100 if match["percent"] else 1)
    elif match["about"]:
        tolerance = 0.05 * abs(number)
    else:
        # Half of the last place that was written: 3.14 accepts what rounds to it, 12 accepts 12.
        decimals = len(match["number"].partition(".")[2])
        tolerance = 0.5 * 10**-decimals * (1 + 1e-9) if decimals else 1e-6 * max(1.0, abs(number))
    if tolerance < 0:
        raise ValueError(f"a value's width must not be negative: within {match['width']}")
    return number - tolerance, number + tolerance


def _parse_number(text: str) -> float:
    return float(re.sub(r"[,_ ]", "", text))


def parse_row_count(rows: int | str) -> tuple[float, float]:
    """Parse `rows` of a question: return the least and the greatest number of rows accepted."""
    match = _COUNT.fullmatch(str(rows).strip())
    if match is None or (match["bound"] and match["high"]):
        raise ValueError(f'rows must be a number, "at least 3", "at most 10" or "3 to 10", not {rows!r}')
    low, high = int(match["low"]), int(match["high"] or match["low"])
    if low > high:
        raise ValueError(f"rows are from the smaller to the larger number: write {high} to {low}, not {low} to {high}")
    bound = (match["bound"] or "").lower()
    return 0 if bound in ("at most", "<=") else low, math.inf if bound in ("at least", ">=") else high


def format_row_count(table: Table) -> str:
    """Return the number of rows of a result in words, such as `3 rows`."""
    return f"{len(table.rows)}{' or more' if table.truncated else ''} row{'' if len(table.rows) == 1 else 's'}"


class TrialTurn(BaseModel):
    """One question and what is accepted; if several conditions are given, all must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Annotated[Text, Field(description="The question, as a person would ask it.")]
    sql: Annotated[Queries, Field(description="A query, or several: the rows of any are accepted.")] = []
    value: StrictInt | StrictFloat | str | None = Field(
        None, description='A single row that holds it: 12400, "about 12,400" (5 %), "12,400 within 2%", or a text.'
    )
    rows: StrictInt | str | None = Field(None, description='How many rows: 3, "at least 3", "at most 10", "3 to 10".')
    columns: list[str] = Field([], description="Columns that the answer must have, by the words of their names.")
    must: Literal["ask_back", "decline"] | None = Field(None, description="What the agent must do.")
    reply: str = Field("", description="What the person says when the agent asks back.")
    evidence: str = Field("", description="What the person adds to the question: a definition, a convention.")

    @property
    def conditions(self) -> list[str]:
        """The names of the conditions on the answer."""
        return [name for name in ("sql", "value", "rows", "columns") if getattr(self, name) not in (None, [])]

    @model_validator(mode="after")
    def _check_conditions(self) -> TrialTurn:
        if self.value is not None:
            parse_value(self.value)
        if self.rows is not None:
            parse_row_count(self.rows)
        if not self.conditions and self.must is None:
            raise ValueError("no condition is given: add sql, value, rows, columns or must")
        if self.must == "decline" and (self.conditions or self.reply):
            raise ValueError(f"a question that must be declined cannot have {(*self.conditions, 'reply')[0]}")
        if self.must == "ask_back" and self.conditions and not self.reply:
            raise ValueError("must: ask_back with a condition needs a reply, which the agent gets when it asks back")
        return self

    def explain_mismatch(self, table: Table) -> str:
        """Return why a result violates `value`, `rows` or `columns`, or ''."""
        if self.value is not None:
            expected, row = parse_value(self.value), table.rows[0] if len(table.rows) == 1 else ()
            if not any(_is_accepted_value(cell, expected) for cell in row):
                return f"it must be {self.value}, not {', '.join(map(str, row[:5])) or format_row_count(table)}"
        if self.rows is not None:
            low, high = parse_row_count(self.rows)
            # A result that goes on has more rows than any bound.
            if not low <= (math.inf if table.truncated else len(table.rows)) <= high:
                return f"its rows must be {self.rows}, not {len(table.rows)}"
        # Each wanted column needs one of its own whose name has all of its words.
        word_sets = [set(stem_name(column)) for column in table.columns]
        for name in sorted(self.columns, key=lambda name: -len(set(stem_name(name)))):
            words = set(stem_name(name))
            matches = [column for column in word_sets if words <= column]
            if not matches:
                return f"it lacks the column {name}; it has {', '.join(table.columns)}"
            word_sets.remove(words if words in matches else matches[0])
        return ""


def _is_accepted_value(cell: object, expected: tuple[float, float] | str) -> bool:
    if isinstance(expected, str):
        return isinstance(cell, str) and cell.casefold().split() == expected.casefold().split()
    try:
        number = float(cell.replace(",", "")) if isinstance(cell, str) else cell
    except ValueError:
        return False
    return isinstance(number, int | float) and expected[0] <= number <= expected[1]


class TrialQuestion(BaseModel):
    """A question of a trial: one turn, or the turns of a conversation, which must all be right."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[
        str,
        BeforeValidator(str, json_schema_input_type=str | int),
        Field(description="The question's name in comparisons. Default: its number in the file.", min_length=1),
    ]
    turns: list[TrialTurn] = Field(min_length=1)
    note: str = Field("", description="A note for people: where the question comes from, what to check.")


def read_trial_questions(path: Path) -> list[TrialQuestion]:
    """Read the questions of a trial from a YAML, JSON or JSON lines file."""
    questions: list[TrialQuestion] = []
    for number, record in enumerate(read_records(path), 1):
        location = f"{path}, record {number}"
        if not isinstance(record, Mapping):
            raise SettingsError(f"{location}: expected fields with values, found {record!r}")
        fields: dict[str, Any] = {str(key): value for key, value in record.items() if value is not None}
        if "right" in fields:
            raise SettingsError(f"{location}: version 0.2's key `right` is gone: keep what is right, without this key")
        about = {"id": number} | {name: fields.pop(name) for name in ("id", "note") if name in fields}
        turns = fields.pop("turns", None)
        if turns is None:
            turns = [parse_record(TrialTurn, fields, location)]
        elif fields:
            raise SettingsError(f"{location}: {next(iter(fields))!r} belongs to one of the turns")
        elif isinstance(turns, list):
            turns = [parse_record(TrialTurn, turn, f"{location}, turn {n}") for n, turn in enumerate(turns, 1)]
        questions.append(parse_record(TrialQuestion, about | {"turns": turns}, location))
    check_unique_ids(path, [question.id for question in questions])
    return questions


def build_trial_schema() -> dict[str, Any]:
    """Return the JSON schema of a question file, for editors and for programs that write one."""
    question_schema = TrialQuestion.model_json_schema()
    definitions: dict[str, Any] = question_schema.pop("$defs")
    turn = definitions["TrialTurn"]
    fields = {name: question_schema["properties"][name] for name in ("id", "note")}
    single = {**turn, "title": "A question", "properties": {**fields, **turn["properties"]}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Questions of a tableturn trial",
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [single, {**question_schema, "title": "A conversation", "required": ["turns"]}]},
        "$defs": definitions,
    }
