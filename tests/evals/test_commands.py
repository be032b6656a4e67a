from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.lab.bench import registry
from typer.testing import CliRunner

from tests.support.command_line import laboratory, tableturn

from .conftest import QUESTIONS, make_database

runner = CliRunner()


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLETURN_DATA", raising=False)


def test_listing_benchmarks_imports_none_of_them() -> None:
    script = (
        "import sys; from tableturn.evals.lab.bench.registry import BENCHES; "
        "heavy = {'langgraph', 'pandas', 'sqlglot', 'chromadb'}; "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_listed_benchmark_exists() -> None:
    for name, bench in registry.BENCHES.items():
        assert callable(bench.load(name)), name
    assert list(registry.BENCHES) == sorted(registry.BENCHES)
    listed = laboratory("bench").stdout
    assert all(name in listed for name in registry.BENCHES)


def test_the_laboratory_lists_its_own_commands_alone() -> None:
    listed = laboratory("--help").stdout
    assert "disputes" in listed
    assert "experiment" not in listed


def test_a_command_that_is_gone_is_not_looked_for_in_the_laboratory() -> None:
    assert "is frozen" in tableturn("train", "confidence", "out.json").stderr


def test_a_benchmark_without_its_data_says_so() -> None:
    result = laboratory("bench", "parity", "--json")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "TABLETURN_DATA" in result.stderr


def test_an_unknown_benchmark_says_so() -> None:
    result = laboratory("bench", "nonsense")
    assert result.returncode == 2
    assert "unknown benchmark 'nonsense'" in result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bench fuzz --limit 5 --help", "bench NAME"),
        ("train linker out", "train"),
        ("suite build --dataset d", "suite build"),
        ("data disputes spider", "disputes DATASET"),
        ("eval --dataset cosql export-sft --out x", "sft export"),
        ("eval train-lora --records x", "sft lora"),
    ],
)
def test_a_command_that_moved_to_the_laboratory_says_where(old: str, new: str) -> None:
    ran = tableturn(*old.split())
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert f"run `python -m tableturn.evals.lab {new}` in a clone" in ran.stderr
    assert laboratory(*new.split()[: 2 if new.islower() else 1], "--help").returncode == 0


@pytest.mark.parametrize(
    ("old", "instead"),
    [
        ("impact --data x", "--data was removed: states are databases"),
        ("knowledge export --db shop.db --form=ossie", "--form ossie was removed: `--form yaml`"),
        ("data", "`tableturn data` was removed: `tableturn score`"),
        ("score --timings often", "--timings was removed: BIRD's own script"),
        ("trust show --db shop.db", "--db was removed: `tableturn doctor`"),
    ],
)
def test_what_was_removed_is_one_line_that_names_what_to_use(old: str, instead: str) -> None:
    ran = tableturn(*old.split())
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert instead in ran.stderr


@pytest.mark.parametrize("name", ["expectation"])
def test_training_without_its_data_says_so(name: str, tmp_path: Path) -> None:
    ran = laboratory("train", name, str(tmp_path / "weights.json"))
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "set TABLETURN_DATA" in ran.stderr
    assert not list(tmp_path.iterdir())


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
        ("", "p.json is empty"),
        ("SELECT 1", "has 1 query, but spider dev has 4 questions"),
        ('[{"id": "9", "sql": "SELECT 1"}]', "has no question '9'"),
        ('[{"sql": "SELECT 1"}]', "record 1: id is missing"),
        ('[{"id": 0, "sql": 5}]', "record 1: sql must be text, not 5"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "is not JSON: line 1, column 2"),
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
    assert "contains a run with limit=none, not limit=1" in other.stderr


