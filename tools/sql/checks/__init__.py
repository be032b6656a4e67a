"""Static checks of a query: what the database will refuse, and what is likely not meant."""

from .check import check

__all__ = ["check"]
