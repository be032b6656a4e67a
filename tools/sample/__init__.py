"""A sample database of the project's own: a chain of bicycle shops, made up, the same rows on every machine."""

from .build import build_sample

__all__ = ["build_sample"]
