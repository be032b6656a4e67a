"""The tools as LangChain tools, for the graph and for other agents.

Each tool gives text for a model to read and, as its artifact, the typed result for a program. Neither holds what may
not leave (`tools.masked_database`): artifacts are kept in messages and traces. `Database.execute` gives whoever asks
the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from pydantic import Field, SkipValidation

from .database import Database, Limits, Table, render_schema
from .errors import QueryError, SandboxUnavailable
from .masked_database import MaskedDatabase
from .values import ValueIndex, ValueMatch

if TYPE_CHECKING:
    from .database import Schema
    from .database.engine import DatabaseSource
    from .examples import Example, ExampleStore
    from .sandbox import SandboxLimits, SandboxResult

A = TypeVar("A")

ROWS_SHOWN = 20
"""Rows in a tool's text; all of them are in its artifact."""

CELL_CHARACTERS = 200
"""Longest cell in a tool's text."""


@dataclass(frozen=True)
class PandasRun:
    """The result of running pandas code, with notes on the data that the code was given."""

    result: SandboxResult  # or why there is none
    sampled: tuple[str, ...] = ()  # tables of which the code saw only a sample
    notes: tuple[str, ...] = ()  # what to know about the frames it was given


class Toolset:
    """The LangChain tools for one database.

    Args:
        database: The database. Every tool only reads it.
        values: Its value index.
        store: Returns the example store when it is first needed; None leaves `find_examples` out.
        sandbox: Limits of a run of pandas code, and how strictly it is isolated; None for the defaults and
            `TABLETURN_SANDBOX`.
    """

    def __init__(
        self,
        database: Database,
        values: ValueIndex,
        store: Callable[[], ExampleStore] | None = None,
        sandbox: SandboxLimits | None = None,
    ) -> None:
        self._database = database
        self._masked_database = MaskedDatabase(database)
        self._values = values
        self._store = store
        self._sandbox = sandbox

    def all(self) -> list[BaseTool]:
        """Return every tool that is available."""
        tools: list[BaseTool] = [self.run_sql, self.describe_schema, self.find_values, self.run_pandas]
        return [*tools, self.find_examples] if self._store else tools

    def sandbox_limits(self) -> SandboxLimits:
        """Return the limits of a run of pandas code.

        Raises:
            SettingsError: `TABLETURN_SANDBOX` names no boundary.
        """
        from .sandbox import get_default_sandbox_limits

        return self._sandbox or get_default_sandbox_limits()

    @cached_property
    def run_sql(self) -> DataTool[Table | QueryError]:
        """The tool that runs one query read-only. Artifact: `Table`, or the `QueryError`."""
        engine = self._database.engine.name

        def run_sql(
            sql: Annotated[str, Field(description="One SELECT statement in the database's own SQL.")],
            limits: Annotated[SkipValidation[Limits | None], InjectedToolArg] = None,
            cancellation: Annotated[SkipValidation[Any], InjectedToolArg] = None,
        ) -> tuple[str, Table | QueryError]:
            try:
                table = self._masked_database.execute(sql, limits, cancellation)
            except QueryError as error:
                return self._masked_database.text(f"The query failed ({error.kind}): {error}"), error
            return self._masked_database.text(format_table_text(table)), table

        return _make_data_tool(run_sql, f"Run one read-only {engine} query and see its first rows, or why it failed.")

    @cached_property
    def describe_schema(self) -> DataTool[Schema]:
        """The tool that describes the schema, or some tables of it. Artifact: `Schema`."""

        def describe_schema(
            tables: Annotated[list[str] | None, Field(description="Names of tables; leave out for all.")] = None,
        ) -> tuple[str, Any]:
            """See the database's tables, columns, types, keys and sample values."""
            schema = self._database.schema()
            missing: list[str] = []
            if tables is not None:
                matches = [table for table in map(schema.table, tables) if table is not None]
                missing = [name for name in tables if schema.table(name) is None]
                schema = schema.part([(table.name, [column.name for column in table.columns]) for table in matches])
            note = f"\nThere is no table {', '.join(map(repr, missing))}." if missing else ""
            return self._masked_database.text(render_schema(schema) + note), schema

        return _make_data_tool(describe_schema)

    @cached_property
    def find_values(self) -> DataTool[tuple[ValueMatch, ...]]:
        """The tool that finds values that a text mentions. Artifact: tuple of `ValueMatch`."""

        def find_values(
            text: Annotated[str, Field(description="A question or phrase.")],
            limit: Annotated[int, Field(description="Most values to give.", ge=1, le=100)] = 10,
        ) -> tuple[str, tuple[ValueMatch, ...]]:
            """Find which values of the database a text mentions, in the database's own spelling."""
            matches = self._values.find(text, limit)
            lines = [f"{match.mention!r} is {match.value!r} in {match.table}.{match.column}" for match in matches]
            return self._masked_database.text("\n".join(lines)) or "No value of the database is mentioned.", matches

        return _make_data_tool(find_values)

    @cached_property
    def find_examples(self) -> DataTool[tuple[Example, ...]]:
        """The tool that finds few-shot examples. Artifact: tuple of `Example`."""

        def find_examples(
            question: Annotated[str, Field(description="A self-contained question.")],
            selector: Annotated[Any, InjectedToolArg] = "skeleton",
            query: Annotated[SkipValidation[Any], InjectedToolArg] = None,
            numbers: Annotated[dict[str, int | float | str] | None, InjectedToolArg] = None,
            own: Annotated[int, InjectedToolArg] = 3,
        ) -> tuple[str, Any]:
            """Find earlier questions of the same form, with the SQL that answered them."""
            from .examples import ExampleQuery, choose_examples, database_identity

            assert self._store is not None
            own_name = database_identity(self._database)
            example_query = query or ExampleQuery(question, schema=self._database.schema(), database=own_name)
            candidates = choose_examples(self._store(), self._database, example_query, selector, own, numbers or {})
            examples = tuple(
                example
                for example in candidates
                if example.owner != own_name or self._masked_database.get_egress_level(example.sql) == "values"
            )
            text = "\n".join(f"-- {example.question}\n{example.sql}" for example in examples)
            return self._masked_database.text(text) or "No example is near.", examples

        return _make_data_tool(find_examples)

    @cached_property
    def run_pandas(self) -> DataTool[PandasRun]:
        """The tool that runs pandas code in the sandbox. Artifact: `PandasRun`."""

        def run_pandas(
            code: Annotated[
                str,
                Field(
                    description="Python code; tables are data frames in `db_dict['name']`; put the answer in `result`."
                ),
            ],
            limits: Annotated[SkipValidation[Any], InjectedToolArg] = None,
            cancellation: Annotated[SkipValidation[Any], InjectedToolArg] = None,
        ) -> tuple[str, Any]:
            """Run pandas code over the database's tables in a sandbox and see its result."""
            from .sandbox import SandboxResult, run_on_database

            try:
                run_limits = limits or self.sandbox_limits()
                ran, frames = run_on_database(code, self._database, run_limits, cancellation=cancellation)
            except SandboxUnavailable as error:
                return str(error), PandasRun(SandboxResult(None, "", str(error), 0.0))
            text = format_table_text(ran.table) if ran.table is not None else f"The code gave no result: {ran.error}"
            artifact = PandasRun(ran, tuple(frames.sampled), tuple(frames.notes))
            return self._masked_database.text("\n".join([*frames.notes, text])), artifact

        return _make_data_tool(run_pandas)


