"""The same run on a Ray cluster of two workers; needs the extra `ray`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tableturn.evals.datasets import Dataset, read_questions
from tableturn.evals.runner.record import RunSpec
from tableturn.evals.runner.run import run_evaluation
from tableturn.tools.errors import ModelError

from tests.support.openai_server import OpenAIServer

from .test_runner import answering, command, questions_file, silent

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore")]


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """On a cluster of its own, which ends with the process that began it; before this machine has a second one."""
    dataset, out = questions_file(tmp_path, 12, turns=2), tmp_path / "run"
    journal = out / "journal.jsonl"
    with OpenAIServer(answering) as server:
        line = [*command(server, dataset, out), "--engine", "ray"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())
        deadline = time.monotonic() + 300
        while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = [
            json.loads(line)["id"] for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")
        ]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        asked = [str(body["messages"]) for body in server.requests]
    lines = [json.loads(line)["id"] for line in journal.read_text().splitlines()]
    assert lines[: len(before)] == before
    assert sorted(lines, key=int) == [str(number) for number in range(1, 13)]
    assert json.loads(done.stdout)["strict"]["ex"] == 1.0
    # Only what was under way when the run was killed was asked a second time.
    assert len(asked) - len(set(asked)) <= 2
    assert sys.executable in line


@pytest.fixture(scope="module")
def two_nodes() -> Generator[None]:
    """A cluster of two nodes of one processor each, on this machine, that this process has joined."""
    cluster = import_module("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.usefixtures("two_nodes")
def test_the_same_answers_in_the_same_order(league: Dataset, tmp_path: Path) -> None:
    golds = [question.golds[0] for question in league.questions]
    predictions = tmp_path / "drafts.json"
    predictions.write_text(json.dumps([*golds[:3], "SELECT title FROM nowhere"]))
    spec = RunSpec("spider", model=f"replay:{predictions}")
    here = run_evaluation(spec, league, tmp_path / "here", jobs=2, listener=silent)
    there = run_evaluation(spec, league, tmp_path / "there", jobs=2, listener=silent, engine="ray")
    assert [(record.id, record.sql, record.rows, verdict.ex) for record, verdict in there] == [
        (record.id, record.sql, record.rows, verdict.ex) for record, verdict in here
    ]


@pytest.mark.usefixtures("two_nodes")
def test_both_workers_answer_conversations_and_a_repeated_run_makes_no_calls(tmp_path: Path) -> None:
    path, out = questions_file(tmp_path, 8, turns=2), tmp_path / "run"
    with OpenAIServer(answering) as server:
        spec = RunSpec(str(path), model="openai:scripted", base_url=server.base_url)
        first = run_evaluation(spec, read_questions(path), out, jobs=4, listener=silent, engine="ray")
        calls = len(server.requests)
        assert [record.id for record, _ in first] == [str(number) for number in range(1, 9)]
        assert all(verdict.ex for _, verdict in first)
        (out / "journal.jsonl").unlink()
        again = run_evaluation(spec, read_questions(path), out, jobs=4, listener=silent, engine="ray")
        local = run_evaluation(spec, read_questions(path), out, jobs=4, listener=silent)
        assert len(server.requests) == calls > 0
    assert [record.sql for record, _ in again] == [record.sql for record, _ in local]


@pytest.mark.usefixtures("two_nodes")
def test_what_is_wrong_is_said_once(league: Dataset, tmp_path: Path) -> None:
    spec = RunSpec("spider", model="nonsense:model")
    with pytest.raises(ModelError, match="unknown model 'nonsense:model'"):
        run_evaluation(spec, league, tmp_path / "run", jobs=2, listener=silent, engine="ray")
