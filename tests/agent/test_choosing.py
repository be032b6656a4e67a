"""Which attempt is the answer."""

from __future__ import annotations

from typing import Any

import pytest
from tableturn.agent.choosing import choose, group
from tableturn.agent.records import Attempt, PlainCell, Result

SAID = "Which volvo is it?"

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
    assert choose([draft, failed("b")], SAID) is draft
    assert choose([failed("a"), draft], SAID) is draft
    first = failed("a")
    assert choose([first, failed("b")], SAID) is first


def test_an_emptied_result_never_replaces_a_sensible_one() -> None:
    draft = ran("a", fit=-50.0)
    assert choose([draft, ran("b", (), fit=0.0)], SAID) is draft
    assert choose([draft, ran("c", ((None,),), fit=0.0)], SAID) is draft


def test_what_fits_the_question_less_never_replaces_the_draft() -> None:
    draft, other = ran("a", (), fit=-3.0), ran("b", fit=-30.0)
    assert choose([draft, other], SAID) is draft


def test_another_questions_query_never_replaces_an_empty_result() -> None:
    draft, other = ran("a", (), fit=-3.0, findings=("x",)), ran("b", fit=-7.0)
    assert choose([draft, other], SAID) is draft
    assert choose([draft, ran("c", fit=-4.0)], SAID).sql == "c"


def test_a_revision_keeps_the_texts_that_are_looked_for() -> None:
    draft = ran("SELECT a FROM t WHERE b = 'volvo'", (), fit=-9.0)
    assert choose([draft, ran("SELECT count(*) FROM s", fit=-1.0)], SAID) is draft
    respelled = ran("SELECT a FROM t WHERE b LIKE '%Volvo%'", fit=-9.0)
    assert choose([draft, respelled], SAID) is respelled


def test_an_equally_good_revision_counts() -> None:
    revised = ran("b", TWO)
    assert choose([ran("a"), revised], SAID) is revised


def test_candidates_that_were_not_selected_are_out() -> None:
    draft = ran("b", fit=-9.0)
    assert choose([ran("a", source="candidate", fit=-1.0), draft], SAID) is draft


def test_a_text_in_double_quotes_is_one() -> None:
    draft = ran('SELECT a FROM t WHERE b = "APG"', (), fit=-9.0)
    assert choose([draft, ran("SELECT count(*) FROM t WHERE c = 'Aberdeen'", fit=-8.0)], SAID) is draft


def test_a_revision_keeps_the_columns_that_are_asked_for() -> None:
    draft = ran("SELECT rank FROM t ORDER BY height DESC LIMIT 1", fit=-14.0, named=("height", "rank"))
    assert choose([draft, ran("SELECT count(*) FROM t", TWO, fit=-11.0)], SAID) is draft
    other = ran("SELECT rank FROM t WHERE height = (SELECT max(height) FROM t)", fit=-14.0, named=("height", "rank"))
    assert choose([draft, other], SAID) is other


@pytest.mark.parametrize(
    ("said", "sql", "counts"),
    [
        ("Which documents are there?", "SELECT id FROM t WHERE kind = 'Paper'", False),
        ("Which papers are there?", "SELECT id FROM t WHERE kind = 'Paper'", True),
        ("Which students came?", "SELECT id FROM t WHERE course = 301", False),
        ("Which students came to course 301?", "SELECT id FROM t WHERE course = 301", True),
        ("Which came more than three times?", "SELECT id FROM t HAVING count(*) > 3", True),
    ],
)
def test_a_revision_looks_for_nothing_that_nobody_named(said: str, sql: str, *, counts: bool) -> None:
    draft, revision = ran("SELECT id FROM t"), ran(sql, TWO)
    assert (choose([draft, revision], said) is revision) == counts


def test_a_number_that_was_asked_for_stays() -> None:
    draft = ran("SELECT a FROM t WHERE price > 1000")
    assert choose([draft, ran("SELECT DISTINCT kind FROM t", TWO, fit=-4.0)], "Above 1000?") is draft
    mended = ran("SELECT a FROM t WHERE price > 100", TWO, fit=-4.0)
    assert choose([draft, mended], "Above 100?") is mended


def test_what_a_person_wrote_counts() -> None:
    draft, edited = ran("a", fit=-2.0), ran("b", (), fit=-30.0, source="edited")
    assert choose([draft, edited], SAID) is edited
