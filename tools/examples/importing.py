"""Reading of examples from JSON lines, benchmark files and people's verified questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from sqlglot import exp

from ..database import Database, Table, render_schema
from ..database.rendering.compact import parse_compact_schema
from ..errors import DatabaseUnavailable, ExampleRefused, ExampleStoreError, QueryError, SQLParseError
from ..record_files import read_json, read_records, read_text_file
from ..results import same_result
from ..sql import Query, read_query
from ..sql.contradictions import find_missing_rank
from ..sql.mend import mend_string_quotes
from ..sql.parse import join_split_operators, return_default_if_unparsable
from ..words import make_word_set, stems
from .example import CheckedExample, Example, brief_repr, one_line, parse_example_fields, parse_example_json
from .rights import database_identity, make_example, render_used_tables
from .store import ExampleStore, check_example, make_refusal_error

_NAMES = {
    "question": ("utterance", "question"),
    "sql": ("query", "sql"),  # Spider's `sql` is a parse; its `query` is the SQL
    "database": ("database_id", "db_id", "database"),
}
"""What benchmarks call the fields."""

_OPEN = 16
"""Databases of a folder that are open at once: a system allows a process some hundred files."""

_MASKED = re.compile(
    r"\[?\b(?:MASK|VALUE|UNK)\b\]?|<\s*(?:mask|value|unk|literal)\s*>|\[(?:mask|value|unk|literal)\]|_{2,}"
)
_MASKED_TEXTS = make_word_set("? _ [mask] <mask> mask terminal value [value] <value> <unk>")


def read_examples(path: Path, refuse: Callable[[str], object]) -> Iterator[Example]:
    """Yield the examples of a file, in file order.

    Text in double quotes is put into single ones (`fix_string_quotes`); an example with a fault (`find_example_fault`)
    is refused.

    Args:
        path: `.jsonl`: an example a line, with the fields of `Example`. `.json`: a list of objects with `question`,
            `query` and `db_id` (Spider's layout), or of dialogues with `database_id` and an `interaction` of
            `utterance` and `query` (CoSQL's), whose examples are marked as one dialogue in `source`.
        refuse: Is given the place and the reason of each record that is no example; the rest is read.

    Raises:
        ExampleStoreError: The file is missing or not of one of these forms; the message names the place.
    """
    for place, record in _iterate_record_parsers(path):
        try:
            example = fix_string_quotes(check_example(record()))
            if wrong := find_example_fault(example.question, example.sql):
                raise make_refusal_error(example, wrong)
        except (ExampleStoreError, ExampleRefused) as error:
            refuse(f"{place}: {error}")
        else:
            yield example


def fix_string_quotes(example: Example) -> Example:
    """Return the example with double-quoted texts in its SQL put in single quotes."""
    tables = parse_compact_schema(example.schema).tables
    columns = {column.name.lower() for table in tables for column in table.columns}
    return replace(example, sql=mend_string_quotes(example.sql, columns))


@return_default_if_unparsable("")
def find_example_fault(question: str, sql: str) -> str:
    """Return why an example that can be stored would mislead a model; empty if nothing is wrong."""
    query = Query.of(sql, "sqlite")
    texts = (literal.name.strip().lower() for literal in query.find(exp.Literal) if literal.is_string)
    if _MASKED.search(question) or not _MASKED_TEXTS.isdisjoint(texts):
        return "a value is masked: it matches nothing in the question"
    if superlative := find_missing_rank(question, query):
        return f"the question asks for {superlative!r}, and the query ranks nothing"
    return ""


def _iterate_record_parsers(path: Path) -> Iterator[tuple[str, Callable[[], Example]]]:
    """Yield each record's location in the file and a function that parses the record."""
    if path.suffix in (".csv", ".yaml", ".yml"):
        raise ExampleStoreError(f"{path}: name the database of its examples with --db, which CSV and YAML files need")
    text = read_text_file(path, ExampleStoreError)
    content = [] if path.suffix == ".jsonl" else read_json(text, path, ExampleStoreError)
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):  # other line ends may stand within a JSON text
            if line.strip():
                yield f"{path}, line {number}", partial(parse_example_json, line)
    if not isinstance(content, list):
        raise ExampleStoreError(f"{path} is not a list of examples; for one example per line, name it .jsonl")
    for number, item in enumerate(cast(list[Any], content), 1):
        place, fields = f"{path}, item {number}", _get_dict(item)
        if not isinstance(turns := fields.get("interaction"), list):
            yield place, partial(_parse_benchmark_example, item, f"import:{path.stem}")
            continue
        dialogue = f"import:{path.stem}-{crc32(text.encode()):08x}#{number}"  # other files may have this one's name
        earlier: tuple[str, ...] = ()
        for count, turn in enumerate(map(_get_dict, cast(list[Any], turns)), 1):
            place_fields = {"database": fields.get("database_id"), "turn": count, "earlier": earlier}
            yield f"{place}, turn {count}", partial(_parse_benchmark_example, turn, dialogue, **place_fields)
            earlier += (str(turn.get("utterance", "")),)


def _get_dict(item: Any) -> dict[str, Any]:
    return cast(dict[str, Any], item) if isinstance(item, dict) else {}


def _get_named_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question, SQL and database of a record, whatever its file calls them."""
    return {name: next((record[key] for key in names if key in record), None) for name, names in _NAMES.items()}


def _parse_benchmark_example(item: Any, source: str, **more_fields: Any) -> Example:
    if not isinstance(item, dict):
        raise ExampleStoreError("not an object")
    fields = _get_named_fields(_get_dict(item))
    if isinstance(sql := fields["sql"], str):
        fields["sql"] = join_split_operators(sql)
    return parse_example_fields({**fields, "source": source, **more_fields})


class DatabaseFolder:
    """A folder of SQLite databases, opened by name; a few stay open."""

    def __init__(self, folder: Path, *, whole_schemas: bool = False) -> None:
        """Open no database yet; `whole_schemas` also stores whole schemas (CREDIT-SQL 3.4)."""
        self._folder = folder
        self._whole_schemas = whole_schemas
        self._open: dict[str, Database] = {}

    def __call__(self, name: str) -> Database:
        """Return the database of that name; raise `DatabaseUnavailable` if it cannot be opened."""
        if name in self._open:
            return self._open[name]
        places = (self._folder / place for place in (f"{name}/{name}.sqlite", f"{name}.sqlite", f"{name}.db"))
        try:
            path = next((place for place in places if name == Path(name).name and place.is_file()), None)
        except (OSError, ValueError) as error:  # longer than a file's name may be, with characters that none has
            raise DatabaseUnavailable(f"{brief_repr(name)} is not the name of a database: {one_line(error)}") from None
        if path is None:
            raise DatabaseUnavailable(f"{self._folder} holds no database {brief_repr(name)}")
        if len(self._open) == _OPEN:
            self.close()
        return self._open.setdefault(name, Database.open(path))

    def complete_examples(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield the examples, with missing schemas and owners filled in.

        Examples whose database is not in the folder are unchanged: adding them gives the reason.
        """
        for example in examples:
            try:
                database = self(example.database)
                schema = example.schema or render_used_tables(example.sql, database.schema())
                full_schema = example.database_schema
                if self._whole_schemas and example.shared and not full_schema:
                    full_schema = render_schema(database.schema(), samples=0)
                # A file cannot tell whose an example is: it is this folder's database's, or nobody's where it is
                # shared. A private one that names another owner stays as it is, and `make_example_verifier` refuses it.
                owner, identity = example.owner, database_identity(database)
                owner = ("" if owner != identity else owner) if example.shared else owner or identity
                yield replace(example, schema=schema, database_schema=full_schema, owner=owner)
            except (DatabaseUnavailable, SQLParseError):
                yield example

    def close(self) -> None:
        """Close all open databases of the folder."""
        while self._open:
            self._open.popitem()[1].close()


def read_verified_examples(
    path: Path, database: Database, store: ExampleStore, author: str, refuse: Callable[[str], object]
) -> list[CheckedExample]:
    """Read verified questions from a file, and run the SQL of each on the database.

    The records have `question` and `sql` (or `query`), perhaps `simplified` and `author`, else the one that is given;
    `refuse` gets the reason of each that is no pair or does not run. An equal question in the store with another result
    is a doubt.

    Raises:
        SettingsError: The file cannot be read, or is no list.
    """
    pairs: list[CheckedExample] = []
    results: dict[tuple[str, ...], tuple[str, Table]] = {}
    for number, record in enumerate(read_records(path), 1):
        texts = {name: text for name, text in _get_dict(record).items() if isinstance(text, str) and text.strip()}
        question, sql, _ = _get_named_fields(texts).values()
        if not question or not sql:
            missing = "sql" if question else "question"
            names = ", ".join(map(repr, _get_dict(record)))
            refuse(f"{path}, record {number}: there is no text for {missing!r}; its fields are {names or 'missing'}")
            continue
        try:
            by, simplified = texts.get("author") or author, texts.get("simplified", "")
            example = make_example(database, question, sql, simplified=simplified, source="verified", author=by)
            check_example(example)
            result = database.execute(sql)
        except (ExampleRefused, SQLParseError, QueryError) as error:
            refuse(f"refused {one_line(question)!r}: {one_line(error)}")
            continue
        earlier = results.setdefault(tuple(stems(question)), (sql, result))
        pairs.append(CheckedExample(example, _find_doubt(example, result, database, store, earlier)))
    return pairs


def _find_doubt(
    example: Example, result: Table, database: Database, store: ExampleStore, earlier: tuple[str, Table]
) -> str:
    """Return why an example's SQL may not answer its question; empty if nothing is wrong.

    `earlier` is the first query of the file for the same question, perhaps its own.
    """
    query = read_query(example.sql, database.schema())
    if query is not None and (superlative := find_missing_rank(example.question, query)):
        return f"the question asks for {superlative!r}, and the query ranks nothing"
    if not result.rows:
        return "its result is empty"
    if len(result.rows) == 1 and all(cell is None for cell in result.rows[0]):
        return "its result is NULL"
    if query is not None and query.limit is not None and not query.ranks_rows:
        return "it takes the first rows of an unsorted result"
    others = [earlier]
    near = store.seen_by(database).nearest("question", example.question, 3, example.owner, shared=False)
    for hit in near if earlier[1] is result else ():
        if stems(hit.example.question) == stems(example.question) and hit.example.sql != example.sql:
            with suppress(QueryError):
                others.append((hit.example.sql, database.execute(hit.example.sql)))
    different = [sql for sql, table in others if sql != example.sql and not same_result(result, table)]
    return f"the same question exists with another result: {one_line(different[0])}" if different else ""
