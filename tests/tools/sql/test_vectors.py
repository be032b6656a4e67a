import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tableturn.tools.sql import FEATURES, vectorize_query

from .random_queries import queries


def _counted(sql: str) -> dict[str, float]:
    return {name: float(count) for name, count in zip(FEATURES, vectorize_query(sql), strict=True) if count}


@pytest.mark.parametrize(
    ("sql", "counted"),
    [
        ("SELECT * FROM a", {"sel_all": 1, "from_tb": 1}),
        (
            "SELECT DISTINCT x, t.*, count(*), max(y) FROM a AS t JOIN b ON t.i = b.i",
            {"sel_col": 1, "sel_all": 1, "sel_count": 1, "sel_max": 1, "from_tb": 2},
        ),
        (
            "SELECT x FROM a WHERE (p = 1 OR q != 2) AND r LIKE 'x' AND s IS NULL AND t > u - 3",
            {
                "sel_col": 1,
                "from_tb": 1,
                "wh_and": 3,
                "wh_or": 1,
                "wh_eq": 2,
                "wh_like": 1,
                "wh_is": 1,
                "wh_gl": 1,
                "wh_pm": 1,
            },
        ),
        ("SELECT x FROM a WHERE n BETWEEN -1 AND 2", {"sel_col": 1, "from_tb": 1, "wh_between": 1}),
        (
            "SELECT x FROM a WHERE y NOT IN (SELECT z FROM b WHERE w = 1)",
            {"sel_col": 1, "from_tb": 1, "wh_in": 1, "wh_subq": 1, "wh_eq": 1},
        ),
        (
            "SELECT x FROM a WHERE y = 1 GROUP BY x, z HAVING count(*) >= 2 AND avg(y) < 3 AND sum(y) != 4",
            {
                "sel_col": 1,
                "from_tb": 1,
                "wh_eq": 1,
                "groupby": 2,
                "hv_g": 1,
                "hv_l": 1,
                "hv_else": 1,
                "hv_count": 1,
                "hv_avg": 1,
                "hv_sum": 1,
            },
        ),
        (
            "SELECT x FROM a ORDER BY count(*) DESC, y LIMIT 3",
            {"sel_col": 1, "from_tb": 1, "order_n": 2, "order_count": 1, "order_desc": 1, "order_asc": 1, "limit": 1},
        ),
        ("WITH c AS (SELECT 1) SELECT x FROM c JOIN (SELECT 2) JOIN d", {"sel_col": 1, "from_ext": 2, "from_tb": 1}),
    ],
)
def test_each_feature_counts_what_it_says(sql: str, counted: dict[str, float]) -> None:
    assert _counted(sql) == counted


def test_a_compound_is_the_average_of_its_sides_and_its_operator() -> None:
    assert _counted("SELECT x FROM a UNION SELECT count(*) FROM b JOIN c") == {
        "union": 1,
        "sel_col": 0.5,
        "sel_count": 0.5,
        "from_tb": 1.5,
    }
    assert _counted("SELECT x FROM a INTERSECT SELECT x FROM a EXCEPT SELECT x FROM a")["intersect"] == 0.5


def test_there_are_forty_one_features_each_of_its_own() -> None:
    assert len(FEATURES) == len(set(FEATURES)) == 41


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(queries())
def test_vectors_are_finite_and_not_negative(sql: str) -> None:
    vector = vectorize_query(sql)
    assert vector.shape == (41,)
    assert np.isfinite(vector).all()
    assert (vector >= 0).all()
