"""Which attempt is the answer."""

from __future__ import annotations

from typing import Any

from tableturn.agent.evidence.choose_attempt import choose, group_attempts_by_result
from tableturn.agent.evidence.confidence import gather_answer_evidence
from tableturn.agent.records import Attempt, CodeResult, PlainCell, PlainResult
from tableturn.tools.sql import SearchedLiteral

ONE, TWO = (("Ada",),), (("Bo",),)


def ran(sql: str, rows: tuple[tuple[PlainCell, ...], ...] = ONE, fit: float | None = -5.0, **more: Any) -> Attempt:
    return Attempt(sql, result=PlainResult(("name",), rows), fit=fit, **more)


def failed(sql: str, **more: Any) -> Attempt:
    return Attempt(sql, error="no such column", error_kind="unknown_column", **more)


def test_drafts_vote_by_their_results() -> None:
    groups = group_attempts_by_result([ran("a"), failed("b"), ran("c", TWO), ran("d")])
    assert [(found.best.sql, found.size) for found in groups] == [("a", 2), ("c", 1)]


def test_a_misfit_majority_is_outvoted() -> None:
    odd: dict[str, Any] = {"fit": -30.0}
    assert group_attempts_by_result([ran("a", **odd), ran("b", **odd), ran("c", TWO)])[0].best.sql == "c"


def test_findings_and_empty_results_weigh() -> None:
    assert group_attempts_by_result([ran("a", findings=("x",)), ran("b", TWO)])[0].best.sql == "b"
    assert group_attempts_by_result([ran("a", ()), ran("b", TWO)])[0].best.sql == "b"


def test_within_a_group_the_best_fitting_speaks() -> None:
    assert group_attempts_by_result([ran("a", fit=-9.0), ran("b", fit=-2.0)])[0].best.sql == "b"


def test_equal_groups_keep_their_order() -> None:
    assert [found.best.sql for found in group_attempts_by_result([ran("a"), ran("b", TWO)])] == ["a", "b"]


def test_order_counts_where_both_set_one() -> None:
    up, down = (("Ada",), ("Bo",)), (("Bo",), ("Ada",))
    assert (
        len(
            group_attempts_by_result(
                [ran("SELECT n FROM t ORDER BY n", up), ran("SELECT n FROM t ORDER BY n DESC", down)]
            )
        )
        == 2
    )
    assert (
        len(group_attempts_by_result([ran("SELECT n FROM t", up), ran("SELECT n FROM t ORDER BY n DESC", down)])) == 1
    )


def test_nothing_that_failed_replaces_what_ran() -> None:
    draft = ran("a", fit=-50.0)
    assert choose([draft, failed("b")]) is draft
    assert choose([failed("a"), draft]) is draft
    first = failed("a")
    assert choose([first, failed("b")]) is first


def test_an_emptied_result_never_replaces_a_sensible_one() -> None:
    draft = ran("a")
    assert choose([draft, ran("b", ())]) is draft
    assert choose([draft, ran("c", ((None,),))]) is draft


def test_a_revision_has_to_answer_what_was_held_against_the_draft() -> None:
    draft, revised = ran("a"), ran("b", TWO)
    assert choose([draft, revised]) is draft
    assert choose([ran("a", ()), revised]).sql == "a", "nothing was held against an empty result"
    assert choose([ran("a", findings=("x",)), revised]).sql == "a", "nor is a finding more than a remark"
    assert choose([ran("a", differences="It counts something else."), revised]) is revised


def test_what_the_code_gave_speaks_against_a_draft() -> None:
    draft, revised = ran("a"), ran("b", TWO)
    assert choose([draft, revised], CodeResult(PlainResult(("name",), TWO))) is revised
    assert choose([draft, revised], CodeResult(PlainResult(("name",), ONE))) is draft


def test_a_text_that_no_row_has_gives_way_to_the_one_like_it() -> None:
    missing = SearchedLiteral("t", "b", "usa", held=False, near="United States", needed=True)
    draft = ran("SELECT a FROM t WHERE b = 'USA'", (), literals=(missing,))
    revised = ran("SELECT a FROM t WHERE b = 'United States'", TWO)
    assert choose([draft, revised]) is revised
    assert choose([draft, ran("SELECT count(*) FROM s", TWO)]) is draft, "another question's query"
    still_empty = ran("SELECT a FROM t WHERE b = 'United States' AND c", ())
    assert choose([draft, still_empty]) is still_empty, "it looks for what is there"
    counted = ran("SELECT count(*) FROM t WHERE b = 'USA'", ((0,),), literals=(missing,))
    assert choose([counted, still_empty]) is still_empty
    assert choose([counted, ran("SELECT count(*) FROM t", ((9,),))]) is counted


def test_a_merged_draft_speaks_for_both_that_it_was_made_of() -> None:
    draft = ran("a")
    assert choose([draft, ran("b", TWO, source="merged")]).sql == "b"
    assert choose([draft, ran("b", (), source="merged")]) is draft


def test_cut_results_are_not_the_same_for_their_first_rows() -> None:
    def cut(sql: str) -> Attempt:
        return Attempt(sql, result=PlainResult(("name",), ONE, truncated=True), fit=-5.0, source="candidate")

    assert len(group_attempts_by_result([cut("SELECT a FROM t"), cut("SELECT a FROM t WHERE b > 1")])) == 2
    assert len(group_attempts_by_result([cut("SELECT a FROM t"), cut("select a  from t")])) == 1
    assert len(group_attempts_by_result([cut("SELECT a FROM t"), ran("SELECT b FROM t")])) == 2, (
        "one goes on, the other does not"
    )
    told = gather_answer_evidence(
        cut("SELECT a FROM t"), others=[cut("SELECT a FROM t WHERE b > 1"), cut("SELECT a FROM t")]
    )
    assert (told.agreeing, told.differing) == (1, 0)


def test_candidates_that_were_not_selected_are_out() -> None:
    draft = ran("b", fit=-9.0)
    assert choose([ran("a", source="candidate", fit=-1.0), draft]) is draft


def test_what_a_person_wrote_counts() -> None:
    draft, edited = ran("a"), ran("b", (), source="edited")
    assert choose([draft, edited]) is edited
