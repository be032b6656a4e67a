"""The knowledge file: its fields, for people who write one and for editors that help them.

terms:
  active customer:
    means: ordered in the last 90 days
    sql: customers.last_order >= date('now', '-90 days')
  area: our sales regions, not square metres
metrics:
  net revenue:
    means: what was sold, without returns
    expression: SUM(lines.quantity * lines.price)
    where: orders.status <> 'returned'
    grain: one row per order line
tables:
  customers:
    means: whoever ever registered
    also: [clients]
    columns:
      status: {means: state of the account, values: {A: active, C: closed}}
joins:
  - on: visits.customer_ref = customers.id
conventions:
  - Revenue is net of returns.
never:
  - {use: orders.old_total, instead: orders.total}

A text in the place of a term, a table, a column or a convention is its meaning. `extends` names files under this one:
a dbt `schema.yml`, Markdown notes, another knowledge file, or `database` for the comments that the database itself
holds.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        """A field with nothing after it is not given: `terms:` alone is how a file is begun."""
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value != ""}  # pyright: ignore[reportUnknownVariableType]


class _Written(_Part):
    author: str = Field("", description="Who wrote it; the file's author without.")
    added: str = Field("", description="When, in ISO 8601.")
    rights: str = Field("", description="Key of the rights under which it was added; written by tableturn.")


def _shorthand(field: str) -> BeforeValidator:
    return BeforeValidator(lambda value: {field: value} if isinstance(value, str) else value)


class Term(_Written):
    """A word of the business."""

    means: Words = Field(description="Its meaning, as a colleague would be told.")
    sql: str = Field("", description="A condition that says the same, columns qualified by their tables.")
    also: list[Words] = Field([], description="Other words for the same.")
    about: list[Words] = Field([], description="Tables and columns that it concerns: table, or table.column.")


class Metric(_Written):
    """Something that is computed. Queries get its expression as it stands here."""

    expression: Words = Field(description="An aggregate expression, columns qualified by their tables.")
    means: str = Field("", description="Its meaning.")
    where: str = Field("", description="Which rows count, as a condition.")
    grain: str = Field("", description="What one row is that it is computed over: one row per order line.")
    also: list[Words] = Field([], description="Other words for the same.")
    about: list[Words] = Field([], description="Further tables and columns that it concerns.")


class ColumnNote(_Written):
    """What a column holds."""

    means: str = Field("", description="What it holds.")
    also: list[Words] = Field([], description="Other words for it.")
    values: dict[str, str] = Field({}, description="Coded values and what they stand for.")


class TableNote(_Written):
    """What a table holds."""

    means: str = Field("", description="What a row is.")
    also: list[Words] = Field([], description="Other words for it.")
    columns: dict[str, Annotated[ColumnNote, _shorthand("means")]] = Field({}, description="Its columns.")


class Join(_Written):
    """How two tables belong together, where the schema does not say so."""

    on: Words = Field(description="visits.customer_ref = customers.id; further pairs after AND.")
    means: str = Field("", description="What it joins.")


class Convention(_Written):
    """A rule of the house."""

    says: Words = Field(description="The rule, in a sentence.")
    about: list[Words] = Field([], description="Tables and columns that it concerns; none: every question.")


class Never(_Written):
    """What must not be used."""

    use: Words = Field(description="A table, or table.column.")
    instead: str = Field("", description="What to use in its place.")
    why: str = Field("", description="Why.")


class KnowledgeFile(_Part):
    """Everything that one file says."""

    author: str = Field("", description="Who wrote the entries that name nobody.")
    extends: list[Words] = Field([], description="Files under this one, relative to it; `database` for its comments.")
    terms: dict[Words, Annotated[Term, _shorthand("means")]] = Field({}, description="Words of the business.")
    metrics: dict[Words, Metric] = Field({}, description="What is computed, and how.")
    tables: dict[Words, Annotated[TableNote, _shorthand("means")]] = Field({}, description="What tables hold.")
    joins: list[Annotated[Join, _shorthand("on")]] = Field([], description="Joins that the schema lacks.")
    conventions: list[Annotated[Convention, _shorthand("says")]] = Field([], description="Rules of the house.")
    never: list[Annotated[Never, _shorthand("use")]] = Field([], description="What must not be used.")


_SHORT = ("Term", "ColumnNote", "TableNote", "Join", "Convention", "Never")
"""What a text alone may stand for."""


def knowledge_schema() -> dict[str, Any]:
    """The JSON schema of a knowledge file, for editors and for programs that write one."""
    whole = KnowledgeFile.model_json_schema()
    short = {f"#/$defs/{name}" for name in _SHORT}

    def opened(node: Any) -> Any:
        if isinstance(node, list):
            return [opened(part) for part in node]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, dict):
            return node
        if node.get("$ref") in short:  # pyright: ignore[reportUnknownMemberType]
            return {"anyOf": [node, {"type": "string"}]}
        return {key: opened(value) for key, value in node.items()}  # pyright: ignore[reportUnknownVariableType]

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **opened(whole),
        "title": "Knowledge of a database, for tableturn",
    }
