"""Fresh virtual environments, installed as a person installs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path


def make_environment(folder: Path, *requirements: str, cwd: Path) -> Path:
    """Make an environment, install what pip or uv is given, and return the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    uv = shutil.which("uv")
    installer = (
        [uv, "pip", "install", "-p", f"{programs}/python"] if uv else [f"{programs}/python", "-m", "pip", "install"]
    )
    run(*installer, "--quiet", *requirements, cwd=cwd)
    return programs


def run(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Return what a program prints; end with all that it said if it fails."""
    ran = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(words)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout.strip()
