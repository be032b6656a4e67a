"""Fine-tuning data: a chat a turn, in the `track` preset's form."""

from __future__ import annotations

import json
import random
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tableturn.agent import SQLAgent
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.training.sft import perturb_schema
from tableturn.tools.database import ColumnSchema, Schema, TableSchema

from tests.support.command_line import laboratory
from tests.support.scripted import ScriptedModel


def run(*args: object) -> CompletedProcess[str]:
    return laboratory("sft", "export", *map(str, args))


@pytest.mark.data
def test_writes_a_chat_for_each_turn(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "cosql.jsonl"
    done = run("--out", out, "--data", data_dir, "--limit", 3, "--perturb", 0)
    assert done.returncode == 0, done.stdout
    turns = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert done.stdout.strip() == f"{out}: {len(turns)} turns"
    assert len(turns) > 3
    assert len({turn["id"] for turn in turns}) == len(turns)
    assert [path.name for path in tmp_path.iterdir()] == ["cosql.jsonl"]
    for turn in turns:
        system, user, assistant = turn["messages"]
        assert [message["role"] for message in turn["messages"]] == ["system", "user", "assistant"]
        assert "&" in system["content"]
        assert assistant["content"] == f"```sql\n{turn['sql']}\n```"
        assert turn["schema"] in user["content"]
        assert f"<base-sql>\n{turn['base_sql']}\n</base-sql>" in user["content"]
        assert user["content"].count(" & ") >= len(turn["questions"]) - 1
    first, second = turns[:2]
    assert (len(first["questions"]), first["base_sql"]) == (1, "")
    assert second["base_sql"] == first["sql"], "the base is gold SQL, regularised as the target is"


@pytest.mark.data
def test_the_same_data_gives_the_same_file(data_dir: Path, tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "plain.jsonl")]
    for out, share in zip(outs, (1, 1, 0), strict=True):
        assert run("--out", out, "--data", data_dir, "--limit", 2, "--perturb", share).returncode == 0
    texts = [out.read_text(encoding="utf-8") for out in outs]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.data
def test_each_ablation_has_its_own_records(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "plain.jsonl"
    parts = ("--without-part", "sese", "--without-part", "sace")
    assert run("--out", out, "--data", data_dir, "--limit", 2, "--perturb", 1, *parts).returncode == 0
    for line in out.read_text(encoding="utf-8").splitlines():
        system, user, _ = json.loads(line)["messages"]
        assert "base SQL" not in system["content"]
        assert "base-sql" not in user["content"]
        assert "order of their relevance" not in system["content"]
        assert "tables)" not in user["content"], "nothing is said of what is not shown"


def test_a_part_that_there_is_not_is_said(tmp_path: Path) -> None:
    done = run("--out", tmp_path / "x", "--data", tmp_path, "--without-part", "soul")
    assert done.returncode == 2


def test_a_disturbed_schema_keeps_what_was_there() -> None:
    tables = tuple(TableSchema(name, (ColumnSchema("id"), ColumnSchema("a"), ColumnSchema("b"))) for name in "xyz")
    schema = Schema("s", tables)
    part = schema.part([("x", ["id", "a"])])
    found = perturb_schema(part, schema, random.Random(1))
    assert len(found.tables) == 2
    assert found.column("x", "id")
    assert found.column("x", "a")
    assert found.column("x", "b"), "a column that does not belong"
    assert perturb_schema(schema, schema, random.Random(1)).table("y"), "nothing is left to add"


def test_says_what_data_it_lacks(tmp_path: Path) -> None:
    done = run("--out", tmp_path / "x", "--data", tmp_path)
    assert done.returncode == 2
    assert "cosql" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.data
def test_says_where_it_cannot_write(data_dir: Path, tmp_path: Path) -> None:
    done = run("--out", tmp_path / "none" / "x.jsonl", "--data", data_dir, "--limit", 1)
    assert done.returncode == 2
    assert "cannot write" in done.stderr


@pytest.mark.data
def test_the_messages_are_the_presets_prompts(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "cosql.jsonl"
    assert run("--out", out, "--data", data_dir, "--limit", 3, "--perturb", 0).returncode == 0
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    dataset = load_dataset("cosql", "train", data_dir)
    asked = 0
    for number in range(3):
        turns = [record for record in records if record["id"].split("/")[1] == str(number)]
        replies = [turn["messages"][-1]["content"] for turn in turns]
        model = ScriptedModel(script=lambda _, replies=replies: replies.pop(0))
        settings = {"preset": "track", "annotate": False}  # what is exported asks no model
        with SQLAgent(dataset.find_file(turns[0]["database"]), model=model, settings=settings) as agent:
            chat = agent.conversation()
            for turn in turns:
                chat.ask(turn["questions"][-1])
                assert model.prompts[-1] == "\n".join(said["content"] for said in turn["messages"][:2])
                asked += 1
    assert asked > 3
