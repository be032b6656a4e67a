"""The value index: which of a database's values a question mentions, in the database's spelling."""

from .build import IndexBounds
from .index import ValueIndex
from .likely import certain, likely
from .match import ValueMatch

__all__ = ["IndexBounds", "ValueIndex", "ValueMatch", "certain", "likely"]
