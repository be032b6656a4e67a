from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.evals.adjudication.judging import FinishedRun
from tableturn.evals.adjudication.ruling import Ruling, append_rulings
from tableturn.evals.datasets import Dataset, read_questions
from tableturn.evals.metrics.judging import StrictJudge, Verdict, classify_error
from tableturn.evals.report.page import write_report
from tableturn.evals.runner.record import RunSpec, TurnRecord
from tableturn.evals.runner.results import RunResults, read_results, write_results
from tableturn.evals.runner.run import run_evaluation
from tableturn.tools.errors import SettingsError

from .conftest import make_database

HOSTILE = "</script><script>alert(1)</script>\u2028<img src=x onerror=alert(2)>"


def finished_run(league: Dataset, out: Path, drafts: list[str]) -> Path:
    predictions = out.with_suffix(".json")
    predictions.write_text(json.dumps(drafts))
    spec = RunSpec("spider", model=f"replay:{predictions}")
    answered = run_evaluation(spec, league, out, jobs=1, listener=lambda record, verdict: None)
    write_results(RunResults(league, answered).as_json(spec, 1.0), out)
    return out


def test_a_page_of_two_runs(league: Dataset, tmp_path: Path) -> None:
    golds = [question.golds[0] for question in league.questions]
    hostile = replace(league, questions=(replace(league.questions[0], text=HOSTILE), *league.questions[1:]))
    folders = [
        finished_run(hostile, tmp_path / "good", golds),
        finished_run(hostile, tmp_path / "bad", [*golds[:2], "SELECT 0", "SELECT nothing FROM club"]),
    ]
    page = tmp_path / "report.html"
    write_report(folders, page)
    text = page.read_text()

    # Nothing from elsewhere, and nothing that a database or a model said can become part of the page itself.
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import|https?://""", text.split("<script", 1)[0])
    assert text.count("<script") == 2
    assert "<img" not in text
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])
    assert [run["name"] for run in data] == ["good", "bad"]
    assert data[0]["questions"][0]["question"] == HOSTILE
    assert [question["ex"] for question in data[1]["questions"]] == [True, True, False, False]
    assert [question["error_class"] for question in data[1]["questions"]] == [None, None, "logic", "does not run"]
    assert data[1]["questions"][2]["gold_rows"] == [["Bath"], ["York"]]
    assert "bad against good" in text
    assert "McNemar p = 0.5000" in text


def test_both_judgements_and_a_conclusion_are_on_the_page(league: Dataset, tmp_path: Path) -> None:
    golds = [question.golds[0] for question in league.questions]
    repeated = "SELECT town FROM club"
    finished_run(league, tmp_path / "good", golds)
    finished_run(league, tmp_path / "other", [*golds[:2], repeated, golds[3]])
    rulings = [Ruling(question=league.questions[2].text, sql=repeated, verdict="right", why="a list")]
    append_rulings(tmp_path / "other" / "verdicts.jsonl", rulings)
    FinishedRun.read(tmp_path / "other", league.root, None).update_verdict_scores()
    page = tmp_path / "report.html"
    (told,) = write_report([tmp_path / "good", tmp_path / "other"], page)
    assert told.startswith("other and good cannot be told apart on these 4 questions: -25.0 points")
    text = page.read_text()
    assert told in text
    assert re.search(
        r"EX, by verdict</td><td class=\"n\">-</td><td class=\"n bar\" style=\"--v: 1.0000\">100.0</td>", text
    )
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])
    assert data[1]["dataset"] == "spider"
    assert data[1]["questions"][2]["ruling"]["verdict"] == "right"


