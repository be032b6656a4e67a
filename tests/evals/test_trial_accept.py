"""What a question of a trial accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema  # pyright: ignore[reportMissingTypeStubs]
import pytest
import yaml
from tableturn.evals.trial import build_trial_schema, read_trial_questions
from tableturn.evals.trial.question import TrialTurn
from tableturn.tools.database import Table
from tableturn.tools.errors import SettingsError


def refusal(cells: Sequence[Sequence[Any]], names: Sequence[str] = (), cut: bool = False, /, **accepted: Any) -> str:
    """Why a result is not accepted."""
    table = Table(tuple(names), (), tuple(map(tuple, cells)), cut, 0.0)
    return TrialTurn.model_validate({"question": "How many?", **accepted}).explain_mismatch(table)


@pytest.mark.parametrize(
    ("value", "right", "wrong"),
    [
        ("about 12,400", [12400, 12_900, 11_800.5, "12,300"], [13_100, 11_700, None, "many"]),
        (12400, [12400, 12400.0], [12401, 12399.5]),
        ("3.14", [3.14159, 3.14], [3.15, 3]),
        ("12,400 within 2%", [12_640], [12_660]),
        ("100 ± 5", [95, 105], [94, 106]),
        ("-3", [-3], [3]),
        (1e20, [10**20, 1e20], [2e20, "1e+20 or so"]),
        ("Kestrel Munich", ["kestrel  munich"], ["Munich", 3]),
    ],
)
def test_a_value_accepts_what_a_person_would(value: object, right: list[object], wrong: list[object]) -> None:
    assert [cell for cell in right if refusal([(cell,)], value=value)] == []
    assert [cell for cell in wrong if not refusal([(cell,)], value=value)] == []


def test_a_value_is_one_row_of_perhaps_several_columns() -> None:
    assert refusal([("Ann", 3)], value=3) == ""
    assert refusal([(3,), (4,)], value=3) == "it must be 3, not 2 rows"
    assert refusal([], value=3) == "it must be 3, not 0 rows"


@pytest.mark.parametrize(
    ("rows", "right", "wrong"),
    [("at least 3", [3, 90], [2]), (3, [3], [2, 4]), ("at most 4 rows", [0, 4], [5]), ("2 to 3", [2, 3], [1, 4])],
)
def test_rows_are_counted(rows: object, right: list[int], wrong: list[int]) -> None:
    assert [number for number in right if refusal([()] * number, rows=rows)] == []
    assert [number for number in wrong if not refusal([()] * number, rows=rows)] == []


def test_a_result_that_goes_on_is_more_than_any_bound() -> None:
    assert refusal([()] * 5, (), True, rows="at most 5")
    assert refusal([()] * 5, (), True, rows="at least 5") == ""


def test_columns_are_found_by_the_words_of_their_names() -> None:
    assert refusal([], ["Total Revenue", "countryName"], columns=["country", "revenue"]) == ""
    assert refusal([], ["sum(amount)"], columns=["revenue"]) == "it lacks the column revenue; it has sum(amount)"
    assert refusal([], ["unit_price", "price"], columns=["price", "unit price"]) == ""
    assert refusal([], ["name"], columns=["name", "name"]).startswith("it lacks the column name")


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"question": "How many?"}, "no condition is given"),
        ({"question": "How many?", "must": "decline", "sql": "SELECT 1"}, "must be declined cannot have sql"),
        ({"question": "How many?", "must": "shrug"}, "must"),
        ({"question": " ", "value": 3}, "question"),
        ({"question": "How many?", "rows": "a few"}, "at least 3"),
        ({"question": "How many?", "rows": "10 to 3"}, "write 3 to 10"),
        ({"question": "How many?", "value": "29 within -2%"}, "must not be negative: within -2"),
        ({"question": "How many?", "value": float("nan")}, "finite number"),
        ({"question": "How many?", "value": 3, "vlaue": 3}, "vlaue"),
        ({"question": "How many?", "sql": "SELECT 1", "right": True}, "version 0.2's key `right` is gone: keep what"),
        ({"question": "How many?", "must": "ask_back", "value": 3}, "needs a reply"),
        ({"turns": [{"question": "How many?", "value": 1}, {"question": "And then?"}]}, "turn 2"),
        ({"turns": [{"question": "How many?", "value": 1}], "sql": "SELECT 1"}, "belongs to one of the turns"),
        ("How many?", "expected fields"),
    ],
)
def test_a_wrong_record_is_named_in_one_line(record: object, told: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump([{"question": "Fine?", "value": 1}, record]))
    with pytest.raises(SettingsError, match="record 2") as error:
        read_trial_questions(path)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_ids_are_used_once(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps([{"id": "a", "question": "How many?", "value": 1}] * 2))
    with pytest.raises(SettingsError, match="'a' is used more than once"):
        read_trial_questions(path)


def test_the_json_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    schema = build_trial_schema()
    right: list[dict[str, object]] = [
        {"question": "How many?", "sql": ["SELECT 1", "SELECT 2"], "note": "asked daily"},
        {"question": "How many?", "rows": "at least 3", "columns": ["country"]},
        {"id": 7, "question": "How many?", "sql": "SELECT 1"},
        {"id": "x", "turns": [{"question": "How many?", "value": 3}, {"question": "And?", "must": "decline"}]},
    ]
    jsonschema.validate(right, schema)  # pyright: ignore[reportUnknownMemberType]
    (tmp_path / "own.json").write_text(json.dumps(right))
    assert len(read_trial_questions(tmp_path / "own.json")) == 4
    for wrong in ({"question": "How many?", "vlaue": 3}, {"turns": []}, {"sql": "SELECT 1"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([wrong], schema)  # pyright: ignore[reportUnknownMemberType]
