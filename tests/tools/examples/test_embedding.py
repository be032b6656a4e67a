"""The default embedding, and the others behind the same interface."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.errors import ExampleStoreError, SettingsError
from tableturn.tools.examples import Example, ExampleStore, embed, make_embedding
from tableturn.tools.examples.embedding import HASHED, Embedding


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_has_a_vector_of_length_one_or_none(texts: list[str]) -> None:
    vectors = embed(texts)
    assert vectors.shape == (len(texts), 256)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_the_same_in_every_process() -> None:
    program = "from tableturn.tools.examples import embed; print(embed(['How many boats, père?']).tobytes().hex())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert outputs == {embed(["How many boats, père?"]).tobytes().hex()}


def test_questions_for_the_same_sql_are_nearer_than_those_with_the_same_words() -> None:
    oldest, eldest, mean = embed(
        ["Who is the oldest _ ?", "Which _ is the eldest , the largest age ?", "What is the average age of the _ ?"]
    )
    assert oldest @ eldest > oldest @ mean


def test_questions_that_differ_by_a_number_are_told_apart() -> None:
    vectors = embed([f"Who has the number {n}?" for n in range(500)])
    similarities = vectors @ vectors.T - 2 * np.eye(500)
    assert similarities.max() < 0.9999


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible server that embeds a text as its number of letters."""
    seen: list[dict[str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            data = [
                {"object": "embedding", "index": i, "embedding": [float(len(text)), 2.0]}
                for i, text in enumerate(body["input"])
            ]
            if "bad" in body["input"]:
                self.send_error(400, "no such text")
                return
            answer = json.dumps({"object": "list", "data": data, "model": "m", "usage": {}}).encode()
            if body["input"][0].startswith("say "):
                answer = body["input"][0][4:].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if answer[:1] == b"<" else "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/v1", seen
        listening.shutdown()
        thread.join()


@pytest.fixture
def tiny(server: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> Embedding:
    monkeypatch.setenv("OPENAI_BASE_URL", server[0])
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return make_embedding("openai:tiny")


def test_a_server_of_openais_kind(server: tuple[str, list[dict[str, Any]]], tiny: Embedding) -> None:
    vectors = tiny(["ab", ""])
    assert tiny.name == "openai-tiny"
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert server[1][0]["input"] == ["ab", " "]
    with pytest.raises(ExampleStoreError, match="tiny' failed"):
        tiny(["bad"])


NO_VECTORS = (
    "<html>Log in</html>",
    "[]",
    '"x"',
    "{}",
    "null",
    '{"data": []}',
    '{"data": [7]}',
    '{"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}',
    '{"data": [{"embedding": null}, {"embedding": null}]}',
    '{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 1]}]}',
    '{"data": [{"embedding": [1, 1]}]}',
    '{"data": [{"embedding": "AAAA"}, {"embedding": "****"}]}',
    '{"data": [{"embedding": []}, {"embedding": []}]}',
)


def test_an_answer_without_vectors_is_one_line_and_binds_no_store(tiny: Embedding) -> None:
    for answer in NO_VECTORS:
        with pytest.raises(ExampleStoreError, match="tiny' failed: ") as raised:
            tiny([f"say {answer}", "b"])
        assert str(raised.value).isprintable()
    with ExampleStore.open(None, tiny) as store:
        with pytest.raises(ExampleStoreError, match="tiny' failed"):
            store.add([Example("bad", "SELECT 1", "d", simplified="b")])
        assert store.stats().sql_skeletons == 0


def test_a_servers_words_cannot_steer_a_terminal(tiny: Embedding) -> None:
    with pytest.raises(ExampleStoreError) as raised:
        tiny(['say {"data": "\x1b]0;owned\x07' + "x" * 9_000 + '"}'])
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_settings() -> None:
    assert make_embedding("hashed") is HASHED
    for wrong in ("", "bert", "openai:"):
        with pytest.raises(SettingsError, match="there are hashed, chroma, openai:MODEL and sentence:MODEL"):
            make_embedding(wrong)


def test_openai_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ExampleStoreError, match="OPENAI_API_KEY"):
        make_embedding("openai:tiny")
