"""Few-shot examples: a store, embeddings, four ways of choosing, and our own seeds.

>>> from tableturn.tools.examples import ExampleQuery, default_store, make_selector
>>> with default_store() as store:
...     for example in make_selector("skeleton", store, k1=2, k2=0).select(ExampleQuery("How many boats do we have?")):
...         print(example.sql)
"""

from .by_similarity import OwnFirst
from .chroma_backend import default_location, is_made
from .compact_schema import regular_example
from .contradictions import contradiction
from .embedding import Embedding, HashedEmbedding, embed
from .entry import Verify, example_id, meaning_of
from .example import Added, Example, Found, Near, Refusal, Stats
from .from_use import database_identity, example_of, runs_on
from .importing import DatabaseFolder, read_examples
from .masking import mask
from .other_embeddings import ChromaEmbedding, OpenAIEmbedding, make_embedding
from .payload import to_json
from .query import ExampleQuery, Selector
from .rights import VERIFIED, approval_of, foremost, gives_way, may_remove, readable
from .seeds import (
    DialogueTurn,
    SeedDialogue,
    SeedProgram,
    default_store,
    open_existing,
    open_with_seeds,
    seed_dialogues,
    seed_examples,
    seed_programs,
    seed_schemas,
)
from .selectors import SelectorKind, make_selector
from .store import ExampleStore
from .verified import Verified, answered_by

__all__ = [
    "VERIFIED",
    "Added",
    "ChromaEmbedding",
    "DatabaseFolder",
    "DialogueTurn",
    "Embedding",
    "Example",
    "ExampleQuery",
    "ExampleStore",
    "Found",
    "HashedEmbedding",
    "Near",
    "OpenAIEmbedding",
    "OwnFirst",
    "Refusal",
    "SeedDialogue",
    "SeedProgram",
    "Selector",
    "SelectorKind",
    "Stats",
    "Verified",
    "Verify",
    "answered_by",
    "approval_of",
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
    "readable",
    "regular_example",
    "runs_on",
    "seed_dialogues",
    "seed_examples",
    "seed_programs",
    "seed_schemas",
    "to_json",
]
