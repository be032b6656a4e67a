import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.sql import compute_skeleton_similarity, make_question_skeleton, make_sql_skeleton
from tableturn.tools.values.match import ValueMatch

from .shop import SHOP


@pytest.mark.parametrize(
    ("sql", "skeleton"),
    [
        ("select Name from customer where country='France'", "SELECT _ FROM _ WHERE _ = _"),
        (
            "SELECT T1.name, count(*) AS n FROM customer AS T1 JOIN orders T2 ON T1.id = T2.customer_id GROUP BY T1.id",
            "SELECT _, count(*) FROM _ JOIN _ ON _ = _ GROUP BY _",
        ),
        ("SELECT a FROM b ORDER BY c DESC LIMIT 3", "SELECT _ FROM _ ORDER BY _ DESC LIMIT _"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH _ AS (SELECT _) SELECT * FROM _"),
    ],
)
def test_sql_skeleton_masks_names_and_literals(sql: str, skeleton: str) -> None:
    assert make_sql_skeleton(sql) == skeleton


def test_queries_of_one_form_have_one_skeleton() -> None:
    assert make_sql_skeleton("SELECT x FROM a WHERE y > 3") == make_sql_skeleton(
        "select \"q\" from [r] AS t where t.s > 'z';"
    )


@pytest.mark.parametrize(
    ("question", "skeleton"),
    [
        ("How many customers are there?", "how many _ are there"),
        ("Which products cost more than 20?", "which _ cost more than _"),
        ('Show the names of customers from "New York".', "show the names of _ from _"),
        ("List each customer's products and their notes", "list each _ and their _"),
        ("", ""),
    ],
)
def test_question_skeleton_masks_schema_words_numbers_and_quotes(question: str, skeleton: str) -> None:
    assert make_question_skeleton(question, SHOP) == skeleton


def test_question_skeleton_masks_mentions_of_values() -> None:
    question = "Who lives in France now?"
    value = ValueMatch("customer", "country", "France", "France", 13, 19, 1.0, "exact")
    overlapping = ValueMatch("customer", "name", "France n", "France n", 13, 21, 0.5, "part")
    assert make_question_skeleton(question, SHOP, [value]) == "who lives in _ now"
    assert make_question_skeleton(question, SHOP, [value, overlapping]) == "who lives in _ ow"
    assert make_question_skeleton("short", SHOP, [value]) == "short"


def test_similarity_prefers_the_same_form() -> None:
    asked = "how many _ are there"
    assert compute_skeleton_similarity(asked, asked) == 1.0
    near = compute_skeleton_similarity(asked, "how many _ are in _")
    far = compute_skeleton_similarity(asked, "show the name of each _")
    assert 1.0 > near > far >= 0.0
    assert compute_skeleton_similarity("", "a") == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert compute_skeleton_similarity(a, b) == compute_skeleton_similarity(b, a)
    assert 0.0 <= compute_skeleton_similarity(a, b) <= 1.0
