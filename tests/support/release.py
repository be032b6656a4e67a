"""A release, as `make release` makes it: sdist and wheel, built, checked and tried, then a tag; nothing is published.

The version stands in pyproject.toml alone; everything else asks the installed package for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any

from packaging.metadata import Metadata

from .environments import make_environment, run

ROOT = Path(__file__).parents[2]
ROOMS = ("agent", "tools", "prompts", "evals", "serve")
LABORATORY = "evals/lab/"
"""In the repository and the sdist, not in the wheel."""

_TESTED = "build/tested"
"""Where `make test` notes the commit that it found good."""

_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A release in the changelog.

    Attributes:
        version: `Unreleased`, or a version.
        date: In ISO form; None of what is not released.
        text: What stands below its heading.
    """

    version: str
    date: str | None
    text: str


def changelog(text: str) -> list[Entry]:
    """The changelog's entries, as they stand."""
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    return [
        Entry(heading["version"], heading["date"], text[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    ]


def project(root: Path = ROOT) -> dict[str, Any]:
    """The project's table of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def obstacles(root: Path) -> Iterator[str]:
    """Why this state cannot be released, each with what to do."""
    version = project(root)["version"]
    if _git(root, "status", "--porcelain"):
        yield "the working tree has changes: commit them"
    if _git(root, "tag", "--list", f"v{version}"):
        yield f"the tag v{version} is there: raise the version in pyproject.toml"
    released = [entry for entry in changelog((root / "CHANGELOG.md").read_text("utf-8")) if entry.date]
    if not released or released[0].version != version:
        yield f"CHANGELOG.md does not begin with {version} and its date: move there what stands under Unreleased"
    tested = root / _TESTED
    if not tested.is_file() or tested.read_text("utf-8").strip() != _git(root, "rev-parse", "HEAD"):
        yield "this commit was not tested: run `make test`"


def build(root: Path, dist: Path) -> tuple[Path, Path]:
    """Builds the sdist, and the wheel from it."""
    shutil.rmtree(dist, ignore_errors=True)
    pinned = os.environ | {"PIP_CONSTRAINT": str(root / "constraints.txt")}
    run(sys.executable, "-m", "build", "--outdir", str(dist), str(root), cwd=dist.parent, env=pinned)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return sdist, wheel


def contents(archive: Path) -> dict[str, bytes]:
    """The files of a sdist, without its outermost folder, or of a wheel."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as sdist:
        files = ((member.name.partition("/")[2], sdist.extractfile(member)) for member in sdist)
        return {name: file.read() for name, file in files if file is not None}


def faults(root: Path, sdist: Mapping[str, bytes], wheel: Mapping[str, bytes]) -> Iterator[str]:
    """What is wrong with the two: files missing or too many, places of this machine, metadata that is not valid."""
    tracked = _git(root, "ls-files", *ROOMS).splitlines()
    installed = {_installed(name) for name in tracked if not name.startswith(LABORATORY)}
    ours = {name for name in wheel if ".dist-info/" not in name}
    yield from (f"the wheel lacks {name}" for name in sorted(installed - ours))
    yield from (f"the wheel holds {name}, which is not the package's" for name in sorted(ours - installed))
    wanted = {*tracked, "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt"}
    yield from (f"the sdist lacks {name}" for name in sorted(wanted - set(sdist)))
    yield from (f"the sdist holds {name}" for name in sorted(sdist) if name.startswith(("tests/", "build/", ".")))
    for name, held in [*sdist.items(), *wheel.items()]:
        yield from (f"{name} names {place}" for place in {root, Path.home()} if f"{place}/".encode() in held)
    (described,) = (held for name, held in wheel.items() if name.endswith(".dist-info/METADATA"))
    try:
        metadata = Metadata.from_email(described, validate=True)
    except ExceptionGroup as wrong:
        yield from (f"the metadata are not valid: {each}" for each in wrong.exceptions)
    else:
        if str(metadata.version) != project(root)["version"]:
            yield f"the wheel calls itself {metadata.version}"
        if not message_from_bytes(described).get_payload():
            yield "the metadata have no description"


def _installed(name: str) -> str:
    """Where a file of the repository lies in the wheel."""
    own = "agent/package/"
    return f"tableturn/{name.removeprefix(own)}"


def smoke(root: Path, wheel: Path) -> None:
    """Installs the wheel in a fresh environment, far from the checkout, and uses it as a person does."""
    version = project(root)["version"]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        pins = ("-c", str(root / "constraints.txt"))
        programs = make_environment(folder / "venv", *pins, f"{wheel}[serve]", cwd=folder)
        alone = {"PATH": os.environ["PATH"], "HOME": made, "ALL_PROXY": "http://127.0.0.1:9"}  # no network, no settings

        def say(*words: str) -> str:
            return run(*words, cwd=folder, env=alone)

        where = say(f"{programs}/python", "-c", "import tableturn; print(tableturn.__file__)")
        assert Path(where).is_relative_to(folder / "venv"), where
        command = f"{programs}/tableturn"
        assert say(command, "--version") == f"tableturn {version}"
        say(command, "sample", "shop.sqlite")
        asked = say(
            command, "ask", "--db", "shop.sqlite", "--model", "offline", "--json", "How many customers are there?"
        )
        assert json.loads(asked)["rows"] == [[1600]], asked
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        serve = [command, "serve", "--db", "shop.sqlite", "--model", "offline", "--port", str(port)]
        with subprocess.Popen(serve, cwd=folder, env=alone, stdout=subprocess.DEVNULL) as server:
            try:
                assert json.loads(_get(port, "/health", server)) == {"status": "ok"}
                assert json.loads(_get(port, "/openapi.json", server))["info"]["version"] == version
                assert b"<script" in _get(port, "/", server)
            finally:
                server.terminate()


def _get(port: int, path: str, server: subprocess.Popen[bytes]) -> bytes:
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as reply:
                return reply.read()
        except urllib.error.URLError:
            if server.poll() is not None:
                raise
            time.sleep(0.2)


def _git(root: Path, *words: str) -> str:
    return run("git", *words, cwd=root)


def main() -> None:
    """Releases this checkout, or says why not."""
    if found := list(obstacles(ROOT)):
        sys.exit("\n".join(["Nothing is released:", *found]))
    version = project()["version"]
    print("Building")
    sdist, wheel = build(ROOT, ROOT / "dist")
    if found := list(faults(ROOT, contents(sdist), contents(wheel))):
        sys.exit("\n".join(["Nothing is released:", *found]))
    print(f"Trying {wheel.name} in a fresh environment")
    smoke(ROOT, wheel)
    (entry,) = (each for each in changelog((ROOT / "CHANGELOG.md").read_text("utf-8")) if each.version == version)
    note = f"tableturn {version}\n\n{entry.text}"
    _git(ROOT, "tag", "--annotate", "--cleanup=verbatim", f"v{version}", "--message", note)
    print(
        f"Tagged v{version}. Nothing is published yet. To publish:\n"
        f"  git push origin v{version}\n"
        f"  twine upload dist/{sdist.name} dist/{wheel.name}"
    )


if __name__ == "__main__":
    main()
