"""Nothing that programs and people rely on goes unnoticed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from tableturn.agent.answers.answer import JSON_KEYS
from tableturn.evals.adjudication.ruling import add_verdict_scores

from tests.interface.faces import NAMES, RENEW, covers, current, losses, removed, snapshot, unlisted


@pytest.mark.parametrize("face", NAMES)
def test_nothing_is_lost_that_the_table_does_not_tell_of(face: str) -> None:
    old, new = snapshot(face), current(face)
    missing = unlisted(face, losses(face, old, new))
    assert not missing, "removed or changed: name what to use instead in tests/interface/removed.toml"
    assert new == old, f"there is more, or it is written otherwise: `{RENEW}` writes it down"


@pytest.mark.parametrize("face", NAMES)
def test_what_the_table_tells_of_is_gone(face: str) -> None:
    lines = snapshot(face).replace("# ", "").splitlines()
    assert not [key for key in removed().get(face, {}) if any(covers(key, line) for line in lines)]


STUBS = """\
# shop.Till
class Till:
    def add(self, item, *, count=1): ...
    open_days = 5
    total = ...
# shop.sell
def sell(item, price=5): ...
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def sell(item, price=5)", "def sell(item, price=5, *, gift=False)", ""),
        ("def sell(item, price=5)", "def sell(item, price=5, *, gift)", "shop.sell"),
        ("def sell(item, price=5)", "def sell(item)", "shop.sell"),
        ("def sell(item, price=5)", "def sell(thing, price=5)", "shop.sell"),
        ("    total = ...\n", "", "shop.Till.total"),
        ("count=1", "count=2", "shop.Till.add"),
        ("open_days = 5", "open_days = 6", "shop.Till.open_days"),
        ("open_days = 5", "open_days = ...", "shop.Till.open_days"),
        ("    open_days = 5\n", "    open_days = 5\n    open_hours = 8\n", ""),
        ("# shop.sell\ndef sell(item, price=5): ...\n", "", "shop.sell"),
        ("# shop.sell", "# shop.give\ndef give(item): ...\n# shop.sell", ""),
    ],
)
def test_losses_of_python(old: str, new: str, told: str) -> None:
    lost = losses("python", STUBS, STUBS.replace(old, new))
    assert all(one.startswith(told) for one in lost)
    assert bool(lost) == bool(told)
    assert unlisted("python", lost, {"python": {told: "something else"}}) == []
    assert unlisted("python", lost, {"python": {f"{told}s": "something else"}}) == lost


LINES = 'GET /till query form: "csv"|"json"\nGET /till 200.state: "open"|"shut"\n' + (
    "shop\nshop buy\nshop buy --count NUMBER [default: 1]\nshop sell\nshop sell item required\n"
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("shop sell\n", "shop give\nshop give item required\nshop sell\n", []),
        ("shop sell\n", "shop sell\nshop sell --gift\n", []),
        ("shop sell item required", "shop sell item", []),
        ("shop sell\n", "shop sell\nshop sell price required\n", ["shop sell price required (new)"]),
        ('"csv"|"json"', '"csv"|"xlsx"|"json"', []),
        ('"csv"|"json"', '"csv"', ['GET /till query form: "csv"|"json"']),
        ('"open"|"shut"', '"open"|"shut"|"new"', ['GET /till 200.state: "open"|"shut"']),
        ("default: 1", "default: 2", ["shop buy --count NUMBER [default: 1]"]),
        ("shop buy --count NUMBER [default: 1]\n", "", ["shop buy --count NUMBER [default: 1]"]),
    ],
)
def test_losses_of_lines(old: str, new: str, told: list[str]) -> None:
    lost = losses("commands", LINES, LINES.replace(old, new))
    assert lost == told
    assert (
        unlisted("commands", lost, {"commands": {"shop buy": "shop order", "shop sell price": "-", "GET /till": "-"}})
        == []
    )


def test_a_key_that_the_code_renames_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = import_module("tests.docs.tables.keys")
    monkeypatch.setattr(keys, "JSON_KEYS", tuple(key for key in JSON_KEYS if key != "sql"))
    monkeypatch.setattr("tableturn.evals.runner.results.add_verdict_scores", _with_judgements)
    lost = losses("json", snapshot("json"), current("json"))
    assert lost == ["An answer: sql: text or null", "An evaluation: questions.ruling: object or null"]


def _with_judgements(results: dict[str, Any], *more: Any) -> None:
    add_verdict_scores(results, *more)
    for question in results["questions"]:
        question["judgement"] = question.pop("ruling")
