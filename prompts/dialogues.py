"""Writing SQL after whole dialogues, the few-shot baseline of CREDIT-SQL (4.4, appendix D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..tools.linking.linked import PastTurn
from .parts import Parts
from .replies import Draft
from .sql_reply import find_sql
from .task import Task


@dataclass(frozen=True)
class Dialogue:
    """A dialogue whose every question has its SQL.

    Attributes:
        schema: Of its database, as it is shown.
        turns: Questions and SQL, in order.
    """

    schema: str
    turns: tuple[PastTurn, ...]


@dataclass(frozen=True)
class DialoguesTask(Task[Draft]):
    """Asks for the next query of a dialogue, after other dialogues.

    Attributes:
        question: This turn's.
        schema_text: The schema, in the form that the dialogues have it.
        history: Earlier turns, oldest first.
        dialogues: The first gives way last where the budget is small.
    """

    name: ClassVar[str] = "dialogues"

    question: str
    schema_text: str
    history: tuple[PastTurn, ...] = ()
    dialogues: tuple[Dialogue, ...] = ()

    def parts(self) -> Parts:
        """See `Task.parts`."""
        return Parts(history=self.history, dialogues=self.dialogues)

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        found = find_sql(text)
        return Draft(found.sql, notes=found.notes)
