"""Few-shot examples: a store, embeddings, the ways of choosing, and our own seeds.

>>> from tableturn.tools.examples import ExampleQuery, default_store, make_selector
>>> with default_store() as store:
...     for example in make_selector("skeleton", store, k1=2, k2=0).select(ExampleQuery("How many boats do we have?")):
...         print(example.sql)
"""

from .compact_schema import regular_example
from .embedding import embed, make_embedding
from .entry import example_id, example_of, meaning_of, runs_on
from .example import Added, Example, Found, to_json
from .importing import DatabaseFolder, read_examples
from .masking import mask
from .rights import VERIFIED, database_identity, foremost, gives_way, may_remove
from .seeds import default_store, open_existing, open_with_seeds, seed_dialogues, seed_examples, seed_programs
from .selectors import ExampleQuery, Selector, SelectorKind, choose_examples, make_selector
from .soundness import contradiction
from .store import ExampleStore
from .tables import default_location, is_made
from .verified import Verified, answered_by

__all__ = [
    "VERIFIED",
    "Added",
    "DatabaseFolder",
    "Example",
    "ExampleQuery",
    "ExampleStore",
    "Found",
    "Selector",
    "SelectorKind",
    "Verified",
    "answered_by",
    "choose_examples",
    "contradiction",
    "database_identity",
    "default_location",
    "default_store",
    "embed",
    "example_id",
    "example_of",
    "foremost",
    "gives_way",
    "is_made",
    "make_embedding",
    "make_selector",
    "mask",
    "may_remove",
    "meaning_of",
    "open_existing",
    "open_with_seeds",
    "read_examples",
    "regular_example",
    "runs_on",
    "seed_dialogues",
    "seed_examples",
    "seed_programs",
    "to_json",
]