def test_eval_prints_both_judgements_where_a_verdict_file_lies_beside_the_run(
    spider_root: Path, tmp_path: Path
) -> None:
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps([*(sql for _, sql in QUESTIONS[:2]), "SELECT town FROM club", QUESTIONS[3][1]]))
    run = tmp_path / "run"
    options = ["eval", "--dataset", "spider", "--data", str(spider_root), "--out", str(run)]
    options += ["--model", f"replay:{predictions}"]
    assert "by verdict" not in runner.invoke(app, options).stdout
    open_ = json.loads(runner.invoke(app, [*options, "--json"]).stdout)["by_verdict"]
    assert (open_["right"], open_["unjudged"], open_["ex"]) == (3, 1, None)
    ruling = {"question": QUESTIONS[2][0], "sql": "SELECT town FROM club", "verdict": "right"}
    (run / "verdicts.jsonl").write_text(json.dumps(ruling))
    assert "EX by gold 75.0, by verdict 100.0: 4 right" in runner.invoke(app, options).stdout
    (tmp_path / "other.jsonl").write_text(json.dumps(ruling | {"verdict": "unclear"}))
    told = runner.invoke(app, [*options, "--verdicts", str(tmp_path / "other.jsonl")]).stdout
    assert "by verdict 100.0: 3 right, 0 wrong, 1 unclear" in told
    missing = runner.invoke(app, [*options, "--verdicts", str(tmp_path / "none.jsonl")])
    assert missing.exit_code == 2


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (["eval", "--repeats", "2"], "give both to `report`"),
        (["score", "--dataset", "spider", "--predictions", "p.sql", "--timings", "9"], "BIRD's own script"),
        (["experiment", "craft-table-2", "--html"], "`tableturn report`"),
        (["data", "check", "folder"], "`tableturn score`"),
    ],
)
def test_what_is_gone_names_what_to_use(command: list[str], instead: str) -> None:
    ran = tableturn(*command)
    assert ran.returncode == 2
    assert instead in ran.stderr


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.csv", "question;sql;database\nHow many?;SELECT 1;league.sqlite\n", "record 1: question is missing"),
        ("q.csv", "question,sql,database\nHow many?,SELECT 1\n", "record 1: database is missing"),
        ("q.json", "[]", "contains no questions"),
        ("q.json", '{"question": "How many?"}', "expected a list of questions"),
        (
            "q.json",
            '[{"question": "Q", "sql": [], "database": "league.sqlite"}]',
            "record 1: 'sql' is missing: a query",
        ),
        ("q.json", "[", "is not JSON: line 1, column 2"),
        ("q.yaml", "a: [b", "is not YAML: line 1, column 6"),
        ("q.json", "[" * 100_000, "nested too deeply"),
        ("q.yaml", "[" * 1_000, "q.yaml is not YAML"),
        ("q.csv", f"question,sql,database\n{'long ' * 30_000},SELECT 1,league.sqlite\n", "a cell is too long"),
        ("q.csv", "question,sql,database\nHow many?,SELECT 1, 2,league.sqlite\n", "record 1: more cells"),
        (
            "q.json",
            r'[{"question": "Q", "sql": "SELECT \ud800", "database": "league.sqlite"}]',
            "record 1: sql.0 has characters that are not valid text",
        ),
    ],
)
def test_files_of_ones_own_that_are_wrong(tmp_path: Path, name: str, text: str, message: str) -> None:
    make_database(tmp_path / "league.sqlite")
    (tmp_path / name).write_text(text)
    options = ["--dataset", str(tmp_path / name), "--model", "offline", "--out", str(tmp_path / "run")]
    result = runner.invoke(app, ["eval", *options])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.strip().count("\n") == 0


def test_a_gold_that_fails_is_told(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    (tmp_path / "text.sqlite").write_text("no database")
    asked = {"league.sqlite": "SELECT nothing", "text.sqlite": "SELECT 1", "none.sqlite": "SELECT 1"}
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"question": "Q", "sql": sql, "database": name} for name, sql in asked.items()]))
    run = runner.invoke(app, ["eval", "--dataset", str(path), "--model", "offline", "--out", str(tmp_path / "run")])
    # A gold that fails says nothing of the run; a database that is not there does.
    assert run.exit_code == 1, run.output
    assert run.stderr.count("is not judged: ") == 1
    assert "questions without an answer: 2 of 3: " in run.stderr


