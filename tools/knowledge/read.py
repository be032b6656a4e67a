"""Reading knowledge files, and what they extend, into entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import KnowledgeError
from .entry import Entry
from .file import ColumnNote, KnowledgeFile, TableNote
from .file_text import text_of
from .imports import import_file
from .yaml_text import load_yaml

DATABASE = "database"
"""In `extends`: the comments that the database itself holds."""

Layers = tuple[tuple[Entry, ...], ...]
"""The entries of several files; of two that define the same, the later file's counts."""


def read_knowledge(path: str | Path, files: list[Path] | None = None) -> Layers:
    """The entries of a knowledge file and of the files that it extends, those beneath first.

    `database` among what is extended gives a layer with one entry, which `Knowledge` replaces by the comments.

    Args:
        path: The file.
        files: Gets every file that is read, the first one first.

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
    content = None if path.suffix.lower() in (".md", ".markdown") else load_yaml(text_of(path), str(path))
    imported = import_file(path, content)
    if imported is not None:
        yield imported
        return
    file = parse_file(content, str(path))
    for below in file.extends:
        if below == DATABASE:
            yield (Entry("convention", DATABASE, source=DATABASE),)
        else:
            yield from _layers(path.parent / below, (*above, path.resolve()), files)
    yield tuple(entries_of(file, path.name))


def parse_file(content: object, place: str) -> KnowledgeFile:
    """The file's content as its fields.

    Raises:
        KnowledgeError: It is not of that form.
    """
    if content is not None and not isinstance(content, Mapping):
        raise KnowledgeError(f"{place} is no knowledge file: it holds terms:, metrics:, tables: and the like")
    try:
        return KnowledgeFile.model_validate(content or {})
    except ValidationError as error:
        raise KnowledgeError(f"{place}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    """The first fault in one line, with its place and, of an unknown field, the fields that there are."""
    from ..sql.suggest import nearest_names

    faults = error.errors(include_url=False)
    # A misspelt field is one too many and one missing: the former says what to do.
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    place = " > ".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        fields = _fields(fault["loc"])
        near = nearest_names(str(fault["loc"][-1]), fields, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(fields)}"
        return f"{place}: there is no field {fault['loc'][-1]!r} here; {hint}"
    message = "this is missing" if fault["type"] == "missing" else fault["msg"]
    return f"{place}: {message}"


def _fields(place: Sequence[Any]) -> list[str]:
    from .file import Convention, Join, Metric, Never, Term

    if len(place) == 1:
        return list(KnowledgeFile.model_fields)
    models: dict[str, Any] = {
        "terms": Term,
        "metrics": Metric,
        "tables": ColumnNote if "columns" in place[:-1] else TableNote,
        "joins": Join,
        "conventions": Convention,
        "never": Never,
    }
    return list(models[str(place[0])].model_fields)


def entries_of(file: KnowledgeFile, source: str) -> Iterator[Entry]:
    """The file's entries, in its order."""

    def entry(kind: Any, name: str, part: Any, text: str, **more: Any) -> Entry:
        written = {"author": part.author or file.author, "added": part.added, "rights": part.rights}
        return Entry(kind, name, text, source=source, **written, **more)

    for name, term in file.terms.items():
        items = tuple(map(item_of, term.about))
        yield entry("term", name, term, term.means, sql=term.sql, also=tuple(term.also), about=items)
    for name, metric in file.metrics.items():
        text = "; ".join(filter(None, [metric.means, metric.grain]))
        sql = f"{metric.expression}\n{metric.where}" if metric.where else metric.expression
        items = tuple(map(item_of, metric.about))
        yield entry("metric", name, metric, text, sql=sql, also=tuple(metric.also), about=items)
    for name, table in file.tables.items():
        if table.means or table.also:
            yield entry("table", name, table, table.means, also=tuple(table.also), about=((name, ""),))
        for column, note in table.columns.items():
            values = tuple(note.values.items())
            if not (note.means or note.also or values):
                continue
            place = ((name, column),)
            also = tuple(note.also)
            yield entry("column", f"{name}.{column}", note, note.means, also=also, about=place, values=values)
    for join in file.joins:
        yield entry("join", join.on, join, join.means, sql=join.on)
    for rule in file.conventions:
        yield entry("convention", rule.says, rule, rule.says, about=tuple(map(item_of, rule.about)))
    for never in file.never:
        instead = f"use {never.instead} instead" if never.instead else ""
        text = "; ".join(filter(None, [instead, never.why]))
        yield entry("never", never.use, never, text, about=(item_of(never.use),))


def item_of(name: str) -> tuple[str, str]:
    """`table` or `table.column`, as `Entry.about` has it; the schema decides where a name itself has a point."""
    table, _, column = name.rpartition(".")
    return (table, column) if table else (name, "")
