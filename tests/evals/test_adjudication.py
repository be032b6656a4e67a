"""Verdicts beside gold: the file, the matching, the scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.adjudication.judging import JudgeCase, JudgePromptBuilder, compute_agreement
from tableturn.evals.adjudication.ruling import (
    Adjudicator,
    Ruling,
    append_rulings,
    apply_rulings,
    format_scores_line,
    read_rulings,
    score_outcomes,
)
from tableturn.evals.datasets import Dataset
from tableturn.evals.metrics.judging import StrictJudge
from tableturn.prompts.judge import Word
from tableturn.tools.errors import SettingsError
from typer.testing import CliRunner

from .conftest import QUESTIONS

runner = CliRunner()
TOWNS = QUESTIONS[2][0]
REPEATED = "SELECT town FROM club"
BATH = "SELECT 'Bath'"


def ruling(sql: str, verdict: Word, **more: object) -> Ruling:
    return Ruling.model_validate({"question": TOWNS, "sql": sql, "verdict": verdict, **more})


def verdict_of(league: Dataset, rulings: list[Ruling], sql: str) -> tuple[str | None, str]:
    question = league.questions[2]
    with StrictJudge(league) as judge, Adjudicator(league, rulings) as adjudicator:
        judged = judge.judge(question, sql)
        found = adjudicator.judge_answer(question, sql, judged.ex, judged.valid)
    return found.verdict, found.basis


def test_a_file_is_added_to_and_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    append_rulings(path, [ruling(REPEATED, "wrong")])
    path.write_text(path.read_text().rstrip("\n"))  # as an editor may leave it
    append_rulings(path, [ruling(REPEATED, "right", by="Ann")])
    assert [(found.verdict, found.by) for found in read_rulings(path)] == [("wrong", ""), ("right", "Ann")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "a", "sql": "b", "verdict": "perhaps"}', "record 2: verdict must be 'right', 'wrong' or"),
        ('{"question": "a", "sql": "b", "verdict": "right", "whi": ""}', "record 2: whi is not known"),
        ('{"sql": "b", "verdict": "right"}', "record 2: question is missing"),
        ("{", "is not JSON: line 2, column 2"),
        ("[]", "record 2: this must be an object with named fields"),
    ],
)
def test_a_damaged_file_says_where(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "verdicts.jsonl"
    append_rulings(path, [ruling(REPEATED, "wrong")])
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(SettingsError, match=message):
        read_rulings(path)


def test_a_line_that_was_left_half_written_gives_way_to_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "verdicts.jsonl"
    append_rulings(path, [ruling(REPEATED, "wrong"), ruling(REPEATED, "right", why="Städte")])
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index("ä".encode()) + 1])  # within a character
    assert [found.verdict for found in read_rulings(path)] == ["wrong"]
    assert len(read_rulings(path)) == 1
    assert capsys.readouterr().err.count("is incomplete and was skipped") == 1
    append_rulings(path, [ruling(REPEATED, "unclear")])
    assert [found.verdict for found in read_rulings(path)] == ["wrong", "unclear"]


def test_an_answer_is_found_by_its_sql_however_it_is_written(league: Dataset) -> None:
    rulings = [ruling(REPEATED, "right")]
    assert verdict_of(league, rulings, "select T1.town from club as T1;") == ("right", "ruling")


def test_an_answer_is_found_by_the_same_result(league: Dataset) -> None:
    rulings = [ruling(REPEATED, "right"), ruling(BATH, "wrong")]
    assert verdict_of(league, rulings, "SELECT town FROM club WHERE id > 0") == ("right", "result")
    assert verdict_of(league, rulings, "SELECT town FROM club WHERE id = 1") == ("wrong", "result")


def test_the_last_word_of_a_person_counts_and_proposals_never_do(league: Dataset) -> None:
    rulings = [ruling(REPEATED, "wrong"), ruling(REPEATED, "unclear")]
    assert verdict_of(league, rulings, REPEATED) == ("unclear", "ruling")
    assert verdict_of(league, [ruling(REPEATED, "right", accepted=False)], REPEATED) == (None, "none")
    assert verdict_of(league, [*rulings, ruling(REPEATED, "right", accepted=False)], REPEATED) == ("unclear", "ruling")


def test_nothing_is_guessed(league: Dataset) -> None:
    """Without rulings only what gold calls right, and what does not run, is decided."""
    gold = QUESTIONS[2][1]
    assert verdict_of(league, [], gold) == ("right", "gold")
    assert verdict_of(league, [], REPEATED) == (None, "none")
    assert verdict_of(league, [], "SELECT nothing FROM club") == ("wrong", "gold")
    # Two readers, two results, and an answer that has both on this database: nobody has decided.
    split = [
        ruling("SELECT town FROM club WHERE id < 4", "right"),
        ruling("SELECT town FROM club WHERE id < 5", "wrong"),
    ]
    assert verdict_of(league, split, REPEATED) == (None, "none")


def test_a_gold_that_is_called_wrong_no_longer_makes_answers_right(league: Dataset) -> None:
    gold = QUESTIONS[2][1]
    rulings = [ruling(gold, "wrong")]
    assert verdict_of(league, rulings, gold) == ("wrong", "ruling")
    assert verdict_of(league, rulings, "SELECT town FROM club GROUP BY town") == ("wrong", "result")


@pytest.mark.parametrize(
    "more", [{"id": "9"}, {"gold": "SELECT 1"}, {"dataset": "sparc"}, {"question": "Towns of players?"}]
)
def test_rulings_on_other_questions_say_nothing(league: Dataset, more: dict[str, str]) -> None:
    assert verdict_of(league, [ruling(REPEATED, "right", **more)], REPEATED) == (None, "none")


def test_scores_by_verdict_leave_open_what_is_open(league: Dataset) -> None:
    golds = [question.golds[0] for question in league.questions]
    with StrictJudge(league) as judge:
        answers = [golds[0], "SELECT nothing", REPEATED, "SELECT title FROM club WHERE id = 1"]
        verdicts = [judge.judge(question, sql) for question, sql in zip(league.questions, answers, strict=True)]
    scores = score_outcomes(apply_rulings(league, verdicts, [ruling(REPEATED, "right")]))
    assert [scores[word] for word in ("right", "wrong", "unclear", "unjudged")] == [2, 1, 0, 1]
    assert [scores[word] for word in ("low", "high", "ex")] == [0.5, 0.75, None]
    assert (
        format_scores_line(scores, verdicts)
        == "EX by gold 25.0, by verdict 50.0 to 75.0: 2 right, 1 wrong, 0 unclear, 1 unjudged"
    )


def test_score_prints_both_judgements(league: Dataset, spider_root: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps([sql if place != 2 else REPEATED for place, (_, sql) in enumerate(QUESTIONS)]))
    verdicts = tmp_path / "verdicts.jsonl"
    append_rulings(verdicts, [ruling(REPEATED, "right", dataset="spider", why="a list is a list")])
    command = ["score", "--dataset", "spider", "--predictions", str(predictions), "--data", str(spider_root)]
    done = runner.invoke(app, [*command, "--verdicts", str(verdicts), "--json"])
    found = json.loads(done.stdout)
    assert found["ex"] == 0.75
    assert found["by_verdict"]["ex"] == 1.0
    assert found["by_verdict"]["per_question"]["2"] == {
        "verdict": "right",
        "basis": "ruling",
        "why": "a list is a list",
        "kind": "",
        "proposal": None,
        "gold_proposal": None,
    }
    assert "by_verdict" not in json.loads(runner.invoke(app, [*command, "--json"]).stdout)
    told = runner.invoke(app, [*command, "--verdicts", str(verdicts)]).stdout
    assert "EX by gold 75.0, by verdict 100.0: 4 right, 0 wrong, 0 unclear" in told


def test_agreement_beyond_chance() -> None:
    alike: tuple[Word, Word] = ("right", "right")
    pairs: list[tuple[Word, Word]] = [*[alike] * 8, ("wrong", "wrong"), ("wrong", "right")]
    found = compute_agreement(pairs)
    assert (found.n, found.agreed, found.wrong_found, found.right_kept) == (10, 9, 0.5, 1.0)
    assert found.kappa == pytest.approx((0.9 - 0.74) / 0.26)
    assert compute_agreement([("right", "right")]).kappa is None
    assert compute_agreement([]).text == "the judge agrees with 0 of 0 verdicts (kappa -)"


def test_golds_with_split_operators_are_judged_as_the_evaluator_runs_them(league: Dataset) -> None:
    """CoSQL's golds have `> =`: unjoined they would look like errors of syntax."""
    question, split = league.questions[0], "SELECT count(*) FROM player WHERE id > = 1"
    with JudgePromptBuilder(league) as cases:
        task = cases.make_task(JudgeCase(question, split, split.replace("> =", "! =")))
    assert (task.first.rows, task.second.rows) == (1, 1)
    assert ">= 1" in task.first.sql
    published = replace(league, questions=(replace(question, golds=(split.replace("> =", ">="),)),))
    said = ruling(split, "wrong", question=question.text, gold=split)
    with Adjudicator(published, [said]) as adjudicator:
        assert adjudicator.judge_answer(published.questions[0], "SELECT 5", True, True).verdict == "wrong"
