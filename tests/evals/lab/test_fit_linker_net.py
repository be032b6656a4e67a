"""Training the linker's relational net."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tableturn.evals.lab.training.fit_linker_net import (
    TrainingTurn,
    forward,
    import_torch,
    merge_schema_graphs,
    predict_log_odds,
    shift_log_odds,
    train_linker_net,
)
from tableturn.tools.errors import SettingsError
from tableturn.tools.linking.scoring import MESSAGES, MessagePassingNet, combine_log_odds, standardize_inputs
from tableturn.tools.linking.shape import SchemaGraph

_NAMES = ("about", "noise"), ("said", "noise")


def _example(dice: np.random.Generator) -> TrainingTurn:
    """Three tables of three columns each, of which that one is used that has a column that is said."""
    table_of = np.repeat(np.arange(3), 3)
    nowhere = np.zeros(0, dtype=np.intp)
    columns = dice.normal(size=(9, 2)).astype(np.float32)
    columns[:, 0] = dice.random(9) < 0.2
    used = np.bincount(table_of, columns[:, 0]) > 0
    return TrainingTurn(
        SchemaGraph(np.zeros(3, dtype=np.intp), table_of, np.arange(9), nowhere, nowhere, nowhere),
        dice.normal(size=(3, 2)).astype(np.float32),
        columns,
        used.astype(float),
        columns[:, 0].astype(float),
        1.0,
    )


@pytest.fixture(scope="module")
def examples() -> list[TrainingTurn]:
    dice = np.random.default_rng(4)
    return [_example(dice) for _ in range(300)]


@pytest.fixture(scope="module")
def net(examples: list[TrainingTurn]) -> MessagePassingNet:
    torch = pytest.importorskip("torch", reason="training the linker's net needs the extra `sft`")
    torch.set_num_threads(1)
    return train_linker_net(examples[:200], _NAMES, epochs=12)


def test_a_table_learns_from_its_columns(net: MessagePassingNet, examples: list[TrainingTurn]) -> None:
    held_out = examples[200:]
    found = predict_log_odds(net, held_out)
    right = [(p > 0) == (example.used > 0) for (p, _), example in zip(found, held_out, strict=True)]
    assert np.mean(right) > 0.95


def test_numpy_computes_what_torch_does(net: MessagePassingNet, examples: list[TrainingTurn]) -> None:
    torch = pytest.importorskip("torch", reason="training the linker's net needs the extra `sft`")
    graph = merge_schema_graphs([example.graph for example in examples[:4]])
    tables, columns = (
        np.concatenate([getattr(example, kind) for example in examples[:4]]) for kind in ("tables", "columns")
    )
    weights = {name: torch.tensor(a) for name, a in vars(net).items() if name.endswith(("in", "layers", "out"))}
    trained = forward(
        weights,
        standardize_inputs(tables, net.table_mean, net.table_scale),
        standardize_inputs(columns, net.column_mean, net.column_scale),
        graph,
    )
    for one, other in zip(net.predict(tables, columns, graph), trained, strict=True):
        assert np.allclose(one, other.numpy(), atol=1e-4)


def test_the_same_examples_give_the_same_net(net: MessagePassingNet, examples: list[TrainingTurn]) -> None:
    once, again = (train_linker_net(examples[:60], _NAMES, epochs=1) for _ in range(2))
    for one, other in zip(vars(once).values(), vars(again).values(), strict=True):
        assert np.array_equal(one, other)


def test_torch_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SettingsError, match="tableturn\\[sft\\]"):
        import_torch()


def _untrained() -> tuple[MessagePassingNet, np.random.Generator]:
    dice = np.random.default_rng(5)

    def drawn(*shape: int) -> np.ndarray:
        return dice.normal(0, 0.4, shape).astype(np.float32)

    layer = MESSAGES * 6 + 1, 6
    inputs = drawn(2), drawn(2), drawn(2), drawn(2), drawn(3, 6), drawn(3, 6)
    return MessagePassingNet(*_NAMES, *inputs, drawn(2, *layer), drawn(2, *layer), drawn(7, 1), drawn(7, 1)), dice


def test_schemas_side_by_side_do_not_hear_of_each_other() -> None:
    net, dice = _untrained()
    several = [_example(dice) for _ in range(3)]
    apart = [net.predict(example.tables, example.columns, example.graph) for example in several]
    for both, alone in zip(predict_log_odds(net, several), apart, strict=True):
        for one, other in zip(both, alone, strict=True):
            assert np.allclose(one, other, atol=1e-4)


def test_a_raised_net_adds_to_the_log_odds() -> None:
    net, dice = _untrained()
    example = _example(dice)
    p = np.full(3, 0.3)
    found = [
        each.predict(example.tables, example.columns, example.graph)[0] for each in (net, shift_log_odds(net, 0.8, 0.0))
    ]
    before, after = (np.log(share / (1 - share)) for share in (combine_log_odds(p, odds) for odds in found))
    assert np.allclose(after - before, 0.8, atol=0.01)
