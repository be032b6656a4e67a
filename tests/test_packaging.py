"""What is packaged is what is there, and imports go one way."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("agent", "tools", "prompts", "evals", "serve")
FACE = "agent/package"
"""The folder that is installed as the package `tableturn` itself."""

LABORATORY = ROOT / "evals" / "lab"
"""In the repository and the sdist, not in the wheel: nothing that is installed imports it."""

MAY_IMPORT = {
    "tools": {"tools"},
    "prompts": {"tools", "prompts"},
    "agent": {"tools", "prompts", "agent"},
    "serve": {"tools", "prompts", "agent", "serve"},
    "evals": {"tools", "prompts", "agent", "serve", "evals"},
    "tableturn": {"tools", "agent"},
}
"""Rooms, and the package's own modules, with what each may import."""


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the distribution by its name within `tableturn`."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "/".join(parts[:2]) == FACE:
                parts = ("tableturn", *parts[2:])
            yield ".".join(parts).removesuffix(".__init__"), path


def imports(name: str, path: Path) -> Iterator[str]:
    """What modules a module imports of the distribution, wherever in it, by names within `tableturn`."""
    for module, names in imported_names(name, path):
        yield from (module,) if module and module != "tableturn" else names


def imported_names(name: str, path: Path) -> Iterator[tuple[str, list[str]]]:
    """What a module imports of the distribution: modules by names within `tableturn`, and the names of each."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found = [(alias.name, list[str]()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parent = ["tableturn", *package[: len(package) - node.level + 1]] if node.level else []
            names = [alias.name for alias in node.names]
            found = (
                [(".".join([*parent, node.module]), names)]
                if node.module
                else [(".".join([*parent, each]), list[str]()) for each in names]
            )
        else:
            continue
        for module, names in found:
            if module == "tableturn" or module.startswith("tableturn."):
                yield module.removeprefix("tableturn."), names


GRAPH = {name: set(imports(name, path)) for name, path in modules()}


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = [
        "tableturn" if path.parent == ROOT / FACE else "tableturn." + ".".join(path.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for path in (ROOT / room).rglob("__init__.py")
        if LABORATORY not in path.parents
    ]
    assert sorted(listed) == sorted(there)


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert all(line.startswith("#") or "==" in line for line in lines)
    assert not any(mark in line for line in lines for mark in ("/", "@", ";"))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_one_way(room: str) -> None:
    """As nothing imports back, no package of one room is in a cycle with one of another."""
    wrong = [
        f"{name} imports {imported}"
        for name, all_imported in GRAPH.items()
        if name.split(".")[0] == room
        for imported in sorted(all_imported)
        if imported.split(".")[0] in ROOMS and imported.split(".")[0] not in MAY_IMPORT[room]
    ]
    assert wrong == []


def test_only_the_terminal_imports_the_terminal() -> None:
    """Neither the way of a turn nor the server needs the command line."""
    terminal = "agent.cli"
    wrong = {
        f"{name} imports {each}"
        for name, imported in GRAPH.items()
        if name.startswith(("agent", "serve")) and not name.startswith(terminal)
        for each in imported
        if each.startswith(terminal)
    }
    assert wrong == set()


def test_nothing_that_is_installed_imports_the_laboratory() -> None:
    laboratory = "evals.lab"
    wrong = {
        name
        for name, imported in GRAPH.items()
        if not name.startswith(laboratory) and any(each.startswith(laboratory) for each in imported)
    }
    assert wrong == set()
    assert any(name.startswith(laboratory) for name in GRAPH)


def test_imports_were_read() -> None:
    assert "agent.sqlagent" in GRAPH["agent"], "relative, of a package"
    assert "tools.errors" in GRAPH["agent.cli.root"], "relative, of a module"
    assert "tools.database" in GRAPH["tableturn"], "absolute"


def test_what_is_sqlite_s_own_stays_there() -> None:
    inside = "tools.database.sqlite"
    found = {
        name
        for name, imported in GRAPH.items()
        if not name.startswith((inside, "evals.lab.")) and any(each.startswith(inside) for each in imported)
    }
    assert found == set()


WALKS = frozenset(("bfs", "climb", "dfs", "find_all", "find_ancestor", "iter_expressions", "transform", "walk"))
# `exp.select("1")` and `.limit(1)` parse a constant of ours, and no statement; SQLAlchemy's look the same.
PARSES = frozenset(
    ("exp.condition", "maybe_parse", "parse_into", "parse_one", "parse_query_tree", "parse_statement", "parse_text")
) | {"sqlglot.parse", "transpile"}
MAY_WALK = {
    "tools.sql.parse": "of what it parses there is no query yet",
    "tools.sql.query": "it gives all others the parts of a statement",
    "tools.sql.resolve": "the query has its resolution from it",
    "tools.sql.scope": "the query has its scopes from it",
    "tools.sql.checks.failure": "of columns outside of aggregates: it goes into no part that is grouped by itself",
    "tools.sql.explain": "of a call it says the arguments in their order, of any node what it has no words for",
    "tools.sql.literals": "whether a query gives nothing hangs on the aggregates within it",
    "tools.sql.texts": "a text that may be words is SQL by the kinds of its parts",
    "tools.sql.vectors": "it counts by single clauses, as the paper does",
    "tools.database.duckdb.instance": "it reads what views and tables are declared by",
    "tools.database.estimate": "an engine judges for itself what it runs",
    "tools.database.secret_views": "it follows columns through the definitions of views",
    "tools.database.server.statement_check": "an engine judges for itself what it runs",
    "tools.database.sqlite.engine": "an engine judges for itself what it runs",
    "tools.knowledge.fragment": "it changes copies of the SQL that definitions have",
    "tools.ledger.passed": "of a CASE it leaves out the conditions",
}
"""The only places that go through syntax trees for themselves, and why; all others ask a `Query`."""
MAY_PARSE = {
    "tools.sql": "it hands on `parse_query_tree`, of `tools.sql.parse`",
    "tools.sql.parse": "what it gives is remembered",
    "tools.ledger.newest": "its calendar is a query of ours",
    "agent.evidence.ledger": "what is kept of a table's rows is a condition of ours",
    **{place: why for place, why in MAY_WALK.items() if place.startswith("tools.database.")},
}


@pytest.mark.parametrize(("places", "names"), [(MAY_WALK, WALKS), (MAY_PARSE, PARSES)], ids=["walk", "parse"])
def test_all_others_ask_a_query_about_a_statement(places: Mapping[str, str], names: frozenset[str]) -> None:
    found = {name for name, path in modules() if not names.isdisjoint(_names_used(path))}
    assert {name for name in found if not name.startswith("evals.lab.")} == {*places}


def _names_used(path: Path) -> Iterator[str]:
    """The names that a module imports, and the attributes that it asks for, but for those of Python's own trees.

    `climb` stands for the parent of a parent, or a parent in a loop, where syntax trees are read.
    """
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = [(node.module, alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    yield from (name for _, name in imported)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            yield from () if owner == "ast" else (node.attr, f"{owner}.{node.attr}")
        if ("sqlglot", "exp") in imported and isinstance(node, ast.While | ast.Attribute):
            parents = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr == "parent"]
            yield from ("climb",) if len(parents) > isinstance(node, ast.Attribute) else ()
