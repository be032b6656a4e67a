"""The text of a file that a person named, within bounds."""

from __future__ import annotations

from pathlib import Path

from ..errors import KnowledgeError

LARGEST = 5_000_000
"""Bytes of one file."""


def text_of(path: Path) -> str:
    """A file's text.

    Raises:
        KnowledgeError: It cannot be read, or is too large.
    """
    try:
        if path.exists() and not path.is_file():
            raise KnowledgeError(f"cannot read the knowledge file {path}: it is no regular file")
        if path.stat().st_size > LARGEST:
            raise KnowledgeError(f"{path} has more than {LARGEST:,} bytes: divide it with `extends`")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise KnowledgeError(f"cannot read the knowledge file {path}: {reason}") from None
