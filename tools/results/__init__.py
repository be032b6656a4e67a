"""Query results: whether two of them give the same answer."""

from .compare import Rows, same_result

__all__ = ["Rows", "same_result"]
