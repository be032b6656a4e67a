from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.bench import registry
from typer.testing import CliRunner

from .conftest import QUESTIONS, make_database

runner = CliRunner()


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLETURN_DATA", raising=False)


def test_listing_benchmarks_imports_none_of_them() -> None:
    script = (
        "import sys; from tableturn.evals.bench.registry import BENCHES; "
        "heavy = {'langgraph', 'pandas', 'sqlglot', 'chromadb'}; "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_listed_benchmark_exists() -> None:
    folder = Path(registry.__file__).parent
    assert [name for name, bench in registry.BENCHES.items() if not (folder / f"{bench.module}.py").is_file()] == []
    assert list(registry.BENCHES) == sorted(registry.BENCHES)
    listed = runner.invoke(app, ["bench"]).output
    assert all(name in listed for name in registry.BENCHES)


def test_a_benchmark_without_its_data_says_so() -> None:
    result = runner.invoke(app, ["bench", "parity", "--json"])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "TABLETURN_DATA" in result.stderr


def test_an_unknown_benchmark_says_so() -> None:
    result = runner.invoke(app, ["bench", "nonsense"])
    assert result.exit_code == 2
    assert "no benchmark is called 'nonsense'" in result.stderr


def test_score_prints_one_object(spider_root: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "p.json"
    records = [{"id": str(number), "sql": sql} for number, (_, sql) in enumerate(QUESTIONS)][:3]
    predictions.write_text(json.dumps(records))
    options = ["score", "--dataset", "spider", "--predictions", str(predictions), "--data", str(spider_root), "--json"]
    for mode in ([], ["--official"]):
        result = runner.invoke(app, [*options, *mode])
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert (found["n"], found["ex"], found["em"], found["valid"]) == (4, 0.75, 0.75, 0.75)
        assert found["by_hardness"]["easy"]["n"] == 3
        assert found["per_question"][3] == {
            "id": "3", "ex": False, "em": False, "hardness": "medium", "error": "no prediction"
        }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1", "has 1 queries, spider dev has 4"),
        ('[{"id": "9", "sql": "SELECT 1"}]', "has no question '9'"),
        ('[{"sql": "SELECT 1"}]', "record 1: expected"),
        ("{", "is not JSON"),
    ],
)
def test_predictions_that_do_not_fit(spider_root: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / ("p.sql" if text.startswith("SELECT") else "p.json")
    path.write_text(text)
    result = runner.invoke(
        app, ["score", "--dataset", "spider", "--predictions", str(path), "--data", str(spider_root)]
    )
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_eval_runs_and_resumes(spider_root: Path, tmp_path: Path) -> None:
    options = ["eval", "--dataset", "spider", "--data", str(spider_root), "--model", "offline", "--json"]
    options += ["--out", str(tmp_path / "run")]
    first = runner.invoke(app, options)
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout)
    assert found["strict"]["n"] == 4
    again = json.loads(runner.invoke(app, options).stdout)
    assert again["strict"] == found["strict"]
    other = runner.invoke(app, [*options, "--limit", "1"])
    assert other.exit_code == 2
    assert "holds a run with limit" in other.stderr


def test_data_check(spider_root: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["data", "check", str(spider_root), "--json"])
    assert result.exit_code == 1
    (report,) = json.loads(result.stdout)
    assert [finding["kind"] for finding in report["findings"]] == ["count"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert runner.invoke(app, ["data", "check", str(empty)]).exit_code == 2
    assert runner.invoke(app, ["data", "check", str(tmp_path / "nowhere")]).exit_code == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.csv", "question;sql;database\nHow many?;SELECT 1;league.sqlite\n", "record 1: unknown field"),
        ("q.csv", "question,sql,database\nHow many?,SELECT 1\n", "record 1: 'database' is missing"),
        ("q.json", "[]", "holds no questions"),
        ("q.json", '{"question": "How many?"}', "expected a list of questions"),
        ("q.json", '[{"question": "Q", "sql": [], "database": "league.sqlite"}]', "record 1: 'sql' is a query"),
        ("q.json", "[", "cannot be read"),
        ("q.yaml", "a: [b", "cannot be read"),
    ],
)
def test_files_of_ones_own_that_are_wrong(tmp_path: Path, name: str, text: str, message: str) -> None:
    make_database(tmp_path / "league.sqlite")
    (tmp_path / name).write_text(text)
    options = ["--dataset", str(tmp_path / name), "--model", "offline", "--out", str(tmp_path / "run")]
    for command in (["eval", *options], ["data", "check", str(tmp_path / name)]):
        result = runner.invoke(app, command)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.strip().count("\n") == 0


