"""A model that answers at once, in this process or behind a loopback server.

    python -m tableturn.evals.lab.bench.stand_in SECONDS

serves it, prints the base URL, and takes so long for each reply.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.openai_server import Behaviour, OpenAIServer, says

from ....tools.sample import build_sample

ROOT = Path(__file__).parents[3]

TURNS = (
    ("How many customers are there?", "SELECT count(*) FROM customers"),
    ("How many of them are in France?", "SELECT count(*) FROM customers WHERE country_code = 'FR'"),
    ("Show their names", "SELECT first_name, last_name FROM customers WHERE country_code = 'FR'"),
    ("How about Germany?", "SELECT first_name, last_name FROM customers WHERE country_code = 'DE'"),
    ("Sort these", "SELECT first_name, last_name FROM customers WHERE country_code = 'DE' ORDER BY last_name"),
)
"""A conversation over the sample database, with the SQL that the stand-in writes."""

_TO_PAPERS = {
    "Rephrased: Give me ...": "Rephrased: Give me the number of customers.",
    "You reword questions": "Count the customers",
    "You check queries by reading them back": '{"meaning": "It counts.", "differences": ""}',
    "You document a database": '{"1": "a thing"}',
    "with pandas code": "```python\nresult = pd.DataFrame({'n': [1]})\n```\n```sql\nSELECT 1\n```",
}
"""Replies to what only the papers' presets ask, by what tells their prompts."""


def reply_to(prompt: str) -> str:
    """Return the scripted reply to a prompt: the SQL or the rephrasing of the turn asked about."""
    for sign, reply in _TO_PAPERS.items():
        if sign in prompt:
            return reply
    turn = max(range(len(TURNS)), key=lambda number: prompt.rfind(TURNS[number][0]))
    question, sql = TURNS[turn]
    if '"intent"' in prompt:
        return json.dumps({"rephrased": question, "simplified": question, "intent": "answerable"})
    return f"```sql\n{sql}\n```"


@contextmanager
def make_sample_db() -> Generator[Path]:
    """Yield the path of a sample database in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield build_sample(Path(folder) / "sample.sqlite")


@contextmanager
def run_slow_server(seconds: float) -> Generator[str]:
    """Run a model server that waits `seconds` before each reply; yield the server's base URL."""
    command = [sys.executable, "-m", __name__, str(seconds)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this module
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _make_server_reply(request: dict[str, Any]) -> Behaviour:
    prompt = "\n".join(message["content"] for message in request["messages"])
    return says(reply_to(prompt), delay=float(sys.argv[1]), usage=(1, 1))


if __name__ == "__main__":
    with OpenAIServer(_make_server_reply, keep_alive=True) as own_server:
        print(own_server.base_url, flush=True)
        threading.Event().wait()
