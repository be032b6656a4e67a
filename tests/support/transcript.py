"""Everything that leaves of a turn: prompts, state, checkpoint, stream, traces, logs, and what tools give to models."""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, HumanMessage
from tableturn.agent import SQLAgent
from tableturn.agent.settings import Settings
from tableturn.tools.database import Database
from tableturn.tools.errors import TableturnError
from tableturn.tools.sandbox import find_sandbox_problem
from tableturn.tools.toolset import as_tools

from tests.corpus import egress

from .scripted import ScriptedModel, rephrased

_OF_THE_RUN = frozenset({"seconds", "started_at", "elapsed", "id", "run_id", "usage", "usage_by_node", "database"})
"""Fields that differ from run to run."""


def _reply(task: str, sql: str, code: str) -> str:
    """Write the SQL, whatever is asked."""
    if task == "rephrase":
        return rephrased("Give me what was asked.")
    if task == "simplify":
        return "Give me what was asked."
    if task == "explain":
        return json.dumps({"meaning": "It shows something.", "differences": "It should show something else."})
    if task.startswith("annotate"):
        return json.dumps({"1": "thing", "2": "other thing"})
    return (f"```python\n{code}\n```\n" if task == "reason" else "") + f"```sql\n{sql}\n```"


class _Traces(BaseCallbackHandler):
    """What a tracer is given."""

    def __init__(self, say: Callable[[str, object], None]) -> None:
        self._say = say

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            say = object.__getattribute__(self, "_say")

            def heard(*given: object, **_: object) -> None:
                say(f"trace {name}", given)

            return heard
        return object.__getattribute__(self, name)


class Transcript:
    """What left, by route, in the order in which it did."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def say(self, route: str, what: object) -> None:
        """Notes what left on a route."""
        self.said.append((route, what if isinstance(what, str) else json.dumps(_plain(what), default=repr)))

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(f"{route}: {text}" for route, text in self.said)


def ask(
    agent: SQLAgent, model: ScriptedModel, question: str, sql: str, settings: Mapping[str, Any], code: str = ""
) -> Transcript:
    """Has a conversation of two turns, with that SQL for both, and a tool asked the same; gives what left."""
    transcript = Transcript()
    model.script = lambda prompt: _reply(prompt.task, sql, code)
    model.prompts.clear()
    heard: list[tuple[str, object]] = []

    def hear(route: str, what: object) -> None:
        heard.append((route, what))

    config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}, "callbacks": [_Traces(hear)]}
    with _logs(transcript):
        for asked in (question, "And the others?"):
            try:
                parts = agent.graph.stream(
                    {"messages": [HumanMessage(asked)]},
                    config,
                    context=Settings.model_validate(settings),
                    stream_mode=["custom", "updates", "values"],
                )
                for mode, part in parts:
                    transcript.say(mode, part)
            except TableturnError as error:
                transcript.say("error", str(error))
        transcript.say("checkpoint", agent.graph.get_state(config).values)
        for route, what in heard:
            transcript.say(route.replace("_error", ""), what)
    for prompt in model.prompts:
        transcript.say(f"prompt {prompt.task}", prompt)
    return transcript


def call_tools(agent: SQLAgent, database: Database, question: str, sql: str, code: str = "") -> Transcript:
    """Calls the tools as another agent's model would; gives their texts and artifacts."""
    transcript = Transcript()
    arguments: dict[str, dict[str, Any]] = {
        "run_sql": {"sql": sql},
        "describe_schema": {},
        "find_values": {"text": f"{question} {sql}"},
        "find_examples": {"question": question},
    }
    if code:
        arguments["run_pandas"] = {"code": code}
    for tool in (agent.as_tool(), *as_tools(database, values=agent.resources.values)):
        given = {"question": question} if tool.name == "ask_database" else arguments.get(tool.name)
        if given is not None:
            message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": given})
            transcript.say(f"tool {tool.name}", message.content)
            transcript.say(f"artifact {tool.name}", repr(_plain(message.artifact)))
    return transcript


def steady(text: str, folder: Path) -> str:
    """A transcript without what differs from run to run: times, identifiers, addresses, places.

    Nor does it have an order: drafts that go side by side say what they do as they are given time.
    """
    text = "\n".join(sorted(text.split("\n")))
    text = text.replace(str(folder), "")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|datetime\.datetime\([^)]*\)", "", text)
    text = re.sub(r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27,}|\b[0-9a-f]{32}\b", "", text)
    return re.sub(r"(seconds|elapsed|started_at|counted_at)(['\"]?[:=] ?)[\d.e-]+", r"\1", text)


def _plain(what: object) -> object:
    if isinstance(what, Mapping):
        fields = cast("Mapping[object, object]", what)
        return {str(key): _plain(value) for key, value in fields.items() if str(key) not in _OF_THE_RUN}
    if isinstance(what, list | tuple):
        return [_plain(part) for part in cast("list[object]", what)]
    if isinstance(what, BaseMessage):
        artifact = getattr(what, "artifact", None)
        return [what.type, what.content, _plain(what.additional_kwargs), _plain(artifact)]
    return what if isinstance(what, str | int | float | None) else repr(what)


@contextmanager
def _logs(transcript: Transcript) -> Generator[None]:
    """Notes everything that is logged."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name.startswith("tableturn"):
                transcript.say("log", record.getMessage())

    handler, root = Handler(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def take_turns(
    source: Path | str, turns: Sequence[tuple[str, str, dict[str, object]]], **rules: Any
) -> Iterator[Transcript]:
    """Yield what leaves of turns of the egress corpus, of the tools, and of its questions without a model.

    Args:
        source: The database.
        turns: A question, the SQL that is written for it, and the settings.
        rules: What is hidden, and what may not leave.
    """
    model = ScriptedModel(script=lambda prompt: "", usage=None)
    with (
        Database.open(source, **rules) as database,
        SQLAgent(database, model=model) as agent,
        SQLAgent(database, model="offline") as offline,
    ):
        for question, sql, settings in turns:
            known = re.findall(egress.CANARY, f"{question} {sql}")
            transcript = ask(agent, model, question, sql, settings)
            tools = call_tools(agent, database, question, sql)
            yield _without(transcript, known)
            yield _without(tools, known)
        for question in egress.QUESTIONS[: len(turns)]:
            yield ask(offline, model, question, "", {})
        if not find_sandbox_problem():
            for settings in egress.REASONED:
                yield ask(agent, model, egress.QUESTIONS[0], egress.STATEMENTS[0], settings, egress.CODE)
            yield call_tools(agent, database, egress.QUESTIONS[0], egress.STATEMENTS[0], egress.CODE)


def _without(transcript: Transcript, known: list[str]) -> Transcript:
    """The transcript without what the model, or the person, wrote itself."""
    for value in known:
        transcript.said = [(route, text.replace(value, "")) for route, text in transcript.said]
    return transcript
