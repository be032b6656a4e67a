"""Few-shot examples: a store, embeddings, selectors, and seeds that come with tableturn.

>>> from tableturn.tools.examples import ExampleQuery, make_default_example_store, make_selector
>>> with make_default_example_store() as store:
...     for example in make_selector("skeleton", store, k1=2, k2=0).select(ExampleQuery("How many boats do we have?")):
...         print(example.sql)
"""

from .compact_schema import regularize_example
from .embedding import embed, make_embedding
from .entry import compute_shared_example_id, example_id, make_example_from_query, make_example_verifier
from .example import AddExamplesResult, Example, FoundExample, to_json
from .importing import DatabaseFolder, read_examples
from .masking import mask
from .rights import (
    VERIFIED,
    can_remove_example,
    choose_best_per_question,
    database_identity,
    should_replace_example,
)
from .seeds import (
    load_seed_dialogues,
    load_seed_programs,
    make_default_example_store,
    open_existing_store,
    open_store_with_seeds,
    seed_examples,
)
from .selectors import ExampleQuery, ExampleSelector, SelectorKind, choose_examples, make_selector
from .soundness import find_contradiction
from .store import ExampleStore
from .tables import get_store_folder, has_example_store
from .verified import VerifiedAnswer, find_verified_answer

__all__ = [
    "VERIFIED",
    "AddExamplesResult",
    "DatabaseFolder",
    "Example",
    "ExampleQuery",
    "ExampleSelector",
    "ExampleStore",
    "FoundExample",
    "SelectorKind",
    "VerifiedAnswer",
    "can_remove_example",
    "choose_best_per_question",
    "choose_examples",
    "compute_shared_example_id",
    "database_identity",
    "embed",
    "example_id",
    "find_contradiction",
    "find_verified_answer",
    "get_store_folder",
    "has_example_store",
    "load_seed_dialogues",
    "load_seed_programs",
    "make_default_example_store",
    "make_embedding",
    "make_example_from_query",
    "make_example_verifier",
    "make_selector",
    "mask",
    "open_existing_store",
    "open_store_with_seeds",
    "read_examples",
    "regularize_example",
    "seed_examples",
    "should_replace_example",
    "to_json",
]
