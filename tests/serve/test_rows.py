"""Rows over HTTP: sorted, searched, exported and drawn."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from pyarrow import parquet
from tableturn.agent import SQLAgent

from tests.serve.conftest import Client, scripted, serving


async def test_rows_are_sorted_and_searched_here(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    agent = agent_over(shop, model=scripted("SELECT id, name, city FROM customers"), settings={"rows": 1})
    async with serving(agent) as client:
        turn = (await client.post("/ask", json={"question": "All customers?"})).headers["tableturn-turn"]
        page = (await client.get(f"/turns/{turn}/rows", params={"sort": 1, "descending": True, "limit": 2})).json()
        assert page["total"] == 3, "the answer held one row, the query gives three"
        assert [row[1] for row in page["rows"]] == ["Cy", "Bo"]
        found = (await client.get(f"/turns/{turn}/rows", params={"search": "PARIS"})).json()
        assert [row[1] for row in found["rows"]] == ["Ada", "Cy"]
        assert (await client.get(f"/turns/{turn}/rows", params={"search": "%"})).json()["total"] == 0
        assert (await client.get(f"/turns/{turn}/rows", params={"sort": 3})).status_code == 422


@pytest.mark.parametrize("search", ["7", "Ä"])
async def test_wide_results_are_searched_sorted_and_exported(
    shop: Path, agent_over: Callable[..., SQLAgent], search: str
) -> None:
    cells = ", ".join([*(f"0 AS c{number}" for number in range(1_898)), "'Ä7' AS name"])
    sql = f"SELECT {cells}, id FROM customers ORDER BY id"
    async with serving(agent_over(shop, model=scripted(sql), settings={"sql_bytes": 100_000})) as client:
        turn = (await client.post("/ask", json={"question": "All?"})).headers["tableturn-turn"]
        asked = {"search": search, "sort": 1_899, "descending": True, "limit": 1, "offset": 1}
        page = (await client.get(f"/turns/{turn}/rows", params=asked)).json()
        assert (page["total"], page["rows"][0][-2:]) == (3, ["Ä7", 2])
        none = (await client.get(f"/turns/{turn}/rows", params={"search": "nowhere"})).json()
        assert none["total"] == 0
        for kind in ("csv", "xlsx", "parquet"):
            reply = await client.get(f"/turns/{turn}/export", params={"format": kind})
            assert reply.status_code == 200, reply.text


async def test_export_writes_all_rows(client: Client) -> None:
    turn = (await client.post("/ask", json={"question": "All customers?"})).headers["tableturn-turn"]
    reply = await client.get(f"/turns/{turn}/export", params={"format": "csv"})
    assert "attachment" in reply.headers["content-disposition"]
    assert list(csv.reader(io.StringIO(reply.text)))[1:] == [["Ada"], ["Bo"], ["Cy"]]
    assert (await client.get(f"/turns/{turn}/export", params={"format": "exe"})).status_code == 422


async def test_export_writes_the_rows_that_are_looked_at(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    query = "SELECT id, name, '=1+1' AS sum, x'00ff' AS raw FROM customers"
    agent = agent_over(shop, model=scripted(query), settings={"rows": 1, "export_rows": 2})
    async with serving(agent) as client:
        turn = (await client.post("/ask", json={"question": "All customers?"})).headers["tableturn-turn"]
        path, looks = f"/turns/{turn}/export", {"sort": 1, "descending": True}
        file = await client.get(path, params=looks)
        assert list(csv.reader(io.StringIO(file.text)))[1:] == [
            ["3", "Cy", "'=1+1", "x'00FF'"],
            ["2", "Bo", "'=1+1", "x'00FF'"],
        ], "as many as an export may have, of all rows"
        assert "All%20customers.csv" in file.headers["content-disposition"]
        found = await client.get(path, params={"search": "AD", "format": "json"})
        assert [row["name"] for row in found.json()] == ["Ada"]
        book = await client.get(path, params={"search": "o", "format": "xlsx"})
        (sheet,) = openpyxl.load_workbook(io.BytesIO(book.content)).worksheets
        assert [tuple(row) for row in sheet.iter_rows(min_row=2, values_only=True)] == [(2, "Bo", "=1+1", "x'00FF'")]
        table = await client.get(path, params={**looks, "format": "parquet", "rows": 1})
        assert parquet.read_table(io.BytesIO(table.content)).to_pylist() == [
            {"id": 3, "name": "Cy", "sum": "=1+1", "raw": b"\x00\xff"}
        ]
        nothing = await client.get(path, params={"search": "nowhere"})
        assert nothing.text == "id,name,sum,raw\n"
        assert (await client.get(path, params={"sort": 4})).status_code == 422
        assert (await client.get(path, params={"search": "a" * 201})).status_code == 422


async def test_a_large_view_is_written_part_by_part(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000) SELECT i, -i AS j FROM n"
    async with serving(agent_over(shop, model=scripted(query))) as client:
        turn = (await client.post("/ask", json={"question": "All numbers?"})).headers["tableturn-turn"]
        for form in ("csv", "xlsx", "parquet"):
            file = await client.get(f"/turns/{turn}/export", params={"sort": 1, "format": form})
            assert file.status_code == 200
            if form == "csv":
                lines = file.text.splitlines()
                assert (len(lines), lines[1], lines[-1]) == (45_001, "45000,-45000", "1,-1")
            elif form == "parquet":
                assert parquet.read_table(io.BytesIO(file.content)).column("i").to_pylist() == list(
                    range(45_000, 0, -1)
                )


async def test_a_chart_measures_the_column_that_was_chosen(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    rows = "SELECT 'north' AS region, 3 AS visits, 4000 AS sales UNION ALL SELECT 'south', 5, 6000"
    async with serving(agent_over(shop, model=scripted(f"SELECT * FROM ({rows})"))) as client:
        turn = (await client.post("/ask", json={"question": "Visits per region as a pie chart?"})).headers[
            "tableturn-turn"
        ]

        async def chart(**asked: Any) -> Any:
            reply = await client.get(f"/turns/{turn}/chart", params=asked)
            return reply.json() and (reply.json()["mark"]["type"], [row["y"] for row in reply.json()["data"]["values"]])

        assert await chart() == ("arc", [3, 5])
        assert await chart(measure=2) == ("arc", [4000, 6000]), "still of the kind that was asked for"
        assert await chart(measure=2, kind="bar") == ("bar", [4000, 6000])
        assert await chart(measure=0) is None, "names are no numbers"
        for measure in (9, -1):
            assert (await client.get(f"/turns/{turn}/chart", params={"measure": measure})).status_code == 422
