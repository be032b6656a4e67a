"""What is packaged is what is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("agent", "tools", "prompts", "evals")


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = [
        "tableturn." + ".".join(path.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for path in (ROOT / room).rglob("__init__.py")
    ]
    assert sorted(listed) == sorted(there)


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert all(line.startswith("#") or "==" in line for line in lines)
    assert not any(mark in line for line in lines for mark in ("/", "@", ";"))
