"""What people approved on a database comes before what was chosen for its form."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .example import Example
from .keys import example_id
from .query import ExampleQuery, Selector
from .store import ExampleStore


@dataclass(frozen=True)
class OwnFirst:
    """A selector's examples, after the k nearest that belong to the question's database alone.

    Those show the very tables that are asked about, which no example of the same form over other data does, and are
    worth showing whatever a selector goes by. A database without any of its own is shown what it was before.
    """

    store: ExampleStore
    others: Selector
    k: int = 3

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`."""
        own = self.store.nearest("question", query.question, self.k, query.database, shared=False)
        chosen: dict[str, Example] = {}
        for example in (*(hit.example for hit in own), *self.others.select(query)):
            chosen.setdefault(_meaning(example), example)
        return tuple(chosen.values())


def _meaning(example: Example) -> str:
    """The same for an example that is its database's own and for its shared twin."""
    return example_id(replace(example, shared=True))
