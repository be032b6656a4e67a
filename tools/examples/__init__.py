"""Few-shot examples: a store, embeddings, four ways of choosing, and our own seeds."""

from .embedding import Embedding, HashedEmbedding, embed
from .example import Example
from .masking import mask
from .query import ExampleQuery, Selector
from .records import Added, Found, Near, Refusal, Stats
from .seeds import DialogueTurn, SeedDialogue, default_store, seed_dialogues, seed_examples, seed_schemas
from .selectors import SelectorKind, make_selector
from .store import ExampleStore

__all__ = [
    "Added",
    "DialogueTurn",
    "Embedding",
    "Example",
    "ExampleQuery",
    "ExampleStore",
    "Found",
    "HashedEmbedding",
    "Near",
    "Refusal",
    "SeedDialogue",
    "Selector",
    "SelectorKind",
    "Stats",
    "default_store",
    "embed",
    "make_selector",
    "mask",
    "seed_dialogues",
    "seed_examples",
    "seed_schemas",
]
