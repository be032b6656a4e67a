"""Training of the linker's net with torch; `tools/linking/scoring.py` runs it without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ....tools.errors import SettingsError
from ....tools.linking.scoring import (
    MESSAGES,
    NET_SHARE,
    Array,
    Matrix,
    MessagePassingNet,
    standardize_inputs,
    unpack_model_part,
)
from ....tools.linking.shape import SchemaGraph
from ....tools.linking.vocabulary import Shares

Tensor = Any
"""Torch's, which is an extra: without its types."""

_HIDDEN = 64
_LAYERS = 2
_DROPPED = 0.25
_BATCH = 48
_SCORED = 256
_RATE = 2e-3
_DECAY = 1e-3
_WARM = 0.15
"""The share of the steps in which the rate rises; it falls for the rest."""
_COLUMN_WEIGHT = 0.5
"""What a column's error counts for, against a table's."""
_SEED = 1


@dataclass(frozen=True, eq=False)
class TrainingTurn:
    """A turn that the net is trained on: schema graph, features, and used items.

    Attributes:
        graph: Its schema.
        tables: Features of tables,
        columns: and of columns.
        used: 1 for tables that are used,
        columns_used: and for columns.
        weight: What the turn counts for.
    """

    graph: SchemaGraph
    tables: Matrix
    columns: Matrix
    used: Shares
    columns_used: Shares
    weight: float


def import_torch() -> Any:
    """Import torch.

    Raises:
        SettingsError: It is not installed.
    """
    try:
        return import_module("torch")
    except ImportError as error:
        raise SettingsError("fitting the linker's net needs torch: pip install 'tableturn[sft]'") from error


def train_linker_net(
    examples: Sequence[TrainingTurn], names: tuple[tuple[str, ...], tuple[str, ...]], epochs: int
) -> MessagePassingNet:
    """Train the schema linker's neural net.

    Returns:
        The net, its weights rounded as they will be stored. The same examples give the same net.
    """
    torch = import_torch()

    torch.manual_seed(_SEED)
    of_tables = _compute_feature_scale([e.tables for e in examples])
    of_columns = _compute_feature_scale([e.columns for e in examples])
    weights = {name: torch.tensor(array, requires_grad=True) for name, array in _initialize_weights(names).items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=_RATE, weight_decay=_DECAY)
    steps = epochs * -(-len(examples) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps, pct_start=_WARM)
    dice = np.random.default_rng(_SEED)
    for _ in range(epochs):
        order = dice.permutation(len(examples))
        for start in range(0, len(order), _BATCH):
            batch = [examples[number] for number in order[start : start + _BATCH].tolist()]
            optimizer.zero_grad()
            _compute_batch_loss(weights, batch, of_tables, of_columns).backward()
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 5.0)
            optimizer.step()
            schedule.step()
    arrays = {name: weight.detach().numpy() for name, weight in weights.items()}
    return _round_net_weights(MessagePassingNet(*names, *of_tables, *of_columns, **arrays))


def pack_model_part(name: str, part: Any) -> dict[str, npt.NDArray[Any]]:
    """Return a forest or network as named arrays, with matrices in half precision."""
    arrays = {f"{name}.{field.name}": np.asarray(getattr(part, field.name)) for field in fields(part)}
    return {name: array.astype(np.float16) if array.ndim > 1 else array for name, array in arrays.items()}


def _round_net_weights(net: MessagePassingNet) -> MessagePassingNet:
    return unpack_model_part(MessagePassingNet, "net", pack_model_part("net", net))


def shift_log_odds(net: MessagePassingNet, tables: float, columns: float) -> MessagePassingNet:
    """Return the net with the log-odds of tables and columns shifted."""
    table_out, column_out = net.table_out.copy(), net.column_out.copy()
    table_out[-1] += tables / NET_SHARE
    column_out[-1] += columns / NET_SHARE
    return _round_net_weights(replace(net, table_out=table_out, column_out=column_out))


def merge_schema_graphs(graphs: Sequence[SchemaGraph]) -> SchemaGraph:
    """Merge the schema graphs of several turns into one, without edges between them."""
    tables = [len(graph.turn_of) for graph in graphs]
    columns = [len(graph.table_of) for graph in graphs]
    names = [int(graph.same_name.max(initial=-1)) + 1 for graph in graphs]
    # What the numbers of each of a graph's arrays count; of turns, each graph has one.
    counted = ([1] * len(graphs), tables, names, columns, tables, tables)
    return SchemaGraph(
        *(
            np.concatenate(arrays) + np.repeat(np.cumsum([0, *counts[:-1]]), [len(array) for array in arrays])
            for arrays, counts in zip(zip(*(vars(each).values() for each in graphs), strict=True), counted, strict=True)
        )
    )


def predict_log_odds(net: MessagePassingNet, examples: Sequence[TrainingTurn]) -> list[tuple[Shares, Shares]]:
    """Return the log-odds of each example's tables and columns."""
    found: list[tuple[Shares, Shares]] = []
    for start in range(0, len(examples), _SCORED):
        batch = examples[start : start + _SCORED]
        tables, columns = net.predict(
            np.concatenate([example.tables for example in batch]),
            np.concatenate([example.columns for example in batch]),
            merge_schema_graphs([example.graph for example in batch]),
        )
        found += zip(
            np.split(tables, np.cumsum([len(example.used) for example in batch])[:-1]),
            np.split(columns, np.cumsum([len(example.columns_used) for example in batch])[:-1]),
            strict=True,
        )
    return found


