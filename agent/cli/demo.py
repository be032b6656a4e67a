"""The demonstration: builds the sample database and holds a conversation about it."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from ...tools.sample import build_sample
from .display import show_answer

TURNS = (
    "How many customers are there?",
    "Show the names and cities of the customers in France",
    "Only those with loyalty tier Gold",
    "How about Germany?",
    "Which store has the most orders?",
    "List the names and prices of all products sorted by price in descending order",
    "Show the top 5",
)
"""A count, a filter on a value, a narrowing, a change of value, a grouping with a superlative, a sort, a cut."""


def run_demo(path: Path) -> int:
    """Build the sample database and ask the demo questions; return 0 if all are answered."""
    console = Console()
    build_sample(path)
    console.print(f"Built the sample database: {path}", style="dim")
    from ..sqlagent import SQLAgent

    count = 0
    with SQLAgent(path, model="offline") as agent:
        conversation = agent.conversation()
        for question in TURNS:
            console.print(Rule(style="dim"))
            console.print(f"> {question}", style="bold green", markup=False)
            answer = conversation.ask(question)
            show_answer(answer, console)
            count += answer.answered
    console.print(Rule(style="dim"))
    console.print(f"{count} of {len(TURNS)} turns answered. Your turn: .venv/bin/tableturn chat --db {path}")
    return 0 if count == len(TURNS) else 1


if __name__ == "__main__":
    sys.exit(run_demo(Path(sys.argv[1] if len(sys.argv) > 1 else "build/kestrel.sqlite")))
