"""Fetches the libraries that the server's page and the documentation use, as `make vendor` does; needs npm.

`libraries.json` in each of their folders names each package with its version, licence and checksum, which of its files
are taken, and the checksum of each as it is written, which this command renews. What is fetched is committed, so that
whoever installs the package needs neither npm nor a network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tarfile
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[2]
FOLDER = _ROOT / "serve" / "page" / "vendor"
"""Of the server's page."""
SITE_FOLDER = _ROOT / "docs" / "assets"
"""Of the documentation."""


@dataclass(frozen=True)
class Library:
    """A package, and what is taken from it.

    Attributes:
        package: Its name on npm.
        version: The one that is used.
        licence: Its licence, by SPDX's name; the text is beside the files.
        integrity: Checksum of the package, as npm writes it.
        files: Our names of files, each with its path in the package.
        sha256: Checksum of each file and of the licence's text, by our name.
    """

    package: str
    version: str
    licence: str
    integrity: str
    files: dict[str, str]
    sha256: dict[str, str]

    @property
    def licence_file(self) -> str:
        """Where the licence's text is."""
        return f"LICENSE.{self.package.strip('@').replace('/', '-')}.txt"


def libraries(folder: Path = FOLDER) -> list[Library]:
    """What is kept in a folder."""
    return [Library(**each) for each in json.loads((folder / "libraries.json").read_text("utf-8"))]


def compute_checksums(library: Library, folder: Path) -> dict[str, str]:
    """Return the checksum of each file of a library that lies in a folder."""
    names = (*library.files, library.licence_file)
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def fetch(library: Library, folder: Path) -> None:
    """Writes a library's files into a folder.

    Raises:
        ValueError: The registry gave something else than the checksum says.
    """
    with tempfile.TemporaryDirectory() as own:
        name = f"{library.package}@{library.version}"
        packed = subprocess.run(["npm", "pack", "--silent", name], cwd=own, check=True, capture_output=True, text=True)
        archive = Path(own, packed.stdout.split()[-1])
        found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != library.integrity:
            raise ValueError(f"{name} is {found}, not {library.integrity}: nothing of it was written")
        with tarfile.open(archive) as tar:
            for ours, theirs in {**library.files, library.licence_file: "LICENSE"}.items():
                member = tar.extractfile(f"package/{theirs}")
                assert member is not None, f"{name} has no {theirs}"
                (folder / ours).write_bytes(_by_path(member.read()))


def _by_path(source: bytes) -> bytes:
    """The module with preact by its file: browsers know no packages, and the page allows no inline import map."""
    return source.replace(b'from"preact"', b'from"./preact.js"')


if __name__ == "__main__":
    for place in (FOLDER, SITE_FOLDER):
        kept = libraries(place)
        for each in kept:
            fetch(each, place)
            each.sha256.update(compute_checksums(each, place))
            print(each.package, each.version)
        (place / "libraries.json").write_text(json.dumps(list(map(asdict, kept)), indent=2) + "\n", "utf-8")
