"""A judge, from the disagreements of a run to the verdicts that a person accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.adjudication.ruling import Ruling, append_rulings, read_rulings
from tableturn.evals.datasets import Dataset
from tableturn.evals.lab.bench.stored import open_stored_model
from tableturn.prompts.judge import JudgeTask, QueryVerdict, QueryVerdictPair
from tableturn.tools.errors import ModelError, ReplyError, SettingsError
from typer.testing import CliRunner

from tests.support.command_line import tableturn
from tests.support.openai_server import Behaviour, OpenAIServer, fails, says

from .conftest import QUESTIONS, make_database
from .test_report import finished_run

runner = CliRunner()
REPEATED = "SELECT town FROM club"
ONE_CLUB = "SELECT title FROM club WHERE id = 1"
ANSWERS = [QUESTIONS[0][1], "SELECT nothing FROM club", REPEATED, ONE_CLUB]
"""Right; an error, of which there is nothing to judge; two disagreements."""


def opinion(verdict: str, kind: str = "", why: str = "So it is.") -> dict[str, str]:
    return {"why": why, "verdict": verdict, "class": kind}


def judging(body: dict[str, object]) -> Behaviour:
    """Calls a query wrong that names one club, wherever it stands."""
    prompt = json.loads(json.dumps(body))["messages"][-1]["content"]
    queries = re.findall(r"<sql>\n(.*?)\n</sql>", prompt, re.DOTALL)
    said = [opinion("wrong", "logic") if "club.id = 1" in sql else opinion("right") for sql in queries]
    return says(json.dumps(dict(zip(("first", "second"), said, strict=True))))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(judging) as running:
        yield running


@pytest.fixture
def run(league: Dataset, tmp_path: Path, spider_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_DATA", str(spider_root))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return finished_run(league, tmp_path / "run", ANSWERS)


def judge(server: OpenAIServer, run: Path, *more: str) -> str:
    command = ["judge", "run", str(run), "--model", "openai:judge", "--base-url", server.base_url, *more]
    return runner.invoke(app, command).output


def test_disagreements_are_put_to_a_model_with_the_sides_swapped(run: Path, server: OpenAIServer) -> None:
    told = judge(server, run)
    assert "4 requests" in told
    assert "agreement unknown" in told
    assert "2 unjudged (2 with a proposal)" in told
    proposals = read_rulings(run / "verdicts.jsonl")
    assert {(found.id, found.sql, found.verdict, found.kind) for found in proposals} == {
        ("2", REPEATED, "right", ""),
        ("2", QUESTIONS[2][1], "right", ""),
        ("3", ONE_CLUB, "wrong", "logic"),
        ("3", QUESTIONS[3][1], "right", ""),
    }
    assert all(found.by == "model judge" and not found.accepted and found.at for found in proposals)
    # Cases are judged side by side: their requests come in any order.
    asked = [str(body["messages"]) for body in server.requests]
    first, second = (prompt for prompt in asked if "Towns of clubs?" in prompt)
    assert "Bath" in first
    assert first != second
    for prompt in (first, second):  # nothing says whose a query is
        assert not re.search(r"\b(gold|prediction|predicted)\b", prompt.lower())


def test_what_was_judged_is_not_asked_again(run: Path, server: OpenAIServer) -> None:
    told = judge(server, run, "--calls", "3")
    assert "cases left to judge: 1" in told
    assert len(server.requests) == 2
    judge(server, run)
    assert len(server.requests) == 4
    assert "0 requests" in judge(server, run)


def test_agreement_with_given_verdicts_comes_first(run: Path, server: OpenAIServer) -> None:
    given = [("2", QUESTIONS[2][0], REPEATED, "wrong"), ("3", QUESTIONS[3][0], ONE_CLUB, "wrong")]
    append_rulings(
        run / "verdicts.jsonl",
        [Ruling.model_validate({"id": i, "question": q, "sql": s, "verdict": v, "by": "Ann"}) for i, q, s, v in given],
    )
    told = judge(server, run)
    assert told.index("agreement: the judge agrees with 1 of 2 verdicts") < told.index("4 requests")
    # A proposal beside a person's verdict changes nothing.
    assert "by verdict 25.0: 1 right, 3 wrong" in told


def test_a_judge_that_prefers_a_side_is_not_believed(run: Path) -> None:
    reply = says(json.dumps({"first": opinion("right"), "second": opinion("wrong", "value")}))
    with OpenAIServer(lambda body: reply) as server:
        judge(server, run)
    proposals = read_rulings(run / "verdicts.jsonl")
    assert {found.verdict for found in proposals} == {"unclear"}
    assert "The two passes disagree" in proposals[0].why


def test_a_reply_that_cannot_be_read_leaves_it_unclear_and_a_server_that_is_down_says_so(run: Path) -> None:
    with OpenAIServer(lambda body: fails(500)) as server:
        told = judge(server, run)
    assert "cases that could not be sent to the model: 2" in told
    assert not (run / "verdicts.jsonl").exists()
    with OpenAIServer(lambda body: says("I would rather not say.")) as server:
        judge(server, run)
    assert {found.verdict for found in read_rulings(run / "verdicts.jsonl")} == {"unclear"}


def test_decisions_of_a_page_are_taken_in(run: Path, tmp_path: Path) -> None:
    decision = Ruling(dataset="spider", id="2", question=QUESTIONS[2][0], sql=REPEATED, verdict="right")
    decisions = tmp_path / "decisions.jsonl"
    append_rulings(decisions, [decision])
    done = runner.invoke(app, ["judge", "accept", str(decisions), "--run", str(run), "--by", "Ann"])
    assert "by verdict 50.0 to 75.0: 2 right, 1 wrong, 0 unclear, 1 unjudged" in done.output
    (kept,) = read_rulings(run / "verdicts.jsonl")
    assert (kept.by, kept.accepted) == ("Ann", True)
    assert kept.at
    assert runner.invoke(app, ["judge", "accept", str(decisions)]).exit_code == 2


def test_only_decisions_on_the_run_are_taken_in_and_each_once(run: Path, tmp_path: Path) -> None:
    def decision(sql: str = REPEATED, **more: str) -> Ruling:
        fields = {"dataset": "spider", "id": "2", "question": QUESTIONS[2][0], "sql": sql, "verdict": "right"}
        return Ruling.model_validate(fields | more)

    decisions = tmp_path / "decisions.jsonl"
    wanted = [decision(), decision(), decision("SELECT nothing FROM club", verdict="wrong")]
    unfit = [decision(dataset="sparc"), decision(id="99"), decision("SELECT nothing FROM club")]
    append_rulings(decisions, [*wanted, *unfit])
    command = ["judge", "accept", str(decisions), "--run", str(run), "--by", "Ann"]
    done = tableturn(*command)
    assert done.returncode == 1
    assert re.search(r"verdicts written to \S+: 2 \(1 were already there\)", done.stdout)
    assert "rejected: decision 4 (Towns of clubs?): the verdict is about sparc, not spider" in done.stderr
    assert "rejected: decision 5 (Towns of clubs?): no question of spider dev has this id" in done.stderr
    assert "rejected: decision 6 (Towns of clubs?): the query does not run" in done.stderr
    assert re.search(r"verdicts written to \S+: 0 \(3 were already there\)", tableturn(*command).stdout)
    assert [found.verdict for found in read_rulings(run / "verdicts.jsonl")] == ["right", "wrong"]


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        (says("I refuse."), "6 requests"),
        (fails(500, retry_after="0.01"), "6 requests"),
        (says(json.dumps(dict.fromkeys(("first", "second"), opinion("right")))), "2 requests"),
    ],
)
def test_no_more_requests_are_made_than_allowed(run: Path, behaviour: Behaviour, told: str) -> None:
    for calls in (3, 6):
        with OpenAIServer(lambda body: behaviour) as server:
            output = judge(server, run, "--calls", str(calls))
            assert len(server.requests) <= calls
            assert f"{len(server.requests)} requests" in output
    assert told in output


def test_a_judge_is_told_the_engine() -> None:
    def system(dialect: str) -> str:
        sample = task()
        prompt = replace(sample, schema=replace(sample.schema, dialect=dialect)).render(100_000)
        return prompt.messages[0].content

    assert system("sqlite").startswith("You judge SQLite queries as a careful reader")
    assert system("postgres").startswith("You judge PostgreSQL queries as a careful reader")


def task() -> JudgeTask:
    from tests.prompts.samples import every_task

    found = every_task()["judge"]
    assert isinstance(found, JudgeTask)
    return found


def test_replies_are_read_as_they_come() -> None:
    fenced = f"```json\n{json.dumps({'First': opinion('Right', 'logic'), 'first': opinion('right', 'logic')})}\n```"
    with pytest.raises(ReplyError, match="no verdict on the second query"):
        task().parse(fenced)
    both = {"first": opinion("right", "logic"), "second": opinion("wrong", "sideways", "No.")}
    assert task().parse(json.dumps(both)) == QueryVerdictPair(
        QueryVerdict("right", "", "So it is."), QueryVerdict("wrong", "", "No.")
    )


def test_stored_replies_are_said_again_and_nothing_else(tmp_path: Path, server: OpenAIServer) -> None:
    replies = tmp_path / "replies.jsonl"
    with pytest.raises(SettingsError, match="pass --replies FILE"):
        open_stored_model(replies, None, None)
    asked = open_stored_model(replies, "openai:judge", server.base_url)
    prompt = "<sql>\nSELECT 1\n</sql><sql>\nSELECT 2\n</sql>"
    said = asked.invoke(prompt).content
    assert open_stored_model(replies, None, None).invoke(prompt).content == said
    with pytest.raises(ModelError, match="not stored"):
        open_stored_model(replies, None, None).invoke("Something else?")
    replies.write_text("{}\n")
    with pytest.raises(SettingsError, match="not a file of stored replies"):
        open_stored_model(replies, None, None)


def test_a_review_names_the_page_of_the_report(run: Path) -> None:
    told = tableturn("judge", "review", str(run), "--by", "Ann")
    assert told.returncode == 2
    assert "`tableturn report RUN` writes a page" in told.stderr


def test_a_trial_is_judged_and_counts_by_verdict(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    database, own, out = make_database(tmp_path / "league.sqlite"), tmp_path / "own.json", tmp_path / "trial"
    wanted = [("How many players are there?", "SELECT 99"), ("How many clubs are there?", "SELECT count(*) FROM club")]
    own.write_text(json.dumps([{"question": question, "sql": sql} for question, sql in wanted]))
    held = ["trial", "--db", str(database), "--questions", str(own), "--out", str(out), "--record", "off"]
    assert tableturn(*held, "--model", "offline").returncode == 0
    told = judge(server, out)
    assert "2 requests" in told
    (proposal, of_gold) = read_rulings(out / "verdicts.jsonl")
    assert (proposal.id, proposal.question, of_gold.sql) == ("1~1.1", *wanted[0])
    append_rulings(out / "decisions.jsonl", [proposal.model_copy(update={"accepted": True})])
    accepted = tableturn("judge", "accept", str(out / "decisions.jsonl"), "--run", str(out), "--by", "Ann")
    assert "EX by gold 50.0, by verdict 100.0" in accepted.stdout
    # Held again, the trial keeps the decision; with a question put before the others, too, though their numbers moved.
    assert tableturn(*held, "--model", "offline").returncode == 0
    assert json.loads((out / "results.json").read_text())["by_verdict"]["right"] == 2
    new = {"question": "List the names of players.", "sql": "SELECT 99"}
    own.write_text(json.dumps([new, *({"question": question, "sql": sql} for question, sql in wanted)]))
    assert tableturn(*held, "--model", "offline").returncode == 0
    results = json.loads((out / "results.json").read_text())
    assert [one["ruling"]["verdict"] for one in results["questions"]] == [None, "right", "right"]
    assert "2 requests" in judge(server, out), "what was judged of question 1 says nothing of the new one"


def test_a_trial_is_judged_by_what_was_asked_whatever_its_file_says_now(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.chdir(tmp_path)
    make_database(tmp_path / "league.sqlite")
    asked = [{"question": "How many players are there?", "sql": "SELECT 99", "evidence": "Reserves count."}]
    Path("own.json").write_text(json.dumps(asked))
    held = ["trial", "--db", "league.sqlite", "--questions", "own.json", "--out", "trial", "--record", "off"]
    assert tableturn(*held, "--model", "offline").returncode == 0
    kept = json.loads(Path("trial/results.json").read_text())
    assert kept["trial"]["questions_file"] == str(tmp_path / "own.json")
    Path("own.json").write_text(json.dumps([{"question": "How many clubs are there?", "sql": "SELECT 1"}, *asked]))
    assert "2 requests" in judge(server, tmp_path / "trial")
    (proposal, of_gold) = read_rulings(tmp_path / "trial" / "verdicts.jsonl")
    assert (proposal.question, proposal.gold, of_gold.sql) == ("How many players are there?", "SELECT 99", "SELECT 99")
    assert "Reserves count." in "".join(server.prompts)


def test_a_run_over_a_file_is_judged_from_anywhere_and_as_it_was_asked(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    make_database(Path("league.sqlite"))
    make_database(Path("other.sqlite"), "CREATE TABLE goalkeeper (id INTEGER); INSERT INTO goalkeeper VALUES (1)")
    asked = {"question": "How many players are there?", "sql": "SELECT 99", "database": "league.sqlite"}
    asked["evidence"] = "Reserves count."
    Path("own.json").write_text(json.dumps([asked]))
    ran = tableturn("eval", "--dataset", "own.json", "--model", "offline", "--out", "run", "--record", "off")
    assert ran.returncode == 0
    monkeypatch.chdir(tmp_path)
    now = {**asked, "evidence": "Nobody counts.", "database": "other.sqlite"}
    Path("sub/own.json").write_text(json.dumps([{**asked, "question": "How many clubs are there?"}, now]))
    assert "2 requests" in judge(server, Path("sub/run"))
    prompts = "".join(server.prompts)
    assert all(told in prompts for told in ("Reserves count.", "club_id"))
    assert not any(told in prompts for told in ("Nobody counts.", "goalkeeper"))


def test_verdicts_on_questions_without_ids_stay_with_words_and_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their numbers move with a question that is put before them, and another one that is reworded loses its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("league.sqlite", "north.sqlite"):
        make_database(tmp_path / name)
    records = [
        {"question": question, "sql": "SELECT 99", "database": database}
        for question in ("How many players are there?", "How many clubs are there?")
        for database in ("league.sqlite", "north.sqlite")
    ]

    def evaluate(out: str, asked: list[dict[str, str]], *more: str) -> list[str | None]:
        Path("own.json").write_text(json.dumps(asked))
        command = ["eval", "--dataset", "own.json", "--model", "offline", "--out", out, "--record", "off", *more]
        assert tableturn(*command).returncode == 0
        return [one["ruling"]["verdict"] for one in json.loads(Path(out, "results.json").read_text())["questions"]]

    assert evaluate("first", records) == [None] * 4
    questions = json.loads(Path("first/results.json").read_text())["questions"]
    keys = ("id", "question", "sql", "database")
    # As the page of a report writes them.
    decisions = [
        Ruling.model_validate(
            {**{key: one[key] for key in keys}, "dataset": "own", "gold": "SELECT 99", "verdict": said}
        )
        for one, said in zip(questions, ("right", "wrong", "right", "unclear"), strict=True)
    ]
    append_rulings(Path("decisions.jsonl"), decisions)
    accepted = tableturn("judge", "accept", "decisions.jsonl", "--run", "first", "--verdicts", "verdicts.jsonl")
    assert "EX by gold 0.0, by verdict 66.7: 2 right, 1 wrong, 1 unclear" in accepted.stdout
    new = {"question": "List the titles of clubs.", "sql": "SELECT 99", "database": "league.sqlite"}
    reworded = {**records[3], "question": "What is the number of clubs?"}
    again = evaluate("second", [new, *records[:3], reworded], "--verdicts", "verdicts.jsonl")
    assert again == [None, "right", "wrong", "right", None]
    # The run before, too, is still decided as it was asked.
    before = tableturn("judge", "accept", "decisions.jsonl", "--run", "first", "--verdicts", "verdicts.jsonl")
    assert "(4 were already there)" in before.stdout
    assert "2 right, 1 wrong, 1 unclear" in before.stdout
