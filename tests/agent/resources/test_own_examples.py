"""An approved answer helps the next question to its database, and no other's."""

from __future__ import annotations

import shutil
from pathlib import Path

from tableturn.agent import SQLAgent
from tableturn.tools.database import Database
from tableturn.tools.examples import ExampleStore, make_example, make_example_verifier

from ...support.scripted import writes

SQL = "SELECT name FROM customers WHERE city = 'Paris'"


def test_an_approved_answer_is_shown_for_its_own_database_alone(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = shutil.copy(shop, tmp_path / "other" / shop.name)
    with ExampleStore.open() as store:
        with Database.open(shop) as database:
            store.add(
                [make_example(database, "Which customers are in project Nimbus?", SQL)], make_example_verifier(database)
            )
        shown: list[bool] = []
        for path in (shop, Path(other)):
            model = writes(SQL)
            with SQLAgent(path, model=model, examples=store) as agent:
                assert agent.ask("Which customers live in Paris?").sql == SQL
            shown.append(any("Nimbus" in prompt for prompt in model.prompts))
        assert shown == [True, False]


def test_no_more_of_its_own_are_shown_than_settings_say(shop: Path) -> None:
    with ExampleStore.open() as store, Database.open(shop) as database:
        store.add(make_example(database, f"Who is in project Nimbus {n}?", SQL) for n in range(5))
        for most in (0, 2):
            model = writes(SQL)
            settings = {"own_examples": most, "examples": "random"}
            with SQLAgent(database, model=model, examples=store, settings=settings) as agent:
                events = list(agent.conversation().stream("Which customers live in Paris?"))
            (retrieved,) = [event.data for event in events if event.name == "retrieved"]
            assert retrieved["own"] >= most
            examples = next(event.data["turn"]["examples"] for event in events if event.name == "retrieve")
            assert all("Nimbus" in example["question"] for example in examples[:most])


def test_one_that_is_far_is_not_shown(shop: Path) -> None:
    with ExampleStore.open() as store, Database.open(shop) as database:
        far = "List every warehouse shipment that arrived late, newest first, with its carrier."
        store.add([make_example(database, far, SQL)], make_example_verifier(database))
        for likeness, shown in ((0.8, False), (0.0, True)):
            model = writes(SQL)
            settings = {"example_likeness": likeness}
            with SQLAgent(database, model=model, examples=store, settings=settings) as agent:
                agent.ask("Which customers live in Paris?")
            assert any("warehouse" in prompt for prompt in model.prompts) == shown
