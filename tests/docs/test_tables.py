"""The tables of the reference say what the code says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import pytest
from tableturn.agent.model.choose_model import PROVIDERS
from tableturn.agent.settings import REMOVED, Settings
from tableturn.evals.metrics.summary import Scores, Summary
from tableturn.evals.runner.record import TurnRecord
from tableturn.tools.errors import SettingsError

from tests.tools.database.servers import MARIADB, POSTGRES

from .pages import ROOT
from .project import evaluation_in
from .tables.__main__ import CHECK, WRITE, main
from .tables.source import modules

REFERENCE = ROOT / "docs" / "reference"
NAMED_ELSEWHERE = {"tableturn.tools.forkserver", "tableturn.evals.lab.bench.harness"}
"""Modules that read variables whose names others give them; these begin with TABLETURN, and are found as texts."""


def named(page: Path, heading: str = "") -> set[str]:
    """The names in the first column of a page's tables, below a sentence or heading if one is given."""
    text = page.read_text(encoding="utf-8").partition(heading)[2] if heading else page.read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_no_table_is_stale() -> None:
    assert main(CHECK) == 0, "run `make tables`"


def test_ranges_of_settings_say_what_is_accepted() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    ranges = re.findall(r"^\| `(\w+)` \|[^|]+\| (above )?([\d,.]+) to (below )?([\d,.]+) \|", text, re.MULTILINE)
    assert len(ranges) > 20
    for name, above, least, below, most in ranges:
        for refused, bound in ((above, least), (below, most)):
            with pytest.raises(SettingsError) if refused else nullcontext():
                Settings.model_validate({name: bound.replace(",", "")})


def test_the_changelog_names_each_setting_that_was_removed() -> None:
    told = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n### Removed\n")[2].partition("\n### ")[0]
    assert [name for name in REMOVED if f"`{name}`" not in told] == []


def test_a_stale_table_is_told_and_not_touched(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('<!-- [[[cog print(tables.settings("gate", "gate")) ]]] -->\nold\n<!-- [[[end]]] -->\n')
    assert main(CHECK, [page]) != 0
    assert "old" in page.read_text()
    assert main(WRITE, [page]) == main(CHECK, [page]) == 0
    assert "| `gate` |" in page.read_text()


def test_every_setting_is_on_its_page() -> None:
    assert named(ROOT / "docs" / "settings.md") == set(Settings.model_fields)


def test_every_environment_variable_that_is_read_is_on_its_page() -> None:
    everywhere = {name: text for tree in modules().values() for name, text in texts(tree)}
    read = {name for module, tree in modules().items() for name in variables(module, everywhere | dict(texts(tree)))}
    read |= {POSTGRES.variable, MARIADB.variable}
    assert named(REFERENCE / "environment.md") == read | {
        key for provider in PROVIDERS.values() for key in provider.keys
    }


def variables(module: str, constants: dict[str, str]) -> Iterator[str]:
    """The environment variables that a module reads, by their names or by a constant that holds one."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Constant) and re.fullmatch(r"TABLETURN_[A-Z_]*[A-Z]", str(node.value)):
            yield str(node.value)
        for place in places(node):
            text = place.value if isinstance(place, ast.Constant) else constants.get(ast.unparse(place))
            assert text or module in NAMED_ELSEWHERE, f"{module}: which variable is {ast.unparse(place)}?"
            if text:
                yield str(text)


def texts(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The constants of a module that hold a text."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield ast.unparse(node.targets[0]), node.value.value


def places(node: ast.AST) -> Iterator[ast.expr]:
    """Where a node says which variable it reads."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="environ")), args=[name, *_]):
            yield name
        case ast.Call(func=ast.Attribute(attr="getenv"), args=[name, *_]):
            yield name
        case ast.Subscript(value=ast.Attribute(attr="environ"), slice=name):
            yield name
        case ast.Compare(left=name, comparators=[ast.Attribute(attr="environ")]):
            yield name
        case ast.keyword(arg="envvar", value=name):
            yield name
        case _:
            pass


def test_every_key_of_an_evaluation_is_on_its_page(tmp_path: Path) -> None:
    results = evaluation_in(tmp_path)
    (question,) = results["questions"]
    page = REFERENCE / "json.md"
    assert set(question) == named(page, "Each object in `questions`") - {"name", "figures", "command"}
    assert set(results) | set(results["strict"]) | set(results["by_verdict"]) <= named(page, "## An evaluation") | {
        "ruled"
    }
    assert {field.name for field in fields(TurnRecord)} <= set(question)
    assert {field.name for kind in (Scores, Summary) for field in fields(kind)} - {"all"} == set(results["strict"])
