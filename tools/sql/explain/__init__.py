"""A query in plain English, made without a model."""

from .explainer import explain
from .headings import Heading, headings

__all__ = ["Heading", "explain", "headings"]
