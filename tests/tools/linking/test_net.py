"""The relational net: what it makes of a graph, whatever the order of its items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.evals.lab.training.fit_linker_net import pack_model_part
from tableturn.tools.database import Schema
from tableturn.tools.database.schema import ColumnSchema, ForeignKey, TableSchema
from tableturn.tools.linking.scoring import (
    MESSAGES,
    MessagePassingNet,
    combine_log_odds,
    unpack_model_part,
)
from tableturn.tools.linking.shape import SchemaGraph, SchemaShape

_HIDDEN = 6


def _stored(net: MessagePassingNet) -> MessagePassingNet:
    return unpack_model_part(MessagePassingNet, "net", pack_model_part("net", net))


def _net(seed: int = 1) -> MessagePassingNet:
    dice = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return dice.normal(0, 0.4, shape).astype(np.float32)

    layer = MESSAGES * _HIDDEN + 1, _HIDDEN
    return _stored(
        MessagePassingNet(
            ("a", "b"),
            ("c", "d", "e"),
            *(drawn(2), drawn(2), drawn(3), drawn(3)),
            *(drawn(3, _HIDDEN), drawn(4, _HIDDEN)),
            *(drawn(2, *layer), drawn(2, *layer)),
            *(drawn(_HIDDEN + 1, 1), drawn(_HIDDEN + 1, 1)),
        )
    )


def _graph(dice: np.random.Generator, tables: int, columns: int, keys: int) -> SchemaGraph:
    table_of = np.sort(dice.integers(0, tables, columns))
    ends = dice.integers(0, columns, keys) if columns else np.zeros(0, dtype=np.intp)
    return SchemaGraph(
        np.zeros(tables, dtype=np.intp),
        table_of,
        dice.integers(0, min(3, columns), columns),
        ends,
        table_of[ends],
        dice.integers(0, tables, len(ends)),
    )


def _inputs(dice: np.random.Generator, graph: SchemaGraph) -> tuple[np.ndarray, np.ndarray]:
    return (
        dice.normal(size=(len(graph.turn_of), 2)).astype(np.float32),
        dice.normal(size=(len(graph.table_of), 3)).astype(np.float32),
    )


sizes = {"seed": st.integers(0, 9999), "tables": st.integers(1, 6), "columns": st.integers(0, 20)}


@given(**sizes)
def test_the_order_of_tables_and_columns_does_not_matter(seed: int, tables: int, columns: int) -> None:
    dice = np.random.default_rng(seed)
    graph = _graph(dice, tables, columns, 5)
    inputs, own = _inputs(dice, graph)
    net = _net()
    odds, own_odds = net.predict(inputs, own, graph)
    order, own_order = dice.permutation(tables), dice.permutation(columns)
    place, own_place = np.argsort(order), np.argsort(own_order)
    again = SchemaGraph(
        graph.turn_of,
        place[graph.table_of[own_order]],
        graph.same_name.max(initial=0) - graph.same_name[own_order],
        own_place[graph.end_columns],
        place[graph.end_tables],
        place[graph.end_others],
    )
    moved, own_moved = net.predict(inputs[order], own[own_order], again)
    assert np.allclose(moved, odds[order], atol=1e-4)
    assert np.allclose(own_moved, own_odds[own_order], atol=1e-4)


def test_a_net_that_was_stored_gives_the_same() -> None:
    net = _net()
    dice = np.random.default_rng(5)
    graph = _graph(dice, 4, 9, 3)
    inputs = _inputs(dice, graph)
    again = _stored(net)
    assert again.table_names == ("a", "b")
    for one, other in zip(net.predict(*inputs, graph), again.predict(*inputs, graph), strict=True):
        assert np.array_equal(one, other)


def test_tables_left_out_take_no_part() -> None:
    def table(name: str) -> TableSchema:
        return TableSchema(name, (ColumnSchema("id", "integer"), ColumnSchema(f"{name}_name", "text")))

    names = ("a", "b", "c")
    keys = (ForeignKey("a", ("id",), "b", ("id",)), ForeignKey("c", ("id",), "a", ("id",)))
    whole, part = Schema("s", tuple(map(table, names)), keys), Schema("s", tuple(map(table, names[1:])))
    cut, columns = SchemaShape(whole).part(np.array([1, 2]))
    alone, _ = SchemaShape(part).part(np.array([0, 1]))
    assert columns.tolist() == [2, 3, 4, 5]
    for one, other in zip(vars(cut).values(), vars(alone).values(), strict=True):
        assert np.array_equal(one, other)


def test_the_net_has_most_of_the_say() -> None:
    assert combine_log_odds(np.array([0.5]), np.array([0.0])) == pytest.approx([0.5])
    assert np.all(combine_log_odds(np.array([0.9, 0.1]), np.array([-2.2, 2.2])).round() == [0, 1])
    assert np.all(np.isfinite(combine_log_odds(np.array([0.0, 1.0]), np.array([-50.0, 50.0]))))
