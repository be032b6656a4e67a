"""The messages that people look up are those that the code has."""

from __future__ import annotations

import ast
import re

from .pages import ROOT
from .tables.source import modules

PAGE = ROOT / "docs" / "troubleshooting.md"


def test_every_message_is_one_of_ours() -> None:
    ours = [
        " ".join(node.value.split())
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    ours += (path.read_text("utf-8") for path in (ROOT / "tools" / "data").glob("*.toml"))
    first = [row.split(" | ")[0] for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| `")]
    parts = [part.strip() for cell in first for message in re.findall(r"`(.*?)`", cell) for part in message.split("…")]
    assert len(first) > 30
    assert not [part for part in parts if part and not any(part in text for text in ours)]
