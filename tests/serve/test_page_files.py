"""The page's files: all that they name is there, in the package, and nothing is from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tableturn.serve.app import PAGE
from tableturn.tools.labels import read_catalogue

from tests.support.vendor import FOLDER, SITE_FOLDER, compute_checksums, libraries

NAMES = {
    *("Excel", "Parquet", "Enter", "Escape", "ArrowLeft", "ArrowRight"),
    *("Error", "Offline", "Unauthorized", "NotThere", "TurnCancelled", "ExampleRefused"),
}
"""What modules name with a capital letter that is not a word of the page: file formats, keys and kinds of errors."""
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


@pytest.mark.parametrize("folder", [FOLDER, SITE_FOLDER], ids=lambda folder: folder.name)
def test_what_others_wrote_is_as_it_was_fetched(folder: Path) -> None:
    """No room of tests/size.toml counts it, so nothing of ours may be in it: `make vendor` renews the checksums."""
    for library in libraries(folder):
        assert library.sha256 == compute_checksums(library, folder)


def test_the_page_takes_its_words_from_the_catalogue() -> None:
    """Each label that a module names is in the catalogue, and each of the page's labels is named."""
    scripts = "".join(file.read_text("utf-8") for file in PAGE.glob("*.js"))
    labels = read_catalogue()
    said = set(re.findall(r'\bsay\("(\w+)"', scripts)) | set(re.findall(r'"(page_\w+)"', scripts))
    assert said <= set(labels)
    assert {key for key in labels if key.startswith("page_")} - said - {"page_language"} == set()
    for key in said:
        assert all(label for label in map(labels[key].get, ("en", "de"))), key


def test_the_words_before_signing_in_are_the_catalogues() -> None:
    text = (PAGE / "labels.js").read_text("utf-8")
    first = dict(re.findall(r"^  (\w\w): \{\n(.*?)^  \}", text, re.MULTILINE | re.DOTALL))
    assert set(first) == set(read_catalogue()["page_language"])
    for language, lines in first.items():
        words = dict(re.findall(r'(\w+): "([^"]*)"', lines))
        assert len(words) == 5
        assert words == {key: read_catalogue()[key][language] for key in words}


@pytest.mark.parametrize("file", sorted({*PAGE.glob("*.js")} - {PAGE / "labels.js"}), ids=lambda file: file.name)
def test_a_module_has_no_words_of_its_own(file: Path) -> None:
    code, markup = split_templates(re.sub(r"^\s*(//|/?\*).*| // .*", "", file.read_text("utf-8"), flags=re.MULTILINE))
    attributes = re.findall(r'\b(?:aria-label|placeholder|title|label|button|alt)="([^"]*)"', markup)
    between = re.findall(r"[^\W\d_]{2,}", re.sub(r"<[^<>]*>", " ", markup))
    assert {*attributes, *between} - {"SQL", "null", "tableturn"} == set()
    assert set(re.findall(r'"([A-Z][a-z]+[^"]*)"', code)) - NAMES == set()


def split_templates(text: str) -> tuple[str, str]:
    """Return the strings of a module, and the markup of its html templates without their expressions."""
    strings: list[str] = []
    markup: list[str] = []
    inside = ["code"]
    for token in re.findall(r'html`|`|\$\{|"(?:[^"\\\n]|\\.)*"|.', text, re.DOTALL):
        within = inside[-1]
        if token.endswith("`") and within == "code":
            inside.append("markup" if token == "html`" else "string")
        elif token.endswith("`") or (token == "}" and within == "code"):
            inside.pop()
        elif token == "${" or (token == "{" and within == "code"):
            inside.append("code")
        elif within == "markup":
            markup.append(token)
        elif within == "string" or token.startswith('"'):
            strings.append(token)
        if token == "`" and "string" in (within, inside[-1]):
            strings.append('"')
    assert inside == ["code"]
    return "".join(strings), "".join(markup)
