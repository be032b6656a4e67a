"""When the attempts of a turn come to an end, and how that is said."""

from __future__ import annotations

from typing import Any

import pytest
from tableturn.agent import Settings
from tableturn.agent.nodes.revise_or_stop import find_stop_reason
from tableturn.agent.records import Attempt, CodeResult, PlainResult, StopReason
from tableturn.tools.database import ColumnSchema, Schema, TableSchema
from tableturn.tools.database.table import PlainCell
from tableturn.tools.sql import SearchedLiteral

SCHEMA = Schema("shop", (TableSchema("t", (ColumnSchema("a"), ColumnSchema("b"))),))


def ran(sql: str, *cells: PlainCell, **more: Any) -> Attempt:
    return Attempt(sql, result=PlainResult(("n",), tuple((cell,) for cell in cells)), **more)


def failed(sql: str) -> Attempt:
    return Attempt(sql, error="no such column", error_kind="unknown_column")


def stop(*attempts: Attempt, code: CodeResult | None = None, **settings: Any) -> StopReason | None:
    given: dict[str, Any] = {"gate": False, "max_attempts": 9, **settings}
    return find_stop_reason(attempts, code, lambda: SCHEMA, Settings(**given))


def kind(*attempts: Attempt, **more: Any) -> str | None:
    found = stop(*attempts, **more)
    return found.kind if found else None


A, B, C = ran("SELECT a FROM t", 1), ran("SELECT b FROM t", 2), ran("SELECT a FROM t WHERE b = 1", 3)


def test_a_turn_goes_on_while_nothing_comes_back() -> None:
    assert stop(A) is None
    assert stop(A, B, C) is None
    assert stop(failed("SELECT x FROM t"), failed("SELECT y FROM t"), A) is None


def test_a_query_or_a_result_that_comes_back_ends_it() -> None:
    assert stop(A, ran(" select a from T ", 8)) == StopReason(
        "same_sql", "asked again, the model gave the same SQL", "converged"
    )
    assert stop(A, ran("SELECT 1", 1)) == StopReason(
        "same_result", "asked again, the model gave the same result", "converged"
    )
    assert kind(failed("SELEC a"), failed("SELEC a ")) == "same_sql"
    assert kind(failed("SELEC a"), failed("SELEC b")) is None


@pytest.mark.parametrize(
    ("converge", "sql", "result"), [("sql", "same_sql", None), ("result", "same_result", "same_result")]
)
def test_settings_say_what_has_to_come_back(converge: str, sql: str, result: str | None) -> None:
    assert kind(A, A, converge=converge) == sql
    assert kind(A, ran("SELECT 1", 1), converge=converge) == result


def test_going_in_a_circle_ends_it_without_having_converged() -> None:
    found = stop(A, B, A)
    assert found == StopReason("cycle", "asked again, the model gave the same SQL as 2 queries before", "capped")
    assert stop(A, B, C, ran("SELECT 1", 1)) == StopReason(
        "cycle", "asked again, the model gave the same result as 3 queries before", "capped"
    )
    assert stop(A, B, A, stop_cycles=False) is None
    assert kind(A, B, B, stop_cycles=False) == "same_sql"


def test_drafts_that_were_not_selected_do_not_count() -> None:
    other = ran("SELECT b FROM t", 2, source="candidate")
    assert stop(other, A, B, max_attempts=3) is None
    assert stop(A, other, max_attempts=2) is None


def test_attempts_are_limited() -> None:
    assert stop(A, B, C, max_attempts=4) is None
    assert stop(A, B, C, max_attempts=3) == StopReason(
        "attempts", "3 queries were tried, and the settings allow no more", "capped"
    )
    assert stop(A, max_attempts=1) == StopReason("attempts", "the settings allow one query", "converged")
    assert stop(failed("SELECT x FROM t"), max_attempts=1) == StopReason(
        "attempts", "1 query was tried, and the settings allow no more", "capped"
    )


def test_a_persons_query_is_the_last_word() -> None:
    assert stop(A, ran("SELECT b FROM t", 2, source="edited")) == StopReason(
        "edited", "a person wrote the query", "converged"
    )
    wrong = Attempt("SELECT x FROM t", "edited", error="no such column: x")
    assert stop(A, wrong) == StopReason("edited", "Your query cannot be run: no such column: x", "failed")


def passes(attempt: Attempt, code: CodeResult | None = None, **settings: Any) -> bool:
    found = stop(attempt, code=code, gate=True, **settings)
    assert found is None or found.kind == "gate"
    return found is not None


def test_the_gate_lets_through_what_ran() -> None:
    found = stop(A, gate=True)
    assert found == StopReason("gate", "the query ran without an error", "converged")
    later = stop(A, B, gate=True)
    assert later is not None
    assert later.why.startswith("the corrected query ran")
    assert not passes(failed("SELECT x FROM t"))


def test_the_gate_stops_only_an_empty_result_with_one_near_value() -> None:
    missing, near = (
        SearchedLiteral("t", "a", "usa", held=False, near=near, needed=True) for near in ("", "United States")
    )
    assert passes(ran("SELECT a FROM t", 1, findings=("it reads b",)))
    assert passes(ran("SELECT a FROM t"))
    assert passes(ran("SELECT a FROM t WHERE a = 'USA'", literals=(missing,)))
    assert not passes(ran("SELECT a FROM t WHERE a = 'USA'", literals=(near,)))
    assert passes(ran("SELECT a FROM t WHERE a IN ('USA', 'Italy')", 1, literals=(near,)))
    assert not passes(ran("SELECT count(*) FROM t WHERE a = 'USA'", 0, literals=(near,))), "a count of 0 is nothing"


def test_the_gate_stops_what_code_contradicts() -> None:
    assert passes(A, code=CodeResult(PlainResult(("n",), ((1,),))))
    assert not passes(A, code=CodeResult(PlainResult(("n",), ((2,),))))
