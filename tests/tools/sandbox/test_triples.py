"""Code and SQL for the same question give results that compare equal when they should, and differ when they should."""

from __future__ import annotations

import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.sample import build_sample
from tableturn.tools.sandbox import (
    SandboxLimits,
    compare_code_and_sql_results,
    find_sandbox_problem,
    load_frames,
    run_python,
)

TRIPLES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("triples.toml").read_text(encoding="utf-8"))[
    "triple"
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[Database]:
    if problem := find_sandbox_problem():
        pytest.skip(problem)
    with Database.open(build_sample(tmp_path_factory.mktemp("sample") / "sample.db")) as opened:
        yield opened


def test_there_are_enough_of_them() -> None:
    assert len(TRIPLES) >= 60


@pytest.mark.parametrize("triple", TRIPLES, ids=[f"{n} {triple['question']}" for n, triple in enumerate(TRIPLES)])
def test_triple(database: Database, triple: dict[str, Any]) -> None:
    loaded = load_frames(triple["code"], database)
    assert loaded.frames
    assert not loaded.notes
    ran = run_python(triple["code"], loaded.frames, SandboxLimits(rows=20_000))
    assert ran.error is None
    expected = database.execute(triple["sql"], Limits(rows=20_000))
    compared = compare_code_and_sql_results(ran, expected, ordered=triple.get("ordered", False))
    assert compared.agree is triple.get("agree", True), (ran.table, expected)
    assert compared.conclusive
    assert bool(compared.reason) is not compared.agree
