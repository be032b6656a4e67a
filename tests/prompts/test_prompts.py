"""What models are told: every task, in every form, as a snapshot."""

from __future__ import annotations

from dataclasses import replace
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest
import tableturn.prompts
from syrupy.assertion import SnapshotAssertion
from tableturn.prompts.task import Task
from tableturn.prompts.templating import estimate_message_tokens

from .samples import every_task

TASKS = every_task()
TEMPLATES = Path(tableturn.prompts.__file__ or "").parent / "templates"
PAGE = Path(__file__).parents[2] / "docs" / "prompts.md"


def text(task: Task[Any], budget: int = 100_000) -> str:
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in task.render(budget).messages)


@pytest.mark.parametrize("name", TASKS)
def test_snapshot(name: str, snapshot: SnapshotAssertion) -> None:
    assert text(TASKS[name]) == snapshot


@pytest.mark.parametrize("name", TASKS)
def test_everything_fits_a_large_budget(name: str) -> None:
    prompt = TASKS[name].render(100_000)
    assert prompt.left_out == ()
    assert prompt.tokens == estimate_message_tokens(prompt.messages)
    assert [message.role for message in prompt.messages] == ["system", "user"]


@pytest.mark.parametrize("name", TASKS)
def test_no_template_leaves_marks_or_gaps(name: str) -> None:
    said = text(TASKS[name])
    assert "{{" not in said
    assert "{%" not in said
    assert "\n\n\n" not in said


def test_the_form_full_asks_for_a_sentence_about_the_columns_of_its_query() -> None:
    whole = replace(TASKS["generate_full_any"], reply="any")
    asks = {
        "a query": whole,
        "a revision": replace(TASKS["revise_full"], generate=whole),
        "code and a query": replace(TASKS["reason_pot"], generate=whole),
        "code alone": replace(TASKS["reason_code_blocks"], generate=whole),
        "a query alone": replace(whole, reply="sql"),
    }
    told = {name for name, task in asks.items() if "\nSay: " in text(task)}
    assert told == {"a query", "a revision", "code and a query"}
    assert not [name for name in TASKS if "full" not in name and "\nSay: " in text(TASKS[name])]


def subclasses(kind: type[Any]) -> set[type[Any]]:
    found = set(kind.__subclasses__())
    return found | {deeper for one in found for deeper in subclasses(one)}


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_lists_every_task_with_its_file() -> None:
    made = {kind for kind in subclasses(Task) if not isabstract(kind)}
    ours = {kind for kind in made if kind.__module__.startswith("tableturn.prompts.")}
    listed = {(name.strip("`"), file.strip("`")) for name, file, *_ in rows()}
    assert listed == {(kind.name, f"prompts/{kind.__module__.rpartition('.')[2]}.py") for kind in ours}


def test_the_page_lists_every_template() -> None:
    listed = {part.strip().strip("`") for row in rows() for part in row[2].split(",")}
    assert listed == {path.name for path in TEMPLATES.glob("[!_]*.j2")}


def test_every_task_of_the_page_names_its_source() -> None:
    assert all(row[3] for row in rows())
