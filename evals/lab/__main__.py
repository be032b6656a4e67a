"""`python -m tableturn.evals.lab`."""

from __future__ import annotations

import sys
from pathlib import Path

from .commands import app

if __name__ == "__main__":
    # Benches take their cases and their servers from the tests of the clone.
    sys.path.insert(0, str(Path(__file__).parents[2]))
    app(prog_name="python -m tableturn.evals.lab")
