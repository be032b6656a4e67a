"""The options that open a database or an agent, shared by all commands."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_type_hints

import typer

from ..tools.errors import SettingsError
from ..tools.terminal import warn

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from ..tools.database import Database
    from .sqlagent import SQLAgent

R = TypeVar("R")


class TokenPrices(NamedTuple):
    """The prices of prompt and completion tokens, in dollars per million."""

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str) -> TokenPrices:
        """Return the prices that a text such as `0.25,2` gives."""
        try:
            prices = cls(*map(float, text.split(",")))
        except (TypeError, ValueError):
            prices = None
        if prices is None or not all(0 <= price < math.inf for price in prices):
            raise SettingsError(f"--price takes two numbers such as 0.25,2, not {text!r}")
        return prices


PriceOption = Annotated[
    TokenPrices | None,
    typer.Option(
        "--price",
        parser=TokenPrices.parse,
        metavar="NUMBER,NUMBER",
        help="Dollars per million prompt and completion tokens, such as 0.25,2.",
    ),
]

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A model such as openai:gpt-5-mini, or offline. Default: TABLETURN_MODEL, else OpenAI if the environment "
        "has a key or base URL for it, else the built-in offline translator.",
    ),
]
UrlOption = Annotated[
    str | None, typer.Option("--base-url", help="Base URL of an OpenAI-compatible server (vLLM, Ollama, llama.cpp).")
]
AnnotatorOption = Annotated[
    str | None,
    typer.Option(
        "--annotator",
        help="If annotate is on: the model whose descriptions of the schema are used and completed, at its provider's "
        "own address. Default: the model that answers.",
    ),
]
PresetOption = Annotated[str | None, typer.Option("--preset", help="One of full, credit, craft, track, revision.")]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="A TOML or JSON file of settings; they override the preset.")
]
ExamplesOption = Annotated[
    str | None,
    typer.Option(
        "--examples",
        envvar="TABLETURN_EXAMPLES",
        help="An example store: a folder, or a Chroma server's URL. Default: a folder in your data folder.",
    ),
]
EmbeddingOption = Annotated[
    str,
    typer.Option(
        "--embedding",
        envvar="TABLETURN_EMBEDDING",
        help="The embedding of the example store: hashed, chroma, openai:MODEL or sentence:MODEL.",
    ),
]
KnowledgeOption = Annotated[
    str | None,
    typer.Option(
        "--knowledge",
        envvar="TABLETURN_KNOWLEDGE",
        help="A file that says what words mean here, or off. Default: shop.knowledge.yaml beside shop.db, if any.",
    ),
]
NotesOption = Annotated[
    str, typer.Option("--notes", help="What the model should know for this question: a definition, a convention.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]

_FACTS = 10  # about files that are told when they are opened

OFFLINE_LINE = (
    "no model is chosen, so the built-in offline translator answers; "
    "set --model, TABLETURN_MODEL or OPENAI_API_KEY for a real one"
)


def is_model_unnamed(model: str | None) -> bool:
    """Whether neither an option nor the environment names a model, such as `offline`."""
    return model is None and not os.environ.get("TABLETURN_MODEL")


@dataclass(frozen=True, kw_only=True)
class AccessOptions:
    """Command-line options for the name and the access rights of the person who asks."""

    allow: Annotated[
        list[str] | None,
        typer.Option(help="A table or table.column that may be read, * for any characters; repeatable."),
    ] = None
    deny: Annotated[
        list[str] | None, typer.Option(help="A table or table.column that may not be read; repeatable.")
    ] = None
    permissions: Annotated[
        Path | None,
        typer.Option(
            envvar="TABLETURN_PERMISSIONS",
            help="A TOML file that says who may read what: [default] and [users.NAME], each with allow and deny.",
        ),
    ] = None
    user: Annotated[
        str | None,
        typer.Option(help="The name of the person asking: chooses [users.NAME] in the permissions, else [default]."),
    ] = None
    otherwise: Annotated[
        list[str] | None,
        typer.Option(help="A guess about files to undo, such as totals or sales.totals; repeatable."),
    ] = None
    schemas: Annotated[
        str | None,
        typer.Option(
            "--schema", help="On a server: the schemas to read, separated by commas. Default: the search path."
        ),
    ] = None
    named: bool = False  # whether somebody else names everybody, so that [default] is for those named alone

    def make_access_rules(self) -> dict[str, Any]:
        """Return the access rules as keyword arguments of `SQLAgent` and `Access.of`."""
        from ..tools.database import PermissionsFile

        file = PermissionsFile.read(self.permissions).allow_unnamed() if self.permissions and self.named else None
        return {"allow": self.allow or None, "deny": self.deny or (), "permissions": file or self.permissions}

    def locate(self, db: str) -> str:
        """Return the address of the database, with the schemas of `--schema` added."""
        if self.schemas is None:
            return db
        from ..tools.database.server.address import add_schemas_to_url

        return add_schemas_to_url(db, self.schemas)

    def open_database(self, db: str) -> Database:
        """Open a database with this person's rights."""
        from ..tools.database import AccessRules, Database, Identity, Policy

        session = AccessRules.of(**self.make_access_rules()).session(Identity(self.user or ""), Policy())
        return Database.open(self.locate(db), session=session, otherwise=self.otherwise or ())


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions(AccessOptions):
    """Command-line options for a database and a person's rights."""

    db: Annotated[
        str, typer.Option(help="The database: a path or URL (shop.db, postgresql://...), or files (sales.csv).")
    ]

    def open(self) -> Database:
        """Open the database."""
        return self.open_database(self.db)


