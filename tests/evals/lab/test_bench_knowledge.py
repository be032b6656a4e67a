"""The benches of knowledge: half of the entries by others, and no figure where a reply is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from langchain_core.messages import HumanMessage
from tableturn.evals.lab.bench import retrieval
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.lab.bench.stored import check_all_replies_stored, open_stored_model
from tableturn.tools.errors import ModelError, SettingsError


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample database's part alone: it is built where it is needed."""
    ours = retrieval.DATA
    records = yaml.safe_load((ours / "knowledge_questions.yaml").read_text())
    kept = [record for record in records if record["database"] == "kestrel"]
    (tmp_path / "knowledge_questions.yaml").write_text(yaml.safe_dump(kept))
    (tmp_path / "knowledge_kestrel.yaml").write_text((ours / "knowledge_kestrel.yaml").read_text())
    monkeypatch.setattr(retrieval, "DATA", tmp_path)
    return tmp_path


def others(data: Path, needs: str, file: str = "knowledge_others") -> None:
    (data / f"{file}_kestrel.yaml").write_text("terms: {quux basket: paid by the house}\n")
    asked = [{"database": "kestrel", "question": "How many quux baskets were there?", "needs": [needs]}]
    (data / f"{file}_questions.yaml").write_text(yaml.safe_dump(asked))


def test_half_of_the_entries_and_questions_may_be_by_others(data: Path) -> None:
    alone = retrieval.measure_knowledge(BenchOptions())
    assert (alone["questions"], alone["by_others"], alone["unseen"]) == (20, None, None)
    others(data, "term quux basket")
    found = retrieval.measure_knowledge(BenchOptions())
    assert found["questions"] == 11
    theirs = found["by_others"]
    assert isinstance(theirs, dict)
    assert (theirs["questions"], theirs["entries"], theirs["needed"], theirs["needed_shown"]) == (1, 1, 1, 1.0)


def test_what_nobody_has_tuned_on_counts_apart_and_in_the_whole(data: Path) -> None:
    others(data, "term quux basket")
    (data / "knowledge_test_kestrel.yaml").write_text("terms: {takings: what came in, zorch: a very fast lap}\n")
    asked = [{"database": "kestrel", "question": "How many tags are there?", "needs": ["term zorch"]}]
    (data / "knowledge_test_questions.yaml").write_text(yaml.safe_dump(asked))
    found = retrieval.measure_knowledge(BenchOptions())
    theirs, unseen = found["by_others"], found["unseen"]
    assert isinstance(theirs, dict)
    assert isinstance(unseen, dict)
    assert (unseen["questions"], unseen["entries"], unseen["needed"], unseen["needed_shown"]) == (1, 2, 1, 0.0)
    assert theirs["needed_shown"] == 1.0
    assert found["questions"] == 12, "our ten are asked once"


def test_a_question_that_needs_what_is_no_entry_is_told(data: Path) -> None:
    others(data, "term basket")
    with pytest.raises(SettingsError, match="needs 'term basket', which is not an entry"):
        retrieval.measure_knowledge(BenchOptions())


def test_a_missing_reply_is_told_at_the_end_whatever_the_turn_made_of_it(tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    replies.touch()
    model = open_stored_model(replies, None, None)
    check_all_replies_stored(model)
    with pytest.raises(ModelError):
        model.invoke([HumanMessage("How many?")])
    with pytest.raises(ModelError, match="1 requests got no reply"):
        check_all_replies_stored(model)
