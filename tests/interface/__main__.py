"""Writes the snapshots as things are now."""

from __future__ import annotations

import sys

from tests.interface.faces import HERE, NAMES, current, losses, snapshot, unlisted

for face in NAMES:
    new = current(face)
    if missing := unlisted(face, losses(face, snapshot(face), new)):
        sys.exit(f"{face}: removed.toml does not tell of\n  " + "\n  ".join(missing))
    (HERE / f"{face}.txt").write_text(new, "utf-8")