@dataclass(frozen=True, kw_only=True)
class AgentOptions(DatabaseOptions):
    """Command-line options for an agent over a database."""

    model: ModelOption = None
    base_url: UrlOption = None
    annotator: AnnotatorOption = None
    preset: PresetOption = None
    settings: SettingsOption = None
    effort: Annotated[
        str | None, typer.Option(help="low, auto or high: how much a turn may spend beyond one request.")
    ] = None
    examples: ExamplesOption = None
    embedding: EmbeddingOption = "hashed"
    audit: Annotated[
        Path | None,
        typer.Option(help="Add a line of JSON to this file for every turn, before its answer is given."),
    ] = None
    knowledge: KnowledgeOption = None

    @contextmanager
    def open_agent(self, checkpointer: BaseCheckpointSaver[Any] | None = None) -> Generator[SQLAgent]:
        """Open the agent; print warnings about the model, the database and the knowledge."""
        from .settings import make_settings, read_settings_file

        fields = read_settings_file(self.settings) if self.settings else {}
        if self.effort is not None:
            fields["effort"] = self.effort
        settings = make_settings(fields, preset=self.preset)
        from ..tools.examples import get_store_folder
        from .advice import call_with_fallback
        from .sqlagent import SQLAgent

        with SQLAgent(
            self.locate(self.db),
            model=self.model,
            settings=settings,
            examples=self.examples or get_store_folder(),
            embedding=self.embedding,
            checkpointer=checkpointer,
            base_url=self.base_url,
            **self.make_access_rules(),
            user=self.user,
            audit=self.audit,
            knowledge=self.knowledge,
            annotator=self.annotator,
            otherwise=self.otherwise or (),
        ) as agent:
            if is_model_unnamed(self.model) and agent.resources.translator(agent.settings).name == "offline":
                warn(f"tableturn: {OFFLINE_LINE}")
            database = agent.resources.database
            facts = [str(notice) for notice in database.notices if not notice.turned_by and notice.kind != "key"]
            for warning in (*database.warnings, *facts[:_FACTS]):
                warn(f"tableturn: {warning}")
            if more := facts[_FACTS:]:
                warn(f"tableturn: {len(more)} more things were noticed in the files: /tables in a chat lists them")
            knowledge = call_with_fallback("knowledge", agent.resources.knowledge.read, None)
            for problem in knowledge.problems if knowledge else ():
                warn(f"tableturn: left out of the knowledge: {problem}")
            yield agent


def expand_options(without: Collection[str] = ()) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that replaces each option group of a command by single options.

    Typer reads a command's signature, and knows no options that commands share.
    """

    def expand_command(command: Callable[..., R]) -> Callable[..., R]:
        hints = get_type_hints(command, include_extras=True)
        groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}
        names: dict[str, list[str]] = {}
        flat: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            if (group := groups.get(parameter.name)) is None:
                flat.append(parameter.replace(annotation=hints[parameter.name], kind=Parameter.KEYWORD_ONLY))
                continue
            types = get_type_hints(group, include_extras=True)
            # What a class adds comes before what it builds on: the model before the rights.
            order = [name for base in group.__mro__ for name in vars(base).get("__annotations__", ())]
            items = [
                item for item in fields(group) if hasattr(types[item.name], "__metadata__") and item.name not in without
            ]
            names[parameter.name] = [item.name for item in items]
            for item in sorted(items, key=lambda item: (item.default is not MISSING, order.index(item.name))):
                default = Parameter.empty if item.default is MISSING else item.default
                flat.append(Parameter(item.name, Parameter.KEYWORD_ONLY, default=default, annotation=types[item.name]))

        @wraps(command)
        def run_command(**arguments: Any) -> R:
            values = {name: groups[name](**{key: arguments.pop(key) for key in names[name]}) for name in names}
            return command(**arguments, **values)

        run_command.__signature__ = signature(command).replace(parameters=flat)  # type: ignore[attr-defined]
        run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        return run_command

    return expand_command