def _compute_feature_scale(inputs: Sequence[Matrix]) -> tuple[Array, Array]:
    """Return the mean and the inverse standard deviation of each feature."""
    rows = np.concatenate(inputs)
    deviation = rows.std(axis=0, dtype=np.float64)
    deviation[deviation < 1e-3] = 1.0
    return rows.mean(axis=0, dtype=np.float64).astype(np.float32), (1 / deviation).astype(np.float32)


def _initialize_weights(names: tuple[tuple[str, ...], tuple[str, ...]]) -> dict[str, Array]:
    """Return random initial weights scaled by the number of inputs; biases are the last rows."""
    shapes = {
        "table_in": (len(names[0]), _HIDDEN),
        "column_in": (len(names[1]), _HIDDEN),
        "table_layers": (_LAYERS, MESSAGES * _HIDDEN, _HIDDEN),
        "column_layers": (_LAYERS, MESSAGES * _HIDDEN, _HIDDEN),
        "table_out": (_HIDDEN, 1),
        "column_out": (_HIDDEN, 1),
    }
    dice = np.random.default_rng(_SEED)
    drawn: dict[str, Array] = {}
    for name, (*several, inputs, outputs) in shapes.items():
        limit = inputs**-0.5
        drawn[name] = dice.uniform(-limit, limit, (*several, inputs + 1, outputs)).astype(np.float32)
    return drawn


def _compute_batch_loss(
    weights: Mapping[str, Tensor],
    batch: Sequence[TrainingTurn],
    of_tables: tuple[Array, Array],
    of_columns: tuple[Array, Array],
) -> Tensor:
    """Return a batch's cross-entropy, summed over items and averaged over turns."""
    torch = import_torch()

    tables, columns = forward(
        weights,
        standardize_inputs(np.concatenate([example.tables for example in batch]), *of_tables),
        standardize_inputs(np.concatenate([example.columns for example in batch]), *of_columns),
        merge_schema_graphs([example.graph for example in batch]),
        dropped=_DROPPED,
    )
    turns = np.array([example.weight for example in batch])
    loss = torch.zeros(())
    for found, wanted, share in (
        (tables, [example.used for example in batch], 1.0),
        (columns, [example.columns_used for example in batch], _COLUMN_WEIGHT),
    ):
        counts = np.repeat(turns * share, [len(used) for used in wanted]).astype(np.float32)
        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(
            found,
            torch.from_numpy(np.concatenate(wanted).astype(np.float32)),
            torch.from_numpy(counts),
            reduction="sum",
        )
    return loss / float(turns.sum())


def forward(
    weights: Mapping[str, Tensor], tables: Matrix, columns: Matrix, graph: SchemaGraph, dropped: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Compute `Net.predict` in torch, with dropout, from standardized inputs."""
    torch = import_torch()

    def apply_layer(rows: Tensor, by: Tensor) -> Tensor:
        rows = torch.relu(torch.addmm(by[-1], rows, by[:-1]))
        return torch.dropout(rows, dropped, train=dropped > 0)

    of = {field.name: torch.from_numpy(getattr(graph, field.name)) for field in fields(graph)}
    t = apply_layer(torch.from_numpy(tables), weights["table_in"])
    c = apply_layer(torch.from_numpy(columns), weights["column_in"])
    column_turns = of["turn_of"][of["table_of"]]
    for table_layer, column_layer in zip(weights["table_layers"], weights["column_layers"], strict=True):
        turn, others = _compute_max_by_group(t, of["turn_of"], len(t)), t[of["end_others"]]
        to_tables = [
            t,
            _compute_mean_by_group(c, of["table_of"], len(t)),
            _compute_max_by_group(c, of["table_of"], len(t)),
            _compute_max_by_group(others, of["end_tables"], len(t)),
            turn[of["turn_of"]],
        ]
        to_columns = [
            c,
            t[of["table_of"]],
            _compute_max_by_group(others, of["end_columns"], len(c)),
            _compute_max_by_group(c, of["same_name"], len(c))[of["same_name"]],
            turn[column_turns],
        ]
        t = t + apply_layer(torch.cat(to_tables, 1), table_layer)
        c = c + apply_layer(torch.cat(to_columns, 1), column_layer)
    table_out, column_out = weights["table_out"], weights["column_out"]
    return (torch.addmm(table_out[-1], t, table_out[:-1])[:, 0], torch.addmm(column_out[-1], c, column_out[:-1])[:, 0])


def _compute_max_by_group(rows: Tensor, group_of: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, rows.shape[1]).scatter_reduce(0, group_of[:, None].expand_as(rows), rows, "amax")


def _compute_mean_by_group(rows: Tensor, group_of: Tensor, count: int) -> Tensor:
    sizes = rows.new_zeros(count).index_add(0, group_of, rows.new_ones(len(rows)))
    return rows.new_zeros(count, rows.shape[1]).index_add(0, group_of, rows) / sizes.clamp(min=1)[:, None]
