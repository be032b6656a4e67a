"""Writes the tables into the pages that ask for some."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from cogapp import Cog

from tests.docs.pages import PAGES, ROOT

WRITE = ("-r",)
CHECK = ("--check", "--diff")
"""Without `-r`, which would write what is stale before it says so."""


def main(options: Sequence[str], pages: Sequence[Path] = PAGES) -> int:
    """Runs cog over the pages with tables; 0 where all is well."""
    asking = [str(page) for page in pages if "[[[cog" in page.read_text(encoding="utf-8")]
    return Cog().main(["cog", *options, "-P", "-p", "from tests.docs import tables", "-I", str(ROOT), *asking])


if __name__ == "__main__":
    sys.exit(main(WRITE))
