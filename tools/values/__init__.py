"""The value index: database values that a question mentions, in the database's spelling."""

from .index import ValueIndex
from .likely import select_likely_values
from .match import ValueMatch
from .store import IndexBounds

__all__ = ["IndexBounds", "ValueIndex", "ValueMatch", "select_likely_values"]
