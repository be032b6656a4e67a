"""The documentation builds as a site: strictly, without a network, with every page in its navigation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import started_browser
from tests.support.vendor import SITE_FOLDER, libraries

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")

pytestmark = pytest.mark.extra

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a warning, such as a link that leads nowhere or a page that no menu names, ends the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//')
    pages = list(built.rglob("*.html"))
    assert len(pages) > 30
    assert [page.name for page in pages if loaded.search(page.read_text("utf-8"))] == []


def test_vendored_scripts_are_pinned_licensed_and_part_of_the_site(built: Path) -> None:
    for library in libraries(SITE_FOLDER):
        assert re.fullmatch(r"\d+\.\d+\.\d+", library.version)
        assert "Permission is hereby granted" in (SITE_FOLDER / library.licence_file).read_text("utf-8")
        for name in library.files:
            assert f'src="assets/{name}"' in (built / "index.html").read_text("utf-8")
            assert (built / "assets" / name).read_bytes() == (SITE_FOLDER / name).read_bytes()


def test_pages_at_the_top_of_the_repository_are_there_with_working_links(built: Path) -> None:
    home = (built / "index.html").read_text("utf-8")
    assert 'href="start.html"' in home
    assert "docs/" not in re.findall(r'href="([^"#]*)"', home)
    assert "create_app" in (built / "source/examples/fastapi_mount.py.html").read_text("utf-8")
    for page in ("contributing", "changelog", "security"):
        assert (built / f"{page}.html").exists()


def test_a_link_by_a_files_name_has_its_pages_title(built: Path) -> None:
    pages = [page for page in built.rglob("*.html") if "source" not in page.parts]
    assert [page.name for page in pages if re.search(r'<a href="[^"]*">[\w/]+\.md</a>', page.read_text("utf-8"))] == []
    assert re.search(r'<a href="ask.html">Ask</a>', (built / "changelog.html").read_text("utf-8"))


def test_pictures_follow_the_chosen_colours(built: Path) -> None:
    served = (built / "serve.html").read_text("utf-8")
    assert "page-light.png#only-light" in served
    assert "page-dark.png#only-dark" in served
    assert "<picture>" not in served


def test_the_python_reference_is_searched(built: Path) -> None:
    index = (built / "search" / "search_index.js").read_text("utf-8")
    found = json.loads(index.removeprefix("var __index = "))["docs"]
    assert any("as_tool" in each["title"] for each in found)


def test_the_reference_has_types_and_docstrings(built: Path) -> None:
    page = (built / "reference" / "python.html").read_text("utf-8")
    for name in ("SQLAgent", "Conversation", "Settings", "build_graph"):
        assert f">{name}<" in page
    assert "Answer one question, outside of any conversation." in page


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_pages_fit_a_phone_and_are_searched_without_a_server(built: Path) -> None:
    pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")
    asked: list[str] = []

    def asks(request: Any) -> None:
        asked.append(request.url)

    with started_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", asks)
        for name in ("databases", "serve", "settings", "trust", "reference/python", "benchmarks"):
            page.goto((built / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto((built / "index.html").as_uri())
        page.get_by_placeholder("Search").fill("for_user")
        page.locator(".md-search-result__item").first.wait_for()
        assert "for_user" in page.locator(".md-search-result__list").inner_text()
        page.close()
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
