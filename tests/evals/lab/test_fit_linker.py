"""Fitting the linker's forests, and the redundancy scores that they are measured by."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench import linking
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.lab.training import fit_linker
from tableturn.evals.lab.training.fit_linker import LinkerModelSize, convert_trees_to_forest
from tableturn.evals.lab.training.fit_linker_turns import (
    LinkedDatabase,
    TrainingDialogue,
    TrainingQuestion,
    add_links,
    build_linked_turns,
    make_subject_changes,
    read_dialogues,
    score_links,
)
from tableturn.evals.metrics.summary import compute_redundancy
from tableturn.tools.database import ColumnSchema, Schema, TableSchema
from tableturn.tools.linking.evidence import NameIndex
from tableturn.tools.linking.scoring import LinkingModel, load_shipped_model
from tableturn.tools.linking.vocabulary import WordAssociations, load_shipped_associations
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module")
def dialogues(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[TrainingDialogue]:
    return read_dialogues(load_dataset("cosql", "train", data_dir).head(10), tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize(
    ("gold", "extracted", "score"),
    [
        ({"a"}, {"a"}, 0.0),
        (set(), set(), 0.0),
        ({"a"}, {"a", "b", "c", "d"}, 0.75),
        ({"a", "b"}, {"a"}, 1.0),
        ({"a"}, set(), 1.0),
        ({"a"}, {"b"}, 1.0),
    ],
)
def test_redundancy(gold: set[str], extracted: set[str], score: float) -> None:
    assert compute_redundancy(gold, extracted) == score


def test_an_exported_forest_gives_the_classifiers_probabilities() -> None:
    dice = np.random.default_rng(3)
    inputs = dice.normal(size=(500, 4)).astype(np.float32)
    flags = (inputs[:, 0] * inputs[:, 1] + dice.normal(0, 0.3, 500) > 0).astype(float)
    boosted = HistGradientBoostingClassifier(max_iter=20, max_depth=5).fit(inputs, flags)
    forest = convert_trees_to_forest(("a", "b", "c", "d"), boosted)
    assert np.allclose(forest.predict(inputs), boosted.predict_proba(inputs)[:, 1], atol=1e-5)
    columns = {name: inputs[:, number].astype(float) for number, name in enumerate("abcd")}
    assert np.allclose(forest.predict_rows(columns, np.array([7, 3])), forest.predict(inputs[[7, 3]]))
    assert not forest.predict_rows(columns, np.array([], dtype=int)).size


def dialogue_about(name: str, *questions: str) -> TrainingDialogue:
    schema = Schema(name, (TableSchema("t", (ColumnSchema("c"),)),))
    asked = tuple(TrainingQuestion(text, f"SELECT '{text}' FROM t", ()) for text in questions)
    return TrainingDialogue(LinkedDatabase(NameIndex(schema)), asked, tuple(one.gold for one in asked))


def test_single_questions_follow_the_first_turns_of_interactions_about_their_database() -> None:
    interactions = [dialogue_about("a", "1", "2", "3"), dialogue_about("b", "x"), dialogue_about("a", "4", "5", "6")]
    single = [dialogue_about(name, text) for name, text in (("a", "p"), ("c", "q"), ("a", "r"))]
    changed = make_subject_changes(interactions, single)
    assert [[asked.text for asked in d.questions] for d in changed] == [["1", "p"], ["4", "5", "r"]]
    assert [turn.sql for turn in changed[1].get_past_turns(2)] == ["SELECT '4' FROM t", "SELECT '5' FROM t"]


@pytest.mark.data
def test_fits_and_writes_what_the_linker_reads(
    dialogues: list[TrainingDialogue], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = LinkerModelSize(trees=2, column_trees=2, rate=0.3)
    monkeypatch.setattr(fit_linker, "_FIRST_SIZE", small)
    monkeypatch.setattr(fit_linker, "_SIZE", small)
    # So little is soon learned: threads would only wait for each other.
    with threadpool_limits(1):
        model, associations, figures = fit_linker.fit(dialogues)
    several = [dialogue for dialogue in dialogues if len(dialogue.questions) > 1]
    for history in ("gold", "own"):
        assert 0 < figures[history]["turns"] <= sum(len(dialogue.questions) for dialogue in several)
    fit_linker.write_linker_files(model, associations, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["associations.json", "forests.npz"]
    stored = json.loads((tmp_path / "associations.json").read_text())
    read = LinkingModel.read(tmp_path / "forests.npz")
    (turn, *_) = build_linked_turns(dialogues[0], WordAssociations(stored["pairs"], stored["usual"]))
    for written, again in zip(model.score(turn.evidence), read.score(turn.evidence), strict=True):
        assert np.array_equal(written, again)
        assert np.all((written > 0) & (written < 1))


@pytest.mark.data
def test_interactions_whose_database_is_missing_are_passed_over(data_dir: Path, tmp_path: Path) -> None:
    dataset = load_dataset("cosql", "train", data_dir).head(2)
    assert read_dialogues(replace(dataset, databases=()), tmp_path) == []


@pytest.mark.data
def test_the_shipped_model_knows_training_databases(dialogues: list[TrainingDialogue]) -> None:
    turns = [turn for dialogue in dialogues for turn in build_linked_turns(dialogue, load_shipped_associations())]
    found = [load_shipped_model().score(turn.evidence) for turn in turns]
    figures = score_links(turns, [tables for tables, _, _ in found], [columns for _, columns, _ in found])
    assert figures["table_recall"] > 0.97
    assert figures["column_recall_at_10"] > 0.97


@pytest.mark.data
def test_own_answers_take_the_place_of_gold_sql(dialogues: list[TrainingDialogue]) -> None:
    dialogue = next(dialogue for dialogue in dialogues if len(dialogue.questions) > 2)
    nothing = add_links(
        dialogue, lambda turn: (0 * turn.tables, 0 * turn.columns), load_shipped_associations(), own=True
    )
    assert set(nothing.answers) == {""}
    right = add_links(dialogue, lambda turn: (turn.tables, turn.columns), load_shipped_associations(), own=True)
    gold = [dialogue.database.names.find_past_use(asked.gold).tables for asked in dialogue.questions]
    assert [dialogue.database.names.find_past_use(answer).tables for answer in right.answers] == gold
    assert [turn.sql for turn in right.get_past_turns(2)] == list(right.answers[:2])
    assert {(table, p) for table, column, p in right.get_past_turns(2)[1].items if column is None} == {
        (t, 1.0) for t in gold[1]
    }


@pytest.mark.data
def test_gold_answers_keep_what_the_linker_found(dialogues: list[TrainingDialogue]) -> None:
    dialogue = next(dialogue for dialogue in dialogues if len(dialogue.questions) > 2)
    wrong = add_links(
        dialogue, lambda turn: (1 - turn.tables, 1 - turn.columns), load_shipped_associations(), own=False
    )
    assert wrong.answers == dialogue.answers
    turn = build_linked_turns(wrong, load_shipped_associations())[1]
    before = turn.evidence.tables_before
    assert np.array_equal(before.last, 1 - before.likely_last), "SQL and finding disagree"


@pytest.mark.data
def test_the_benchmark_gives_all_its_figures(data_dir: Path) -> None:
    figures = linking.measure_linking(BenchOptions(data_dir, limit=3))
    assert set(figures) == {"sparc_gold", "sparc_own", "cosql_gold", "cosql_own"}
