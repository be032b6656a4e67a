"""Pictures of the server's page for the documentation, as `make pictures` takes them:

python -m tests.support.page_pictures docs
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tableturn.agent import SQLAgent
from tableturn.tools.sample import build_sample

from .browser import started_browser
from .site import site

QUESTION = "Show the number of orders per store in descending order"


def take(folder: Path) -> None:
    """Writes `page-light.png` and `page-dark.png`."""
    with tempfile.TemporaryDirectory() as own:
        database = build_sample(Path(own, "kestrel.sqlite"))
        with SQLAgent(database, model="offline") as agent, site(agent) as address, started_browser() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.get_by_label("Your question").fill(QUESTION)
            page.keyboard.press("Enter")
            page.locator("svg.marks").wait_for()
            page.locator("#schema details").nth(3).locator("summary").click()
            page.mouse.move(0, 0)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(500)  # the chart is drawn again in the other colours
                page.screenshot(path=folder / f"page-{scheme}.png")


if __name__ == "__main__":
    take(Path(sys.argv[1]))
