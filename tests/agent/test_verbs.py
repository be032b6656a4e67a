"""Which door has which verb of `agent/verbs.py`, and why it lacks another."""

from __future__ import annotations

import ast
from inspect import isfunction
from pathlib import Path

import pytest
from tableturn.agent import verbs

ROOT = Path(__file__).parent.parent.parent

DOORS: dict[str, tuple[str, ...]] = {
    "python": ("agent/sqlagent.py",),
    "terminal": ("agent/cli/output.py", "agent/cli/schema.py", "agent/cli/app.py"),
    "chat": ("agent/cli/chat", "agent/answers/commands.py"),
    "studio": ("agent/answers/commands.py",),
    "http": ("serve/api", "serve/config.py", "serve/server.py"),
    "mcp": ("serve/mcp.py", "serve/server.py"),
}
"""The files of each. LangChain's tools ask and read (`SQLAgent.as_tool`, `tools/toolset.py`) and teach nothing."""

ASKS = "it asks one question; what it gave can be approved or corrected in a chat"
TEACHES = "messages in Studio teach and explain; its page shows the state, and the database by questions"
ANSWER = "an answer has it as an attribute"
OPEN = "`Database` and `ValueIndex` have it"
MODEL = "who calls is a model, which gets no files"
PAGE = "the page shows it with the answer"

TABLE: dict[str, dict[str, str]] = {
    "approve": {"terminal": ASKS},
    "correct": {"terminal": ASKS},
    "word_correction": {"terminal": ASKS},
    "find_right_query": {"python": "`correct` takes it", "terminal": ASKS},
    "rerun": {"terminal": ASKS, "mcp": "`run_sql` runs a query that has no answer"},
    "note": {},
    "save_knowledge_entry": {"terminal": ASKS, "mcp": "it proposes nothing"},
    "list_lessons": {},
    "edit_lesson": {},
    "forget": {},
    "explain": {"python": ANSWER, "terminal": "`--explain` prints the answer's own", "http": PAGE},
    "tables": {
        "python": OPEN,
        "terminal": "`schema` shows them as a model sees them",
        "studio": TEACHES,
        "mcp": "it has `schema`",
    },
    "notices": {"python": OPEN, "terminal": "told when files are opened", "studio": TEACHES, "mcp": MODEL},
    "schema": {"python": OPEN, "chat": "/schema shows a table as a person sees it", "studio": TEACHES, "http": PAGE},
    "values": {"python": OPEN, "terminal": ASKS, "studio": TEACHES, "http": PAGE, "mcp": "by what a text mentions"},
    "find_values": {"python": OPEN, "terminal": ASKS, "chat": "Tab", "studio": TEACHES, "http": PAGE},
    "export": {"studio": TEACHES, "mcp": MODEL},
    "chart": {"python": ANSWER, "terminal": "`draw`", "studio": TEACHES, "mcp": MODEL},
    "draw": {
        "python": ANSWER,
        "chat": "by `write_chart_file` of `ask`",
        "studio": TEACHES,
        "http": "browsers draw",
        "mcp": MODEL,
    },
    "compute_token_cost": {"python": ANSWER, "terminal": ASKS, "studio": TEACHES, "mcp": "the server counts them"},
}
"""Verbs, and the doors that lack one, with the reason.

Threads are listed by whoever keeps them: `agent/conversation_files.py` for the terminal, `serve/store.py` for HTTP
and MCP.
"""


def used(door: str) -> set[str]:
    """The verbs that a door's files use."""
    names: set[str] = set()
    for place in DOORS[door]:
        path = ROOT / place
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "verbs":
                    names.add(node.attr)
                elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == "verbs":
                    names |= {alias.name for alias in node.names}
    return names


def test_the_table_has_every_verb() -> None:
    helpers = {"check_chart_file", "format_unchecked", "join_names", "unquote"}
    own = {name for name, one in vars(verbs).items() if isfunction(one) and one.__module__ == verbs.__name__}
    assert {name for name in own if not name.startswith("_")} == TABLE.keys() | helpers


@pytest.mark.parametrize("door", DOORS)
def test_each_door_has_the_verb_or_a_reason(door: str) -> None:
    lacking = {verb for verb, reasons in TABLE.items() if door in reasons}
    assert used(door) & TABLE.keys() == TABLE.keys() - lacking
