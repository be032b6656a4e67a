"""Query results: whether two of them give the same answer."""

from .columns import Work
from .compare import Rows, compare_results, same_result

__all__ = ["Rows", "Work", "compare_results", "same_result"]
