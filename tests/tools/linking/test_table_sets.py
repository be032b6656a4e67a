"""Sets of tables: which are compared, what speaks for them, and what their choice does to probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.linking import PastTurn
from tableturn.tools.linking.associations import Associations
from tableturn.tools.linking.evidence import Evidence, Names, gather
from tableturn.tools.linking.scoring import decided
from tableturn.tools.linking.shape import Shape
from tableturn.tools.linking.table_sets import TableSets, set_features
from tableturn.tools.values import ValueMatch


def table(name: str, *columns: str) -> TableSchema:
    return TableSchema(name, tuple(ColumnSchema(column) for column in columns))


CONCERTS = Schema(
    "concerts",
    (
        table("stadium", "Stadium_ID", "City"),
        table("singer", "Singer_ID", "Name"),
        table("concert", "concert_ID", "Theme", "Stadium_ID"),
        table("singer_in_concert", "concert_ID", "Singer_ID"),
    ),
    (
        ForeignKey("concert", ("Stadium_ID",), "stadium", ("Stadium_ID",)),
        ForeignKey("singer_in_concert", ("concert_ID",), "concert", ("concert_ID",)),
        ForeignKey("singer_in_concert", ("Singer_ID",), "singer", ("Singer_ID",)),
    ),
)
NAMES = Names(CONCERTS)
SHAPE = Shape.of(CONCERTS, NAMES)
P = np.array([0.1, 0.9, 0.6, 0.3])


def evidence(question: str, *past: PastTurn, values: tuple[ValueMatch, ...] = ()) -> Evidence:
    return gather(question, past, values, NAMES, Associations({}, {}))


def row(sets: TableSets, *tables: str) -> int:
    wanted = {NAMES.table_number[name] for name in tables}
    return next(n for n, held in enumerate(sets.members) if set(sets.tables[held].tolist()) == wanted)


def features(e: Evidence, *tables: str) -> dict[str, float]:
    sets = TableSets.of(e, P)
    found = set_features(e, SHAPE, P, np.full(len(NAMES.columns), 0.1), sets)
    assert {len(share) for share in found.values()} == {len(sets.members)}
    assert all(np.isfinite(share).all() for share in found.values())
    return {name: float(share[row(sets, *tables)]) for name, share in found.items()}


def test_the_set_of_least_expected_redundancy_comes_of_probabilities() -> None:
    sets = TableSets.of(evidence("singers"), P)
    best = sets.members[sets.score.argmax()]
    assert set(sets.tables[best].tolist()) == {1, 2, 3}
    assert 0 < sets.score.min() <= sets.score.max() <= 1


def test_what_the_past_used_is_always_compared() -> None:
    past = PastTurn("x", sql="SELECT count(*) FROM stadium")
    sets = TableSets.of(evidence("and now?", past), np.array([1e-4, 0.9, 0.9, 0.9]))
    assert row(sets, "stadium") >= 0


@pytest.mark.parametrize(
    ("tables", "redundancy"),
    [(("singer",), 1.0), (("singer", "concert"), 0.0), (("singer", "concert", "singer_in_concert"), 1 / 3)],
)
def test_redundancy(tables: tuple[str, ...], redundancy: float) -> None:
    sets = TableSets.of(evidence("singers"), P)
    assert sets.redundancy(np.array([0.0, 1.0, 1.0, 0.0]))[row(sets, *tables)] == pytest.approx(redundancy)


def test_a_table_in_between_joins_a_sets_parts() -> None:
    e = evidence("singers and themes of concerts")
    apart, joined = features(e, "singer", "concert"), features(e, "singer", "concert", "singer_in_concert")
    assert (apart["parts"], joined["parts"]) == (2, 1)
    assert (apart["joins"], joined["joins"]) == (0, 2)
    assert (apart["high_joins"], joined["low_joins"]) == (-1, 1)


def test_words_and_values_that_a_set_does_not_hold() -> None:
    match = ValueMatch("stadium", "City", "Ayr", "Ayr", 19, 22, 1.0, "exact")
    e = evidence("Themes of singers, Ayr", values=(match,))
    without, with_ = features(e, "singer"), features(e, "singer", "concert")
    assert (without["held_left"], with_["held_left"]) == (1, 0)
    assert with_["unique_held_least"] == 1, "only concert has a theme"
    assert without["valued_left"] == 1


def test_the_choice_moves_probabilities_over_one_half_and_below() -> None:
    sets = TableSets.of(evidence("singers"), P)
    p = decided(P, sets, row(sets, "singer", "singer_in_concert"))
    assert (p >= 0.5).tolist() == [False, True, False, True]
    assert (p >= P * 0.8).all()
