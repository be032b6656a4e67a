"""A folder that looks like the installed package, for tools that do not follow an editable install's mapping.

    python -m tests.support.installed_layout

writes `build/types`, which pyright and the API reference read.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "types"


def lay_out() -> None:
    """Links every room, and the files of the package itself, below `build/types/tableturn`."""
    package = FOLDER / "tableturn"
    package.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    folders: dict[str, str] = project["tool"]["setuptools"]["package-dir"]
    rooms = {name.partition(".")[2]: ROOT / folder for name, folder in folders.items() if "." in name}
    own = {path.name: path for path in (ROOT / folders["tableturn"]).iterdir() if path.is_file()}
    for name, target in {**rooms, **own}.items():
        link = package / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)


if __name__ == "__main__":
    lay_out()
