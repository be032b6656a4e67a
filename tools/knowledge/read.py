"""Reading knowledge files, and what they extend, into entries; and where they are, if nobody says."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from ..errors import KnowledgeError
from ..folders import data_folder
from ..words import nearest_names
from .entry import Entry, EntryKind
from .file import KnowledgeFile
from .imports import from_markdown, import_file

if TYPE_CHECKING:
    from ..database import Database

DATABASE = "database"  # in `extends`: the comments that the database itself holds

# The entries of several files; of two that define the same, the later file's counts.
Layers = tuple[tuple[Entry, ...], ...]

_ENDING = ".knowledge.yaml"
_LARGEST = 5_000_000  # bytes of one file
_MOST = 1_000_000  # values in one file, repeated ones counted each time: a page of aliases can stand for billions


def knowledge_path(database: Database) -> Path:
    """Return the file that belongs to a database: the one beside it, else one in the data folder, if it is made."""
    own, otherwise = _places(database.location, database.name, data_folder())
    return own if own is not None and os.path.isfile(own) else otherwise


@lru_cache(maxsize=256)
def _places(location: str, name: str, folder: Path) -> tuple[Path | None, Path]:
    """Return the file beside a database that is a file, and the one in the data folder; every turn asks often."""
    path = Path(location)
    beside = path.with_name(path.stem + _ENDING) if "://" not in location and path.is_file() else None
    code = hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return beside, folder / "knowledge" / f"{Path(name).name}-{code}{_ENDING}"


def read_knowledge(path: str | Path, files: list[Path] | None = None) -> Layers:
    """Return the entries of a knowledge file and of the files that it extends, those beneath first.

    `database` among what is extended gives a layer with one entry, which `Knowledge` replaces by the comments.
    Every file that is read is added to `files`, the first one first.

    Raises:
        KnowledgeError: A file is missing or wrong; the message names the file, the place and what to do.
    """
    return tuple(_layers(Path(path), (), [] if files is None else files))


def _layers(path: Path, above: tuple[Path, ...], files: list[Path]) -> Iterator[tuple[Entry, ...]]:
    if path.resolve() in above:
        raise KnowledgeError(f"{path} extends itself: take it out of `extends` of one of the files")
    if path.resolve() in files:
        return  # two files extend it: it lies beneath both
    files.append(path.resolve())
    file = parse_file(text_of(path), path)
    if not isinstance(file, KnowledgeFile):
        yield file
        return
    for below in file.extends:
        if below == DATABASE:
            yield (Entry("convention", DATABASE, source=DATABASE),)
        else:
            yield from _layers(path.parent / below, (*above, path.resolve()), files)
    yield tuple(_entries_of(file, path.name))


def text_of(path: Path) -> str:
    """Return a file's text; raise `KnowledgeError` if it cannot be read, or is too large."""
    try:
        if path.exists() and not path.is_file():
            raise KnowledgeError(f"cannot read the knowledge file {path}: it is no regular file")
        if path.stat().st_size > _LARGEST:
            raise KnowledgeError(f"{path} has more than {_LARGEST:,} bytes: divide it with `extends`")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise KnowledgeError(f"cannot read the knowledge file {path}: {reason}") from None


def parse_file(text: str, path: Path) -> KnowledgeFile | tuple[Entry, ...]:
    """Return a file's fields; of Markdown notes and a dbt `schema.yml` the entries."""
    if path.suffix.lower() in (".md", ".markdown"):
        return from_markdown(text, path.name)
    content = load_yaml(text, str(path))
    if (imported := import_file(path, content)) is not None:
        return imported
    if content is not None and not isinstance(content, Mapping):
        raise KnowledgeError(f"{path} is no knowledge file: it holds terms:, metrics:, tables: and the like")
    try:
        return KnowledgeFile.model_validate(content or {})
    except ValidationError as error:
        raise KnowledgeError(f"{path}: {_first_fault(error)}") from None


