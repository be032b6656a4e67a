"""Commands as a page shows them: `$ tableturn ...` with what it prints below; run here, or only read.

Commands of tableturn run in this process, with what follows a `>` below them as the lines of a chat. Those that serve,
install or belong to others are read alone: the options, targets and extras that they name have to be there.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from tableturn.agent.cli.app import app
from tableturn.agent.cli.demo import run_demo
from tableturn.evals.lab.bench.registry import BENCHES
from tableturn.evals.lab.commands import app as lab

from tests.support.command_line import tableturn

from .pages import ROOT

SERVING = ("serve", "mcp")
"""Commands that go on until they are stopped."""
LABORATORY = "python -m tableturn.evals.lab"
_PIPED = ("head", "tail", "cat")
"""Programs of others that run behind a `|`."""
_ASSIGNED = re.compile(r"[A-Z_]+=.*")
_LEFT_OUT = re.compile(r"(?:\\\.){3}|…")
_SECONDS = re.compile(r"\d+\.\d+(?= s\b)|(?<=\"milliseconds\": )[\d.]+|(?<=\"seconds\": )[\d.]+")
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+/v1")
_RULE = re.compile(r"[━─═]+")


@dataclass(frozen=True)
class Command:
    """A line after a `$`.

    Attributes:
        line: The line itself.
        typed: What is typed into it, line by line.
        shown: What it prints, by the page; empty where the page shows nothing of it.
    """

    line: str
    typed: str
    shown: str

    @property
    def stages(self) -> list[list[str]]:
        """The words of each program of a pipe, without variables before it and comments behind it."""
        lexer = shlex.shlex(self.line, posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        found: list[list[str]] = [[]]
        for word in lexer:
            if word in ("|", "&&", ";"):
                found.append([])
            elif found[-1] or not _ASSIGNED.fullmatch(word):
                found[-1].append(word.removeprefix(".venv/bin/"))
        return found

    @property
    def serves(self) -> bool:
        """Whether it goes on until it is stopped."""
        return any(words[0] == "tableturn" and words[1] in SERVING for words in self.stages)


def commands(text: str) -> Iterator[Command]:
    """The commands of a block, each with what stands below it."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, *below = part.splitlines()
        typed = [one.removeprefix("> ") for one in below if one.startswith("> ")]
        shown = [one for one in below if not one.startswith("> ")]
        yield Command(line, "\n".join(typed), "\n".join(shown).strip())


def read(command: Command) -> None:
    """Holds a command against what there is, and does not run it."""
    for words in command.stages:
        match words:
            case ["tableturn", *arguments]:
                _parse(app, arguments)
            case ["python", "-m", "tableturn.evals.lab", *arguments]:
                _parse(lab, arguments)
            case ["pip", "install", *given]:
                _look_up_extras(given)
            case ["make", *targets]:
                made = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
                wanted = [target for target in targets if "=" not in target]
                assert set(wanted) <= set(made), f"the Makefile has no {wanted}"
            case _:
                pass


def run(command: Command, shortened: bool) -> None:
    """Runs a command, and holds what it prints against what the page shows."""
    text = ""
    stages = command.stages
    for words in stages:
        match words:
            case ["tableturn", *arguments]:
                text = _run(arguments, command, last=words is stages[-1])
            case ["make", "demo"]:
                Path("build").mkdir()
                assert run_demo(Path("build/kestrel.sqlite")) == 0
            case [program, *_] if program in _PIPED:
                text = subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout
            case _:
                read(command)
                return
    if command.shown:
        assert agrees(command.shown, text, shortened), f"the page shows:\n{command.shown}\nit prints:\n{text}"


def agrees(shown: str, printed: str, shortened: bool) -> bool:
    """Whether what a page shows is what is printed.

    However lines are wrapped and tables drawn; `...` is anything, seconds are any, and where the page says that it is
    shortened, lines may be missing.
    """
    lines = [re.escape(_plain(line)).replace(r"\ ", " ") for line in shown.splitlines() if line.strip()]
    wanted = (".*?" if shortened else r"\s*").join(_LEFT_OUT.sub(".*?", line) for line in lines)
    return re.search(wanted, _plain(printed), re.DOTALL) is not None


def _plain(text: str) -> str:
    return " ".join(_SECONDS.sub("0", _RULE.sub("─", text)).split())


def _run(arguments: list[str], command: Command, last: bool) -> str:
    """What a command of tableturn prints: errors too, where it is the last of a pipe, as on a terminal."""
    words, files = _redirected(arguments)
    typed = Path(files["<"]).read_text(encoding="utf-8") if "<" in files else f"{command.typed}\n"
    done = tableturn(*map(_filled, words), given=typed, streams="together" if last and ">" not in files else "apart")
    expected = "tableturn: " in command.shown or not done.returncode
    assert expected, f"exit code {done.returncode}:\n{done.stdout}\n{done.stderr}"
    if ">" in files:
        Path(files[">"]).write_text(done.stdout, encoding="utf-8")
        return ""
    return done.stdout


def _redirected(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words without redirections, and the files of these by their signs."""
    files: dict[str, str] = {}
    while len(words) > 2 and words[-2] in ("<", ">"):
        files[words[-2]] = words[-1]
        words = words[:-2]
    return words, files


def _filled(word: str) -> str:
    """A word with ours in the place of the reader's: dots for a question or a model's name, a model's server."""
    if word == "...":
        return "How many customers are there?"
    if _LOOPBACK.fullmatch(word):
        return os.environ["OPENAI_BASE_URL"]
    return "openai:scripted" if word.endswith(":...") else word


def _parse(program: typer.Typer, arguments: list[str]) -> None:
    words, _ = _redirected(arguments)
    if program is lab and words[0] == "bench" and words[1:] and words[1].islower():
        assert words[1] in BENCHES, f"there is no benchmark {words[1]}"
    group: Any = typer.main.get_group(program)
    context = group.make_context("tableturn", [], resilient_parsing=True)
    command, rest = group, words
    while hasattr(command, "get_command") and rest and not rest[0].startswith(("-", "...")) and not rest[0].isupper():
        inner = command.get_command(context, rest[0])
        assert inner is not None, f"there is no command {' '.join(words)!r}"
        command, rest = inner, rest[1:]
        context = type(context)(command, parent=context, info_name=command.name)
    options, arguments_left, _ = command.make_parser(context).parse_args(rest)
    assert options is not None
    assert arguments_left is not None


@functools.cache
def options() -> frozenset[str]:
    """The long options of all commands."""
    groups: list[Any] = [typer.main.get_group(program) for program in (app, lab)]
    context = groups[0].make_context("tableturn", [], resilient_parsing=True)
    waiting, found = groups, set[str]()
    while waiting:
        command = waiting.pop()
        found |= {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        if hasattr(command, "list_commands"):
            waiting += [command.get_command(context, name) for name in command.list_commands(context)]
    return frozenset(found)


def _look_up_extras(given: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {extra for word in given for extra in re.sub(r".*\[|\].*|^[^\[]*$", "", word).split(",") if extra}
    assert wanted <= set(project["optional-dependencies"]), f"there is no extra {wanted}"