def test_a_gold_that_fails_is_told(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    (tmp_path / "text.sqlite").write_text("no database")
    asked = {"league.sqlite": "SELECT nothing", "text.sqlite": "SELECT 1", "none.sqlite": "SELECT 1"}
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"question": "Q", "sql": sql, "database": name} for name, sql in asked.items()]))
    checked = runner.invoke(app, ["data", "check", str(path), "--json"])
    assert checked.exit_code == 1, checked.output
    (report,) = json.loads(checked.stdout)
    kinds = {finding["where"]: finding["kind"] for finding in report["findings"]}
    assert kinds == {"1": "gold_fails", "text.sqlite": "missing_database", "none.sqlite": "missing_database"}
    run = runner.invoke(app, ["eval", "--dataset", str(path), "--model", "offline", "--out", str(tmp_path / "run")])
    assert run.exit_code == 0, run.output
    assert run.stderr.count("is not judged: ") == 3


def test_suites_of_ones_own_databases_are_judged_on(tmp_path: Path) -> None:
    """Two databases of one file name, one of them outside the questions' folder, and one beside the questions."""
    asked = {
        "league.sqlite": "SELECT name FROM player WHERE goals > 3",
        "a/league.sqlite": "SELECT n FROM other WHERE n > 3",
        "../b/league.sqlite": "SELECT title FROM club WHERE id > 1",
    }
    folder = tmp_path / "questions"
    make_database(folder / "league.sqlite")
    make_database(folder / "a" / "league.sqlite", "CREATE TABLE other (n INT); INSERT INTO other VALUES (1), (7);")
    make_database(tmp_path / "b" / "league.sqlite")
    questions = folder / "q.json"
    questions.write_text(json.dumps([{"question": "Q", "sql": sql, "database": name} for name, sql in asked.items()]))
    dataset = ["--dataset", str(questions)]
    # Beside b: a name with `..` must not lead from the suites to the original.
    suites = tmp_path / "suites"
    built = runner.invoke(app, ["suite", "build", *dataset, "--out", str(suites), "--json"])
    assert built.exit_code == 0, built.output
    reports = json.loads(built.stdout)
    assert len(list(suites.iterdir())) == 3
    assert all(report["golds"] == 1 and report["killed"] >= 3 for report in reports)
    predictions = tmp_path / "p.json"
    for offset, expected in ((0, [True, True, True]), (1, [False, False, False])):
        nearly = [f"{sql[:-1]}{int(sql[-1]) + offset}" for sql in asked.values()]
        predictions.write_text(json.dumps(nearly))
        options = ["score", *dataset, "--predictions", str(predictions), "--databases", str(suites), "--json"]
        for mode in ([], ["--official"]):
            scored = runner.invoke(app, [*options, *mode])
            assert scored.exit_code == 0, scored.output
            assert [question["ex"] for question in json.loads(scored.stdout)["per_question"]] == expected
    (suites / "a%2Fleague").rename(suites / "gone")
    missing = json.loads(runner.invoke(app, options).stdout)
    assert missing["unjudged"] == ["2"]


def test_a_suite_beside_the_questions_leaves_their_own_databases_be(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    questions = tmp_path / "q.json"
    gold = "SELECT name FROM player WHERE goals > 3"
    questions.write_text(json.dumps([{"question": "Q", "sql": gold, "database": "league.sqlite"}]))
    dataset = ["--dataset", str(questions)]
    assert runner.invoke(app, ["suite", "build", *dataset, "--out", str(tmp_path)]).exit_code == 0
    (tmp_path / "p.json").write_text(json.dumps([gold.replace("3", "4")]))
    scored = runner.invoke(app, ["score", *dataset, "--predictions", str(tmp_path / "p.json"), "--json"])
    assert json.loads(scored.stdout)["ex"] == 1.0
    other = tmp_path / "db" / "league" / "league.sqlite"
    make_database(other)
    refused = runner.invoke(app, ["suite", "build", *dataset, "--out", str(tmp_path / "db")])
    assert refused.exit_code == 2
    assert "did not write" in refused.stderr
    assert refused.stderr.strip().count("\n") == 0