def _first_fault(error: ValidationError) -> str:
    """Return the first fault in one line, with its place and, of an unknown field, the fields that there are."""
    faults = error.errors(include_url=False)
    # A misspelt field is one too many and one missing: the former says what to do.
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    *names, last = fault["loc"]
    place = " > ".join(map(str, fault["loc"]))
    if fault["type"] != "extra_forbidden":
        return f"{place}: {'this is missing' if fault['type'] == 'missing' else fault['msg']}"
    model: type[BaseModel] = KnowledgeFile
    for name in names[::2]:  # between the names of fields stand those that people give, or numbers
        model = next(_models_in(model.model_fields[str(name)].annotation))
    fields = list(model.model_fields)
    near = nearest_names(str(last), fields, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(fields)}"
    return f"{place}: there is no field {last!r} here; {hint}"


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _entries_of(file: KnowledgeFile, source: str) -> Iterator[Entry]:
    """Yield the file's entries, in its order."""

    def entry(kind: EntryKind, name: str, part: Any, *texts: str, **more: Any) -> Entry:
        if "about" not in more:
            more["about"] = tuple(map(_item_of, getattr(part, "about", ())))
        written = {"author": part.author or file.author, "added": part.added, "rights": part.rights, "source": source}
        also = tuple(getattr(part, "also", ()))
        return Entry(kind, name, "; ".join(filter(None, texts)), also=also, **written, **more)

    for name, term in file.terms.items():
        yield entry("term", name, term, term.means, sql=term.sql)
    for name, metric in file.metrics.items():
        sql = f"{metric.expression}\n{metric.where}" if metric.where else metric.expression
        yield entry("metric", name, metric, metric.means, metric.grain, sql=sql)
    for name, table in file.tables.items():
        if table.means or table.also:
            yield entry("table", name, table, table.means, about=((name, ""),))
        for column, note in table.columns.items():
            if note.means or note.also or note.values:
                values = tuple(note.values.items())
                yield entry("column", f"{name}.{column}", note, note.means, about=((name, column),), values=values)
    for join in file.joins:
        yield entry("join", join.on, join, join.means, sql=join.on)
    for rule in file.conventions:
        yield entry("convention", rule.says, rule, rule.says)
    for never in file.never:
        instead = f"use {never.instead} instead" if never.instead else ""
        yield entry("never", never.use, never, instead, never.why, about=(_item_of(never.use),))


def _item_of(name: str) -> tuple[str, str]:
    """Split `table.column`, as `Entry.about` has it; the schema decides where a name itself has a point."""
    table, _, column = name.rpartition(".")
    return (table, column) if table else (name, "")


def load_yaml(text: str, place: str) -> object:
    """Return the content of a YAML or JSON text, every scalar as text: `NO`, `1` and dates stay what was written.

    Raises:
        KnowledgeError: It is not YAML, or gives a key twice; the message has the line.
    """
    import yaml
    from yaml.nodes import MappingNode, Node, SequenceNode

    class Loader(yaml.BaseLoader):
        """Refuses what is given twice: the first would be lost without a word."""

    def mapping(loader: Any, node: Any) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = str(loader.construct_object(key_node, deep=True))
            if key in found:
                line = key_node.start_mark.line + 1
                raise KnowledgeError(f"{place}, line {line}: {key!r} stands there twice; keep one of them")
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    def size(node: Node, known: dict[int, int]) -> int:
        """Count the values that a node stands for, those that it repeats by aliases each time."""
        if id(node) not in known:
            known[id(node)] = _MOST  # of a node within itself
            parts: list[Any] = []
            if isinstance(node, SequenceNode):
                parts = node.value
            elif isinstance(node, MappingNode):
                parts = [part for pair in node.value for part in pair]
            known[id(node)] = 1 + sum(size(part, known) for part in parts)
        return known[id(node)]

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        loader = Loader(text)
        root = loader.get_single_node()
        if root is not None and size(root, {}) > _MOST:
            raise KnowledgeError(f"{place} stands for more than {_MOST:,} values with what its aliases repeat")
        return None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        raise KnowledgeError(f"{place} is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise KnowledgeError(f"{place} is nested too deeply") from None
