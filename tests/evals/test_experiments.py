from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import precision_recall_fscore_support
from tableturn.agent import make_settings
from tableturn.agent.cli.app import app
from tableturn.evals.datasets.load import LAYOUTS, Dataset, GoldTurn
from tableturn.evals.experiments.measure import (
    Experiment,
    ExperimentRow,
    ExperimentSetup,
    NotRun,
    RunCombination,
    format_reported_number,
    format_row_name,
    list_experiment_names,
    list_remarks,
    measure,
    read_experiment,
    sample_by_difficulty,
)
from tableturn.evals.lab.bench.stand_in import reply_to
from tableturn.evals.lab.suite import build_suite
from tableturn.evals.metrics.judging import Verdict
from tableturn.evals.metrics.summary import score_linking
from tableturn.evals.runner.record import RunSpec, TurnRecord
from tableturn.evals.runner.run import Listener
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.errors import SettingsError
from tableturn.tools.examples import Example, ExampleStore
from typer.testing import CliRunner

from ..docs.pages import ROOT
from ..support.openai_server import Behaviour, OpenAIServer, says
from .conftest import QUESTIONS, make_database
from .rows import Request, as_named, count_compared, differences, find_misnamed, requests_of

FIGURE = re.compile(
    r"((im|easy|medium|hard|extra|turn[1-5])_)?(ex|em|ts|valid)|share|attempt\d_ex|trs|crs|crs_all"
    r"|em_ex|em_only|ex_only|neither|miss_\w+|(table|column)_(weighted|macro)_(p|r|f1)"
)
MEASURED = re.compile(r"(link|generate)_((total_|batch_|\d+_columns_)?seconds|hours|gb)")


@pytest.mark.parametrize("name", list_experiment_names())
def test_every_experiment_can_be_run(name: str) -> None:
    experiment = read_experiment(name)
    for row in experiment.rows:
        make_settings(row.settings, preset=row.preset)
        assert "dev" in LAYOUTS[row.dataset or experiment.dataset].splits
        assert all(
            MEASURED.fullmatch(figure) or (FIGURE.fullmatch(figure) and 0 <= value <= 100)
            for figure, value in row.paper.items()
        )
    assert all(FIGURE.fullmatch(figure) or MEASURED.fullmatch(figure) for figure in experiment.measures)
    assert len({row.name for row in experiment.rows}) == len(experiment.rows)


def options(model: str, **more: Any) -> RunSpec:
    return RunSpec("", "", model, **more)


@contextmanager
def listening(row: str, total: int) -> Generator[Listener]:
    def listener(record: TurnRecord, verdict: Verdict) -> None:
        assert total == 4

    yield listener


