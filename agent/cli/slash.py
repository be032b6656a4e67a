"""Slash commands: what a person can type in a conversation besides questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tools.errors import SettingsError

if TYPE_CHECKING:
    from ...tools.knowledge import Entry
    from ..answers.answer import Answer
    from ..answers.learning import Saved
    from ..sqlagent import SQLAgent

HELP = """commands:
  /approve [N] [QUESTION]  save the last answer, or answer N, as an example of this database, under another wording
                           of the question if one is given; similar questions to this database are then shown it
  /share [N] [QUESTION]    the same, and let questions to other databases be shown it too
  /correct [N] SQL         put another query in the place of the last answer's, or of answer N's: it runs and is kept as
                           the answer to that question; what could be remembered besides is offered
  /note WORD means TEXT    remember what a word means here, or a rule of the house
  /accept N                remember what was offered under that number
  /forget NAME             take out a definition by its name, or an approved answer by its question or identifier
  /explain [N]             say in plain words what the SQL of the last answer, or of answer N, computes
  /answers                 list this conversation's answers with their numbers
  /help                    show this
  exit                     leave"""

_SHOWN = 100
"""Characters of a question in a list."""


def is_slash_command(line: str) -> bool:
    """Whether a line is a command: a slash and a word. SQL may start with a comment, which has none."""
    return line[:1] == "/" and line[1:2].isalpha()


class SlashCommands:
    """Runs commands over the answers of a conversation.

    Attributes:
        answers: In order; the first is number 1. Where a conversation goes on, its last answer is the first here.
    """

    def __init__(self, agent: SQLAgent, last: Answer | None) -> None:
        self._agent = agent
        self.answers: list[Answer] = [last] if last else []
        self._offered: tuple[Entry, ...] = ()

    @property
    def offered(self) -> tuple[Entry, ...]:
        """What the last correction teaches, for /accept."""
        return self._offered

    def run(self, line: str) -> str:
        """What there is to say to a command.

        Raises:
            TableturnError: It cannot be done; the message says why.
        """
        command, _, rest = line.partition(" ")
        match command:
            case "/approve" | "/share":
                answer, question = self._chosen(rest.strip(), "approve")
                saved = self._agent.approve(answer, question=question, shared=command == "/share")
                return self._told(saved)
            case "/correct":
                return self._corrected(rest)
            case "/note":
                return self._noted(self._agent.note(rest))
            case "/accept":
                return self._accepted(rest.strip())
            case "/forget":
                return f"forgot {self._agent.forget(rest)}"
            case "/explain":
                answer, _ = self._chosen(rest.strip(), "explain")
                return self._explained(answer)
            case "/answers":
                return "\n".join(["answers:", *self._listed()]) if self.answers else "no answers yet"
            case "/help":
                return HELP
            case _:
                raise SettingsError(f"there is no command {command}: /help lists them")

    def _chosen(self, rest: str, what: str) -> tuple[Answer, str]:
        """The answer that is meant, and the words after its number, if any."""
        if not self.answers:
            raise SettingsError(f"there is no answer to {what} yet")
        first, _, question = rest.partition(" ")
        if not first.isdecimal():
            return self.answers[-1], rest
        if not 1 <= int(first) <= len(self.answers):
            raise SettingsError(f"there is no answer {first}: /answers lists them")
        return self.answers[int(first) - 1], question

    def _corrected(self, rest: str) -> str:
        answer, sql = self._chosen(rest.strip(), "correct")
        if not sql.strip():
            raise SettingsError("there is no query after /correct: write the right one there")
        found = self._agent.correct(answer, sql.strip())
        self.answers.append(found.answer)
        self._offered = found.proposals
        return "\n".join([found.answer.text, self._told(found.saved), *self._offers()])

    def _offers(self) -> list[str]:
        if not self._offered:
            return []
        lines = [f"  {number}. {entry.line}" for number, entry in enumerate(self._offered, 1)]
        return ["this could be remembered, with /accept N:", *lines]

    def _accepted(self, number: str) -> str:
        offered = self._offered or (self.answers[-1].proposals if self.answers else ())
        if not number.isdecimal() or not 1 <= int(number) <= len(offered):
            raise SettingsError(f"nothing is offered under {number or 'no number'}: /correct offers what it suggests")
        return self._noted(self._agent.remember(offered[int(number) - 1]))

    def _noted(self, entry: Entry) -> str:
        return f"remembered in {entry.source}: {entry.line}"

    def _listed(self) -> list[str]:
        return [
            f"{number:>3}  {' '.join(answer.rephrased.split())[:_SHOWN]}  ({answer.status})"
            for number, answer in enumerate(self.answers, 1)
        ]

    def _explained(self, answer: Answer) -> str:
        from ...tools.sql import explain

        if answer.sql is None:
            raise SettingsError("that answer has no SQL to explain")
        return explain(answer.sql, self._agent.resources.database.schema())

    def _told(self, saved: Saved) -> str:
        name = self._agent.resources.database.name
        whose = "every database" if saved.example.shared else f"{name} alone"
        if not saved.new:
            return f"that is an example already ({saved.id})"
        told = f"saved {saved.example.question!r} as an example for {whose} ({saved.id})"
        if saved.replaced:
            told += ", in place of an earlier answer to it"
        if not self._agent.resources.translator(self._agent.settings).reads_examples:
            told += "; the offline translator reads no examples, a model will"
        return told
