"""A misspelt name is put right without a request, unless a setting says no."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tableturn import SQLAgent

from ...support.scripted import writes


def _shop(folder: Path) -> Path:
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, city TEXT);"
            "INSERT INTO customers VALUES (1, 'Lyon'), (2, 'Bern')"
        )
    return path


def test_a_misspelt_name_costs_no_request(tmp_path: Path) -> None:
    model = writes("SELECT city FROM custmers ORDER BY city")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert answer.sql == "SELECT city FROM customers ORDER BY city"
    assert [tuple(row) for row in answer.rows] == [("Bern",), ("Lyon",)]
    assert len(model.prompts) == 1
    assert any("custmers was read as customers" in note for note in answer.notes)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    model = writes("SELECT city FROM custmers", "SELECT city FROM customers")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none", "mend_names": False}) as agent:
        agent.ask("Which cities do the customers live in?")
    assert len(model.prompts) == 2
