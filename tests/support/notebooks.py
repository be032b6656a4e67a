"""Writes the outputs into the notebooks of examples/, as `make notebooks` does:

python -m tests.support.notebooks examples
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_WIDTH = "100"


def executed(path: Path, folder: Path) -> Any:
    """A notebook with the outputs that it has now.

    Args:
        path: The notebook.
        folder: Where its kernel works, and what it writes lies.
    """
    notebook = nbformat.read(path, as_version=4)
    with _plain_environment(folder):
        local = Config(
            {"KernelManager": {"transport": "ipc", "ip": str(folder / "kernel")}}
        )  # no port for others to see
        where = {"metadata": {"path": str(folder)}}
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where, config=local)
        client.execute(env=os.environ.copy())
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs as they are read: a stream in one piece, and nothing of a kernel's warnings and progress."""
    found: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            continue
        if output.output_type == "stream" and found and found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


@contextmanager
def _plain_environment(folder: Path) -> Generator[None]:
    """No model of whoever runs this, folders of its own, this interpreter's commands, and lines of one width."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith(("TABLETURN_", "OPENAI_"))]:
        del os.environ[name]
    os.environ |= {
        "COLUMNS": _WIDTH,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{before['PATH']}",
        "TABLETURN_CACHE": str(folder / "cache"),
        "TABLETURN_HOME": str(folder / "home"),
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def write(folder: Path) -> None:
    """Executes every notebook of a folder, and writes it back."""
    for path in sorted(folder.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as own:
            nbformat.write(executed(path, Path(own)), path)
        print(path)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
