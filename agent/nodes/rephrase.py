"""Starts a turn: resets what belongs to the last one and makes the question self-contained."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from ...prompts.rephrase import RephraseTask
from ...prompts.replies import Rephrasing
from ...prompts.simplify import SimplifyTask
from ...tools.errors import ModelError, NotUnderstood, ReplyError, TableturnError
from ...tools.examples import seed_dialogues
from ..annotating import annotate
from ..effects import Body, ask, do
from ..material import overview
from ..memory import window
from ..records import Outcome, dump
from ..resources import Run
from ..state import AgentState, fresh_turn


def rephrase(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """CREDIT-SQL 3.1 and revision chain 3.1.1; also labels the turn's intent and decides whether to ask back."""
    update, clarification, asked_back = _begin(state)
    question: str = update["question"]
    history = window(state, run.settings)
    notes: list[str] = list(update["notes"])
    if run.settings.annotate:
        notes += yield from annotate(run)
    try:
        if run.settings.rephrase == "always":
            schema, ranked = yield from overview(question, history, run)
            credit = run.settings.prompt_style == "credit"
            dialogues = (yield from do(seed_dialogues)) if credit else ()
            task = RephraseTask(
                question=question,
                history=history,
                schema=schema,
                clarification=clarification,
                simplify=run.settings.simplify,
                style="credit" if credit else "full",
                dialogues=dialogues,
                ranked=ranked,
            )
            done = yield from ask(task)
            rephrasing, told = done.reply, done.notes
        elif run.settings.simplify:
            simplified = yield from ask(SimplifyTask(question))
            rephrasing, told = Rephrasing(question, simplified.reply, self_contained=not history), simplified.notes
        else:
            rephrasing, told = Rephrasing(question, question, self_contained=not history), ()
        notes += told
    except ReplyError as error:
        rephrasing = Rephrasing(question, question, self_contained=not history)
        notes.append(f"the question was used as asked: {error}")
    except ModelError as error:
        return update | _ends(Rephrasing(question, question), Outcome("failed", str(error)), notes)
    except NotUnderstood as error:
        return update | _ends(Rephrasing(question, question), Outcome("failed", str(error)), notes)
    if run.settings.clarify:
        if rephrasing.intent == "ambiguous" and asked_back < run.settings.max_clarifications:
            return update | {"rephrasing": dump(rephrasing), "notes": notes, "next": "clarify"}
        if rephrasing.intent == "unanswerable":
            reason = rephrasing.reply or "This database does not hold what the question asks for."
            return update | _ends(rephrasing, Outcome("unanswerable", reason), notes)
        if rephrasing.intent == "small_talk":
            reply = rephrasing.reply or "Ask me something about this database."
            return update | _ends(rephrasing, Outcome("unanswerable", reply), notes)
    return update | {"rephrasing": dump(rephrasing), "notes": notes, "next": "link"}


def _begin(state: AgentState) -> tuple[dict[str, Any], tuple[str, str] | None, int]:
    """The reset turn, the clarification that it continues with, and how often it has asked back."""
    pending = state.get("clarification")
    if pending:
        update = {"clarification": None, "question": state["question"], "notes": state.get("notes", [])}
        return update, (pending[0], pending[1]), state.get("clarifications", 0)
    question, message = _question(state)
    update = fresh_turn(question)
    if message is not None:
        update["messages"] = [message]
    return update, None, 0


def _question(state: AgentState) -> tuple[str, HumanMessage | None]:
    """The turn's question, and the chat message to add where it came bare.

    Raises:
        TableturnError: There is no question.
    """
    messages: list[AnyMessage] = state.get("messages", [])
    if messages and isinstance(messages[-1], HumanMessage):
        question, message = _plain(messages[-1].text), None
    else:
        question = _plain(state.get("question") or "")
        message = HumanMessage(question)
    if not question:
        raise TableturnError("there is no question: send a message from a person, or set `question`, with some text")
    return question, message


def _plain(text: str) -> str:
    """The text without what cannot be written: half a character becomes `?`."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def _ends(rephrasing: Rephrasing, outcome: Outcome, notes: list[str]) -> dict[str, Any]:
    return {"rephrasing": dump(rephrasing), "outcome": dump(outcome), "notes": notes, "next": "respond"}
