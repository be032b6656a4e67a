from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset, load_dataset

DDL = """
CREATE TABLE club (id INTEGER PRIMARY KEY, title TEXT, town TEXT);
CREATE TABLE player (id INTEGER PRIMARY KEY, club_id INTEGER REFERENCES club (id), name TEXT, goals INTEGER, fee REAL);
INSERT INTO club VALUES (1, 'Rovers', 'Bath'), (2, 'United', 'York'), (3, 'Albion', 'Bath');
INSERT INTO player VALUES
    (1, 1, 'Ann', 5, 1.5), (2, 1, 'Bea', 3, 0.1), (3, 2, 'Cleo', 5, NULL), (4, 2, 'Dora', 1, 0.2),
    (5, 3, 'Ann', 0, 7.0);
"""
QUESTIONS = [
    ("How many players are there?", "SELECT count(*) FROM player"),
    ("Which players score most?", "SELECT name FROM player ORDER BY goals DESC"),
    ("Towns of clubs?", "SELECT DISTINCT town FROM club"),
    (
        "Clubs with many players?",
        "SELECT T1.title FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id GROUP BY T1.id",
    ),
]
TABLES = {
    "db_id": "league",
    "table_names_original": ["club", "player"],
    "column_names_original": [
        [-1, "*"], [0, "id"], [0, "title"], [0, "town"],
        [1, "id"], [1, "club_id"], [1, "name"], [1, "goals"], [1, "fee"],
    ],
    "foreign_keys": [[5, 1]],
}  # fmt: skip


def make_database(path: Path, ddl: str = DDL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(ddl)
    connection.close()
    return path


@pytest.fixture
def spider_root(tmp_path: Path) -> Path:
    """A tiny benchmark in Spider's layout."""
    folder = tmp_path / "spider"
    make_database(folder / "database" / "league" / "league.sqlite")
    records = [{"db_id": "league", "question": question, "query": sql} for question, sql in QUESTIONS]
    (folder / "dev.json").write_text(json.dumps(records))
    (folder / "tables.json").write_text(json.dumps([TABLES]))
    return tmp_path


@pytest.fixture
def league(spider_root: Path) -> Dataset:
    return load_dataset("spider", "dev", spider_root)
