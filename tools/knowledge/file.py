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

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator

Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, given: Any) -> Any:
        """Let a text alone stand for a field; a field with nothing after it is not given, as where a file is begun."""
        if isinstance(given, str) and issubclass(cls, _Short):
            return {next(name for name in cls.model_fields if name not in _Written.model_fields): given}
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value != ""}  # pyright: ignore[reportUnknownVariableType]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core_schema)
        return {"anyOf": [schema, {"type": "string"}]} if issubclass(cls, _Short) else schema


class _Written(_Part):
    author: str = Field("", description="Who wrote it; the file's author without.")
    added: str = Field("", description="When, in ISO 8601.")
    rights: str = Field("", description="Key of the rights under which it was added; written by tableturn.")


class _Short(_Written):
    """What a text alone may stand for: it is the first field."""


class Term(_Short):
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


class ColumnNote(_Short):
    """What a column holds."""

    means: str = Field("", description="What it holds.")
    also: list[Words] = Field([], description="Other words for it.")
    values: dict[str, str] = Field({}, description="Coded values and what they stand for.")


class TableNote(_Short):
    """What a table holds."""

    means: str = Field("", description="What a row is.")
    also: list[Words] = Field([], description="Other words for it.")
    columns: dict[str, ColumnNote] = Field({}, description="Its columns.")


class Join(_Short):
    """How two tables belong together, where the schema does not say so."""

    on: Words = Field(description="visits.customer_ref = customers.id; further pairs after AND.")
    means: str = Field("", description="What it joins.")


class Convention(_Short):
    """A rule of the house."""

    says: Words = Field(description="The rule, in a sentence.")
    about: list[Words] = Field([], description="Tables and columns that it concerns; none: every question.")


class Never(_Short):
    """What must not be used."""

    use: Words = Field(description="A table, or table.column.")
    instead: str = Field("", description="What to use in its place.")
    why: str = Field("", description="Why.")


class KnowledgeFile(_Part):
    """Everything that one file says."""

    author: str = Field("", description="Who wrote the entries that name nobody.")
    extends: list[Words] = Field([], description="Files under this one, relative to it; `database` for its comments.")
    terms: dict[Words, Term] = Field({}, description="Words of the business.")
    metrics: dict[Words, Metric] = Field({}, description="What is computed, and how.")
    tables: dict[Words, TableNote] = Field({}, description="What tables hold.")
    joins: list[Join] = Field([], description="Joins that the schema lacks.")
    conventions: list[Convention] = Field([], description="Rules of the house.")
    never: list[Never] = Field([], description="What must not be used.")


def knowledge_schema() -> dict[str, Any]:
    """Return the JSON schema of a knowledge file, for editors and for programs that write one."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **KnowledgeFile.model_json_schema(),
        "title": "Knowledge of a database, for tableturn",
    }
