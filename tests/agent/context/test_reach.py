"""Tables that the linker left out stay within reach."""

from __future__ import annotations

from pathlib import Path

from tableturn.agent import SQLAgent

from tests.support.scripted import task_of, writes


def test_a_table_that_was_not_shown_is_shown_once_the_sql_reaches_for_it(shop: Path) -> None:
    model = writes("SELECT totl FROM orders", "SELECT name FROM customers WHERE city = 'Paris'")
    with SQLAgent(shop, model=model, settings={"examples": "none", "link_threshold": 0.99}) as agent:
        agent.ask("Which customers live in Paris?")
    drafting, revising = (prompt for prompt in model.prompts if task_of(prompt) == "sql")
    assert "placed date" not in drafting
    assert "Of the database's 2 tables only the one that" in drafting
    assert "placed date" in revising
