"""What a person teaches by a message, where the graph takes commands: /approve, /correct, /note, /accept, /forget."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ...tools.errors import TableturnError
from ..answers.answer import Answer
from ..answers.commands import Answers, is_command, teach
from ..effects import Body, do
from ..records import AnswerRecord
from ..resources import Run
from ..state import AgentState, Update, dump, load


def command_of(state: AgentState) -> str:
    """Return the command that the last message of a person is; empty where it is a question."""
    messages: list[AnyMessage] = state.get("messages", [])
    line = messages[-1].text.strip() if messages and isinstance(messages[-1], HumanMessage) else ""
    return line if is_command(line) else ""


def learn(state: AgentState, run: Run) -> Body[Update]:
    """Do what the command says, as the terminal does, for the conversation's last answer; reply as a message."""
    said, answer = yield from do(lambda: _done(command_of(state), state.get("answer"), run))
    return {"messages": [AIMessage(said)], "answer": answer}


def _done(line: str, kept: Update | None, run: Run) -> tuple[str, Update | None]:
    record = load(AnswerRecord, kept) if kept else None
    answers = Answers(run.resources)
    if record and run.resources.may_read(record.rights):
        answers.take(Answer(record, run.thread))
    before = len(answers.held)
    try:
        said = teach(answers, line)
    except TableturnError as error:
        return str(error), kept
    if len(answers.held) == before:
        return said, kept
    return said, dump(answers.held[-1].answer.record)