def as_tools(
    database: Database | DatabaseSource,
    *,
    values: ValueIndex | None = None,
    examples: ExampleStore | None = None,
    sandbox: SandboxLimits | None = None,
) -> list[BaseTool]:
    """Return the tools for another agent: `run_sql`, `find_values`, `run_pandas` and more.

    Args:
        database: An open database, or whatever `Database.open` takes.
        values: Its value index; opened if not given.
        examples: An example store; the built-in examples if not given.
        sandbox: Limits and isolation of pandas code; the defaults and `TABLETURN_SANDBOX` if not given.

    Raises:
        DatabaseUnavailable: The database cannot be used.
    """

    def open_example_store() -> ExampleStore:
        from .examples import make_default_store

        return examples or make_default_store()

    handle = database if isinstance(database, Database) else Database.open(database)
    return Toolset(handle, values or ValueIndex.open(handle), open_example_store, sandbox).all()


def format_table_text(table: Table) -> str:
    """Return a table's first rows as tab-separated text, with the engine's notes."""
    lines = ["\t".join(table.columns)]
    lines += ["\t".join(map(_format_cell_text, row)) for row in table.rows[:ROWS_SHOWN]]
    if len(table.rows) > ROWS_SHOWN or table.truncated:
        lines.append(f"... ({len(table.rows)}{' or more' if table.truncated else ''} rows in all)")
    return "\n".join([*lines, *table.notes])


def _format_cell_text(cell: object) -> str:
    text = "NULL" if cell is None else " ".join(str(cell).split())
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"


class DataTool(StructuredTool, Generic[A]):
    """A LangChain tool whose artifact has one type.

    Its function is called directly: the library inspects signatures for callbacks and configuration at every call.
    """

    def call(self, **arguments: Any) -> A:
        """Call the tool as a model would, visible in traces, and return its artifact.

        Where nothing traces the run, the tool's function is called as it is.
        """
        if not _is_run_traced():
            return self._run(**arguments)[1]
        message = self.invoke({"type": "tool_call", "id": self.name, "name": self.name, "args": arguments})
        return message.artifact

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        assert self.func is not None
        return self.func(*args, **kwargs)


def _is_run_traced() -> bool:
    """Whether any callback observes the current run."""
    callbacks = ensure_config().get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager):
        return True
    return bool(callbacks.handlers or callbacks.inheritable_handlers)


def _make_data_tool(function: Callable[..., tuple[str, Any]], description: str | None = None) -> DataTool[Any]:
    tool = DataTool.from_function(
        func=function,
        name=function.__name__,
        description=description,
        response_format="content_and_artifact",
        parse_docstring=False,
    )
    return cast("DataTool[Any]", tool)
