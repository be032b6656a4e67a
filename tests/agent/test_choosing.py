"""Which attempt is the answer."""

from __future__ import annotations

from typing import Any

from tableturn.agent.choosing import choose, group
from tableturn.agent.records import Attempt, PlainCell, Result

ONE, TWO = (("Ada",),), (("Bo",),)


def ran(sql: str, rows: tuple[tuple[PlainCell, ...], ...] = ONE, fit: float | None = -5.0, **more: Any) -> Attempt:
    return Attempt(sql, result=Result(("name",), rows), fit=fit, **more)


def failed(sql: str, **more: Any) -> Attempt:
    return Attempt(sql, error="no such column", error_kind="unknown_column", **more)


def test_drafts_vote_by_their_results() -> None:
    groups = group([ran("a"), failed("b"), ran("c", TWO), ran("d")])
    assert [(found.best.sql, found.size) for found in groups] == [("a", 2), ("c", 1)]


def test_a_misfit_majority_is_outvoted() -> None:
    odd: dict[str, Any] = {"fit": -30.0}
    assert group([ran("a", **odd), ran("b", **odd), ran("c", TWO)])[0].best.sql == "c"


def test_findings_and_empty_results_weigh() -> None:
    assert group([ran("a", findings=("x",), faults=1), ran("b", TWO)])[0].best.sql == "b"
    assert group([ran("a", ()), ran("b", TWO)])[0].best.sql == "b"


def test_within_a_group_the_best_fitting_speaks() -> None:
    assert group([ran("a", fit=-9.0), ran("b", fit=-2.0)])[0].best.sql == "b"


def test_equal_groups_keep_their_order() -> None:
    assert [found.best.sql for found in group([ran("a"), ran("b", TWO)])] == ["a", "b"]


def test_order_counts_where_both_set_one() -> None:
    up, down = (("Ada",), ("Bo",)), (("Bo",), ("Ada",))
    assert len(group([ran("SELECT n FROM t ORDER BY n", up), ran("SELECT n FROM t ORDER BY n DESC", down)])) == 2
    assert len(group([ran("SELECT n FROM t", up), ran("SELECT n FROM t ORDER BY n DESC", down)])) == 1


def test_nothing_that_failed_replaces_what_ran() -> None:
    draft = ran("a", fit=-50.0)
    assert choose([draft, failed("b")]) is draft
    assert choose([failed("a"), draft]) is draft
    first = failed("a")
    assert choose([first, failed("b")]) is first


def test_an_emptied_result_never_replaces_a_sensible_one() -> None:
    draft = ran("a", fit=-50.0)
    assert choose([draft, ran("b", (), fit=0.0)]) is draft
    assert choose([draft, ran("c", ((None,),), fit=0.0)]) is draft


def test_what_fits_the_question_less_never_replaces_the_draft() -> None:
    draft, other = ran("a", (), fit=-3.0), ran("b", fit=-30.0)
    assert choose([draft, other]) is draft


def test_another_questions_query_never_replaces_an_empty_result() -> None:
    draft, other = ran("a", (), fit=-3.0, findings=("x",)), ran("b", fit=-7.0)
    assert choose([draft, other]) is draft
    assert choose([draft, ran("c", fit=-4.0)]).sql == "c"


def test_a_revision_keeps_the_texts_that_are_looked_for() -> None:
    draft = ran("SELECT a FROM t WHERE b = 'volvo'", (), fit=-9.0)
    assert choose([draft, ran("SELECT count(*) FROM s", fit=-1.0)]) is draft
    respelled = ran("SELECT a FROM t WHERE b LIKE '%Volvo%'", fit=-9.0)
    assert choose([draft, respelled]) is respelled


def test_an_equally_good_revision_counts() -> None:
    revised = ran("b", TWO)
    assert choose([ran("a"), revised]) is revised


def test_candidates_that_were_not_selected_are_out() -> None:
    draft = ran("b", fit=-9.0)
    assert choose([ran("a", source="candidate", fit=-1.0), draft]) is draft
