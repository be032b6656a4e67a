"""Few-shot examples: a store, embeddings, selectors, and seeds that come with tableturn.

>>> from tableturn.tools.examples import ExampleQuery, default_store, make_selector
>>> with default_store() as store:
...     for example in make_selector("skeleton", store, k1=2, k2=0).select(ExampleQuery("How many boats do we have?")):
...         print(example.sql)
"""

from .compact_schema import regular_example
from .embedding import embed, make_embedding
from .entry import example_id, example_of, make_verifier, shared_id
from .example import AdditionResult, Example, FoundExample, to_json
from .importing import DatabaseFolder, read_examples
from .masking import mask
from .rights import VERIFIED, choose_foremost, database_identity, is_replaced, may_remove
from .seeds import default_store, open_existing, open_with_seeds, seed_dialogues, seed_examples, seed_programs
from .selectors import ExampleQuery, Selector, SelectorKind, choose_examples, make_selector
from .soundness import find_contradiction
from .store import ExampleStore
from .tables import default_location, is_made
from .verified import VerifiedAnswer, find_answer

__all__ = [
    "VERIFIED",
    "AdditionResult",
    "DatabaseFolder",
    "Example",
    "ExampleQuery",
    "ExampleStore",
    "FoundExample",
    "Selector",
    "SelectorKind",
    "VerifiedAnswer",
    "choose_examples",
    "choose_foremost",
    "database_identity",
    "default_location",
    "default_store",
    "embed",
    "example_id",
    "example_of",
    "find_answer",
    "find_contradiction",
    "is_made",
    "is_replaced",
    "make_embedding",
    "make_selector",
    "make_verifier",
    "mask",
    "may_remove",
    "open_existing",
    "open_with_seeds",
    "read_examples",
    "regular_example",
    "seed_dialogues",
    "seed_examples",
    "seed_programs",
    "shared_id",
    "to_json",
]
