"""Where a database's knowledge is kept, if nobody says."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
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
    own, otherwise = _places(database.location, database.name, data_folder())
    return own if own is not None and os.path.isfile(own) else otherwise


@lru_cache(maxsize=256)
def _places(location: str, name: str, folder: Path) -> tuple[Path | None, Path]:
    """The file beside a database, and the one in the data folder; every turn asks several times."""
    code = hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return beside(location), folder / "knowledge" / f"{Path(name).name}-{code}{ENDING}"
