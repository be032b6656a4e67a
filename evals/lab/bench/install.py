"""Packages and megabytes that `pip install tableturn` brings, in a fresh environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ....tools.errors import SettingsError
from .registry import BenchOptions

_ROOT = Path(__file__).resolve().parents[3]
_MEGABYTE = 2**20


def run(options: BenchOptions) -> dict[str, object]:
    """Installs the checkout with its constraints, without extras and without compiling, and counts.

    Raises:
        SettingsError: It is not run from a checkout, or the packages cannot be had.
    """
    constraints = _ROOT / "constraints.txt"
    if not constraints.is_file():
        raise SettingsError("bench install measures a checkout: run it from a clone of the repository")
    with TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "venv", folder)
        python = str(Path(folder, "bin", "python"))
        _run(python, "-m", "pip", "install", "-q", "--no-compile", "-c", str(constraints), str(_ROOT))
        _run(python, "-m", "pip", "uninstall", "-q", "-y", "setuptools", "pip")
        packages = next(Path(folder, "lib").glob("python*")) / "site-packages"
        files = [path.stat().st_size for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
        return {"packages": len(list(packages.glob("*.dist-info"))), "mb": round(sum(files) / _MEGABYTE)}


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, of our own environment
    if done.returncode:
        raise SettingsError(f"the installation failed: {done.stderr.strip()[-500:]}")