def test_an_experiment_measures_what_the_paper_reports(spider_root: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "drafts.sql"
    predictions.write_text("\n".join([*(sql for _, sql in QUESTIONS[:3]), "SELECT none FROM nowhere"]))
    original = spider_root / "spider" / "database" / "league" / "league.sqlite"
    build_suite(original, [sql for _, sql in QUESTIONS], tmp_path / "suites")
    # Score predictions need no example store.
    setup = ExperimentSetup(options(f"replay:{predictions}"), spider_root, tmp_path / "suites")
    rows = measure(read_experiment("revision-table-1"), setup, tmp_path / "out", listening)
    assert [row.name for row in rows] == ["revision chain", "zero-shot"]
    for row in rows:
        assert row.ours["ex"] == row.ours["em"] == row.ours["ts"] == row.ours["valid"] == 75.0
        assert row.ours["medium_ex"] == 0.0
    assert rows[0].paper == {"ex": 85.0, "ts": 83.2, "valid": 98.6}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["revision-chain", "zero-shot"]


def test_a_row_whose_code_cannot_be_run_is_not_run_by_sql_alone(
    benchmarks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("TABLETURN_SANDBOX", "kernels")
    rows = (
        row("code is run", preset="craft", settings={"k_question": 0, "feedback_code": True}),
        row("code is written", preset="craft", settings={"k_question": 0}),
    )
    with OpenAIServer(reply) as server:
        setup = ExperimentSetup(options("openai:m", base_url=server.base_url, limit=1), benchmarks)
        run, written = measure(Experiment(title="t", dataset="spider", rows=rows), setup, tmp_path / "out", unheard)
    assert "TABLETURN_SANDBOX is 'kernels'" in run.failed
    assert not run.ours
    assert written.questions == 1


def test_an_unknown_experiment_says_what_there_is() -> None:
    with pytest.raises(SettingsError, match=r"unknown experiment 'table-9'; known: .*track-table-9"):
        read_experiment("table-9")


def test_a_row_that_cannot_be_run_does_not_end_the_others(spider_root: Path, tmp_path: Path) -> None:
    setup = ExperimentSetup(options("offline"), spider_root)
    (spider_root / "spider-dk").mkdir()
    (spider_root / "spider" / "dev.json").rename(spider_root / "spider-dk" / "Spider-DK.json")
    experiment = read_experiment("revision-table-2").model_copy(update={"needs": "nothing"})
    rows = measure(experiment, setup, tmp_path / "out", listening)
    assert [bool(row.failed) for row in rows] == [True, True, False, False]
    assert "no dev.json" in rows[0].failed
    assert {"ex", "em", "trs", "crs"} <= set(rows[2].ours)


@pytest.mark.parametrize("paper", ["baselines", "craft", "credit", "revision", "track"])
def test_every_row_changes_what_it_names_and_nothing_else(paper: str) -> None:
    assert find_misnamed(name for name in list_experiment_names() if name.startswith(paper)) == {}


def row(name: str, **more: object) -> ExperimentRow:
    return ExperimentRow.model_validate({"name": name, "preset": "credit", "paper": {}, **more})


def test_a_row_that_changes_more_or_less_than_it_names_is_found() -> None:
    base = row("base")
    more = row(
        "more", base="base", settings={"n_voted": 3, "regular_examples": False}, changes=["example SQL", "system"]
    )
    less = row("less", base="base", settings={"m_votes": 20}, changes=["example choice"])
    silent = row("silent", settings={"n_voted": 3})
    experiment = Experiment(title="t", dataset="cosql", rows=(base, more, less, silent))
    assert as_named(base, experiment) == ""
    assert as_named(more, experiment) == "also changes example number; does not change example SQL"
    assert as_named(less, experiment) == "does not change example choice"
    assert as_named(silent, experiment) == "it has settings and names no base"


def test_differences_are_told_by_where_they_are() -> None:
    def asked(system: str = "Write.", schema: str = "t(a)", sql: str = "SELECT 1", more: str = "") -> Request:
        shown = f"<schema>\n{schema}\n</schema>\n<examples>\nQuestion: q\nSQL: {sql}\n</examples>\n{more}"
        return Request("generate", 0.0, system, shown)

    base = ((asked(),),)
    assert differences(base, base) == frozenset()
    assert differences(base, ((asked(schema="t(b)"),),)) == {"schema"}
    assert differences(base, ((asked(sql="select 1"),),)) == {"example SQL"}
    assert differences(base, ((asked(system="Say."), asked()),)) == {"system", "request generate"}
    assert differences(base, ((asked(more="Be quick."),),)) == {"text"}
    other = replace(asked(schema="t(b)"), task="reason")
    assert differences(base, ((other,),)) == {"request generate", "request reason", "schema"}
    warmer = replace(asked(), task="reason", temperature=0.7)
    assert differences(base, ((warmer,),)) == {"request generate", "request reason", "temperature"}


def test_the_page_says_how_many_rows_are_compared() -> None:
    names = list_experiment_names()
    rows = sum(len(read_experiment(name).rows) for name in names)
    told = f"{count_compared(names)} of the {rows} rows"
    assert told in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_the_demonstrations_of_credit_are_as_many_in_each_ablation() -> None:
    experiment = read_experiment("credit-table-3")
    for one in experiment.rows:
        for turn in requests_of(one, experiment):
            assert turn[-1].user.count("<example>") == 18


def reply(body: dict[str, object]) -> Behaviour:
    said = str(body["messages"])
    if "Rephrased: Give me" in said:
        return says("Rephrased: Give me the number of players.")
    if "thinking in pandas" in said:
        return says("```python\nresult = db_dict['player'][['id']]\n```\n```sql\nSELECT id FROM player\n```")
    if "reading them back" in said:
        return says('{"meaning": "It lists ids.", "differences": ""}')
    return says("```sql\nSELECT id FROM player\n```")


@pytest.fixture
def benchmarks(spider_root: Path) -> Path:
    """The tiny benchmark in the layouts of all sets of Spider's databases."""
    turns = [{"utterance": question, "query": sql} for question, sql in QUESTIONS[:2]]
    dialogues = [{"database_id": "league", "interaction": turns, "final": turns[-1]}]
    for name, file, content in (
        ("sparc", "dev.json", dialogues),
        ("cosql", "dev.json", dialogues),
        ("spider-dk", "Spider-DK.json", [{"db_id": "league", "question": q, "query": sql} for q, sql in QUESTIONS]),
    ):
        (spider_root / name).mkdir()
        (spider_root / name / file).write_text(json.dumps(content))
    return spider_root


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of pairs as an import leaves them, rephrased and simplified."""
    with ExampleStore.open(tmp_path / "store") as opened:
        opened.add(
            Example(
                f"How many things of kind {number} are there?",
                f"SELECT count(*) FROM thing WHERE kind = {number} LIMIT {number % 7 + 1}",
                "things",
                "thing(kind number)",
                "How many?",
                "import:train",
                rephrased=f"Give me the number of things of kind {number}.",
                database_schema="thing(kind number)\nother(id number)",
            )
            for number in range(60)
        )
    return str(tmp_path / "store")


@pytest.mark.parametrize("name", list_experiment_names())
def test_every_experiment_ends_or_says_why_it_is_not_run(
    name: str, benchmarks: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with OpenAIServer(reply) as server:
        command = ["experiment", name, "--model", "openai:m", "--base-url", server.base_url, "--limit", "1"]
        done = CliRunner().invoke(
            app, [*command, "--data", str(benchmarks), "--examples", store, "--out", str(tmp_path / "out")]
        )
    assert done.exit_code == ("\nnot run: " in done.stdout), done.output
    assert "examples from none" not in done.output.lower()
    if "bird" in name:
        assert "not run: dataset 'bird'" in done.output
    elif name in ("craft-table-3", "track-table-12", "track-table-14"):
        assert "not run: " in done.output
    else:
        assert "(paper / here)" in done.output


def test_without_the_store_that_it_needs_nothing_is_run(benchmarks: Path, tmp_path: Path) -> None:
    arguments = ["experiment", "credit-table-4", "--model", "openai:m", "--data", str(benchmarks)]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "not run: it needs an example store of a training set" in done.output
    with ExampleStore.open(tmp_path / "bare") as opened:
        opened.add(
            Example(f"How many {number}?", f"SELECT {number} FROM t", "d", "t(a)", source="import:train")
            for number in range(50)
        )
    with ExampleStore.open(tmp_path / "small") as opened:
        opened.add([Example("How many?", "SELECT count(*) FROM t", "d", "t(a)", source="import:train")])
    for store, reason in (
        ("bare", r"only 0 of 50 pairs of the example store .* are rephrased"),
        ("small", r"the 1 imported pairs .* built-in ones would be shown with them: 50 are needed"),
    ):
        setup = ExperimentSetup(options("openai:m", examples=str(tmp_path / store)), benchmarks)
        with pytest.raises(NotRun, match=reason):
            measure(read_experiment("credit-table-4"), setup, tmp_path / "out", listening)


def test_a_row_has_a_model_of_its_own(
    benchmarks: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    arguments = ["experiment", "revision-table-1", "--data", str(benchmarks), "--examples", store]
    with OpenAIServer(reply) as server:
        more = ["--model", "openai:m", "--base-url", server.base_url, "--limit", "1", "--out", str(tmp_path)]
        done = CliRunner().invoke(app, [*arguments, *more, "--model-for", "zero-shot=openai:other"])
        assert {str(body["model"]) for body in server.requests} == {"m", "other"}
    assert "zero-shot: openai:other." in done.stdout
    wrong = CliRunner().invoke(app, [*arguments, "--model-for", "zero=openai:other"])
    assert wrong.exit_code == 2
    assert "--model-for takes ROW=MODEL, not 'zero=openai:other'; rows that are run: 'revision" in wrong.stderr


def test_a_row_of_another_model_is_run_with_that_alone(benchmarks: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "cosql.sql"
    drafts.write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    model = f"replay:{drafts}"
    rows = [row("method"), *(row(name, other_model="gpt-4", base="method") for name in ("given", "not given"))]
    setup = ExperimentSetup(options(model), benchmarks, models={"given": model})
    measured = measure(Experiment(title="t", dataset="cosql", rows=tuple(rows)), setup, tmp_path / "out", unheard)
    assert [one.questions for one in measured] == [2, 2, 0]
    assert measured[2].failed == "it needs the model gpt-4: pass --model-for 'not given=MODEL'"


def test_an_experiment_describes_schemas_in_a_cache_of_its_own(
    benchmarks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLETURN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    bodies: list[dict[str, object]] = []

    def describe(body: dict[str, object]) -> Behaviour:
        bodies.append(body)
        return says('{"1": "a thing"}') if "You document a database" in str(body["messages"]) else reply(body)

    with OpenAIServer(describe) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        arguments = ["experiment", "track-table-3", "--model", "openai:m", "--annotator", "openai:describer"]
        done = CliRunner().invoke(app, [*arguments, "--data", str(benchmarks), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "Schemas described by openai:describer." in done.stdout
    describing = [body["model"] for body in bodies if "You document a database" in str(body["messages"])]
    assert describing == ["describer", "describer"], "columns, then tables, once for all rows"
    assert len(list((tmp_path / "out" / "track-table-3" / "annotations").iterdir())) == 1
    assert not (tmp_path / "cache" / "annotations").exists()


def test_the_bench_runs_rows_that_think_in_code_with_code() -> None:
    rows = [row for row in read_experiment("craft-table-2").rows if row.name in ("PoT", "code blocks")]
    for one in rows:
        first = requests_of(one, read_experiment("craft-table-2"))[0][0]
        assert first.task == "reason"
        assert "```python" in reply_to(f"{first.system}\n{first.user}")


def test_schemas_are_described_beside_replayed_queries(
    benchmarks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "cosql.sql").write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    experiment = Experiment(title="t", dataset="cosql", rows=(row("with comments", preset="track"),))
    setup = ExperimentSetup(options(f"replay:{tmp_path / 'cosql.sql'}"), benchmarks)
    rows = measure(experiment, setup, tmp_path / "bare", unheard)
    assert "Schemas are not described: pass --annotator MODEL to describe them." in list_remarks(
        experiment, setup, rows
    )
    with OpenAIServer(lambda body: says('{"1": "a thing"}')) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        setup = replace(setup, options=replace(setup.options, annotator="openai:describer"))
        rows = measure(experiment, setup, tmp_path / "out", unheard)
    assert len(list((tmp_path / "out" / "annotations").iterdir())) == 1
    assert "Schemas described by openai:describer." in list_remarks(experiment, setup, rows)


def test_examples_that_had_no_room_are_told(
    benchmarks: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    tight = row("50 examples", settings={"n_voted": 50, "prompt_tokens": 1500}, base="whole")
    experiment = Experiment(title="t", dataset="cosql", needs="rephrased", rows=(row("whole"), tight))
    with OpenAIServer(reply) as server:
        setup = ExperimentSetup(options("openai:m", base_url=server.base_url, examples=store), benchmarks)
        rows = measure(experiment, setup, tmp_path / "out", unheard)
    told = [one for one in list_remarks(experiment, setup, rows) if "no room" in one]
    assert told == ["50 examples: 2 of 2 questions had no room for all their examples."]


def test_seconds_are_told_by_step_and_by_columns(benchmarks: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    (drafts / "sparc.sql").write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    setup = ExperimentSetup(options(f"replay:{drafts}"), benchmarks)
    inference, _, *training = measure(read_experiment("track-table-13"), setup, tmp_path / "13", unheard)
    ours = inference.ours
    assert ours["link_total_seconds"] == pytest.approx(2 * ours["link_seconds"])
    assert 0 < ours["generate_seconds"] < ours["generate_total_seconds"]
    assert [row.failed for row in training] == ["it takes the training of the paper's own models"] * 2
    (by_columns,) = measure(read_experiment("track-table-15"), setup, tmp_path / "15", unheard)
    # The database has eight columns: it belongs to the least of the paper's numbers.
    assert [name for name in by_columns.ours if "columns" in name] == ["link_13_columns_seconds"]
    with pytest.raises(NotRun, match=r"training|graphics card"):
        measure(read_experiment("track-table-14"), setup, tmp_path / "14", unheard)


def test_precision_and_recall_of_linking_are_told(benchmarks: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    (drafts / "sparc.sql").write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    setup = ExperimentSetup(options(f"replay:{drafts}"), benchmarks)
    experiment = read_experiment("track-table-10")
    rows = measure(experiment, setup, tmp_path / "out", unheard)
    assert set(experiment.measures) <= set(rows[0].ours)
    assert rows[2].failed == "our linker has no column-enhanced layer to leave out"
    assert rows[2].paper["table_weighted_f1"] == 96.57


def test_tables_and_columns_are_classified_as_used_and_not_used() -> None:
    names = ("id", "name")
    schema = Schema("s", tuple(TableSchema(table, tuple(map(ColumnSchema, names))) for table in ("a", "b", "c", "d")))
    linked = [("A", None, 0.9), ("b", None, 0.5), ("c", None, 0.4), ("a", "*", 0.9), ("a", "id", 0.8)]
    found = score_linking([("SELECT name FROM a", schema, linked), ("SELECT", schema, linked)])
    truth, said = [1, 0, 0, 0], [1, 1, 0, 0]
    for how in ("weighted", "macro"):
        p, r, f1, _ = precision_recall_fscore_support(truth, said, average=how)
        assert [found[f"table_{how}_{name}"] for name in ("p", "r", "f1")] == pytest.approx([p, r, f1])
    assert found["column_weighted_r"] == pytest.approx(6 / 8)
    assert score_linking([]) == {}


def test_questions_are_drawn_with_the_shares_of_their_levels() -> None:
    levels = read_experiment("craft-figure-2").levels
    assert sum(levels.values()) == 200
    pool = ["easy", "medium", "hard", "extra", ""]
    questions = tuple(GoldTurn(str(n), "d", "q", ("SELECT 1",), str(n), level=pool[n % 5]) for n in range(500))
    dataset = Dataset("spider", "dev", questions, ())

    def drawn(limit: int | None) -> dict[str, int]:
        found = sample_by_difficulty(dataset, lambda question: question.level, levels, limit)
        assert found == sample_by_difficulty(dataset, lambda question: question.level, levels, limit)
        assert [int(question.id) for question in found.questions] == sorted(int(one.id) for one in found.questions)
        return Counter(question.level for question in found.questions)

    assert drawn(None) == levels
    assert drawn(20) == {"easy": 5, "medium": 8, "hard": 3, "extra": 4}
    assert drawn(1) == {"medium": 1}


def test_mini_dev_runs_where_its_databases_are(tmp_path: Path) -> None:
    make_database(tmp_path / "bird" / "dev_databases" / "league" / "league.sqlite")
    records = [
        {"question_id": n, "db_id": "league", "question": question, "evidence": "", "SQL": sql, "difficulty": "simple"}
        for n, (question, sql) in enumerate(QUESTIONS)
    ]
    (tmp_path / "bird" / "mini_dev_sqlite.json").write_text(json.dumps(records))
    drafts = tmp_path / "drafts.sql"
    drafts.write_text("\n".join(sql for _, sql in QUESTIONS))
    command = ["experiment", "craft-table-2-bird", "--split", "mini_dev", "--model", f"replay:{drafts}"]
    done = CliRunner().invoke(app, [*command, "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["dataset"] for row in rows] == ["bird mini_dev"] * 4 + [""] * 4
    assert all(row["ours"]["ex"] == 100.0 for row in rows[:4])
    told = "it needs the model GPT-3.5-Turbo: pass --model-for 'PoT, GPT-3.5=MODEL'"
    assert rows[5]["failed"] == told


def test_a_papers_numbers_keep_their_decimals() -> None:
    assert [format_reported_number(number) for number in (45.05, 79.7, 85.0, 0.125)] == [
        "45.05",
        "79.7",
        "85.0",
        "0.125",
    ]


def test_a_store_of_another_embedding_is_a_usage_error(benchmarks: Path, store: str, tmp_path: Path) -> None:
    for command in (["eval", "--dataset", "spider", "--preset", "craft"], ["experiment", "craft-table-2"]):
        more = ["--model", "offline", "--embedding", "openai:e", "--examples", store, "--data", str(benchmarks)]
        done = CliRunner(env={"OPENAI_API_KEY": "none"}).invoke(app, [*command, *more, "--out", str(tmp_path / "out")])
        assert done.exit_code == 2, done.output
        assert "embedding" in done.output


def test_replayed_rows_say_so_and_rows_that_share_predictions_compare_nothing(benchmarks: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    (drafts / "spider.sql").write_text("\n".join(sql for _, sql in QUESTIONS))
    for name in ("sparc", "cosql"):
        (drafts / f"{name}.sql").write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    for name in ("craft-table-2", "track-table-1", "revision-table-1"):
        experiment = read_experiment(name)
        setup = ExperimentSetup(options(f"replay:{drafts}"), benchmarks)
        rows = measure(experiment, setup, tmp_path / name, unheard)
        ran = [one for one in rows if not one.failed]
        assert all(one.replayed and one.ours["ex"] == 100.0 for one in ran)
        told = " ".join(list_remarks(experiment, setup, rows))
        assert all(format_row_name(one).endswith(" (replayed)") for one in ran)
        assert ("do not compare them" in told) == (name != "track-table-1"), "its rows are of two sets"
        assert "Replayed: recorded predictions" in told


@contextmanager
def unheard(row: str, total: int) -> Generator[Listener]:
    yield lambda record, verdict: None


def test_repeats_give_mean_and_deviation_and_sets_are_combined(
    benchmarks: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    sets = row("sets", settings={"m_votes": 1}, seeds=2, base="whole", changes=["example choice"])
    combined = [row(how, combine=RunCombination(of="sets", first=2, how=how)) for how in ("mean", "max", "vote")]
    experiment = Experiment(title="t", dataset="cosql", needs="rephrased", rows=(row("whole"), sets, *combined))
    asked: list[str] = []

    def by_set(body: dict[str, object]) -> Behaviour:
        said = str(body["messages"])
        if "Rephrased: Give me" in said:
            return reply(body)
        asked.append(said)
        return says(f"```sql\n{QUESTIONS[0][1] if len(asked) % 2 else 'SELECT 0'}\n```")

    with OpenAIServer(by_set) as server:
        setup = ExperimentSetup(
            options("openai:m", base_url=server.base_url, examples=store), benchmarks, jobs=1, repeats=2
        )
        rows = {one.name: one for one in measure(experiment, setup, tmp_path / "out", unheard)}
    assert rows["sets"].runs == rows["max"].runs == 4
    assert rows["whole"].runs == 2
    assert set(rows["sets"].deviations) == set(rows["sets"].ours)
    assert rows["mean"].ours["ex"] == rows["sets"].ours["ex"]
    assert rows["max"].ours["ex"] >= rows["mean"].ours["ex"]
    assert "ex" in rows["vote"].ours


def test_in_each_repeat_votes_are_over_the_sets_that_are_run_alone(benchmarks: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "cosql.sql"
    drafts.write_text("\n".join(sql for _, sql in QUESTIONS[:2]))
    rows = (row("single", settings={"m_votes": 1}, seeds=4), row("voted", settings={"m_votes": 4}))
    setup = ExperimentSetup(options(f"replay:{drafts}"), benchmarks, repeats=3)
    measure(Experiment(title="t", dataset="cosql", rows=rows), setup, tmp_path / "out", unheard)

    def seeds(name: str) -> list[int]:
        runs = [json.loads(path.read_text())["settings"] for path in (tmp_path / "out" / name).glob("*/run.json")]
        return sorted(run.get("example_seed", 0) for run in runs)

    sets = [seed + number for seed in seeds("voted") for number in range(4)]
    assert len(set(sets)) == 12
    assert seeds("single") == sets
