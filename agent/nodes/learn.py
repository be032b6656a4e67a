"""Commands as chat messages: /approve, /correct, /note, /accept, /forget."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END

from ...tools.errors import TableturnError
from ..answers.answer import Answer
from ..answers.commands import ConversationAnswers, is_slash_command, offer_approval, teach
from ..effects import Body, do
from ..records import AnswerRecord
from ..resources import Run
from ..state import AgentState, Update, dump, load
from ..verbs import CorrectionTurn


def get_slash_command(state: AgentState) -> str:
    """Return the last message if it is a command; '' if it is a question."""
    messages: list[AnyMessage] = state.get("messages", [])
    line = messages[-1].text.strip() if messages and isinstance(messages[-1], HumanMessage) else ""
    return line if is_slash_command(line) else ""


def run_slash_command(state: AgentState, run: Run) -> Body[Update]:
    """Run a slash command on the last answer, and reply with a message.

    After a correction in words the question is asked again at once.
    """
    return (yield from do(lambda: _run_command_on_answer(state, run)))


def _run_command_on_answer(state: AgentState, run: Run) -> Update:
    fields = state.get("answer")
    record = load(AnswerRecord, fields) if fields else None
    answers = ConversationAnswers(run.resources, lessons=state.get("lessons", {}), cancellation=run.cancellation)
    if record and run.resources.may_read(record.rights):
        answers.take(Answer(record, run.thread), wording=state.get("wordings", {}).get(record.question, ""))
    before = len(answers.history)
    try:
        said = teach(answers, get_slash_command(state))
    except TableturnError as error:
        said = answers.labels.say_error(error)
    if isinstance(said, CorrectionTurn):
        reply = AIMessage(f"Asked again. {offer_approval(said.wording)}")
        turn: Update = {"question": said.question, "evidence": said.notes, "wordings": {said.question: said.wording}}
        return {"messages": [reply], "next": "rephrase", **turn}
    answer = fields if len(answers.history) == before else dump(answers.history[-1].answer.record)
    return {"messages": [AIMessage(said)], "answer": answer, "lessons": answers.lessons, "next": END}
