"""What a person teaches by a message, where the graph takes commands: /approve, /correct, /note, /accept, /forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ...tools.errors import TableturnError
from ..effects import Body, do
from ..records import AnswerRecord, dump, load
from ..resources import Run
from ..state import AgentState


def command_of(state: AgentState) -> str:
    """The command that the last message of a person is; empty where it is a question."""
    from ..cli.chat.lines import is_command

    messages: list[AnyMessage] = state.get("messages", [])
    line = messages[-1].text.strip() if messages and isinstance(messages[-1], HumanMessage) else ""
    return line if is_command(line) else ""


def learn(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Does what the command says, as the terminal does, for the conversation's last answer; replies as a message."""
    said, answer = yield from do(lambda: _done(command_of(state), state.get("answer"), run))
    return {"messages": [AIMessage(said)], "answer": answer}


def _done(line: str, kept: dict[str, Any] | None, run: Run) -> tuple[str, dict[str, Any] | None]:
    from ..answers.answer import Answer
    from ..cli.chat.chat import Chat
    from ..cli.chat.commands import taught
    from ..sqlagent import SQLAgent

    class OnServer(SQLAgent):
        """Gives no rows that may not leave: a server's state keeps what it is given."""

        def deliver(self, answer: Answer, *, settings: object = None) -> Answer:
            del settings
            return answer

    record = load(AnswerRecord, kept) if kept else None
    last = Answer(record, run.thread) if record and run.resources.may_read(record.rights) else None
    agent = OnServer.over(run.resources)
    chat = Chat(agent, agent.conversation(run.thread))
    if last is not None:
        chat.take(last)
    try:
        said = taught(chat, line)
    except TableturnError as error:
        return str(error), kept
    if not chat.held or chat.held[-1].answer is last:
        return said, kept
    # What a correction teaches goes with its answer: the next command, /accept, has that alone.
    return said, dump(replace(chat.held[-1].answer.record, proposals=chat.offered))
