"""A first turn that speaks of "them" alone is asked back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.agent import SQLAgent


@pytest.mark.parametrize(
    "question", ["show them", "How many of them are there?", "What are they?", "List all of those."]
)
def test_what_a_pronoun_stands_for_is_asked_and_then_known(sample: Path, question: str) -> None:
    with SQLAgent(sample, model="offline") as agent:
        chat = agent.conversation()
        waiting = chat.ask(question)
        assert waiting.status == "needs_clarification"
        assert "stand for" in waiting.text
        assert "customers" in waiting.choices
        answer = chat.ask("customers")
    assert answer.answered, answer.text
    assert "FROM customers" in (answer.sql or "")


def test_after_a_turn_it_is_known(sample: Path) -> None:
    with SQLAgent(sample, model="offline") as agent:
        chat = agent.conversation()
        chat.ask("Show the names of the customers in France")
        assert chat.ask("How many of them are there?").status != "needs_clarification"


def test_what_names_something_is_not_asked_back(sample: Path) -> None:
    with SQLAgent(sample, model="offline") as agent:
        assert agent.ask("Show all the stores and list them").status != "needs_clarification"
