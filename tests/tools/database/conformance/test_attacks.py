"""No attack runs, and none has an effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError

from .attacks import SHARED
from .candidate import Candidate


def test_enough_attacks(candidate: Candidate) -> None:
    assert len({*SHARED, *candidate.attacks}) >= 120


def test_attacks_are_refused_without_effect(candidate: Candidate, url: str, database: Database, tmp_path: Path) -> None:
    before = candidate.fingerprint(url)
    ran: list[str] = []
    messages: dict[str, str] = {}
    for attack in (*SHARED, *candidate.attacks):
        try:
            database.execute(attack.replace("{folder}", str(tmp_path)))
        except QueryError as error:
            messages[attack] = str(error)
        else:
            ran.append(attack)
    assert ran == []
    assert database.execute("SELECT count(*) FROM customer").rows == ((4,),)
    assert [attack for attack, text in messages.items() if "\n" in text or not 5 < len(text) < 600] == []
    assert list(tmp_path.iterdir()) == []
    assert candidate.fingerprint(url) == before


@pytest.mark.parametrize("ending", ["", ";", " ; ", "\n-- the end"])
def test_one_reading_statement_runs(database: Database, ending: str) -> None:
    assert database.execute(f"SELECT name FROM customer WHERE id = 1{ending}").rows == (("Anna Berg",),)
