"""The form of query that a question's wording leads to expect, to tell likely drafts from unlikely ones."""

from .expect import Expectation, LinkedItem, expect, grams, items_fit
from .traits import Traits, followed, traits

__all__ = ["Expectation", "LinkedItem", "Traits", "expect", "followed", "grams", "items_fit", "traits"]
