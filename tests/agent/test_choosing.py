"""Which attempt is the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tableturn.agent.attempts.choose import choose, group
from tableturn.agent.attempts.evidence import evidence_of
from tableturn.agent.records import Attempt, CodeResult, PlainCell, Result
from tableturn.tools.sql import SearchedLiteral

SAID = "Which volvo is it?"

AGAINST: tuple[dict[str, Any], ...] = ({"findings": ("x",)}, {"differences": "It counts something else."}, {"rows": ()})
"""What may speak against a draft."""

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


def test_a_revision_has_to_be_clearly_better() -> None:
    draft, revised = ran("a"), ran("b", TWO)
    assert choose([draft, revised], SAID) is draft, "an equally good one"
    for against in AGAINST:
        assert choose([ran("a", **against), revised], SAID) is revised


def test_what_the_code_gave_speaks_against_a_draft() -> None:
    draft, revised = ran("a"), ran("b", TWO)
    assert choose([draft, revised], SAID, CodeResult(Result(("name",), TWO))) is revised
    assert choose([draft, revised], SAID, CodeResult(Result(("name",), ONE))) is draft


def shown(held: str, missing: str) -> tuple[SearchedLiteral, SearchedLiteral]:
    return SearchedLiteral("t", "b", held, held=True), SearchedLiteral("t", "b", missing, held=False)


@pytest.mark.parametrize(("draft_rows", "warned"), [((), ()), ((), ("no row has it",)), (((0,),), ("no row has it",))])
def test_a_text_that_no_row_has_gives_way_to_one_that_a_row_has(draft_rows: Any, warned: tuple[str, ...]) -> None:
    stored, missing = shown("united states", "usa")
    draft = ran("SELECT a FROM t WHERE b = 'USA'", draft_rows, findings=warned, literals=(missing,))
    revised = ran("SELECT a FROM t WHERE b = 'United States'", TWO, literals=(stored,))
    assert choose([draft, revised], "in the USA") is revised
    elsewhere = replace(revised, literals=(replace(stored, column="c"),))
    assert choose([draft, elsewhere], "in the USA") is draft, "in another column it mends nothing"
    unheld = replace(revised, literals=(replace(stored, held=False),))
    assert choose([draft, unheld], "in the USA") is draft
    known = replace(draft, literals=(replace(missing, held=True),))
    assert choose([known, revised], "in the USA") is known, "what the database has stays"


def test_a_number_that_no_row_has_gives_way_too() -> None:
    draft = ran("SELECT a FROM t WHERE b = 98", (), literals=(SearchedLiteral("t", "b", "98", held=False),))
    revised = ran("SELECT a FROM t WHERE b = 1998", TWO, literals=(SearchedLiteral("t", "b", "1998", held=True),))
    assert choose([draft, revised], "Since '98?") is revised
    assert choose([draft, replace(revised, literals=())], "Since '98?") is draft


def test_what_mends_repeated_rows_replaces_the_draft_in_whatever_form() -> None:
    join = "SELECT sum(c.credit) FROM c JOIN o ON o.c = c.id"
    draft = ran(join, fit=-3.0, findings=("x",), proofs=1, repeats=True)
    mended = ran("SELECT sum(c.credit) FROM c WHERE c.id IN (SELECT o.c FROM o)", TWO, fit=-14.0)
    assert choose([draft, mended], "credit") is mended
    assert choose([replace(draft, repeats=None), mended], "credit").sql == join, "a doubt is not enough"
    assert choose([draft, replace(mended, repeats=None)], "credit") is draft, "and has to be gone"
    other = ran("SELECT count(*) FROM c", TWO, fit=-14.0)
    assert choose([draft, other], "credit") is draft, "another question's query"


@pytest.mark.parametrize(
    ("said", "sql", "worse"),
    [
        ("The different kinds?", "SELECT DISTINCT kind FROM t", "SELECT kind FROM t"),
        ("How many unique kinds?", "SELECT count(DISTINCT kind) FROM t", "SELECT count(kind) FROM t"),
        ("Which are not in Bo?", "SELECT a FROM t WHERE b != 'bo'", "SELECT a FROM t WHERE b = 'bo'"),
        ("Who has no pet?", "SELECT a FROM t EXCEPT SELECT a FROM p", "SELECT a FROM t"),
        ("Older than 5?", "SELECT a FROM t WHERE age > 5", "SELECT a FROM t WHERE age < 5"),
        ("The newest?", "SELECT a FROM t ORDER BY y DESC LIMIT 1", "SELECT a FROM t ORDER BY y LIMIT 1"),
        ("The tallest?", "SELECT a FROM t ORDER BY h DESC LIMIT 1", "SELECT a FROM t"),
        ("Sorted by h?", "SELECT a FROM t ORDER BY h", "SELECT a FROM t"),
        ("a and b?", "SELECT max(a), b FROM t GROUP BY b", "SELECT max(t.a) FROM t GROUP BY b"),
        ("More than one?", "SELECT a FROM t GROUP BY a HAVING count(*) > 1", "SELECT a FROM t GROUP BY a"),
        ("Over two hundred?", "SELECT a FROM t WHERE b > 200", "SELECT a FROM t"),
    ],
)
def test_what_was_asked_is_not_dropped_for_a_finding_or_for_rows(said: str, sql: str, worse: str) -> None:
    for draft in (ran(sql, findings=("x",)), ran(sql, ())):
        assert choose([draft, ran(worse, TWO)], said) is draft


@pytest.mark.parametrize(
    ("said", "sql", "right"),
    [
        ("not in Bo?", "SELECT a FROM t WHERE b = 'bo'", "SELECT a FROM t WHERE b != 'bo'"),
        ("The oldest?", "SELECT a FROM t ORDER BY y DESC LIMIT 1", "SELECT a FROM t ORDER BY y LIMIT 1"),
        ("Older than 5?", "SELECT a FROM t WHERE age < 5", "SELECT a FROM t WHERE age > 5"),
        ("Without a name, not b?", "SELECT a FROM t WHERE NOT b IS NOT NULL", "SELECT a FROM t WHERE b >= ''"),
    ],
)
def test_what_was_turned_round_may_be_turned_back_where_code_or_meaning_says_so(
    said: str, sql: str, right: str
) -> None:
    draft, turned = ran(sql), ran(right, TWO)
    assert choose([draft, turned], said) is draft
    assert choose([draft, turned], said, CodeResult(Result(("name",), TWO))) is turned
    assert choose([replace(draft, differences="It counts something else."), turned], said) is turned


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("france", "italy", ()),
        ("austria", "australia", ()),
        ("titanic", "v01", ((0,),)),
        ("99", "9", ()),
        ("2050", "1960", ()),
        ("paris", "bergen", ONE),
        ("new york", "york", ONE),
    ],
)
def test_nothing_gives_way_to_what_it_cannot_mean_or_where_it_found_something(old: str, new: str, rows: Any) -> None:
    stored, missing = shown(new, old)
    quote = "" if old.isdigit() else "'"
    draft = ran(f"SELECT a FROM t WHERE b = {quote}{old}{quote}", rows, literals=(missing,))
    revised = ran(f"SELECT a FROM t WHERE b = {quote}{new}{quote}", TWO, literals=(stored,))
    assert choose([draft, revised], f"in {old}") is draft


def test_an_extreme_may_be_found_otherwise() -> None:
    draft = ran("SELECT a FROM t ORDER BY h DESC LIMIT 1", ())
    other = ran("SELECT a FROM t WHERE h = (SELECT max(h) FROM t)", TWO)
    assert choose([draft, other], "The tallest?") is other


def test_what_fits_clearly_better_may_turn_an_order_round() -> None:
    draft = ran("SELECT a FROM t ORDER BY y LIMIT 1", fit=-9.0)
    turned = ran("SELECT a FROM t ORDER BY y DESC LIMIT 1", TWO, fit=-3.0)
    assert choose([draft, turned], "The newest?") is turned


def test_cut_results_are_not_the_same_for_their_first_rows() -> None:
    def cut(sql: str) -> Attempt:
        return Attempt(sql, result=Result(("name",), ONE, truncated=True), fit=-5.0, source="candidate")

    assert len(group([cut("SELECT a FROM t"), cut("SELECT a FROM t WHERE b > 1")])) == 2
    assert len(group([cut("SELECT a FROM t"), cut("select a  from t")])) == 1
    assert len(group([cut("SELECT a FROM t"), ran("SELECT b FROM t")])) == 2, "one goes on, the other does not"
    told = evidence_of(cut("SELECT a FROM t"), others=[cut("SELECT a FROM t WHERE b > 1"), cut("SELECT a FROM t")])
    assert (told.agreeing, told.differing) == (1, 0)


def test_candidates_that_were_not_selected_are_out() -> None:
    draft = ran("b", fit=-9.0)
    assert choose([ran("a", source="candidate", fit=-1.0), draft], SAID) is draft


def test_a_text_in_double_quotes_is_one() -> None:
    draft = ran('SELECT a FROM t WHERE b = "APG"', (), fit=-9.0)
    assert choose([draft, ran("SELECT count(*) FROM t WHERE c = 'Aberdeen'", fit=-8.0)], SAID) is draft


def test_a_revision_keeps_the_columns_that_are_asked_for() -> None:
    draft = ran("SELECT rank FROM t ORDER BY height DESC LIMIT 1", (), fit=-14.0, named=("height", "rank"))
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
    draft, revision = ran("SELECT id FROM t", findings=("x",)), ran(sql, TWO)
    assert (choose([draft, revision], said) is revision) == counts


def test_a_number_that_was_asked_for_stays() -> None:
    draft = ran("SELECT a FROM t WHERE price > 1000", findings=("x",))
    assert choose([draft, ran("SELECT DISTINCT kind FROM t", TWO, fit=-4.0)], "Above 1000?") is draft
    mended = ran("SELECT a FROM t WHERE price > 100", TWO, fit=-4.0)
    assert choose([draft, mended], "Above 100?") is mended


def test_what_a_person_wrote_counts() -> None:
    draft, edited = ran("a", fit=-2.0), ran("b", (), fit=-30.0, source="edited")
    assert choose([draft, edited], SAID) is edited
