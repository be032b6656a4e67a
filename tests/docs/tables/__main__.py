"""Writes the tables into the pages that ask for some; with `--check`, says which are stale."""

from __future__ import annotations

import sys

from cogapp import Cog

from tests.docs.pages import PAGES, ROOT


def main(*options: str) -> int:
    """Runs cog over the pages; 0 where all is well."""
    pages = [str(page.relative_to(ROOT)) for page in PAGES if "[[[cog" in page.read_text(encoding="utf-8")]
    return Cog().main(["cog", "-r", "-P", "-p", "from tests.docs import tables", "-I", str(ROOT), *options, *pages])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
