"""A page in a real browser, and what tests do on it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import ServeSettings

from tests.support.browser import started_browser
from tests.support.openai_server import OpenAIServer, Script
from tests.support.site import site

NAMES = "SELECT name, city FROM customers ORDER BY id"
MAY_COMPLAIN = "Failed to load resource"
"""What a browser says of any reply that is an error."""

Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    with started_browser() as browser:
        yield browser


@pytest.fixture(params=[1280, 390])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def visit(browser: Any, width: int, tmp_path: Path) -> Generator[Visit]:
    """Opens the page over a database, answered offline or by a scripted model server; holds it to its own server,
    without complaints, without anything beyond the right edge or the lower one."""
    with ExitStack() as stack:
        asked: list[str] = []
        complaints: list[str] = []

        def asks(request: Any) -> None:
            asked.append(request.url)

        def complains(about: Any) -> None:
            if MAY_COMPLAIN not in (text := str(getattr(about, "text", about))):
                complaints.append(text)

        def opened(
            database: Path,
            script: Script | None = None,
            serving: ServeSettings | None = None,
            language: str = "en-US",
            **settings: Any,
        ) -> Any:
            model: dict[str, Any] = {"model": "offline"}
            if script is not None:
                server = stack.enter_context(OpenAIServer(script))
                model = {"model": "openai:m", "base_url": server.base_url}
            examples, knowledge = tmp_path / "examples", tmp_path / "knowledge.yaml"
            knowledge.write_text("")
            agent = SQLAgent(database, examples=examples, knowledge=knowledge, settings=settings or None, **model)
            stack.enter_context(agent)
            address = stack.enter_context(site(agent, serving))
            size = {"width": width, "height": 900}
            page = browser.new_page(viewport=size, color_scheme="light", locale=language)
            stack.callback(page.close)
            page.set_default_timeout(30_000)
            page.on("request", asks)
            for event in ("console", "pageerror", "dialog"):
                page.on(event, complains)
            page.goto(address)
            stack.callback(lambda: ends_well(page, address))
            return page

        def ends_well(page: Any, address: str) -> None:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("document.documentElement.scrollHeight") <= 900
            assert complaints == []
            assert [url for url in asked if not url.startswith((address, "blob:", "data:"))] == []
            assert page.title() != "hit"

        yield opened


def ask(page: Any, question: str, *, wait: bool = True) -> None:
    page.get_by_role("textbox", name="Your").fill(question)
    page.keyboard.press("Enter")
    if wait:
        page.get_by_role("button", name="Stop").wait_for(state="detached")
        page.locator(".turn").last.locator(".feedback, .asked, .problem, .talk").first.wait_for()


def last(page: Any) -> Any:
    return page.locator(".turn").last


def cells(page: Any, column: int = 1) -> list[str]:
    return last(page).locator(f"section tbody td:nth-child({column}), .figure").all_inner_texts()


def unfold_query(turn: Any) -> None:
    turn.locator("summary", has_text="SQL").click()


def pane(page: Any, name: str) -> Any:
    """A side of the page, which a phone shows when it is asked for."""
    page.get_by_role("banner").wait_for()
    side = page.get_by_role("complementary", name=name)
    if not side.is_visible():
        page.get_by_role("banner").get_by_role("button", name=name, exact=True).click()
    return side
