"""The index as a whole: where it lies, when it is built, what it may cost."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.session import Identity, Session
from tableturn.tools.errors import DatabaseUnavailable
from tableturn.tools.folders import cache_folder
from tableturn.tools.values import IndexBounds, ValueIndex, ValueMatch
from tableturn.tools.values.match import IndexedValues, find_values


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.execute(sql)
        made.commit()


@pytest.mark.parametrize(
    ("table", "column", "text", "held"),
    [
        ("customer", "country", "France", True),
        ("CUSTOMER", "Country", "France", True),
        ("customer", "country", "france", False),
        ("customer", "country", "Fran", False),
        ("customer", "name", "Ann O'Neil", True),
        ("customer", "id", "1", True),  # as SQLite compares a number column with a text
        ("customer", "id", "9", False),
        ("product", "label", "7", True),
        ("product", "note", "", True),
        ("product", "price", "3.5", True),
        ("customer", "nowhere", "nowhere", False),
        ("nowhere", "name", "x", False),
    ],
)
def test_holds(index: ValueIndex, table: str, column: str, text: str, held: bool) -> None:
    assert index.holds(table, column, text) is held


@pytest.mark.parametrize(
    ("table", "column", "pattern", "held"),
    [
        ("customer", "country", "%states%", True),
        ("Customer", "Country", "fr_nce", True),
        ("customer", "country", "%usa%", False),
        ("customer", "name", "%O'N%", True),
        ("customer", "nowhere", "%", False),
        ("nowhere", "name", "%", False),
    ],
)
def test_matches(index: ValueIndex, table: str, column: str, pattern: str, held: bool) -> None:
    assert index.matches(table, column, pattern) is held


@pytest.mark.parametrize(
    ("column", "text", "nearest"),
    [
        ("country", "Frnace", "France"),
        ("country", "FRANCE", "France"),
        ("country", "French", "France"),
        ("country", "USA", "United States of America"),
        ("sex", "female", "F"),
        ("name", "Gruber", "Astrid Gruber"),
    ],
)
def test_nearest(index: ValueIndex, column: str, text: str, nearest: str) -> None:
    assert index.nearest("Customer", column, text)[0] == nearest


@pytest.mark.parametrize(
    ("text", "near"),
    [
        *((text, ()) for text in ("NULL", "none", "Unknown")),
        *((text, ("Leeds",)) for text in ("Leedz", "Leed", "Ledes")),
        *((text, ()) for text in ("Feeds", "Leets!x", "Iran")),  # another beginning, two letters, four letters
        *((text, ("Iraq",)) for text in ("Irqa", "Irraq")),  # of four letters, in another order or twice
        *((text, ()) for text in ("Ira", "CODE")),
        *((text, ("Unknown Soldier",)) for text in ("Soldeir", "Unknwon")),  # some of its words, misspelt
        *((text, ()) for text in ("Solid", "Soldeir Boy")),
        *((text, ()) for text in ("Model S", "model z")),  # another letter, as another number
        ("Modl X", ("Model X",)),
        *((text, ()) for text in ("Class E Wagon", "Series B7 Saloon")),
        *((text, ("Class C Wagon",)) for text in ("Clas C Wagon", "Class Wagon")),
        ("Seires B5 Saloon", ("Series B5 Saloon",)),
    ],
)
def test_what_a_short_text_or_one_for_no_value_is_near(tmp_path: Path, text: str, near: tuple[str, ...]) -> None:
    path = tmp_path / "poll.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE poll(choice TEXT)")
        texts = ("None of the above", "Null Island", "Unknown Soldier", "Yes", "Leeds", "Iraq", "COED", "Model X", None)
        texts += ("Class C Wagon", "Series B5 Saloon")
        made.executemany("INSERT INTO poll VALUES (?)", [(text,) for text in texts])
        made.commit()
    with Database.open(path) as database:
        assert ValueIndex.open(database, cache=tmp_path).nearest("poll", "choice", text) == near


def test_nearest_of_nothing(index: ValueIndex) -> None:
    assert index.nearest("customer", "country", "xyzzy") == ()
    assert index.nearest("customer", "nowhere", "France") == ()


def test_writes_only_to_the_cache(index: ValueIndex, shop_file: Path, tmp_path: Path) -> None:
    before = shop_file.read_bytes()
    index.find("France")
    assert [path.name for path in shop_file.parent.iterdir()] == [shop_file.name]
    assert shop_file.read_bytes() == before
    assert len(list((tmp_path / "cache" / "values").glob("*.sqlite"))) == 1


def test_nothing_is_read_before_the_first_question(shop: Database, tmp_path: Path) -> None:
    ValueIndex.open(shop, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_second_index_reuses_the_file(shop: Database, index: ValueIndex, tmp_path: Path) -> None:
    index.find("France")
    (file,) = (tmp_path / "cache" / "values").iterdir()
    written = file.stat().st_mtime_ns
    assert ValueIndex.open(shop, cache=tmp_path / "cache").find("France")[0].value == "France"
    assert file.stat().st_mtime_ns == written


def test_notices_changes_and_removes_the_outdated_file(index: ValueIndex, shop_file: Path, tmp_path: Path) -> None:
    assert not index.holds("customer", "country", "Peru")
    change(shop_file, "INSERT INTO customer(country) VALUES ('Peru')")
    assert index.holds("customer", "country", "Peru")
    assert index.find("Peruvian customers")[0].value == "Peru"
    assert len(list((tmp_path / "cache" / "values").glob("*.sqlite"))) == 1


def test_notices_a_new_table(index: ValueIndex, shop_file: Path) -> None:
    assert index.find("Quito") == ()
    change(shop_file, "CREATE TABLE city AS SELECT 'Quito' AS name")
    assert index.find("Quito")[0].table == "city"


def test_a_damaged_file_is_built_anew(shop: Database, index: ValueIndex, tmp_path: Path) -> None:
    index.find("France")
    (file,) = (tmp_path / "cache" / "values").iterdir()
    file.write_bytes(b"no index at all" * 100)
    assert ValueIndex.open(shop, cache=tmp_path / "cache").find("France")[0].value == "France"


def test_hidden_columns_are_not_found(shop_file: Path, index: ValueIndex, tmp_path: Path) -> None:
    assert index.find("Rosebud")[0].column == "secret"
    with Database.open(shop_file, deny=["customer.secret"]) as guarded:
        hidden = ValueIndex.open(guarded, cache=tmp_path / "cache")
        assert hidden.find("Rosebud") == ()
        assert not hidden.holds("customer", "secret", "Rosebud")
        assert hidden.nearest("customer", "secret", "Rosebud") == ()


def test_later_calls_go_on_building(shop_file: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(shop_file)) as made:
        made.execute("CREATE TABLE city(name TEXT)")
        made.executemany("INSERT INTO city VALUES (?)", ((f"Town {number:05}x",) for number in range(25_000)))
        made.commit()
    with Database.open(shop_file) as database:
        index = ValueIndex.open(database, cache=tmp_path / "cache", bounds=IndexBounds(seconds=0))
        index.find("x")
        assert index.find("Town 24999x")[:1] == (), "not complete after so little time"
        assert index.holds("city", "name", "Town 24999x"), "the database knows"
        calls = [ValueIndex.open(database, cache=tmp_path / "cache", bounds=IndexBounds(seconds=0)) for _ in range(20)]
        found = [index.find("Town 24999x in France") for index in calls]
        assert {match.value for match in found[-1] if match.how == "exact"} == {"Town 24999x", "France"}


def test_values_over_the_bound_are_left_to_the_database(shop: Database, tmp_path: Path) -> None:
    small = ValueIndex.open(shop, cache=tmp_path / "cache", bounds=IndexBounds(values=2))
    assert len(small.find("Bob Fosse, Ann O'Neil, Astrid Gruber, France, Germany")) <= 2
    assert small.holds("customer", "country", "Germany")
    assert not small.holds("customer", "country", "Peru")


def test_threads_and_second_builders_agree(shop_file: Path, tmp_path: Path) -> None:
    with Database.open(shop_file) as database:
        indexes = [ValueIndex.open(database, cache=tmp_path / "cache") for _ in range(4)]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ValueIndex.find, indexes * 10, ["French customers"] * 40))
    assert len(set(answers)) == 1
    assert answers[0][0].value == "France"


def test_a_cache_that_cannot_be_written_costs_only_memory(shop: Database, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert ValueIndex.open(shop, cache=blocked).find("France")[0].value == "France"


def test_a_vanished_database_is_said(index: ValueIndex, shop_file: Path) -> None:
    index.find("France")
    shop_file.unlink()
    with pytest.raises(DatabaseUnavailable, match="gone"):
        index.find("France")


def test_the_cache_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TABLETURN_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_nobody_reads_the_index_of_another_session(shop_file: Path, tmp_path: Path) -> None:
    """What one person may read of a row, only the engine knows: the columns of both are the same."""
    sessions = [Session(Identity("ann")), Session(Identity("bob")), Session()]
    files = tmp_path / "cache" / "values"
    for number, session in enumerate(sessions, 1):
        with Database.open(shop_file, session=session) as database:
            assert ValueIndex.open(database, cache=tmp_path / "cache").find("customers in France")
        assert len(list(files.iterdir())) == number


def test_a_question_is_looked_up_once_until_the_contents_change(
    index: ValueIndex, shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def find(text: str, index: IndexedValues) -> tuple[ValueMatch, ...]:
        asked.append(text)
        return find_values(text, index)

    monkeypatch.setattr("tableturn.tools.values.match.find_values", find)
    both = index.find("customers in France"), index.find("customers in France", limit=1)
    assert both[0][:1] == both[1]
    assert len(asked) == 1
    change(shop_file, "INSERT INTO customer(country) VALUES ('Peru')")
    index.find("customers in France")
    assert len(asked) == 2
