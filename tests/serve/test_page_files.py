"""The page's files: all that they name is there, in the package, and nothing is from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tableturn.serve.app import PAGE

from tests.support.vendor import FOLDER, libraries

OWN = sorted([*PAGE.glob("*.js"), *PAGE.glob("*.html"), *PAGE.glob("*.css"), *PAGE.glob("*.svg")])


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_what_a_file_names_is_there_and_nothing_is_from_elsewhere(file: Path) -> None:
    text = file.read_text("utf-8")
    for name in re.findall(r'(?:from|src=|href=) ?"([^"#$]+)"', text):
        assert (PAGE / name).is_file(), name
    assert re.findall(r"https?://", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", text) == []


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    """Its policy allows none."""
    text = (PAGE / "index.html").read_text("utf-8")
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text) == []


def test_each_library_is_pinned_and_comes_with_its_licence() -> None:
    named = {"libraries.json"}
    for library in libraries():
        assert re.fullmatch(r"\d+\.\d+\.\d+", library.version)
        assert library.integrity.startswith("sha512-")
        assert len((FOLDER / library.licence_file).read_text("utf-8")) > 500
        named |= {*library.files, library.licence_file}
    assert {file.name for file in FOLDER.iterdir()} == named
