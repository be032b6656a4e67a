"""The context of a turn: earlier turns, inputs of prompts, and descriptions of the schema."""

from .annotate import describe_whole_schema

__all__ = ["describe_whole_schema"]
