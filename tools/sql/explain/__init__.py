"""A query in plain English, made without a model."""

from .headings import Heading, headings
from .query import explain

__all__ = ["Heading", "explain", "headings"]
