"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from ...tools.database import Access, Database, Identity, PermissionsFile

DbOption = Annotated[
    str, typer.Option("--db", help="The database: a path or URL (shop.db, postgresql://...), or files (sales.csv).")
]
SchemasOption = Annotated[
    str | None,
    typer.Option("--schema", help="On a server: the schemas to read, separated by commas. Default: the search path."),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A model such as openai:gpt-5-mini, or offline. Default: TABLETURN_MODEL, else OpenAI if the environment "
        "has a key or base URL for it, else the built-in offline translator.",
    ),
]
BaseUrlOption = Annotated[
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
PresetOption = Annotated[str | None, typer.Option("--preset", help="full, credit, craft, track or revision.")]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="A TOML or JSON file of settings; they override the preset.")
]
EffortOption = Annotated[
    str | None, typer.Option("--effort", help="low, auto or high: how much a turn may spend beyond one request.")
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
AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow", help="A table or table.column that may be read, * for any characters; repeatable."),
]
DenyOption = Annotated[
    list[str] | None, typer.Option("--deny", help="A table or table.column that may not be read; repeatable.")
]
PermissionsOption = Annotated[
    Path | None,
    typer.Option(
        "--permissions",
        envvar="TABLETURN_PERMISSIONS",
        help="A TOML file that says who may read what: [default] and [users.NAME], each with allow and deny.",
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user", help="The name of the person asking: chooses [users.NAME] in the permissions, else [default]."
    ),
]
AuditOption = Annotated[
    Path | None,
    typer.Option("--audit", help="Add a line of JSON to this file for every turn, before its answer is given."),
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


class Priced(TyperCommand):
    """A command with `--price`, whose two numbers may stand apart, or as one word with a comma."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes `--price 1,2` and `--price=1,2` for `--price 1 2`."""
        taken: list[str] = []
        for word in args:
            named, _, numbers = word.partition("=")
            if taken[-1:] == ["--price"]:
                taken += word.split(",")
            elif named == "--price" and "," in numbers:
                taken += [named, *numbers.split(",")]
            else:
                taken.append(word)
        return super().parse_args(ctx, taken)


def located(db: str, schemas: str | None) -> str:
    """The database with the schemas that `--schema` names.

    Raises:
        SettingsError: It is no database on a server.
    """
    if schemas is None:
        return db
    from ...tools.database.server.address import in_schemas

    return in_schemas(db, schemas)


@dataclass(frozen=True)
class Asker:
    """Who asks at the command line, and what that person may read."""

    allow: list[str] | None = None
    deny: list[str] | None = None
    permissions: Path | PermissionsFile | None = None
    user: str | None = None

    def access(self) -> Access:
        """The rules.

        Raises:
            SettingsError: The permissions file is wrong.
        """
        from ...tools.database import Access

        return Access.of(self.allow or None, self.deny or (), self.permissions)

    def identity(self) -> Identity:
        """The person."""
        from ...tools.database import Identity

        return Identity(self.user or "")

    def open(self, db: str) -> Database:
        """A database as this person may read it.

        Raises:
            DatabaseUnavailable: It cannot be used.
            SettingsError: The permissions are wrong, or say nothing of this person.
        """
        from ...tools.database import Database, Policy

        return Database.open(db, session=self.access().session(self.identity(), Policy()))
