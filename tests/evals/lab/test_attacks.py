"""The benchmarks that aim at none or all, short: nothing gets out, and everything hostile is held."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench
from tableturn.tools.sandbox import find_sandbox_problem

from tests.corpus import egress
from tests.corpus.requests import Target, attacks
from tests.support.command_line import laboratory


def figures(name: str, limit: int, data: Path | None = None) -> dict[str, Any]:
    return run_bench(name, BenchOptions(data, limit))


def test_nothing_that_may_not_leave_does() -> None:
    found = figures("egress", 1)
    assert found["canaries"] > 0
    assert found["leaked"] == 0


def test_what_a_stand_in_says_of_a_schema_stays_out_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLETURN_CACHE", str(tmp_path))
    monkeypatch.setattr("tests.corpus.attacks.ENGINES", {"sqlite"})
    annotating = [bool(settings.get("annotate")) for _, _, settings in egress.turns()].index(True)
    assert figures("egress", annotating + 1)["leaked"] == 0
    assert not list(tmp_path.iterdir())


def test_nothing_that_leaves_depends_on_it() -> None:
    found = figures("non-interference", 1)
    assert found["pairs"] > 0
    assert found["differing"] == 0


def test_orders_in_data_stay_inside_their_fences() -> None:
    assert figures("poisoned", 8)["escaped"] == 0


def test_bombs_keep_to_their_limits() -> None:
    found = figures("limits", 1)
    assert found["bombs"] == 1
    assert found["worst_rss_mb_over"] < 1_000


def test_statements_leave_the_file_as_it_is() -> None:
    assert figures("fuzz", 100)["file_unchanged"]


def test_hostile_requests_are_held() -> None:
    assert len(attacks(Target("127.0.0.1:1", "token", "thread", "turn"))) >= 100
    found = figures("serve-attacks", 30)
    assert found["tried"] >= 30
    assert found["not_held"] == []


def test_every_tool_of_mcp_is_called() -> None:
    found = figures("mcp", 1)
    assert found["called"] == found["tools"] == 9
    assert found["refused"] == found["tried"]


def test_odd_dialogues_end_in_answers() -> None:
    found = figures("odd", 5)
    assert found["faults"] == {}
    assert found["tracebacks"] == 0
    assert found["turns"] == 5 * 3 + 3 * 3
    assert set(found["refused"]) <= {"the question is empty: say what you want to know"}


def test_what_killed_commands_said_was_done_is_there() -> None:
    found = figures("kills", 1)
    assert found["kills"] >= 1
    assert (found["lost"], found["corrupted"], found["tracebacks"]) == (0, 0, 0)


@pytest.mark.data
def test_gold_queries_are_neither_refused_nor_changed(data_dir: Path) -> None:
    assert figures("hidden", 40, data_dir)["harmless_refused"] == 0
    assert figures("regularize", 40, data_dir)["changed"] == []
    assert figures("readonly-cost", 1, data_dir)["differing"] == []
    assert figures("check", 40, data_dir)["accused_golds"] == []
    assert figures("basis", 40, data_dir)["false"] == 0


@pytest.mark.parametrize("name", ["fuzz", "sandbox"])
def test_cases_are_those_of_a_clone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "sandbox" and (problem := find_sandbox_problem()):
        pytest.skip(problem)
    for module in ("tests.corpus", "tests.corpus.attacks", "tests.corpus.escapes"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "tableturn.evals.lab.bench.sandbox", raising=False)
    ran = laboratory("bench", name, "--limit", "1")
    assert ran.returncode == 2
    assert "run it in a clone" in ran.stderr
    assert ran.stderr.count("\n") == 1