def test_an_unfinished_or_damaged_run_has_no_report(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no finished run in .*run: name another"):
        write_report([tmp_path / "run"], tmp_path / "report.html")
    (tmp_path / "run").mkdir()
    with pytest.raises(SettingsError, match=r"there is no finished run in .*, or finish it with"):
        write_report([tmp_path / "run"], tmp_path / "report.html")
    for text in ("[]", "[" * 100_000, '{"run": []}'):
        (tmp_path / "run" / "results.json").write_text(text)
        with pytest.raises(SettingsError):
            write_report([tmp_path / "run"], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_runs_are_compared_over_the_same_questions_only(league: Dataset, tmp_path: Path) -> None:
    golds = [question.golds[0] for question in league.questions]
    first, *others = league.questions
    changed = replace(league, questions=(replace(first, golds=("SELECT 5",)), *others))
    strange = replace(league, questions=tuple(replace(q, text=f"{q.text} And why?") for q in league.questions))
    asked = {"a": league, "b": changed, "c": strange}
    page = tmp_path / "report.html"
    write_report([finished_run(dataset, tmp_path / name, golds) for name, dataset in asked.items()], page)
    text = page.read_text()
    assert "b against a</strong>, over the 3 of 4 questions that are judged in both: difference in EX +0.0" in text
    assert "c against a</strong>: not compared, as no question is judged in both" in text
    told = write_report([tmp_path / name for name in asked], page)
    assert told[0].endswith(" Not paired: 1 of a, 1 of b.")
    assert told[1] == "c is not compared with a: no question is judged in both. Not paired: 4 of a, 4 of c."
    with pytest.raises(SettingsError, match="cannot be written"):
        write_report([tmp_path / "a"], tmp_path / "nowhere" / "report.html")
    assert not (tmp_path / "nowhere").exists()


def test_questions_without_ids_are_paired_by_their_words(tmp_path: Path) -> None:
    """Also those of equal words, one by one; numbers move with what is put in between."""
    make_database(tmp_path / "league.sqlite")
    golds = ["SELECT count(*) FROM club", "SELECT count(*) FROM player", "SELECT count(*) FROM player"]
    records = [{"question": f"How many {sql.split()[-1]}s?", "sql": sql, "database": "league.sqlite"} for sql in golds]
    answers = {"first": ["SELECT 0", golds[1], "SELECT 0"], "second": ["SELECT 9", "SELECT 0", golds[1], "SELECT 0"]}
    new = {"question": "How many towns?", "sql": "SELECT 9", "database": "league.sqlite"}
    for name, drafts in answers.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(records if name == "first" else [new, *records]))
        (tmp_path / f"{name}.drafts.json").write_text(json.dumps(drafts))
        dataset = read_questions(path)
        spec = RunSpec(str(path), model=f"replay:{tmp_path / f'{name}.drafts.json'}")
        answered = run_evaluation(spec, dataset, tmp_path / name, jobs=1, listener=lambda record, verdict: None)
        write_results(RunResults(dataset, answered).as_json(spec), tmp_path / name)
    (told,) = write_report([tmp_path / "first", tmp_path / "second"], tmp_path / "report.html")
    assert "cannot be told apart on these 3 questions: +0.0 points" in told
    assert told.endswith(" Not paired: 0 of first, 1 of second.")


@pytest.mark.parametrize(
    ("sql", "gold", "expected"),
    [
        ("SELECT name FROM player WHERE goals > 4", "SELECT name FROM player WHERE goals > 2", "DB value"),
        ("SELECT name , fee FROM player", "SELECT name FROM player", "imprecise"),
        ("SELECT name , fee FROM player WHERE goals > 4", "SELECT name FROM player", "logic"),
        ("SELECT title FROM club", "SELECT name FROM player", "logic"),
        ("SELECT nothing FROM club", "SELECT name FROM player", "does not run"),
        ("", "SELECT name FROM player", "no answer"),
        ("SELECT name FROM player", "SELECT name FROM player", None),
        ("SELECT name FROM player", "SELECT nothing FROM player", "gold error"),
    ],
)
def test_error_classes(league: Dataset, sql: str, gold: str, expected: str | None) -> None:
    question = replace(league.questions[0], golds=(gold,))
    with StrictJudge(league) as judge:
        verdict: Verdict = judge.judge(question, sql)
        assert classify_error(verdict, judge.clauses) == expected


def test_attempts_are_judged_one_by_one(league: Dataset) -> None:
    question = league.questions[0]
    attempts = tuple(
        {"sql": sql, "error": None, "row_count": 1, "feedback": ""} for sql in ("SELECT 0", question.golds[0])
    )
    with StrictJudge(league) as judge:
        verdict = judge.judge(question, question.golds[0])
    record = TurnRecord(question.id, question.golds[0], "converged", attempts=attempts)
    results = RunResults(league, [(record, verdict)]).as_json(RunSpec("spider"))
    assert results["questions"][0]["attempts_right"] == [False, True]


def test_a_page_keeps_passwords_of_databases_to_itself(league: Dataset, tmp_path: Path) -> None:
    folder = finished_run(league, tmp_path / "run", [question.golds[0] for question in league.questions])
    text = (folder / "results.json").read_text().replace('"league"', '"postgresql://me:secret@host/league"')
    (folder / "results.json").write_text(text)
    write_report([folder], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "secret" not in page
    assert "host/league" in page


def test_convergence_is_told_by_attempt(league: Dataset, tmp_path: Path) -> None:
    folder = finished_run(league, tmp_path / "run", [question.golds[0] for question in league.questions])
    results = read_results(folder)
    results["questions"][2]["attempts_right"] = [False, True]
    write_results(results, folder)
    page = tmp_path / "report.html"
    write_report([folder], page)
    assert re.search(r"after attempt 1</td><td[^>]*>75.0</td>", page.read_text())
    assert re.search(r"after attempt 2</td><td[^>]*>100.0</td>", page.read_text())
