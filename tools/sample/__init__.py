"""The sample database: an invented chain of bicycle shops, the same on every machine."""

from .build import build_sample

__all__ = ["build_sample"]
