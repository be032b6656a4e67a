from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench
from tableturn.evals.official.exact_match import (
    Unparsed,
    compare_clauses,
    compute_hardness,
    parse,
    read_foreign_key_maps,
)
from tableturn.evals.official.execution import OfficialDatabases, execute_and_compare


@pytest.mark.data
def test_official_mode_equals_the_official_tool(data_dir: Path) -> None:
    found = run_bench("parity", BenchOptions(data_dir))
    assert len(found) == 6
    same = {"ex": [], "em": [], "hardness": []}
    assert {name: each for name, each in found.items() if (each["n"], each["differing"]) != (1034, same)} == {}  # type: ignore[index]


@pytest.mark.data
@pytest.mark.parametrize("run", ["sparc_dev.gemini-3-pro_zero_shot", "cosql_dev.gemini-3-pro_zero_shot"])
def test_official_mode_on_dialogues(data_dir: Path, run: str) -> None:
    """Published per-turn outcomes, except where the official tool could not run the gold (`exec` is null)."""
    keys = read_foreign_key_maps(data_dir / "spider" / "tables.json")
    spider = load_dataset("spider", "dev", data_dir)
    dialogues = json.loads((data_dir / "predictions" / "multi_turn" / f"{run}.json").read_text())
    turns = [turn for dialogue in dialogues for turn in dialogue["turns"] if turn["exec"] is not None]
    with OfficialDatabases(spider.find_file) as databases:
        for turn in turns:
            names, sql = databases.names(turn["db_id"]), turn["prediction"]
            gold = parse(turn["gold"], names)
            try:
                predicted = parse(sql.replace("value", "1"), names)
            except Unparsed:
                predicted = None
            same = execute_and_compare(sql, turn["gold"], turn["db_id"], databases).same
            found = same, not compare_clauses(predicted, gold, keys[turn["db_id"]]), compute_hardness(gold)
            assert found == (bool(turn["exec"]), bool(turn["exact"]), turn["hardness"]), sql
    assert len(turns) > 900
