"""Telling whether anything on disk changed."""

from __future__ import annotations

import hashlib
from pathlib import Path


def trace(folder: Path) -> dict[str, str]:
    """Every file in a folder and the hash of its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
