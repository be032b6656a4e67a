"""What other tools know of a database, as entries: each file by what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..errors import KnowledgeError
from .entry import Entry
from .file_text import text_of

_DBT = ("models", "sources", "semantic_models", "seeds", "snapshots")


def import_file(path: Path, content: object) -> tuple[Entry, ...] | None:
    """The entries of a dbt `schema.yml` or Markdown notes; None for a knowledge file of our own.

    Args:
        path: The file.
        content: As `load_yaml` reads it; None for Markdown.

    Raises:
        KnowledgeError: It cannot be read, or is an Ossie model.
    """
    from .dbt import from_dbt
    from .markdown import from_markdown

    if content is None and path.suffix.lower() in (".md", ".markdown"):
        return from_markdown(text_of(path), path.name)
    if not isinstance(content, Mapping):
        return None
    fields = cast("Mapping[str, Any]", content)
    if "semantic_model" in fields:
        raise KnowledgeError(
            f"{path} is an Ossie semantic model, which is no longer read: write the definitions in a knowledge file "
            "(YAML, `tableturn knowledge schema`), or extend a dbt schema.yml or Markdown notes"
        )
    if any(isinstance(fields.get(key), list) for key in _DBT) or isinstance(fields.get("metrics"), list):
        return from_dbt(fields, path.name)
    return None


def listed(node: Any, key: str) -> list[Mapping[str, Any]]:
    """The mappings in a list of a file that others wrote; what is none is passed over."""
    found = node.get(key) if isinstance(node, Mapping) else None  # pyright: ignore[reportUnknownMemberType]
    entries = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", entry) for entry in entries if isinstance(entry, Mapping)]


def text(node: Mapping[str, Any], key: str) -> str:
    """A text of such a file, on one line; empty where there is none."""
    found = node.get(key)
    return " ".join(found.split()) if isinstance(found, str) else ""
