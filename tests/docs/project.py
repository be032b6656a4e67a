"""A folder as a reader of the pages has it: the sample database, a few files, and a model that answers."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tableturn.tools.sample import build_sample

from tests.support.command_line import tableturn
from tests.support.openai_server import Behaviour, says

_HERE = Path(__file__).parent
DATABASES = ("shop.db", "build/kestrel.sqlite")
"""What the pages call the sample database."""


def make_project(folder: Path, sample: Path) -> None:
    """Fills a folder with what the pages speak of; `sample` is a sample database to copy."""
    shutil.copytree(_HERE / "files", folder, dirs_exist_ok=True)
    for name in DATABASES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(sample, folder / name)


def enter(folder: Path, model: str, patch: pytest.MonkeyPatch) -> None:
    """Goes into a project; who names no model there has the one at this URL, as with a key in the environment."""
    patch.chdir(folder)
    for name, value in {
        "TABLETURN_HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model,
        "COLUMNS": "120",
    }.items():
        patch.setenv(name, value)
    for name in ("TABLETURN_MODEL", "TABLETURN_DATA", "TABLETURN_EXAMPLES", "TABLETURN_KNOWLEDGE"):
        patch.delenv(name, raising=False)


def sample_at(path: Path) -> Path:
    """The sample database, made at this path."""
    build_sample(path)
    return path


def evaluation_in(folder: Path) -> dict[str, Any]:
    """The results of an evaluation of one question over the sample database, run in a folder."""
    sample_at(folder / "shop.sqlite")
    asked = [{"question": "How many customers?", "sql": "SELECT COUNT(*) FROM customers", "database": "shop.sqlite"}]
    (folder / "asked.json").write_text(json.dumps(asked))
    done = tableturn(
        "eval", "--dataset", str(folder / "asked.json"), "--model", "offline", "--out", str(folder / "run")
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "run" / "results.json").read_text())


@functools.cache
def _replies() -> list[dict[str, Any]]:
    return yaml.safe_load((_HERE / "replies.yaml").read_text(encoding="utf-8"))


def reply(request: dict[str, Any]) -> Behaviour:
    """What the model says: what `replies.yaml` has for the question that the prompt names last, or its last entry."""
    prompt = "\n".join(str(message["content"]) for message in request["messages"])
    found = max(reversed(_replies()), key=lambda one: (prompt.rfind(one["asked"]), len(one["asked"])))
    other = (
        f"\nOther reading: {found['other']['words']}\n```sql\n{found['other']['sql']}\n```" if "other" in found else ""
    )
    return says(f"Question: {found.get('read_as', found['asked'])}\n```sql\n{found['sql']}\n```\nSure: 95{other}")
