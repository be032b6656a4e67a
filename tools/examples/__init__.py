"""Few-shot examples: a store, embeddings, selectors, and seeds that come with tableturn.

>>> from tableturn.tools.examples import ExampleQuery, make_default_store, make_selector
>>> with make_default_store() as store:
...     for example in make_selector("skeleton", store, k1=2, k2=0).select(ExampleQuery("How many boats do we have?")):
...         print(example.sql)
"""

from .embedding import check_embedding_name, embed, make_embedding
from .example import AddedExamples, Example, FoundExample, to_json
from .importing import DatabaseFolder, read_examples
from .masking import mask_question, regularize_example
from .rights import (
    VERIFIED,
    choose_best_per_question,
    database_identity,
    is_example_of_database,
    make_example,
    make_example_verifier,
)
from .seeds import load_dialogues, load_programs, make_default_store, open_existing, open_seeded_store, seed_examples
from .selectors import ExampleQuery, ExampleSelector, SelectorKind, choose_examples, make_selector
from .store import ENOUGH_SHARED, ExampleStore, example_id
from .tables import get_store_folder, has_example_store
from .verified import VerifiedAnswer, find_verified

__all__ = [
    "ENOUGH_SHARED",
    "VERIFIED",
    "AddedExamples",
    "DatabaseFolder",
    "Example",
    "ExampleQuery",
    "ExampleSelector",
    "ExampleStore",
    "FoundExample",
    "SelectorKind",
    "VerifiedAnswer",
    "check_embedding_name",
    "choose_best_per_question",
    "choose_examples",
    "database_identity",
    "embed",
    "example_id",
    "find_verified",
    "get_store_folder",
    "has_example_store",
    "is_example_of_database",
    "load_dialogues",
    "load_programs",
    "make_default_store",
    "make_embedding",
    "make_example",
    "make_example_verifier",
    "make_selector",
    "mask_question",
    "open_existing",
    "open_seeded_store",
    "read_examples",
    "regularize_example",
    "seed_examples",
    "to_json",
]
