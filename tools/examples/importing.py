"""Reading examples from files: our own lines of JSON, or a benchmark's layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from ..database import Database, render_schema
from ..errors import DatabaseUnavailable, ExampleRefused, ExampleStoreError, SQLParseError
from ..sql.parse import join_split_operators
from .entry import sound
from .example import Example
from .from_use import database_identity, example_of
from .messages import brief_repr, one_line
from .payload import from_json, from_mapping
from .soundness import fault, mended

_OTHER_NAMES = {"query": "sql", "db_id": "database", "database_id": "database", "utterance": "question"}
"""What benchmarks call the fields."""

_OPEN = 16
"""Databases of a folder that are open at once: a system allows a process some hundred files."""


def read_examples(path: Path, refuse: Callable[[str], object] | None = None) -> Iterator[Example]:
    """Reads examples from a file, in its order.

    Args:
        path: `.jsonl`: an example a line, with the fields of `Example`. `.json`: a list of objects with `question`,
            `query` and `db_id` (Spider's layout), or of dialogues with `database_id` and an `interaction` of
            `utterance` and `query` (CoSQL's), whose examples are marked as one dialogue in `source`.
        refuse: Is given the place and the reason of each record that is no example, and the rest is read. None: the
            first one raises.

    Text in double quotes is put into single ones (`mended`); what would teach wrong (`fault`) is no example.

    Raises:
        ExampleStoreError: The file is missing or not of one of these forms; the message names the place.
    """
    for place, record in _records(path):
        try:
            example = _checked(record())
        except (ExampleStoreError, ExampleRefused) as error:
            if refuse is None:
                raise ExampleStoreError(f"{place}: {error}") from None
            refuse(f"{place}: {error}")
        else:
            yield example


def _checked(example: Example) -> Example:
    found = mended(sound(example))
    if wrong := fault(found.question, found.sql):
        raise ExampleRefused(f"refused {brief_repr(found.sql)} for {brief_repr(found.question)}: {wrong}")
    return found


def _records(path: Path) -> Iterator[tuple[str, Callable[[], Example]]]:
    """Each record's place, and what reads it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise ExampleStoreError(f"{path} cannot be read: {one_line(error)}") from None
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):  # other line ends may stand within a JSON text
            if line.strip():
                yield f"{path}, line {number}", partial(from_json, line)
        return
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExampleStoreError(f"{path} is not JSON: {one_line(error)}") from None
    if not isinstance(content, list):
        raise ExampleStoreError(f"{path} is not a list of examples; for one example a line, name it .jsonl")
    for number, item in enumerate(cast(list[Any], content), 1):
        yield from _items(item, path.stem, crc32(text.encode()), f"{path}, item {number}", number)


def _items(item: Any, stem: str, hash_: int, place: str, number: int) -> Iterator[tuple[str, Callable[[], Example]]]:
    fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    if not isinstance(turns := fields.get("interaction"), list):
        yield place, partial(_example, item, f"import:{stem}")
        return
    dialogue = f"import:{stem}-{hash_:08x}#{number}"  # other files may have this one's name
    earlier: list[str] = []
    for count, turn in enumerate(cast(list[Any], turns), 1):
        spoken = cast(dict[str, Any], turn) if isinstance(turn, dict) else {}
        asked = {**spoken, "database_id": fields.get("database_id"), "turn": count, "earlier": tuple(earlier)}
        yield f"{place}, turn {count}", partial(_example, asked, dialogue)
        earlier.append(str(spoken.get("utterance", "")))


def _example(item: Any, source: str) -> Example:
    if not isinstance(item, dict):
        raise ExampleStoreError("not an object")
    fields = cast(dict[str, Any], item)
    renamed = {_OTHER_NAMES[name]: value for name, value in fields.items() if name in _OTHER_NAMES}
    named = {**fields, **renamed}  # Spider's `sql` is a parse; its `query` is the SQL
    kept = {name: named.get(name) for name in ("question", "sql", "database")}
    kept |= {"turn": fields.get("turn", 0), "earlier": fields.get("earlier", ())}
    if isinstance(kept["sql"], str):
        kept["sql"] = join_split_operators(kept["sql"])
    return from_mapping({**kept, "source": source})


class DatabaseFolder:
    """The databases of a folder by name, opened when needed: `NAME.sqlite` or `NAME/NAME.sqlite`.

    The last few stay open; one that was given before may be closed by then.
    """

    def __init__(self, folder: Path, *, whole_schemas: bool = False) -> None:
        """Opens nothing yet.

        Args:
            folder: Of the databases.
            whole_schemas: Whether shared examples also get the schema of their whole database (CREDIT-SQL 3.4).
        """
        self._folder = folder
        self._whole_schemas = whole_schemas
        self._open: dict[str, Database] = {}

    def __call__(self, name: str) -> Database:
        """The database of that name.

        Raises:
            DatabaseUnavailable: The folder has none, or it cannot be opened.
        """
        database = self._open.pop(name, None) or self._opened(name)
        self._open[name] = database  # the last one used is the last in order
        if len(self._open) > _OPEN:
            self._open.pop(next(iter(self._open))).close()
        return database

    def _opened(self, name: str) -> Database:
        if name != Path(name).name:
            raise DatabaseUnavailable(f"{brief_repr(name)} is not the name of a database")
        try:
            for path in (
                self._folder / name / f"{name}.sqlite",
                self._folder / f"{name}.sqlite",
                self._folder / f"{name}.db",
            ):
                if path.is_file():
                    return Database.open(path)
        except (OSError, ValueError) as error:  # longer than a file's name may be, with characters that none has
            raise DatabaseUnavailable(f"{brief_repr(name)} is not the name of a database: {one_line(error)}") from None
        raise DatabaseUnavailable(f"{self._folder} holds no database {brief_repr(name)}")

    def with_schemas(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Examples with what they lack: the part of the schema that they use, and private ones their owner.

        Those whose database is not here come back as they are: adding them gives the reason.
        """
        for example in examples:
            try:
                found = self._owned(example if example.schema else self._with_schema(example))
                whole = self._whole_schemas and found.shared and not found.database_schema
                yield replace(found, database_schema=self._whole(found.database)) if whole else found
            except (DatabaseUnavailable, SQLParseError):
                yield example

    def _whole(self, name: str) -> str:
        return render_schema(self(name).schema(), samples=0)

    def _with_schema(self, example: Example) -> Example:
        made = example_of(self(example.database), example.question, example.sql)
        return replace(example, schema=made.schema)

    def _owned(self, example: Example) -> Example:
        """A file cannot tell whose an example is: it is this folder's database's, or nobody's where it is shared.

        A private one that names another owner stays as it is, to be refused (`runs_on`).
        """
        if example.shared and not example.owner:
            return example
        identity = database_identity(self(example.database))
        if example.shared and example.owner != identity:
            return replace(example, owner="")
        return replace(example, owner=example.owner or identity)

    def close(self) -> None:
        """Closes the databases."""
        while self._open:
            self._open.popitem()[1].close()
