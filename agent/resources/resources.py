"""What the nodes reach the world through: opened once when an agent is built, shared by all of its conversations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...tools.basis import Newest
from ...tools.database import Cancellation, Database, Identity, Permissions, Rights, Schema, Session
from ...tools.keyed_cache import KeyedCache
from ...tools.linking import SchemaLinker
from ...tools.outgoing import Outgoing
from ...tools.sql import spell_tables
from ...tools.toolset import Toolset
from ...tools.values import ValueIndex
from ..advice import advise
from ..effects import Translator
from ..model.masking import masking
from ..settings import Settings
from .examples import AgentExamples
from .schemas import Schemas

if TYPE_CHECKING:
    from ..audit import AuditTrail
    from .knowledge import PersonKnowledge

MOST_SESSIONS = 64
"""Sessions kept open beside the agent's own; the one that was used longest ago is let go of first."""


@dataclass(frozen=True)
class Resources:
    """The agent's means.

    Attributes:
        database: Where questions are answered.
        values: Its value index.
        tools: The tools that the tool nodes wrap.
        translator: Gives the translator for a run's settings.
        annotator: Gives the translator that describes the schema, the same unless another model is named for that.
        settings: The agent's own; a run may override single fields.
        schemas: The database's schema and the linker for it.
        examples: Where few-shot examples come from and approved answers go.
        others: The same for other people, or under narrower permissions.
        audit: Where turns are written down; None for nowhere.
        knowledge: What words mean for the database; None where nobody may say.
    """

    database: Database
    values: ValueIndex
    tools: Toolset
    translator: Callable[[Settings], Translator]
    annotator: Callable[[Settings], Translator]
    settings: Settings
    schemas: Schemas
    examples: AgentExamples
    others: Others
    audit: AuditTrail | None = None
    knowledge: PersonKnowledge | None = None

    @property
    def rights(self) -> Rights:
        """Under which rights everything is made here."""
        return self.database.session.rights

    def may_read(self, made: Rights | None) -> bool:
        """Whether what was made under these rights may be read here."""
        return self.rights.cover(made)

    @cached_property
    def outgoing(self) -> Outgoing:
        """The database as a model may know it."""
        return Outgoing(self.database)

    @cached_property
    def newest(self) -> Newest:
        """How new its data is, as far as that may leave."""
        return Newest(self.outgoing.execute, self.database.engine.state, self.database.dialect)


class Others:
    """Resources for other sessions on the same database, made when they are first needed.

    Args:
        own: The session that they are compared with.
        rules: The session of a person.
        furnish: Makes resources.
    """

    def __init__(
        self, own: Session, rules: Callable[[Identity], Session], furnish: Callable[[Session], Resources]
    ) -> None:
        self._own = own
        self._rules = rules
        self._furnish = furnish
        self._made = KeyedCache[Session, Resources](MOST_SESSIONS)

    def of(self, identity: Identity) -> Resources:
        """Another person's.

        Raises:
            SettingsError: The permissions say nothing of that person.
        """
        return self._under(self._rules(identity))

    def narrowed(self, permissions: Permissions, here: Resources) -> Resources:
        """These resources, or those of the same person who may read only what `permissions` show too."""
        session = self._own.narrowed(permissions)
        return here if session == self._own else self._under(session)

    def _under(self, session: Session) -> Resources:
        return self._made.get(session, lambda: self._furnish(session))


@dataclass(frozen=True)
class Run:
    """One node's run.

    Attributes:
        resources: What it reaches the world through.
        settings: This run's.
        emit: Where progress goes.
        cancellation: Ends what runs; None where nobody can.
        thread: The conversation's name in the checkpointer; empty outside one.
    """

    resources: Resources
    settings: Settings
    emit: Callable[[dict[str, Any]], None]
    cancellation: Cancellation | None = None
    thread: str = ""

    @property
    def rights(self) -> Rights:
        """Under which rights this run makes what it makes."""
        return self.resources.rights

    def translator(self) -> Translator:
        """Who does this run's tasks; what the policy says is masked in whatever goes to a model."""
        return self._masked(self.resources.translator)

    def annotator(self) -> Translator:
        """Who describes the schema."""
        return self._masked(self.resources.annotator)

    def _masked(self, translator: Callable[[Settings], Translator]) -> Translator:
        return masking(translator(self.settings), self.resources.database.session.policy.egress.mask)

    def schema(self) -> Schema:
        """The schema as this run shows it; see `Schemas`."""
        return self.resources.schemas.schema(self.settings.annotate)

    def spelt(self, sql: str) -> str:
        """Write the names of a query's tables as the engine's own client reads them."""
        if self.resources.database.dialect == "sqlite":
            return sql
        return advise("checks", lambda: spell_tables(sql, self.schema()), sql)

    def linker(self) -> SchemaLinker:
        """The linker for it."""
        return self.resources.schemas.linker(self.settings.annotate)
