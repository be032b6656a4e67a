from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from tableturn import __version__
from tableturn.agent.cli.app import app
from tableturn.evals.datasets import Dataset, load_dataset, read_questions
from tableturn.evals.metrics.judging import Verdict
from tableturn.evals.runner.record import RunSpec, TurnRecord
from tableturn.evals.runner.results import RunResults
from tableturn.evals.runner.run import (
    GIVE_UP_AFTER,
    RunJournal,
    RunStopped,
    make_run_settings,
    read_journal,
    run_evaluation,
)
from tableturn.tools.errors import SettingsError
from typer.testing import CliRunner

from tests.support.openai_server import DRIP, EMPTY, Behaviour, OpenAIServer, fails, says

from .conftest import make_database


def test_no_rows_are_counted_unless_asked() -> None:
    """It changes no query, and takes time."""
    dataset = Dataset("own", "all", (), ())
    for preset in (None, "full", "credit", "craft", "track", "revision"):
        assert make_run_settings(RunSpec("own", "all", preset=preset), dataset).ledger == "off"
        asked = RunSpec("own", "all", preset=preset, settings={"ledger": "auto"})
        assert make_run_settings(asked, dataset).ledger == "auto"


MAIN = "from tableturn.agent.cli import main; main()"


def answering(body: dict[str, object]) -> Behaviour:
    prompt = str(body["messages"])
    if "intent" in prompt:
        return says(
            json.dumps({"rephrased": "Count it.", "simplified": "Count it.", "intent": "answerable"}), delay=0.1
        )
    return says("```sql\nSELECT count(*) FROM player\n```", delay=0.1)


