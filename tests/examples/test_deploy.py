"""What examples/deploy starts is there under the names that it uses."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import create_app
from tableturn.serve.commands import app
from tableturn.tools.folders import CACHE_VARIABLE, DATA_VARIABLE
from typer.main import get_command

from tests.examples.conftest import EXAMPLES

ROOT = EXAMPLES.parent
IMAGE = (EXAMPLES / "deploy" / "Containerfile").read_text(encoding="utf-8")
COMMANDS: dict[str, Any] = cast("Any", get_command(app)).commands
UNIT = EXAMPLES / "deploy" / "tableturn.service"


def started() -> dict[str, list[str]]:
    """The command lines, from the program's name on."""
    joined = UNIT.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = {"image": json.loads(re.findall(r"^CMD (.*)$", IMAGE, re.MULTILINE)[0])}
    lines["unit"] = shlex.split(re.findall(r"^ExecStart=(.*)$", joined, re.MULTILINE)[0])
    return lines


@pytest.mark.parametrize("kind", ["image", "unit"])
def test_starts_a_command_with_options_that_there_are(kind: str) -> None:
    program, command, *options = started()[kind]
    assert Path(program).name in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    context = COMMANDS[command].make_context(command, [*options])
    assert context.params["db"].endswith("/shop.db")


def test_sets_variables_that_are_read() -> None:
    assert set(re.findall(r"TABLETURN_\w+", IMAGE + UNIT.read_text(encoding="utf-8"))) == {
        DATA_VARIABLE,
        CACHE_VARIABLE,
        "TABLETURN_TOKEN",
    }
    assert any("TABLETURN_TOKEN" in str(parameter.envvar) for parameter in COMMANDS["serve"].params)


def test_the_image_installs_extras_that_there_are() -> None:
    extras = re.findall(r"/src\[([a-z,]+)\]", IMAGE)[0].split(",")
    assert set(extras) <= set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    left_out = {line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")}
    needed = {
        "agent",
        "tools",
        "prompts",
        "evals",
        "serve",
        "pyproject.toml",
        "constraints.txt",
        "README.md",
        "LICENSE",
    }
    assert not needed & left_out


def test_the_image_asks_for_health_where_it_is(shop: Path) -> None:
    path = re.findall(r"http://127\.0\.0\.1:8000(/\w+)", IMAGE)[0]
    with SQLAgent(shop, model="offline") as agent:
        assert path in create_app(agent).openapi()["paths"]


def test_the_unit_is_one(tmp_path: Path) -> None:
    if (verify := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not installed (Debian's package systemd)")
    program = tmp_path / "tableturn"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "tableturn.service"
    unit.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/tableturn/bin/tableturn", str(program)))
    found = subprocess.run([verify, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (found.returncode, "tableturn.service" in found.stderr) == (0, False), found.stderr
