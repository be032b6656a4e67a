"""The value index: which of a database's values a question mentions, in the database's spelling."""

from .index import ValueIndex
from .likely import certain, likely
from .match import ValueMatch
from .store import IndexBounds

__all__ = ["IndexBounds", "ValueIndex", "ValueMatch", "certain", "likely"]