def questions_file(folder: Path, count: int, turns: int = 1) -> Path:
    make_database(folder / "league.sqlite")
    records = [
        {
            "question": f"How many players are there, asked {number}?",
            "sql": "SELECT count(*) FROM player",
            "database": "league.sqlite",
            "interaction": str(number // turns),
        }
        for number in range(count)
    ]
    path = folder / "own.json"
    path.write_text(json.dumps(records))
    return path


def silent(record: TurnRecord, verdict: Verdict) -> None:
    """Listens to nothing."""


def command(server: OpenAIServer, dataset: Path, out: Path) -> list[str]:
    options = ["--model", "openai:scripted", "--base-url", server.base_url, "--jobs", "2", "--out", str(out), "--json"]
    return [sys.executable, "-c", MAIN, "eval", "--dataset", str(dataset), *options]


def test_a_killed_run_goes_on_without_repeating_or_losing_a_question(tmp_path: Path) -> None:
    dataset, out = questions_file(tmp_path, 16, turns=2), tmp_path / "run"
    journal = out / "journal.jsonl"
    with OpenAIServer(answering) as server:
        process = subprocess.Popen(command(server, dataset, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while len(read_journal(journal)) < 5 and time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        before = read_journal(journal)
        assert 5 <= len(before) < 16

        done = subprocess.run(command(server, dataset, out), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        asked = [json.dumps(body["messages"]) for body in server.requests]

    lines = [json.loads(line)["id"] for line in journal.read_text().splitlines()]
    assert sorted(lines, key=int) == [str(number) for number in range(1, 17)]
    assert lines[: len(before)] == list(before)
    assert json.loads(done.stdout)["strict"]["ex"] == 1.0
    # Only what was under way when the run was killed, at most one request a job, was asked a second time.
    assert len(asked) - len(set(asked)) <= 2


def test_a_repeated_run_makes_no_calls(tmp_path: Path) -> None:
    path, out = questions_file(tmp_path, 3), tmp_path / "run"
    with OpenAIServer(answering) as server:
        spec = RunSpec(str(path), model="openai:scripted", base_url=server.base_url)
        first = run_evaluation(spec, read_questions(path), out, jobs=2, listener=silent)
        calls = len(server.requests)
        (out / "journal.jsonl").unlink()
        second = run_evaluation(spec, read_questions(path), out, jobs=2, listener=silent)
        assert len(server.requests) == calls > 0
    assert [record.sql for record, _ in first] == [record.sql for record, _ in second]
    assert all(verdict.ex for _, verdict in second)


@pytest.mark.parametrize("command", ["eval", "trial"])
def test_answers_on_rows_that_have_changed_are_asked_again(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else results would show an answer's rows of then beside gold's rows of now."""
    path, out, database = questions_file(tmp_path, 4, turns=2), tmp_path / "run", tmp_path / "league.sqlite"
    own = [{"question": "How many players are there?", "sql": "SELECT count(*) + 1 FROM player"}] * 4
    (tmp_path / "own.yaml").write_text(json.dumps(own))
    about = {
        "eval": ["--dataset", str(path)],
        "trial": ["--db", str(database), "--questions", str(tmp_path / "own.yaml")],
    }
    asking = [command, *about[command], "--model", "offline", "--out", str(out), "--record", "off", "--jobs", "1"]
    add = RunJournal.append

    def stop_before_the_last_question(journal: RunJournal, record: TurnRecord) -> None:
        if len(journal.records) == 3:
            raise RunStopped("killed")
        add(journal, record)

    def start() -> tuple[str, list[dict[str, Any]]]:
        done = CliRunner().invoke(app, asking)
        journal = out / "journal.jsonl"  # which a trial that is done needs no longer
        return done.stderr, list(map(json.loads, journal.read_text().splitlines() if journal.exists() else ()))

    with monkeypatch.context() as patched:
        patched.setattr(RunJournal, "append", stop_before_the_last_question)
        _, first = start()
        assert len(first) == 3
        told, again = start()
        assert (again, "asked again" in told) == (first, False), "nothing has changed"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM player")
    told, last = start()
    assert "asked again, as rows behind earlier answers have changed: 3 of 4 questions" in told
    assert command == "trial" or [one["id"] for one in last[3:]] == ["1", "2", "3", "4"]
    results = json.loads((out / "results.json").read_text())
    assert [(one["rows"], one["ex"]) for one in results["questions"]] == [([[0]], command == "eval")] * 4
    assert "asked again" not in start()[0]


def test_replayed_predictions_come_out_as_they_are(spider_root: Path, league: Dataset, tmp_path: Path) -> None:
    drafts = [*(question.golds[0] for question in league.questions[:3]), "SELECT title FROM nowhere"]
    predictions = tmp_path / "drafts.sql"
    predictions.write_text("\n".join(drafts))
    heard: list[str] = []
    answered = run_evaluation(
        RunSpec("spider", model=f"replay:{predictions}"),
        league,
        tmp_path / "run",
        jobs=3,
        listener=lambda record, verdict: heard.append(record.id),
    )
    assert [verdict.ex for _, verdict in answered] == [True, True, True, False]
    assert [record.id for record, _ in answered] == ["0", "1", "2", "3"]
    assert sorted(heard) == ["0", "1", "2", "3"]
    results = RunResults(league, answered).as_json(RunSpec("spider"), 1.0)
    assert results["version"] == __version__
    assert results["strict"]["ex"] == results["official"]["ex"] == 0.75
    assert results["questions"][3]["error"]


def test_several_files_are_drafts_side_by_side_or_revisions(spider_root: Path, league: Dataset, tmp_path: Path) -> None:
    golds = [question.golds[0] for question in league.questions[:4]]
    for name, drafts in {"bad": ["SELECT title FROM nowhere"] * 4, "good": golds}.items():
        (tmp_path / f"{name}.sql").write_text("\n".join(drafts))
    model = f"replay:{tmp_path / 'bad.sql'},{tmp_path / 'good.sql'}"
    for settings in ({}, {"candidates": 2, "merge": False}):
        spec = RunSpec("spider", model=model, settings=settings)
        out = tmp_path / f"run{len(settings)}"
        answered = run_evaluation(spec, league, out, jobs=3, listener=lambda record, verdict: None)
        assert [record.sql for record, _ in answered] == golds
        assert all(len(record.attempts) == 2 for record, _ in answered)


@pytest.mark.parametrize(
    ("files", "settings", "comes", "attempts"),
    [
        ("prose good", {}, "", 0),
        ("prose good", {"candidates": 2}, "good", 1),
        ("prose bad good", {"candidates": 2}, "good", 2),
        ("good prose bad bad", {"candidates": 4, "gate": True}, "good", 3),
    ],
)
def test_each_file_keeps_its_place(
    files: str, settings: dict[str, Any], comes: str, attempts: int, league: Dataset, tmp_path: Path
) -> None:
    golds = [question.golds[0] for question in league.questions[:4]]
    said = {"prose": ["I cannot say."] * 4, "bad": ["SELECT title FROM nowhere"] * 4, "good": golds}
    for name, drafts in said.items():
        (tmp_path / f"{name}.sql").write_text("\n".join(drafts))
    model = "replay:" + ",".join(str(tmp_path / f"{name}.sql") for name in files.split())
    spec = RunSpec("spider", model=model, settings=settings | {"merge": False})
    answered = run_evaluation(spec, league, tmp_path / "run", jobs=3, listener=lambda record, verdict: None)
    assert [record.sql for record, _ in answered] == (golds if comes else [""] * 4)
    assert {len(record.attempts) for record, _ in answered} == {attempts}


@pytest.mark.parametrize("model", ["replay:", "replay: ", "replay:a.sql,"])
def test_replaying_needs_files(model: str, league: Dataset, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not name a file"):
        run_evaluation(RunSpec("spider", model=model), league, tmp_path / "run", jobs=1, listener=silent)


def test_history_is_gold_or_ones_own(tmp_path: Path) -> None:
    """The prompt for a second turn shows the gold SQL of the first, or what the model wrote."""
    path = questions_file(tmp_path, 2, turns=2)
    path.write_text(path.read_text().replace('"SELECT count(*) FROM player"', '"SELECT count(*) FROM club"', 1))
    shown: dict[str, bool] = {}
    for history in ("gold", "predicted"):
        with OpenAIServer(answering) as server:
            spec = RunSpec(str(path), model="openai:m", base_url=server.base_url, history=history)
            run_evaluation(spec, read_questions(path), tmp_path / history, jobs=1, listener=silent)
            shown[history] = any("FROM club" in prompt for prompt in server.prompts)
    assert shown == {"gold": True, "predicted": False}


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    path = questions_file(tmp_path, 1)
    spec = RunSpec(str(path), model="offline")
    run_evaluation(spec, read_questions(path), tmp_path / "run", jobs=1, listener=silent)
    with pytest.raises(SettingsError, match=r"contains a run with limit=none, not limit=1"):
        run_evaluation(
            RunSpec(str(path), model="offline", limit=1),
            read_questions(path),
            tmp_path / "run",
            jobs=1,
            listener=silent,
        )
    with pytest.raises(SettingsError, match=r"with limit=none, model=offline, not limit=1, model=openai:m"):
        run_evaluation(
            RunSpec(str(path), model="openai:m", limit=1),
            read_questions(path),
            tmp_path / "run",
            jobs=1,
            listener=silent,
        )
    path.write_text(path.read_text().replace("count(*)", "count(id)"))
    with pytest.raises(SettingsError, match="have changed since the run"):
        run_evaluation(spec, read_questions(path), tmp_path / "run", jobs=1, listener=silent)


def test_a_run_keeps_the_model_that_the_environment_chose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = questions_file(tmp_path, 1), tmp_path / "run"
    command = ["eval", "--dataset", str(path), "--out", str(out), "--record", "off", "--json"]
    with OpenAIServer(answering) as server:
        for name, value in {"OPENAI_BASE_URL": server.base_url, "TABLETURN_MODEL": "offline"}.items():
            monkeypatch.setenv(name, value)
        first = CliRunner().invoke(app, command)
        assert json.loads(first.stdout)["run"]["model"] == "offline"
        assert json.loads((out / "run.json").read_text())["model"] == "offline"
        for others in ([*command, "--model", "openai:scripted"], command):
            monkeypatch.setenv("TABLETURN_MODEL", "openai:scripted")
            other = CliRunner().invoke(app, others)
            assert other.exit_code == 2
            assert "contains a run with model=offline, not model=openai:scripted" in other.stderr
        assert not server.prompts
        assert CliRunner().invoke(app, [*command, "--model", "offline"]).exit_code == 0


def test_a_setting_that_changes_nothing_is_no_other_run(tmp_path: Path) -> None:
    path, out = questions_file(tmp_path, 1), tmp_path / "run"

    def resume(**fields: object) -> None:
        spec = RunSpec(str(path), model="offline", settings=fields)
        run_evaluation(spec, read_questions(path), out, jobs=1, listener=silent)

    resume()
    resume(values=10)
    resume()
    # These are the agent's defaults, but not those of a run.
    for name, default in {"values": 11, "clarify": True, "conventions": "none"}.items():
        with pytest.raises(SettingsError, match=f"contains a run with settings=none, not settings={{'{name}'"):
            resume(**{name: default})


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with RunJournal(path) as journal:
        journal.append(TurnRecord("1", "SELECT 1", "converged", rows=((1, None),)))
        with pytest.raises(SettingsError, match="answered twice"):
            journal.append(TurnRecord("1", "SELECT 2", "converged"))
        with pytest.raises(SettingsError, match="another run"):
            RunJournal(path)
    path.write_bytes(path.read_bytes() + b'{"id": "2", "sql"')
    with RunJournal(path) as journal:
        assert journal.records["1"].rows == ((1, None),)
        journal.append(TurnRecord("2", "SELECT 2", "converged"))
    assert list(read_journal(path)) == ["1", "2"]


@pytest.mark.parametrize("history", ["predicted", "gold"])
@pytest.mark.parametrize("baseline", [None, "zero-shot"])
def test_a_database_out_of_reach_is_no_wrong_answer_and_is_asked_again(
    history: Literal["predicted", "gold"], baseline: str | None, tmp_path: Path
) -> None:
    path, out, league = questions_file(tmp_path, 3), tmp_path / "run", tmp_path / "league.sqlite"
    records = json.loads(path.read_text())
    records[1]["database"] = "missing.sqlite"
    path.write_text(json.dumps(records))
    with OpenAIServer(answering) as server:
        more = ["--history", history, "--record", "off", *(["--baseline", baseline] if baseline else [])]
        asking = [*command(server, path, out)[3:], *more]
        done = CliRunner().invoke(app, asking)
        assert (done.exit_code, done.stderr.count("without an answer")) == (1, 1)
        assert "questions without an answer: 1 of 3: own all: there is no database 'missing.sqlite'" in done.stderr
        assert "run the same command again" in done.stderr
        scores = json.loads(done.stdout)["strict"]
        assert (scores["not_asked"], scores["judged"], scores["ex"]) == (["2"], 2, 1.0)
        # What was answered is judged again at each start: without its database it is not wrong, either.
        (tmp_path / "missing.sqlite").write_bytes(league.read_bytes())
        league.unlink()
        assert CliRunner().invoke(app, asking).exit_code != 0
        league.write_bytes((tmp_path / "missing.sqlite").read_bytes())
        again = CliRunner().invoke(app, asking)
    assert again.exit_code == 0, again.stderr
    assert (json.loads(again.stdout)["strict"]["judged"], json.loads(again.stdout)["strict"]["ex"]) == (3, 1.0)


@pytest.mark.parametrize("command", ["eval", "trial"])
def test_a_file_that_goes_away_in_the_middle_of_a_run_is_no_wrong_answer(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, league = questions_file(tmp_path, 3), tmp_path / "run", tmp_path / "league.sqlite"
    kept = league.read_bytes()
    own = [{"question": "How many players are there?", "sql": "SELECT count(*) FROM player"}] * 3
    (tmp_path / "own.yaml").write_text(json.dumps(own))
    about = {
        "eval": ["--dataset", str(path)],
        "trial": ["--db", str(league), "--questions", str(tmp_path / "own.yaml")],
    }
    asking = [command, *about[command], "--model", "offline", "--out", str(out), "--record", "off", "--jobs", "1"]
    add = RunJournal.append

    def add_and_lose_the_file(journal: RunJournal, record: TurnRecord) -> None:
        add(journal, record)
        if len(journal.records) == 2:
            league.unlink(missing_ok=True)

    with monkeypatch.context() as patched:
        patched.setattr(RunJournal, "append", add_and_lose_the_file)
        done = CliRunner().invoke(app, asking)
    assert done.exit_code == 1, done.output
    assert "run the same command again" in done.stderr
    if command == "eval":
        scores = json.loads((out / "results.json").read_text())["strict"]
        assert (scores["judged"], scores["ex"]) == (1, 1.0)
    league.write_bytes(kept)
    again = CliRunner().invoke(app, asking)
    assert again.exit_code == 0, again.output
    results = json.loads((out / "results.json").read_text())
    assert [one["error"] for one in results["questions"]] == [""] * 3


def test_a_server_that_is_down_ends_the_run_after_a_few_questions_and_other_databases_go_first(tmp_path: Path) -> None:
    path, out = questions_file(tmp_path, 2 * GIVE_UP_AFTER), tmp_path / "run"
    records = json.loads(path.read_text())
    for record in records[:-1]:
        record["database"] = "postgresql://127.0.0.1:1/shop"
    path.write_text(json.dumps(records))
    command = ["eval", "--dataset", str(path), "--model", "offline", "--jobs", "1", "--out", str(out)]
    for answered in ([], [str(len(records))]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        told = done.stderr.strip().splitlines()[-1]
        assert told.startswith(
            f"stopped: {GIVE_UP_AFTER} questions in a row could not be asked (postgresql://127.0.0.1:1/shop cannot be "
        )
        assert [name for name, record in read_journal(out / "journal.jsonl").items() if record.was_asked] == answered


def test_a_run_goes_on_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = questions_file(tmp_path, 1)
    drafts = ["SELECT count(*) FROM player"]
    for name in ("first", "other"):
        (tmp_path / f"{name}.json").write_text(json.dumps(drafts))
    monkeypatch.chdir(tmp_path)
    run_evaluation(
        RunSpec(path.name, model="replay:first.json,other.json"),
        read_questions(path),
        tmp_path / "run",
        jobs=1,
        listener=silent,
    )
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    for model in ("replay:../first.json,../other.json", f"replay:{tmp_path / 'first.json'},../other.json"):
        spec = RunSpec("../own.json", model=model)
        run_evaluation(spec, read_questions(path), tmp_path / "run", jobs=1, listener=silent)
    spec = RunSpec("../own.json", model="replay:../other.json,../first.json")
    with pytest.raises(SettingsError, match="contains a run with"):
        run_evaluation(spec, read_questions(path), tmp_path / "run", jobs=1, listener=silent)


def test_a_record_of_models_is_named_where_something_was_added(tmp_path: Path) -> None:
    path, record = questions_file(tmp_path, 1), tmp_path / "models.jsonl"
    command = ["eval", "--dataset", str(path), "--model", "offline", "--record", str(record)]
    good = path.read_text()
    path.write_text(good.replace("FROM player", "FROM nowhere"))
    for text, out in ((path.read_text(), "unjudged"), (good, "judged")):
        path.write_text(text)
        assert CliRunner().invoke(app, [*command, "--out", str(tmp_path / out)]).exit_code == 0
        recorded = json.loads((tmp_path / out / "results.json").read_text())["recorded"]
        assert recorded == (str(record) if out == "judged" else "")
        assert bool(record.read_bytes()) is bool(recorded)


@pytest.mark.data
def test_offline_over_a_few_dialogues(data_dir: Path, tmp_path: Path) -> None:
    dataset = load_dataset("sparc", "dev", data_dir)
    answered = run_evaluation(
        RunSpec("sparc", model="offline", limit=4), dataset, tmp_path / "run", jobs=2, listener=silent
    )
    assert [record.id for record, _ in answered] == [question.id for question in dataset.head(4).questions]
    assert all(verdict.ex is not None for _, verdict in answered)


def test_what_could_not_be_asked_is_no_answer_and_is_asked_again(tmp_path: Path) -> None:
    """A server that is down for a while: its turns, and those that build on them, are left for the next start."""
    dataset, out = questions_file(tmp_path, 6, turns=2), tmp_path / "run"

    def troubled(body: dict[str, object]) -> Behaviour:
        return fails(401) if "asked 2?" in str(body["messages"]) else answering(body)

    with OpenAIServer(lambda body: script(body)) as server:
        script = troubled
        done = CliRunner().invoke(app, command(server, dataset, out)[3:])
        assert done.exit_code == 1
        assert "questions without an answer: 2 of 6: " in done.stderr
        assert "check the API key" in done.stderr
        for scores in (json.loads(done.stdout)["strict"], json.loads(done.stdout)["official"]):
            assert scores["not_asked"] == ["3", "4"]
            assert (scores["n"], scores["judged"], scores["ex"], scores["unjudged"]) == (6, 4, 1.0, [])
            assert (scores["interactions"]["n"], scores["interactions"]["judged"]) == (3, 2)
        assert not read_journal(out / "journal.jsonl")["3"].was_asked
        script = answering
        again = CliRunner().invoke(app, command(server, dataset, out)[3:])
    assert again.exit_code == 0, again.stderr
    scores = json.loads(again.stdout)["strict"]
    assert (scores["judged"], scores["ex"], scores["not_asked"]) == (6, 1.0, [])


def test_a_run_stops_where_nothing_can_be_asked(tmp_path: Path) -> None:
    path, out = questions_file(tmp_path, 20), tmp_path / "run"
    with OpenAIServer([fails(401)]) as server:
        done = CliRunner().invoke(app, command(server, path, out)[3:])
        asked = len(server.requests)
        spec = RunSpec(str(path), model="openai:scripted", base_url=server.base_url, baseline="zero-shot")
        with pytest.raises(RunStopped, match="0 of 20 are answered"):
            run_evaluation(spec, read_questions(path), tmp_path / "other", jobs=1, listener=silent)
    assert done.exit_code == 1
    assert (
        f"{GIVE_UP_AFTER} questions in a row could not be asked (model scripted does not accept the key" in done.stderr
    )
    assert asked < 20 * 2
    assert not (out / "results.json").exists()


def test_questions_that_are_always_refused_keep_no_other_from_being_asked(tmp_path: Path) -> None:
    dataset, out = questions_file(tmp_path, GIVE_UP_AFTER + 4), tmp_path / "run"
    refused = [f"asked {number}?" for number in range(GIVE_UP_AFTER)]

    def picky(body: dict[str, object]) -> Behaviour:
        said = str(body["messages"])
        return fails(401) if any(question in said for question in refused) else answering(body)

    with OpenAIServer(picky) as server:
        for answered in (0, 4):
            done = CliRunner().invoke(app, command(server, dataset, out)[3:])
            assert done.exit_code == 1
            records = read_journal(out / "journal.jsonl").values()
            assert sum(record.was_asked for record in records) == answered, done.stderr


async def test_a_run_inside_an_event_loop(tmp_path: Path) -> None:
    """As in a notebook."""
    path = questions_file(tmp_path, 2)
    with OpenAIServer(answering) as server:
        spec = RunSpec(str(path), model="openai:m", base_url=server.base_url)
        answered = run_evaluation(spec, read_questions(path), tmp_path / "run", jobs=1, listener=silent)
    assert [verdict.ex for _, verdict in answered] == [True, True]


def test_a_reply_that_never_comes_is_no_answer(tmp_path: Path) -> None:
    path = questions_file(tmp_path, 1)
    for number, trouble in enumerate(
        (
            DRIP,
            EMPTY,
            fails(500),
            fails(400, "this model's maximum context length is 9"),
            fails(400, "the request exceeds the available context size"),
        )
    ):
        with OpenAIServer([trouble]) as server:
            settings = {"request_seconds": 0.3, "request_retries": 0}
            spec = RunSpec(
                str(path), model="openai:m", base_url=server.base_url, settings=settings, baseline="zero-shot"
            )
            ((record, verdict),) = run_evaluation(
                spec, read_questions(path), tmp_path / str(number), jobs=1, listener=silent
            )
        # A prompt that is too long is so whenever it is asked.
        assert (record.was_asked, verdict.ex) == ((True, False) if trouble.status == 400 else (False, None))


def test_results_hold_no_password(tmp_path: Path) -> None:
    url = "postgresql://ann:s3cr3t-horse@127.0.0.1:1/shop"
    path = tmp_path / "own.json"
    path.write_text(json.dumps([{"question": "How many?", "sql": "SELECT count(*) FROM t", "database": url}]))
    options = ["--model", "offline", "--record", "off", "--out", str(tmp_path / "run")]
    CliRunner().invoke(app, ["eval", "--dataset", str(path), *options])
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    shown = "postgresql://ann:***@127.0.0.1:1/shop"
    assert list(results["strict"]["by_database"]) == [shown]
    assert [question["database"] for question in results["questions"]] == [shown]
    for file in (tmp_path / "run").iterdir():
        assert b"s3cr3t-horse" not in file.read_bytes(), file