def test_ones_own_questions_name_their_databases_and_have_no_others(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    questions = tmp_path / "q.json"
    gold = "SELECT name FROM player WHERE goals > 3"
    questions.write_text(json.dumps([{"question": "Q", "sql": gold, "database": "league.sqlite"}]))
    (tmp_path / "p.json").write_text(json.dumps([gold]))
    dataset = ["--dataset", str(questions)]
    for ran in (
        tableturn("score", *dataset, "--predictions", str(tmp_path / "p.json"), "--databases", str(tmp_path / "other")),
        laboratory("suite", "build", *dataset, "--out", str(tmp_path / "suites")),
    ):
        assert ran.returncode == 2
        assert "q names databases by path: give a file that names those in" in ran.stderr


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """Text may hold every other character that Python takes for the end of a line."""
    make_database(tmp_path / "league.sqlite")
    sql = "SELECT count(*) FROM player WHERE name <> 'a\u2028b\x85c'"
    record = {"question": "How\u2028many?", "sql": sql, "database": "league.sqlite"}
    (tmp_path / "q.jsonl").write_text(json.dumps(record, ensure_ascii=False) + "\n")
    (tmp_path / "q.csv").write_text("question,sql,database\n" + ",".join(f'"{text}"' for text in record.values()))
    (tmp_path / "p.sql").write_text(sql + "\n")
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "1", "sql": sql}, ensure_ascii=False))
    for dataset, predictions in (("q.jsonl", "p.sql"), ("q.csv", "p.jsonl")):
        options = ["--dataset", str(tmp_path / dataset), "--predictions", str(tmp_path / predictions), "--json"]
        result = runner.invoke(app, ["score", *options])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["ex"] == 1.0


def test_predictions_may_hold_what_is_asked_alone(spider_root: Path, tmp_path: Path) -> None:
    options = ["score", "--dataset", "spider", "--data", str(spider_root), "--limit", "2", "--json"]
    for count in (4, 2, 3):
        predictions = tmp_path / f"{count}.sql"
        predictions.write_text("\n".join(sql for _, sql in QUESTIONS[:count]))
        result = runner.invoke(app, [*options, "--predictions", str(predictions)])
        if count == 3:
            assert "has 3 queries, but spider dev has 4 questions, 2 of them asked" in result.stderr
        else:
            assert (json.loads(result.stdout)["n"], json.loads(result.stdout)["ex"]) == (2, 1.0)


def test_scores_say_what_they_are_shares_of(tmp_path: Path) -> None:
    """Also in official mode, where a gold that fails is so whatever is predicted."""
    make_database(tmp_path / "league.sqlite")
    golds = ["SELECT nothing", "SELECT nothing", "SELECT count(*) FROM player", "SELECT count(*) FROM club"]
    records = [{"question": "Q", "sql": sql, "database": "league.sqlite", "interaction": "i"} for sql in golds]
    records[2] |= {"disputed": "players may have left", "interaction": "j"}
    records[3] |= {"interaction": "j"}
    path, predictions = tmp_path / "q.json", tmp_path / "p.json"
    path.write_text(json.dumps(records))
    predictions.write_text(json.dumps(["", "SELECT 1", "SELECT 1", golds[3]]))
    for mode in ([], ["--official"]):
        options = ["score", "--dataset", str(path), "--predictions", str(predictions), *mode]
        found = json.loads(runner.invoke(app, [*options, "--json"]).stdout)
        assert (found["n"], found["judged"], found["ex"], found["valid"]) == (4, 2, 0.5, 1.0)
        assert found["unjudged"] == ["1", "2"]
        assert found["disputed"] == {"3": "players may have left"}
        assert (found["interactions"]["n"], found["interactions"]["judged"]) == (2, 1)
        assert found["by_database"]["league.sqlite"]["judged"] == 2
        told = runner.invoke(app, options)
        assert "questions: 4, 2 judged" in told.stdout
        assert "note: 3, counted wrong, has a gold query that may be wrong: players may have left" in told.stderr
        assert "note: 2 is not judged: " in told.stderr


