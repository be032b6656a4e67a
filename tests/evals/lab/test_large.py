from __future__ import annotations

from pathlib import Path

from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench.costs import build_large_dataset, rewrite_for_large_database
from tableturn.tools.database import Database

from ..conftest import make_database


def test_the_large_database_holds_every_database_and_its_golds(spider_root: Path, tmp_path: Path) -> None:
    make_database(
        spider_root / "spider" / "database" / "shop" / "shop.sqlite",
        "CREATE TABLE player (model TEXT, price REAL); INSERT INTO player VALUES ('CD', 99.5);",
    )
    make_database(spider_root / "spider" / "database" / "bare" / "bare.sqlite", "CREATE TABLE empty_one (x TEXT);")
    dataset = build_large_dataset(load_dataset("spider", "dev", spider_root), tmp_path)
    assert {question.database for question in dataset.questions} == {"large"}
    assert len(dataset.questions) == 4
    with Database.open(dataset.find_file("large")) as database:
        schema = database.schema()
        for question in dataset.questions:
            assert database.execute(question.golds[0]).rows
    assert {table.name for table in schema.tables} == {"league__club", "league__player", "shop__player"}
    assert [(key.table, key.ref_table) for key in schema.foreign_keys if not key.inferred] == [
        ("league__player", "league__club")
    ]
    (tmp_path / "again").mkdir()
    again = build_large_dataset(load_dataset("spider", "dev", spider_root), tmp_path / "again")
    assert again.questions == dataset.questions


def test_a_gold_carried_over_keeps_its_names(tmp_path: Path) -> None:
    with Database.open(make_database(tmp_path / "league.sqlite")) as database:
        carried = rewrite_for_large_database(
            "SELECT club.title FROM club JOIN player AS p ON club.id = p.club_id "
            "WHERE p.goals > (SELECT avg(goals) FROM player)",
            database.schema(),
        )
    assert '"league__club" AS club' in carried
    assert '"league__player" AS p' in carried
    assert '"league__player" AS player' in carried
