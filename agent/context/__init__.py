"""The context of a turn: earlier turns, inputs of prompts, and descriptions of the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tools import make_lazy_importer

if TYPE_CHECKING:
    from .annotate import describe_whole_schema

__all__ = ["describe_whole_schema"]

__getattr__ = make_lazy_importer(__name__, {"annotate": "describe_whole_schema"})
