"""A few-shot example, its form in files and stores, and results about examples."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from ..database.rendering import text as rendered
from ..errors import ExampleStoreError
from ..validation import describe_fault

Text = Annotated[str, StringConstraints(max_length=100_000, pattern="^[^\x00]*$")]
"""A text of an example: no prompt would show more, and a database's text cannot hold NUL."""


@dataclass(frozen=True)
class Example:
    """A few-shot example: a question with its SQL."""

    question: Text  # self-contained, as asked
    sql: Text
    database: Text  # short name of the database that it was asked of
    # That database's schema in the compact prompt form (the tables that the SQL uses are enough), and the whole one in
    # the same form: empty where `schema` has to do.
    schema: Text = ""
    simplified: Text = ""  # the question in plain common words; empty if not simplified yet
    # `seed`, `import:NAME` (a dialogue: `import:NAME-HASH#NUMBER`), `approved` by a person in use, `verified` from a
    # file of one's own.
    source: Text = "seed"
    shared: bool = True  # whether other databases' questions may see it
    added: datetime | None = None
    # Whose it is: `database_identity` of its database. Where it is not shared, it is found under that alone. Empty:
    # `database` itself stands for it.
    owner: Text = ""
    rephrased: Text = ""  # in the regular form "Give me ..." (CREDIT-SQL 3.1); empty where it has none of its own
    # Under which rights its SQL was run and what it read, as `write_approval_record` writes it; empty without record.
    rights: Text = ""
    database_schema: Text = ""
    turn: int = 0  # its place in the dialogue that `source` names, from 1; 0 outside one
    author: Text = ""  # who added it; empty where nobody said
    earlier: tuple[Text, ...] = ()  # the questions before it in that dialogue, also of turns that are not in the store

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", revalidate_instances="always")


Index = Literal["question", "skeleton", "sql"]
"""What a lookup goes by."""


@dataclass(frozen=True)
class FoundExample:
    """An example found in the store, with its id, similarity and SQL skeleton's id."""

    id: str
    example: Example
    similarity: float = 1.0
    skeleton: str = ""


@dataclass(frozen=True)
class CheckedExample:
    """An example, and the reason not to add it; empty if there is none."""

    example: Example
    reason: str = ""


@dataclass(frozen=True)
class AddedExamples:
    """The numbers of examples that were added, already stored, refused and updated."""

    added: int = 0
    known: int = 0
    refused: tuple[CheckedExample, ...] = ()
    updated: int = 0


@dataclass(frozen=True)
class StoreStats:
    """Statistics of an example store; `sql_skeletons` counts distinct ones per owner."""

    examples: int
    shared: int
    by_database: Mapping[str, int]
    by_source: Mapping[str, int]
    sql_skeletons: int
    embedding: str


def one_line(text: object, longest: int = 240) -> str:
    """Return an untrusted text as one line of printable characters, cut if it is long."""
    return rendered.one_line(" ".join(str(text).split()), longest)


def brief_repr(value: object) -> str:
    """Return the `repr` of a value, shortened if it is long or deeply nested."""
    return repr(one_line(value, 80)) if isinstance(value, str) else one_line(reprlib.repr(value), 80)


_READER = TypeAdapter(Example)


def to_json(example: Example) -> str:
    """Return an example as one line of JSON, with times in ISO 8601."""
    return json.dumps(asdict(example), ensure_ascii=False, default=datetime.isoformat)


def parse_example_fields(content: Mapping[str, Any] | Example) -> Example:
    """Return an example of untrusted fields; raise `ExampleStoreError` if one is invalid."""
    if not isinstance(content, Example):  # `examples list --json` prints an `id`
        content = {"source": "import"} | {name: value for name, value in content.items() if name != "id"}
    try:
        return _READER.validate_python(content)
    except ValidationError as error:
        raise ExampleStoreError(f"an example's {describe_fault(error.errors()[0])}") from None


@lru_cache(maxsize=1_024)
def parse_example_json(line: str) -> Example:
    """Parse an example from an untrusted JSON line; raise `ExampleStoreError` if invalid."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ExampleStoreError(f"not a line of JSON: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ExampleStoreError("an example must be a JSON object")
    return parse_example_fields(cast("dict[str, Any]", content))
