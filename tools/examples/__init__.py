"""Few-shot examples: a store, embeddings, four ways of choosing, and our own seeds."""

from .embedding import Embedding, HashedEmbedding, embed
from .example import Example
from .query import ExampleQuery, Selector
from .seeds import DialogueTurn, SeedDialogue, default_store, seed_dialogues, seed_examples, seed_schemas
from .selectors import SelectorKind, make_selector
from .store import Added, ExampleStore, Found, Refusal, Stats

__all__ = [
    "Added",
    "DialogueTurn",
    "Embedding",
    "Example",
    "ExampleQuery",
    "ExampleStore",
    "Found",
    "HashedEmbedding",
    "Refusal",
    "SeedDialogue",
    "Selector",
    "SelectorKind",
    "Stats",
    "default_store",
    "embed",
    "make_selector",
    "seed_dialogues",
    "seed_examples",
    "seed_schemas",
]
