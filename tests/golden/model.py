"""What the golden transcripts' chat model replies, by task and turn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tests.support.scripted import ScriptedModel, ScriptedPrompt

from .scripts import Turn

_CHOICES = "1. by number of visits\n2. by revenue"


class GoldenModel(ScriptedModel):
    """A model of this name, which stands in the answers."""


class GoldenScript:
    """Replies by the request's task and the turn that is set, whichever requests came before."""

    def __init__(self, preset: str) -> None:
        self.turn = Turn()
        self.model = GoldenModel(script=self._reply, usage=(100, 10))
        self._preset = preset

    def _reply(self, asked: ScriptedPrompt) -> str:
        before = [one for one in self.model.prompts if one is not asked]
        again = any((one.task, one.number) == (asked.task, asked.number) for one in before)
        return reply(asked, again, self.turn, self._preset)

    def take_requests(self) -> Sequence[ScriptedPrompt]:
        """Return the requests since the last call; drafts that go side by side come in the order of their numbers."""
        taken = list(self.model.prompts)
        self.model.prompts.clear()
        return sorted(taken, key=lambda asked: asked.number) if any(asked.number > 0 for asked in taken) else taken


def reply(asked: ScriptedPrompt, again: bool, turn: Turn, preset: str) -> str:
    """Return the reply to a request of a turn; `again` where its task was asked for before.

    Raises:
        ConnectionError: The turn has no model to talk to.
    """
    question = turn.means or str(turn.says)
    if turn.form == "down":
        raise ConnectionError("the line is dead")
    match asked.task:
        case "rephrase":
            return _rephrased(question, turn, preset)
        case "simplify":
            return f"In short: {question}"
        case "explain":
            return json.dumps(
                {"meaning": f"It answers: {question}", "differences": turn.then and "Not quite the same."}
            )
        case "annotate_columns" | "annotate_tables":
            return json.dumps(
                {str(number): f"{asked.task.partition('_')[2]} number {number}" for number in range(1, 80)}
            )
        case "revise":
            return f"Something is wrong.\n{_block(turn.then or turn.sql)}"
        case "reason":
            return _declined(turn) or f"{_code(turn)}\n{_block(_draft(asked, turn))}"
        case "generate" if (declined := _declined(turn)) and not (again and turn.form == "mended"):
            return declined
        case "generate" if preset == "credit":
            return f"SQL: {_draft(asked, turn)}"
        case "generate":
            return _written(_draft(asked, turn), turn)
        case "merge" | "sql_from_code":
            return _block(turn.sql)
        case other:
            raise AssertionError(f"no reply to the task {other!r}")


def _draft(asked: ScriptedPrompt, turn: Turn) -> str:
    """The draft that a request is for."""
    drafts = (turn.sql, *turn.drafts)
    return drafts[asked.number] if 0 <= asked.number < len(drafts) else turn.sql


def _declined(turn: Turn) -> str:
    """A reply without a query; none where the turn has one."""
    return {
        "ask": f"Ask back: What do you mean by that?\n{_CHOICES}",
        "cannot": "Cannot answer: The database says nothing of it.",
        "small": "Small talk: You are welcome.",
        "prose": "I'm afraid that this is hard to say without a closer look.",
        "empty": " ",
        "mended": "Let me think about it first.",
    }.get(turn.form, "")


def _written(sql: str, turn: Turn) -> str:
    meant = f"Question: {turn.means}\n" if turn.means else ""
    if turn.form == "json":
        return json.dumps({"sql": sql, "confidence": 0.9})
    if turn.form == "bare":
        return f"{sql};"
    if turn.form == "two":
        return f"{_block(sql)}\nAlternatively:\n{_block('SELECT 1')}"
    sure = "Sure: 45, the wording leaves open what is meant" if turn.form == "unsure" else "Sure: 92"
    return f"{meant}{_block(sql)}\n{sure}"


def _rephrased(question: str, turn: Turn, preset: str) -> str:
    intent = {"ask": "ambiguous", "cannot": "unanswerable", "small": "small_talk"}.get(turn.form, "answerable")
    if preset == "credit":
        return f"Rephrased: Give me the answer to: {question}"
    words = {
        "ambiguous": "What do you mean by that?",
        "unanswerable": "It says nothing of it.",
        "small_talk": "Welcome.",
    }
    choices = re.findall(r"\d\. (.*)", _CHOICES) if intent == "ambiguous" else []
    return json.dumps(
        {
            "rephrased": f"Give me the answer to: {question}",
            "simplified": f"In short: {question}",
            "intent": intent,
            "reply": words.get(intent, ""),
            "choices": choices,
        }
    )


def _code(turn: Turn) -> str:
    table = re.search(r'FROM (?:"([^"]+)"|`([^`]+)`|(\w+))', turn.sql)
    name = next(filter(None, table.groups()), "") if table else ""
    return f"```python\n{turn.code or f'result = db_dict[{name!r}].head(2)'}\n```"


def _block(sql: str) -> str:
    return f"```sql\n{sql}\n```"
