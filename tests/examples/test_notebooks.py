"""The notebooks of examples/ run, and give the outputs that stand in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.examples.conftest import EXAMPLES
from tests.support.notebooks import executed

NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
RECIPES = EXAMPLES.parent / "docs" / "embed.md"

_PICTURE = re.compile(r'src=\\?"data:image[^"]*"')
"""A chart's letters are as wide as the machine's fonts."""

_SECONDS = re.compile(r"(?<=seconds a turn, p\d\d: )[\d.]+|(?<=, )\d+\.\d(?= s\b)")


def said(notebook: Any) -> list[tuple[str, list[object]]]:
    """The code of each cell with its outputs."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        (
            cell.source,
            [
                _SECONDS.sub("", output.text)
                if output.output_type == "stream"
                else _SECONDS.sub("", _PICTURE.sub("", str(sorted(output.data.items()))))
                for output in cell.outputs
            ],
        )
        for cell in code
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_gives_what_it_shows(path: Path, tmp_path: Path) -> None:
    assert said(executed(path, tmp_path)) == said(nbformat.read(path, as_version=4)), "stale: make notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_holds_no_path_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""["' (]/(home|root|tmp|Users|work|opt|usr|var)/""", text)
    assert "stderr" not in text
    assert f"(../examples/{path.name})" in RECIPES.read_text(encoding="utf-8")


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first_look", "improve"]
