"""Two results are the same answer, or not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.database.table import Cell, Table
from tableturn.tools.results import WorkLimit, compare_results, same_result


def table(*rows: tuple[Cell, ...], columns: int | None = None) -> Table:
    width = columns if columns is not None else len(rows[0])
    return Table(("c",) * width, ("mixed",) * width, rows, truncated=False, elapsed=0.0)


SAME: list[tuple[str, list[tuple[Cell, ...]], list[tuple[Cell, ...]]]] = [
    ("row order", [(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
    ("column order", [(1, "a"), (2, "b")], [("a", 1), ("b", 2)]),
    ("integer and float", [(3,)], [(3.0,)]),
    ("summed in another order", [(0.1 + 0.2,)], [(0.3,)]),
    ("cancelled to almost nothing", [(1e-17,)], [(0,)]),
    ("NULL with NULL", [(None, 1)], [(1, None)]),
    ("repeated rows", [(1,), (1,), (2,)], [(1,), (2,), (1,)]),
    ("columns alike", [(1, 1, 2), (2, 2, 1)], [(2, 1, 1), (1, 2, 2)]),
    ("bytes", [(b"\x00\xff",)], [(b"\x00\xff",)]),
    ("infinite", [(float("inf"),)], [(float("inf"),)]),
    ("huge integers", [(2**62,)], [(2**62,)]),
    ("cancelled to almost zero", [(0.1 + 0.2 - 0.3,)], [(0,)]),
]

DIFFERENT: list[tuple[str, list[tuple[Cell, ...]], list[tuple[Cell, ...]]]] = [
    ("one repeated", [(1,), (1,), (2,)], [(1,), (2,), (2,)]),
    ("a row less", [(1,), (1,)], [(1,)]),
    ("a column more", [(1,)], [(1, 1)]),
    ("NULL and zero", [(None,)], [(0,)]),
    ("NULL and empty text", [(None,)], [("",)]),
    ("number and its text", [(1,)], [("1",)]),
    ("text and bytes", [("a",)], [(b"a",)]),
    ("letter case", [("a",)], [("A",)]),
    ("rounded", [(3.14159,)], [(3.14,)]),
    ("small numbers", [(1e-9,)], [(2e-9,)]),
    ("neighbouring identifiers", [(10**12,)], [(10**12 + 1,)]),
    ("columns match one by one but not together", [(1, "a"), (2, "b")], [(1, "b"), (2, "a")]),
    ("one column taken twice", [(1, 2), (2, 1)], [(1, 1), (2, 2)]),
]


@pytest.mark.parametrize(("a", "b"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_same(a: list[tuple[Cell, ...]], b: list[tuple[Cell, ...]]) -> None:
    assert same_result(a, b)
    assert same_result(table(*b), table(*a))


@pytest.mark.parametrize(("a", "b"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_different(a: list[tuple[Cell, ...]], b: list[tuple[Cell, ...]]) -> None:
    assert not same_result(a, b)
    assert not same_result(table(*b), table(*a))


def test_empty_results_are_the_same_if_as_wide() -> None:
    assert same_result([], [])
    assert same_result(table(columns=2), table(columns=2))
    assert not same_result(table(columns=1), table(columns=2))
    assert not same_result([], [(1,)])


class TestOrder:
    gold: tuple[tuple[Cell, ...], ...] = (("a", 3), ("b", 2), ("c", 2), ("d", 1))

    def test_counts(self) -> None:
        assert same_result(self.gold, self.gold, ordered=True)
        assert not same_result(self.gold, self.gold[::-1], ordered=True)

    def test_ties_may_be_swapped(self) -> None:
        swapped = (self.gold[0], self.gold[2], self.gold[1], self.gold[3])
        assert same_result(self.gold, swapped, ordered=True)
        assert not same_result(self.gold, swapped, ordered=True, ties=range(4))
        assert same_result(self.gold, swapped, ordered=True, ties=[1, 2, 2, 3])

    def test_columns_may_come_in_another_order(self) -> None:
        swapped = [(2, "b") if row == ("c", 2) else (2, "c") if row == ("b", 2) else row[::-1] for row in self.gold]
        assert same_result(self.gold, swapped, ordered=True)

    def test_a_constant_column_ties_nothing(self) -> None:
        assert not same_result([(1, "a"), (1, "c"), (1, "b")], [(1, "a"), (1, "b"), (1, "c")], ordered=True)

    def test_ties_by_a_key_that_is_not_shown(self) -> None:
        assert same_result([("b",), ("c",), ("a",)], [("c",), ("b",), ("a",)], ordered=True, ties=[1, 1, 2])


CELLS = st.one_of(st.none(), st.integers(-2, 2), st.sampled_from(["a", "b"]), st.sampled_from([0.5, 1.0]))


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.tuples(*[CELLS] * n), min_size=1, max_size=7)), st.randoms())
def test_shuffled_rows_and_columns_stay_the_same(rows: list[tuple[Cell, ...]], rng: random.Random) -> None:
    order = list(range(len(rows[0])))
    rng.shuffle(order)
    moved = [tuple(row[i] for i in order) for row in rows]
    assert same_result(rows, moved, ordered=True)
    rng.shuffle(moved)
    assert same_result(rows, moved)


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=5), st.data())
def test_agrees_with_trying_every_permutation(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    from itertools import permutations

    same_length = st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=len(rows), max_size=len(rows))
    others = data.draw(same_length)
    expected = any(
        sorted(rows) == sorted(tuple(row[i] for i in order) for row in others) for order in permutations(range(3))
    )
    assert same_result(rows, others) == expected


def test_many_columns_alike_are_not_enumerated() -> None:
    rng = random.Random(7)
    rows = [tuple(rng.randrange(2) for _ in range(40)) for _ in range(40)]
    order = rng.sample(range(40), 40)
    moved = [tuple(row[i] for i in order) for row in rng.sample(rows, 40)]
    altered = [*moved[:-1], tuple(1 - cell for cell in moved[-1])]
    cyclic = [tuple(int((i + j) % 24 in (0, 3, 7)) for j in range(24)) for i in range(24)]
    mirrored = [row[::-1] for row in cyclic]
    assert compare_results(rows, moved, work=WorkLimit(200_000)) is True
    assert compare_results(rows, altered, work=WorkLimit(200_000)) is False
    assert compare_results(cyclic, mirrored, work=WorkLimit(200_000)) is True


def test_matrices_made_to_be_hard_end_soon() -> None:
    rng = random.Random(3)
    hadamard = [[(i & j).bit_count() % 2 for j in range(16)] for i in range(16)]
    order = rng.sample(range(16), 16)
    moved = [[row[i] for i in order] for row in rng.sample(hadamard, 16)]
    assert same_result(hadamard, moved)
    # A switch that keeps every row's and every column's contents.
    altered = [list(row) for row in hadamard]
    altered[1][1], altered[1][2], altered[2][1], altered[2][2] = 0, 1, 1, 0
    assert compare_results(moved, altered) is not True


def test_what_would_take_too_long_is_undecided() -> None:
    def ring(length: int) -> list[list[int]]:
        """Rows with two ones, the edges of rings of so many columns."""
        edges = [(i, i - i % length + (i + 1) % length) for i in range(60)]
        return [[int(j in edge) for j in range(60)] for edge in edges]

    assert compare_results(ring(60), ring(30)) is None
    assert not same_result(ring(60), ring(30))
    assert compare_results(ring(60), ring(60)) is True
    # Several comparisons may share what they may take.
    work = WorkLimit(20_000)
    assert compare_results(ring(60), ring(30), work=work) is None
    assert compare_results([(1, 2)], [(3, 4)], work=work) is None
    assert compare_results([(1, 2)], [(3, 4)]) is False


def test_large_results_take_few_looks_at_each_cell() -> None:
    rng = random.Random(1)
    rows = [(i, rng.random(), f"name {i % 997}", i % 7) for i in range(30_000)]
    moved = [row[::-1] for row in rng.sample(rows, len(rows))]
    assert compare_results(rows, moved, work=WorkLimit(20 * 4 * len(rows))) is True
