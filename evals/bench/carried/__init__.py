"""SQLite databases carried over into other engines, for the benchmarks that compare engines."""

from .places import PLACES, NotReachable, Place

__all__ = ["PLACES", "NotReachable", "Place"]
