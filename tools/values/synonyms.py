"""Other words that people use for words of names: common English, no training text and no database's names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Words of identifiers, each with other words that people use for it."""
    text = (files(__package__ or "") / "data" / "synonyms.json").read_text("utf-8")
    return {word: tuple(others.split()) for word, others in json.loads(text).items()}