def test_score_and_eval_count_the_same_questions(tmp_path: Path) -> None:
    """What is to be declined has no gold; its line in a file of predictions is blank."""
    make_database(tmp_path / "league.sqlite")
    path, predictions = tmp_path / "q.json", tmp_path / "p.sql"
    records: list[dict[str, object]] = [
        {"question": "How many players?", "sql": "SELECT count(*) FROM player", "database": "league.sqlite"},
        {"question": "What is the weather?", "expects": "decline", "database": "league.sqlite"},
        {"question": "How many clubs?", "sql": "SELECT count(*) FROM club", "database": "league.sqlite"},
    ]
    path.write_text(json.dumps(records))
    predictions.write_text("SELECT count(*) FROM player\n\nSELECT 1, 2\n")
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text(json.dumps({"question": "How many clubs?", "sql": "SELECT 1, 2", "verdict": "right"}))
    options = ["--dataset", str(path), "--verdicts", str(verdicts), "--json"]
    replay = ["--model", f"replay:{predictions}", "--out", str(tmp_path / "run")]
    evaluated = json.loads(runner.invoke(app, ["eval", *options, *replay]).stdout)
    for mode, more in (("strict", []), ("official", ["--official"])):
        ran = runner.invoke(app, ["score", *options, "--predictions", str(predictions), *more])
        scored = json.loads(ran.stdout)
        assert {name: scored[name] for name in evaluated[mode]} == evaluated[mode]
        assert (scored["n"], scored["judged"], scored["ex"]) == (2, 2, 0.5)
        for ruled in (scored["by_verdict"], evaluated["by_verdict"]):
            assert (ruled["n"], ruled["right"], ruled["ex"]) == (2, 2, 1.0)


def test_a_file_of_ones_own_has_no_splits(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"question": "Q", "sql": "SELECT 1", "database": "league.sqlite"}]))
    options = ["--dataset", str(path), "--split", "test", "--model", "offline", "--out", str(tmp_path / "run")]
    result = runner.invoke(app, ["eval", *options])
    assert result.exit_code == 2
    assert "leave --split test out" in result.stderr


def test_an_experiment_says_what_ts_needs(spider_root: Path, tmp_path: Path) -> None:
    (tmp_path / "drafts.sql").write_text("\n".join(sql for _, sql in QUESTIONS))
    model = f"replay:{tmp_path / 'drafts.sql'}"  # which needs no example store
    options = ["--data", str(spider_root), "--model", model, "--out", str(tmp_path / "out")]
    result = runner.invoke(app, ["experiment", "revision-table-1", *options])
    assert result.exit_code == 0, result.output
    assert "TS is skipped: pass --suites DIR" in result.stderr


def test_an_evaluation_without_a_model_says_what_answers(
    spider_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TABLETURN_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    told = "no model is chosen, so the built-in offline translator answers"
    options = ["--data", str(spider_root), "--out", str(tmp_path / "out")]
    ran = runner.invoke(app, ["experiment", "revision-table-1", *options])
    assert told in ran.stderr
    out = tmp_path / "run"
    ran = runner.invoke(app, ["eval", "--dataset", "spider", "--data", str(spider_root), "--out", str(out)])
    assert told in ran.stderr
    page = tmp_path / "report.html"
    assert runner.invoke(app, ["report", str(out), "--out", str(page)]).exit_code == 0
    assert '<td class="any">offline</td>' in page.read_text()
    named = runner.invoke(app, ["experiment", "revision-table-1", *options, "--model", "offline"])
    assert told not in named.stderr


def test_golds_that_cannot_be_judged_by_are_told(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200002) SELECT i FROM n"
    golds = {
        "DELETE FROM player": "delete",
        "PRAGMA user_version = 5": "PRAGMA",
        "SELECT name FROM player WHERE id <> 1 ORDER BY random() LIMIT 1": "its result changes from run to run",
        many: "200,000 rows",
        "SELECT name FROM player ORDER BY random()": "",
    }
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"question": "Q", "sql": sql, "database": "league.sqlite"} for sql in golds]))
    (tmp_path / "p.json").write_text(json.dumps(list(golds)))
    options = ["score", "--dataset", str(path), "--predictions", str(tmp_path / "p.json"), "--json"]
    scored = json.loads(runner.invoke(app, options).stdout)
    assert scored["ex"] == 1.0
    assert scored["unjudged"] == ["1", "2", "3", "4"]
    for told, expected in zip(scored["per_question"], golds.values(), strict=True):
        assert expected in told["error"]
