"""Everything that the pages show is run, as a reader would: in order, in one folder, and with what it prints held."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlglot
import yaml
from pytest_examples import CodeExample, EvalExample, find_examples
from tableturn.agent.cli.root import RootCommandGroup, read_default_options
from tableturn.agent.settings import make_settings, read_settings_file
from tableturn.tools.database.permissions_file import PermissionsFile
from tableturn.tools.knowledge.read import KnowledgeFile

from tests.support.openai_server import OpenAIServer

from . import console
from .pages import PAGES, ROOT, Block, blocks
from .project import enter, make_project, reply, sample_at

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
LANGUAGES = ("python", "console", "toml", "json", "jsonl", "yaml", "sql", "mermaid", "text")
LINK = re.compile(r"\]\(([^)#\s]+)")
BY_PAGE = {page: tuple(blocks(page)) for page in PAGES}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_at(tmp_path_factory.mktemp("sample") / "shop.db")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with OpenAIServer(reply) as server:
        yield server.base_url


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_shows_works(
    page: Path, sample: Path, model: str, eval_example: EvalExample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not BY_PAGE[page]:
        return
    if page.name == "README.md":  # its blocks use what they make
        (tmp_path / "project").mkdir()
    else:
        make_project(tmp_path / "project", sample)
    enter(tmp_path / "project", model, monkeypatch)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # put back: pytest-examples takes its place
    examples = {example.start_line: example for example in find_examples(page)}
    names: dict[str, Any] = {}
    failures: list[str] = []
    for block in BY_PAGE[page]:
        # Only its text: the traceback that pytest-examples gives an error cannot be read, and would end xdist's worker.
        try:
            _assert_block_works(block, examples.get(block.line), eval_example, names)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever a page raises is told
            failures.append(f"{page.name}:{block.line}: {type(error).__name__}: {error}")
    assert not failures, "\n\n".join(failures)
    for value in names.values():
        if not isinstance(value, type) and hasattr(value, "close"):
            value.close()


def _assert_block_works(block: Block, example: CodeExample | None, runner: EvalExample, names: dict[str, Any]) -> None:
    """Runs or reads one block; `names` are those of the page's Python so far."""
    if block.title:
        Path(block.title).parent.mkdir(parents=True, exist_ok=True)
        Path(block.title).write_text(block.text, encoding="utf-8")
    match block.language:
        case "python":
            assert example, "pytest-examples does not find this block"
            _run_python(block, example, runner, names)
        case "console":
            for command in console.commands(block.text):
                if block.not_run or command.serves:
                    console.read(command)
                else:
                    console.run(command, block.shortened)
        case "toml":
            _load_toml(block)
        case "yaml":
            content = yaml.safe_load(block.text)
            if "knowledge" in block.title:
                KnowledgeFile.model_validate(content)
        case "json":
            json.loads(block.text)
        case "jsonl":
            [json.loads(line) for line in block.text.splitlines()]
        case "sql":
            sqlglot.parse(block.text)
        case language:
            assert language in LANGUAGES, f"{language!r} is none of {LANGUAGES}"


def _run_python(block: Block, example: CodeExample, runner: EvalExample, names: dict[str, Any]) -> None:
    runner.set_config(line_length=120, target_version="py310", quotes="double")
    update = runner.update_examples  # by `--update-examples`: the form, and what is printed, are written into the page
    (runner.format_black if update else runner.lint_black)(example)
    if block.not_run:
        return
    run = runner.run
    if "#>" in block.text:
        run = runner.run_print_update if update else runner.run_print_check
    names |= run(example, module_globals=names, rewrite_assertions=False)


def _load_toml(block: Block) -> None:
    """Has a file read by what reads it where it lies; which that is its name says, or what it holds."""
    content = tomllib.loads(block.text)
    path = Path(block.title or "block.toml")
    path.write_text(block.text, encoding="utf-8")
    if path.name == "tableturn.toml":
        read_default_options(path)
    elif path.name == "pyproject.toml":
        return
    elif content.keys() & {"default", "users", "groups", "egress"}:
        PermissionsFile.read(path)
    else:
        make_settings(read_settings_file(path))


def test_python_of_pages_is_clean(tmp_path: Path) -> None:
    """Ruff reads each page as a module whose other lines are empty, so that its messages have the page's lines."""
    for page, found in BY_PAGE.items():
        lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
        for block in found:
            if block.language == "python":
                lines[block.line : block.line + block.text.count("\n")] = block.text.splitlines()
        (tmp_path / page.relative_to(ROOT)).with_suffix(".py").parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / page.relative_to(ROOT)).with_suffix(".py").write_text("\n".join(lines), encoding="utf-8")
    # Pages name values and imports to show them, import where they need something, and use what blocks before made.
    ignored = "--ignore=B018,D,E303,E402,F401,F811,I001,INP,W"
    ruff = [sys.executable, "-m", "ruff", "check", "--quiet", "--config", str(ROOT / "pyproject.toml"), ignored]
    ran = subprocess.run([*ruff, "--no-cache", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_page_that_is_linked_is_there() -> None:
    def missing(page: Path) -> Iterator[str]:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" not in link and not (page.parent / link).exists():
                yield f"{page.relative_to(ROOT)}: {link}"

    assert not [one for page in PAGES for one in missing(page)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_within_sentences_are_there(page: Path) -> None:
    """Commands and options between backquotes in running text are those that there are."""
    text = re.sub(r"^ *(`{3,}).*?^ *\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`((?:tableturn|make|pip|bench|python -m tableturn\.evals\.lab)\s[^`]+)`", text):
        whole = " ".join(line.split())
        whole = f"{console.LABORATORY} {whole}" if whole.startswith("bench") else whole
        if whole.startswith(tuple(f"tableturn {old}" for old in RootCommandGroup.removed)):
            continue  # it says itself what to use instead
        console.read(console.Command(whole if whole.startswith(("make", "pip")) else f"{whole} ...", "", ""))
    named = set(re.findall(r"`(--[a-z][a-z-]+)", text))
    known = console.options() | {word for old in RootCommandGroup.removed for word in old.split()}
    assert named <= known, f"no command has the options {named - known}"
