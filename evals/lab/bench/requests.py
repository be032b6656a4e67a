"""What a row says to its model: its requests over ten questions to the sample database, answered by a stand-in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from ....agent import SQLAgent
from ....agent.effects import TASK
from ....tools.folders import CACHE_VARIABLE
from ....tools.sample import build_sample
from ...datasets import Dataset
from ...experiments.experiment import Experiment, Row
from ...runner.run import run_settings
from ...runner.spec import RunSpec

CONVERSATIONS = (
    (
        "How many customers are there?",
        "Show their names and cities",
        "Only those in France",
        "What is the average price of the products?",
        "Which product is the most expensive?",
    ),
    (
        "Show all information about the stores",
        "Which of them has the most orders?",
        "List the names of all products in alphabetical order",
        "How many orders does each customer have?",
        "Just those with more than two",
    ),
)
"""Ten questions, whose later ones lean on the earlier ones."""

_DIALOGUES = frozenset(["sparc", "cosql"])

_DRAFT = "SELECT name FROM products WHERE price > 10 ORDER BY price DESC LIMIT 3"
_BETTER = "SELECT count(*) FROM customers WHERE country_code = 'FR'"
"""What the stand-in writes first, and as a revision: a draft whose result changes once, so that a loop goes round."""

_RESTLESS = CONVERSATIONS[0][1]
"""The question to which every revision is another one: loops end at their cap."""


@dataclass(frozen=True)
class Request:
    """One request of a turn.

    Attributes:
        task: As its metadata names it: `generate`, `revise`, `explain` ...
        temperature: That it was made with.
        system: What the system is told.
        user: What the user says.
    """

    task: str
    temperature: float
    system: str
    user: str


Turns = tuple[tuple[Request, ...], ...]
"""The requests of each question, in order."""


def reply_to_task(task: str, prompt: str, revisions: int) -> str:
    """What the stand-in says: the same to every row, whatever the prompt shows.

    Args:
        task: See `Request`.
        prompt: Its text.
        revisions: How many revisions the turn has asked for, this one included.
    """
    written = _DRAFT if task != "revise" else f"SELECT {revisions}" if _RESTLESS in prompt else _BETTER
    sql = f"```sql\n{written}\n```"
    if task == "rephrase":
        question = re.findall(r"^Question: (.*)$", prompt, re.MULTILINE)
        asked = question[-1] if question else "what was asked for"
        if '"intent"' in prompt:
            return json.dumps({"intent": "answerable", "rephrased": f"Give me: {asked}", "simplified": asked})
        return f"Rephrased: Give me the answer to: {asked}"
    if task == "simplify":
        return "Tell me how many things of that kind there are for each group"
    if task == "explain":
        return json.dumps({"meaning": "It counts customers.", "differences": ""})
    if task.startswith("annotate"):
        return json.dumps({str(number): "store with the most orders, its price" for number in range(1, 60, 2)})
    if task == "reason":
        return f'```python\nresult = db_dict["customers"][["customer_id"]].head(2)\n```\n{sql}'
    return sql


class Recorder(BaseChatModel):
    """A chat model that keeps what it is asked and replies as `reply_to_task` says."""

    temperature: float = 0.0
    kept: list[Request]

    @property
    def _llm_type(self) -> str:
        return "recorder"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        task = str(((run_manager.metadata if run_manager else None) or {}).get(TASK, ""))
        system = "\n".join(message.text for message in messages if message.type == "system")
        user = "\n".join(message.text for message in messages if message.type != "system")
        self.kept.append(Request(task, self.temperature, system, user))
        reply = reply_to_task(task, user, sum(one.task == "revise" for one in self.kept))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])


def requests_of(row: Row, experiment: Experiment) -> Turns:
    """The row's requests to the questions of `CONVERSATIONS`; the same settings are rendered once.

    Where its dataset has single questions, each is asked by itself.

    Descriptions of the schema are not among them: they are made once, before all questions.
    """
    spec = RunSpec("sample", preset=row.preset, settings=row.settings, baseline=row.baseline)
    dialogues = (row.dataset or experiment.dataset) in _DIALOGUES
    return _requests(run_settings(spec, Dataset("sample", "all", (), ())).model_dump_json(), dialogues)


@lru_cache(maxsize=256)
def _requests(settings: str, dialogues: bool) -> Turns:
    fields = json.loads(settings)
    asked = CONVERSATIONS if dialogues else tuple((question,) for turns in CONVERSATIONS for question in turns)
    turns: list[tuple[Request, ...]] = []
    with _sample() as path:
        model = Recorder(kept=[])
        with SQLAgent(path, model=model, settings=fields) as agent:
            for questions in asked:
                chat = agent.conversation()
                for question in questions:
                    model.kept.clear()
                    chat.ask(question)
                    turns.append(tuple(one for one in model.kept if not one.task.startswith("annotate")))
    return tuple(turns)


@contextmanager
def _sample() -> Generator[Path]:
    """Yield a sample database, with a cache of its own: the stand-in's comments must never become a person's."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, {CACHE_VARIABLE: folder}):
        path = Path(folder) / "kestrel.sqlite"
        build_sample(path)
        yield path
