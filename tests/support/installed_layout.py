"""A folder that looks like the installed package, for tools that do not follow an editable install's mapping.

    python -m tests.support.installed_layout

writes `build/types`, which pyright and the API reference read.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "types"


def lay_out(root: Path = ROOT, folder: Path = FOLDER) -> None:
    """Link every room of a checkout, and the files of the package itself, below `tableturn` in a folder."""
    package = folder / "tableturn"
    package.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    folders: dict[str, str] = project["tool"]["setuptools"]["package-dir"]
    rooms = {name.partition(".")[2]: root / place for name, place in folders.items() if "." in name}
    own = {path.name: path for path in (root / folders["tableturn"]).iterdir() if path.is_file()}
    for name, target in {**rooms, **own}.items():
        link = package / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)


if __name__ == "__main__":
    lay_out()
