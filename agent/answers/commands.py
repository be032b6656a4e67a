"""Slash commands about answers, as text: approve, correct, define, explain.

The terminal's chat has them among its own; where the graph takes commands, messages in Studio are these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...tools.database import Cancellation
from ...tools.errors import ExampleRefused, SettingsError
from ...tools.knowledge import Entry
from ...tools.labels import Labels, choose_locale
from .. import verbs
from ..records import Status
from ..resources import Resources
from .answer import Answer
from .render import AnswerBackground

_QUESTION_LENGTH = 100  # characters of a question in a list


@dataclass(frozen=True)
class NumberedAnswer:
    """An answer of a conversation, with the question and the background."""

    answer: Answer
    words: str = ""  # those that it answers; empty where it was not a turn that gave it
    why: AnswerBackground | None = None  # what it rests on; None where that is not known
    wording: str = ""  # the question that it is saved for, or corrects the answer to; empty if it answers its own


@dataclass
class ConversationAnswers:
    """The answers of a conversation, numbered from 1."""

    resources: Resources  # of whoever asks
    history: list[NumberedAnswer] = field(default_factory=list[NumberedAnswer])  # in order; the first is number 1
    lessons: dict[str, str] = field(default_factory=dict[str, str])  # ids of lessons, by number in the list shown last
    cancellation: Cancellation | None = None  # ends the queries of a command; None where nobody can

    @property
    def labels(self) -> Labels:
        """The labels in the language of the last answer; before the first, in that of the machine."""
        if self.history:
            return self.history[-1].answer.labels
        return Labels(choose_locale("", self.resources.settings.locale))

    def take(self, answer: Answer, words: str = "", why: AnswerBackground | None = None, wording: str = "") -> Answer:
        """Store an answer under the next number; return the answer to show to the person."""
        self.history.append(NumberedAnswer(answer, words, why, wording))
        return answer

    def correct(self, item: NumberedAnswer, right: Answer) -> Answer:
        """Store the right answer under the next number, and in place of the wrong one."""
        right = self.take(right, wording=item.wording)
        self.update(item, answer=right, why=None)
        return right

    def update(self, item: NumberedAnswer, **fields: Any) -> None:
        """Change fields of an answer under its number."""
        self.history = [replace(each, **fields) if each is item else each for each in self.history]

    def choose_wording(self, item: NumberedAnswer) -> str:
        """Return the question to save an answer under; empty for the answer's own question."""
        return item.wording

    def choose(self, arguments: str, what: str) -> tuple[NumberedAnswer, str]:
        """Return the answer with the number in a command (default: the last), and the other words."""
        if not self.history:
            raise SettingsError(f"there is no answer to {what} yet")
        first, _, words = arguments.partition(" ")
        if not first.isdecimal():
            return self.history[-1], arguments
        if not 1 <= int(first) <= len(self.history):
            raise SettingsError(f"there is no answer {first}: /answers lists them")
        return self.history[int(first) - 1], words

    def choose_lesson(self, which: str) -> str:
        """Return the id of a lesson given by its number in the latest list, or the text as it is."""
        if re.fullmatch(r"\d{1,7}", which) and which not in self.lessons:
            raise SettingsError(f"there is no number {which} in the list: /lessons shows the numbers")
        return self.lessons.get(which, which)


def is_slash_command(line: str) -> bool:
    """Whether a line is a slash command: a slash and a word, unlike a comment in SQL."""
    return line[:1] == "/" and line[1:2].isalpha()


def teach(answers: ConversationAnswers, line: str) -> str | verbs.CorrectionTurn:
    """Run a slash command on the answers, and return the reply."""
    name, _, arguments = line.partition(" ")
    if name == "/correct":
        return correct_answer(answers, arguments.strip())
    if name not in RUN:
        raise SettingsError(f"there is no command {name} here: {', '.join(RUN)}, /correct")
    return RUN[name](answers, arguments.strip())


def _approve_answer(answers: ConversationAnswers, args: str, *, shared: bool = False) -> str:
    item, words = answers.choose(args, "approve")
    question = words or answers.choose_wording(item)
    if item.answer.answered and item.answer.record.follow_up and not question:
        raise ExampleRefused(_explain_unsaved(item.answer))
    saved = verbs.approve(item.answer, answers.resources, question=question, shared=shared)
    answers.update(item, wording=question or item.wording)  # a correction of it takes the same
    return _format_saved(answers, saved)


def correct_answer(answers: ConversationAnswers, args: str) -> str | verbs.CorrectionTurn:
    """Save the right query, and return the reply; return the turn to take for a correction in words."""
    item, words = answers.choose(args, "correct")
    if not words.strip():
        raise SettingsError("say what is wrong after /correct, or write the right query there")
    if not (sql := verbs.find_right_query(words, answers.resources)):
        turn = verbs.word_correction(item.answer, words, answers.resources)
        return replace(turn, wording=item.wording or turn.wording)
    question = answers.choose_wording(item)
    if item.answer.record.follow_up and not question:
        # It is shown and can be approved, under words that the person has seen.
        right = answers.correct(item, verbs.rerun(item.answer, sql, answers.resources))
        return f"{right.text}\n{answers.labels.translate(_explain_unsaved(right))}"
    correction = verbs.correct(item.answer, sql, answers.resources, question=question)
    right = answers.correct(item, correction.answer)
    offers = [f"  {number}. {entry.line}" for number, entry in enumerate(correction.proposals, 1)]
    offers = ["save one of these with /accept N:", *offers] if offers else []
    return "\n".join([right.text, _format_saved(answers, correction.saved), *offers])


