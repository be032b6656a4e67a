"""A real browser, for tests of pages; needs the extra `browser`, and a Chromium on the machine."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@contextmanager
def started_browser() -> Generator[Any]:
    """A browser; skips the test where there is none."""
    sync = import_module("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        installed = next((path for name in NAMES if (path := shutil.which(name))), None)
        # The pages are our own, and containers seldom allow the browser's sandbox.
        options = {"executable_path": installed, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
        try:
            browser = playwright.chromium.launch(**options)
        except sync.Error as error:
            pytest.skip(f"no browser: apt-get install chromium, or playwright install chromium ({str(error)[:80]})")
        yield browser
        browser.close()


@contextmanager
def started_firefox() -> Generator[Any]:
    """The machine's own Firefox; skips the test where there is none that Playwright can drive."""
    sync = import_module("playwright.sync_api")
    installed = next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)
    if installed is None:
        pytest.skip("no browser: apt-get install firefox-esr")
    with sync.sync_playwright() as playwright:
        # By WebDriver BiDi: Playwright's other protocol is for a Firefox of its own.
        browser = playwright.firefox.launch(channel="moz-firefox", executable_path=installed)
        try:
            browser.new_context().close()
        except sync.Error as error:
            pytest.skip(f"Firefox {browser.version} lacks a command of this Playwright: {str(error)[:120]}")
        else:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page as a person sees it, with all that it asked for and complained of.

    Attributes:
        page: Playwright's page.
        asked: Addresses that were asked for.
        complaints: What stood in the console, errors, dialogs.
    """

    def __init__(self, browser: Any, file: Path, width: int, scheme: str = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._file = file
        self.page.on("request", self._asks)
        for event in ("console", "pageerror", "dialog"):
            self.page.on(event, self._complains)
        self.page.goto(file.as_uri())

    def _asks(self, request: Any) -> None:
        self.asked.append(request.url)

    def _complains(self, about: Any) -> None:
        self.complaints.append(str(about))

    def ends_well(self, width: int) -> None:
        """Nothing was asked of anywhere, nothing went wrong, and nothing lies beyond the right edge."""
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width
        assert self.complaints == []
        assert [url for url in self.asked if not url.startswith("blob:")] == [self._file.as_uri()]
        self.page.close()
