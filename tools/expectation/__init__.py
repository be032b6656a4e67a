"""The form of query that a question's wording leads to expect, to tell likely drafts from unlikely ones."""

from .expect import Expectation, expect
from .items import LinkedItem, items_fit
from .traits import Traits, followed, traits
from .wording import grams

__all__ = ["Expectation", "LinkedItem", "Traits", "expect", "followed", "grams", "items_fit", "traits"]
