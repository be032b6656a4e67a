"""What a row of an experiment says to its model, and whether it differs from its base only in what it names.

A row's requests are those over ten questions to the sample database, answered by a stand-in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from tableturn.agent import SQLAgent
from tableturn.evals.datasets import Dataset
from tableturn.evals.experiments.measure import Experiment, ExperimentRow, read_experiment
from tableturn.evals.runner.record import RunSpec
from tableturn.evals.runner.run import make_run_settings
from tableturn.tools.folders import CACHE_VARIABLE
from tableturn.tools.sample import build_sample

from tests.support.scripted import ScriptedModel, ScriptedPrompt

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


class _Recorder(ScriptedModel):
    temperature: float = 0.0


def requests_of(row: ExperimentRow, experiment: Experiment) -> Turns:
    """Return the row's requests to the questions of `CONVERSATIONS`; the same settings are rendered once.

    If its dataset has single questions, each is asked by itself.

    Descriptions of the schema are not among them: they are made once, before all questions.
    """
    spec = RunSpec("sample", preset=row.preset, settings=row.settings, baseline=row.baseline)
    dialogues = (row.dataset or experiment.dataset) in _DIALOGUES
    return _requests(make_run_settings(spec, Dataset("sample", "all", (), ())).model_dump_json(), dialogues)


@lru_cache(maxsize=256)
def _requests(settings: str, dialogues: bool) -> Turns:
    asked = CONVERSATIONS if dialogues else tuple((question,) for turns in CONVERSATIONS for question in turns)
    turns: list[tuple[Request, ...]] = []
    kept: list[Request] = []

    def reply(prompt: ScriptedPrompt) -> str:
        system, user = (
            "\n".join(message.text for message in prompt.messages if (message.type == "system") is wanted)
            for wanted in (True, False)
        )
        kept.append(Request(prompt.task, prompt.temperature, system, user))
        return reply_to_task(prompt.task, user, sum(one.task == "revise" for one in kept))

    # A cache of its own: the stand-in's comments must never become a person's.
    with TemporaryDirectory() as folder, patch.dict(os.environ, {CACHE_VARIABLE: folder}):
        path = build_sample(Path(folder) / "kestrel.sqlite")
        with SQLAgent(path, model=_Recorder(script=reply), settings=json.loads(settings)) as agent:
            for questions in asked:
                chat = agent.conversation()
                for question in questions:
                    kept.clear()
                    chat.ask(question)
                    turns.append(tuple(one for one in kept if not one.task.startswith("annotate")))
    return tuple(turns)


_BLOCK = re.compile(r"^<([a-z-]+)>\n(.*?)\n?^</\1>", re.MULTILINE | re.DOTALL)
_SQL_LINE = re.compile(r"^SQL: .*$", re.MULTILINE)
_EXAMPLES = frozenset(["example", "examples", "approved"])
_DRAFTING = frozenset(["generate", "reason", "sql_from_code"])
"""Tasks that rows ask instead of each other for a first query: temperature and the blocks of both are compared too."""


def find_misnamed(names: Iterable[str]) -> dict[str, str]:
    """Return why rows of experiments do not do what they say, by experiment and row."""
    experiments = {name: read_experiment(name) for name in names}
    rows = ((name, experiment, row) for name, experiment in experiments.items() for row in experiment.rows)
    return {f"{name}: {row.name}": why for name, experiment, row in rows if (why := as_named(row, experiment))}


def count_compared(names: Iterable[str]) -> int:
    """Return how many rows of experiments have a base whose requests theirs are compared with."""
    rows = (row for name in names for row in read_experiment(name).rows)
    return sum(row.combine is None and row.base is not None and row.changes != ("program",) for row in rows)


def as_named(row: ExperimentRow, experiment: Experiment) -> str:
    """Why a row does not do what it says; empty where it does.

    A method itself changes nothing but its dataset. Another program that answers (a baseline with a module of its own)
    says nothing that could be compared: it declares `program` alone.
    """
    if row.combine is not None:
        of = next(one for one in experiment.rows if one.name == row.combine.of)
        wrong = bool(row.settings) or row.combine.first > of.seeds
        return f"{of.name} has only {of.seeds} runs, or the row has settings" if wrong else ""
    if row.base is None:
        return "it has settings and names no base" if row.settings or row.changes else ""
    if row.changes == ("program",):
        return "" if row.baseline else "no other program answers"
    base = next(one for one in experiment.rows if one.name == row.base)
    found, said = differences(requests_of(base, experiment), requests_of(row, experiment)), frozenset(row.changes)
    undeclared, missing = sorted(found - said), sorted(said - found)
    parts = [f"also changes {', '.join(undeclared)}"] if undeclared else []
    return "; ".join(parts + ([f"does not change {', '.join(missing)}"] if missing else []))


def differences(base: Turns, row: Turns) -> frozenset[str]:
    """What differs between the requests of two rows.

    Returns:
        Words of these: `request TASK` (asked by one of the two alone), `temperature`, `system` (what the system is
        told), `text` (what is said around the blocks), the name of a block (`schema`, `base-sql`, `result` ...), and of
        demonstrations `example number`, `example choice`, or `example SQL` where the same ones are written otherwise.
    """
    return frozenset(word for before, after in zip(base, row, strict=True) for word in _of_turn(before, after))


def _of_turn(base: Sequence[Request], row: Sequence[Request]) -> Iterator[str]:
    for task in {request.task for request in (*base, *row)}:
        ours, theirs = ([one for one in requests if one.task == task] for requests in (row, base))
        for one, other in zip_longest(ours, theirs):
            if one is None or other is None:
                yield f"request {task}"
            else:
                yield from _of_request(other, one)
    tasks, base_tasks = ({one.task for one in requests} & _DRAFTING for requests in (row, base))
    for one, other in product(row, base):
        alone = (one.task in tasks - base_tasks, other.task in base_tasks - tasks)
        if any(alone) and {one.task, other.task} <= _DRAFTING:
            if other.temperature != one.temperature:
                yield "temperature"
            yield from _of_shared(_blocks(other.user), _blocks(one.user))


def _of_shared(before: dict[str, list[str]], after: dict[str, list[str]]) -> Iterator[str]:
    """What differs in the blocks that two requests both have."""
    for name in before.keys() & after.keys() - _EXAMPLES:
        if before[name] != after[name]:
            yield name
    demonstrations = [_demonstrations(blocks) for blocks in (before, after)]
    if all(demonstrations):
        yield from _of_examples(*demonstrations)


def _of_request(base: Request, row: Request) -> Iterator[str]:
    if base.temperature != row.temperature:
        yield "temperature"
    if base.system != row.system:
        yield "system"
    before, after = _blocks(base.user), _blocks(row.user)
    if _around(base.user) != _around(row.user):
        yield "text"
    for name in {*before, *after} - _EXAMPLES:
        if before.get(name) != after.get(name):
            yield name
    yield from _of_examples(*(_demonstrations(blocks) for blocks in (before, after)))


def _blocks(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for match in _BLOCK.finditer(text):
        found.setdefault(match[1], []).append(match[2])
    return found


def _around(text: str) -> list[str]:
    """The lines outside blocks, but for the headings of those that are not there."""
    return [line for line in _BLOCK.sub("", text).splitlines() if line.strip()]


def _demonstrations(blocks: dict[str, list[str]]) -> list[str]:
    """The examples that are shown: a block each, question and SQL on two lines, or the SQL alone on one."""
    shown = list(blocks.get("example", ()))
    for text in blocks.get("examples", ()):
        lines = text.splitlines()
        step = 2 if any(line.startswith("SQL: ") for line in lines) else 1
        shown += ["\n".join(lines[start : start + step]) for start in range(0, len(lines), step)]
    return shown


def _of_examples(before: list[str], after: list[str]) -> Iterator[str]:
    if len(before) != len(after):
        yield "example number"
    elif before != after:
        same = [_SQL_LINE.sub("", one) for one in before] == [_SQL_LINE.sub("", one) for one in after]
        yield "example SQL" if same else "example choice"
