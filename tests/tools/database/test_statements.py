"""Good statements run, bad ones are refused, and neither leaves a trace on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError, QueryRejected

from .shop import make_shop
from .traces import trace

_FOLDER = Path(__file__).parent


def good() -> list[str]:
    lines = (_FOLDER / "good.sql").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("--")]


def bad() -> Iterator[tuple[str, str]]:
    kind = ""
    lines = (_FOLDER / "bad.sql").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("== "):
            kind = line[3:]
        elif kind:
            escapes = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\f": "\f", "\\x00": "\0", "\\ud800": "\ud800"}
            for written, meant in escapes.items():
                line = line.replace(written, meant)
            yield kind, line


@pytest.fixture(scope="module", autouse=True)
def nothing_changes(shop_path: Path) -> Iterator[None]:
    before = trace(shop_path.parent)
    yield
    assert trace(shop_path.parent) == before


def test_lists_are_long_enough() -> None:
    assert len(set(good())) >= 150
    assert len({line for _, line in bad()}) >= 150


@pytest.mark.parametrize("sql", good())
def test_good_statement_runs(shop: Database, sql: str) -> None:
    table = shop.execute(sql)
    assert table.columns
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize(("kind", "sql"), list(bad()))
def test_bad_statement_is_refused(shop: Database, shop_path: Path, kind: str, sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        shop.execute(sql.replace("{folder}", str(shop_path.parent)))
    assert kind in ("any", caught.value.kind)
    assert isinstance(caught.value, QueryRejected) == (caught.value.kind == "rejected")
    assert "\n" not in str(caught.value)
    assert 5 < len(str(caught.value)) < 400
    assert shop.execute("SELECT count(*) FROM customer").rows == ((4,),)


_VIRTUAL = ("note WHERE note MATCH 'parcel'", "old_note", "note_terms", "place", "json_each('[1, 2]')")


def test_refused_statements_leave_virtual_tables_usable(tmp_path: Path) -> None:
    with Database.open(make_shop(tmp_path / "shop.db")) as database:
        for _, sql in bad():
            with pytest.raises(QueryError):
                database.execute(sql.replace("{folder}", str(tmp_path)))
            for table in _VIRTUAL:
                assert database.execute(f"SELECT * FROM {table}").rows