def _explain_unsaved(answer: Answer) -> str:
    advice = f"/approve {answer.rephrased} saves it, under these words or better ones"
    return f"not saved yet: {answer.question!r} follows earlier questions: {advice}"


def offer_approval(wording: str) -> str:
    """Return a text that offers to save a corrected answer for `wording`."""
    return f"Is this right? /approve saves it as the answer to: {wording}"


def _accept_suggestion(answers: ConversationAnswers, number: str) -> str:
    entries = next(filter(None, (item.answer.proposals for item in reversed(answers.history))), ())
    if not number.isdecimal() or not 1 <= int(number) <= len(entries):
        raise SettingsError(f"there is no suggestion {number or 'to accept'}: correct a query to get suggestions")
    save = partial(verbs.save_knowledge_entry, entries[int(number) - 1])
    return save_and_describe_entry(save, answers.resources, answers.cancellation)


def get_answer_sql(answer: Answer, what: str) -> str:
    """Return an answer's query; raise `SettingsError` if there is none to do something with."""
    if answer.sql is None:
        raise SettingsError(f"that answer has no SQL to {what}")
    return answer.sql


def _explain_answer(answers: ConversationAnswers, args: str) -> str:
    answer = answers.choose(args, "explain")[0].answer
    if meaning := verbs.explain(get_answer_sql(answer, "explain"), answers.resources):
        return meaning
    raise SettingsError("that query cannot be explained in words")


_OUTCOMES: dict[Status, str] = {
    "converged": "answered",
    "capped": "answered",
    "needs_clarification": "waiting for your reply",
    "unanswerable": "no answer",
    "failed": "failed",
}


def _list_answers(answers: ConversationAnswers, args: str) -> str:
    lines = [
        f"{number:>3}  {' '.join(item.answer.rephrased.split())[:_QUESTION_LENGTH]}  ({_OUTCOMES[item.answer.status]})"
        for number, item in enumerate(answers.history, 1)
    ]
    return "\n".join(["answers:", *lines]) if lines else "no answers yet"


def _list_lessons(answers: ConversationAnswers, args: str) -> str:
    lessons = {str(number): lesson for number, lesson in enumerate(verbs.list_lessons(answers.resources), 1)}
    answers.lessons = {number: lesson.id for number, lesson in lessons.items()}
    lines = [f"{number}. {lesson.lines}" for number, lesson in lessons.items()]
    return "\n".join(lines) or "nothing is saved yet: /approve saves an answer, /note a definition"


def _edit_lesson(answers: ConversationAnswers, args: str) -> str:
    from ...tools.knowledge.notes import strip_leading_verb  # few turns edit one

    names = [lesson.name for lesson in verbs.list_lessons(answers.resources)]
    matches = [name for name in names if args.lower().startswith(f"{name.lower()} ")]
    which = max(matches, key=len, default=args.partition(" ")[0])
    id_ = which if matches else answers.choose_lesson(which)
    text = strip_leading_verb(args[len(which) :].strip())
    new = verbs.edit_lesson(id_, text, answers.resources, answers.cancellation)
    answers.lessons = {number: new if lesson_id == id_ else lesson_id for number, lesson_id in answers.lessons.items()}
    return f"changed {which}: /lessons shows it"


def _forget_lesson(answers: ConversationAnswers, which: str) -> str:
    if not which:
        raise SettingsError("say what to forget, by its name or its number in /lessons")
    forgotten = verbs.forget(answers.choose_lesson(which), answers.resources)
    answers.lessons.pop(which, None)
    return f"forgot {forgotten}"


def save_and_describe_entry(
    save: Callable[[Resources, Cancellation | None], Entry],
    resources: Resources,
    cancellation: Cancellation | None = None,
) -> str:
    """Save a definition or rule; return where, and what it replaces."""
    knowledge = resources.knowledge.read()
    earlier = {entry.key.lower(): entry for entry in knowledge.entries} if knowledge else {}
    entry = save(resources, cancellation)
    text = f"remembered in {entry.source}: {entry.line}{verbs.format_unchecked_note(entry.unchecked)}"
    old = earlier.get(entry.key.lower())
    return text if old is None or (old.text, old.sql) == (entry.text, entry.sql) else f"{text}\nreplaces: {old.line}"


def _format_saved(answers: ConversationAnswers, saved: verbs.SavedAnswer) -> str:
    resources = answers.resources
    scope = "every database" if saved.example.shared else f"{resources.database.name} alone"
    if not saved.new:
        return f"this is already saved as an example ({saved.id})"
    text = f"saved {saved.example.question!r} as an example for {scope} ({saved.id})"
    if saved.replaced:
        text += ", in place of an earlier answer to it"
    if not resources.translator(resources.settings).reads_examples:
        text += "; the offline translator ignores examples, a model uses them"
    return text


RUN: dict[str, Callable[[ConversationAnswers, str], str]] = {
    "/approve": _approve_answer,
    "/share": partial(_approve_answer, shared=True),
    "/note": lambda answers, rest: save_and_describe_entry(
        partial(verbs.note, rest), answers.resources, answers.cancellation
    ),
    "/accept": _accept_suggestion,
    "/lessons": _list_lessons,
    "/edit": _edit_lesson,
    "/forget": _forget_lesson,
    "/explain": _explain_answer,
    "/answers": _list_answers,
}
"""Each command, given what follows its name."""
