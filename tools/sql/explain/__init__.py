"""A query in plain English, made without a model."""

from .query import explain

__all__ = ["explain"]
