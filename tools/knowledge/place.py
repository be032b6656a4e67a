"""Where a database's knowledge is kept, if nobody says."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..folders import data_folder

if TYPE_CHECKING:
    from ..database import Database

ENDING = ".knowledge.yaml"


def beside(location: str) -> Path | None:
    """The knowledge file beside a database's own file; None for a database that is no file."""
    path = Path(location)
    return path.with_name(path.stem + ENDING) if "://" not in location and path.is_file() else None


def knowledge_path(database: Database) -> Path:
    """The file that belongs to a database: the one beside it, else one in the data folder, which may not be there."""
    own = beside(database.location)
    if own is not None and own.is_file():
        return own
    code = hashlib.sha256(database.location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return data_folder() / "knowledge" / f"{Path(database.name).name}-{code}{ENDING}"
