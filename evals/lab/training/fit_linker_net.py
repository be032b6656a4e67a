"""Training of the linker's net with torch; `tools/linking/net.py` runs it without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from ....tools.errors import SettingsError
from ....tools.linking.scoring import MESSAGES, NET_SHARE, Array, Matrix, Net, pack_part, standardize, unpack_part
from ....tools.linking.shape import Graph
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
    """A turn to learn from.

    Attributes:
        graph: Its schema.
        tables: Features of tables,
        columns: and of columns.
        used: 1 for tables that are used,
        columns_used: and for columns.
        weight: What the turn counts for.
    """

    graph: Graph
    tables: Matrix
    columns: Matrix
    used: Shares
    columns_used: Shares
    weight: float


def torch_library() -> Any:
    """Import torch.

    Raises:
        SettingsError: It is not installed.
    """
    try:
        return import_module("torch")
    except ImportError as error:
        raise SettingsError("fitting the linker's net needs torch: pip install 'tableturn[sft]'") from error


def train(examples: Sequence[TrainingTurn], names: tuple[tuple[str, ...], tuple[str, ...]], epochs: int) -> Net:
    """Train a net.

    Args:
        examples: What to learn from.
        names: Names of the features of tables, and of columns.
        epochs: How often each example is seen.

    Returns:
        The net, its weights rounded as they will be stored. The same examples give the same net.
    """
    torch = torch_library()

    torch.manual_seed(_SEED)
    of_tables, of_columns = _fit_scale([e.tables for e in examples]), _fit_scale([e.columns for e in examples])
    weights = {name: torch.tensor(array, requires_grad=True) for name, array in _draw_weights(names).items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=_RATE, weight_decay=_DECAY)
    steps = epochs * -(-len(examples) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps, pct_start=_WARM)
    dice = np.random.default_rng(_SEED)
    for _ in range(epochs):
        order = dice.permutation(len(examples))
        for start in range(0, len(order), _BATCH):
            batch = [examples[number] for number in order[start : start + _BATCH].tolist()]
            optimizer.zero_grad()
            _compute_loss(weights, batch, of_tables, of_columns).backward()
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 5.0)
            optimizer.step()
            schedule.step()
    arrays = {name: weight.detach().numpy() for name, weight in weights.items()}
    return _round_weights(Net(*names, *of_tables, *of_columns, **arrays))


def _round_weights(net: Net) -> Net:
    return unpack_part(Net, "net", pack_part("net", net))


def raise_odds(net: Net, tables: float, columns: float) -> Net:
    """Return the net with shifted log-odds."""
    table_out, column_out = net.table_out.copy(), net.column_out.copy()
    table_out[-1] += tables / NET_SHARE
    column_out[-1] += columns / NET_SHARE
    return _round_weights(replace(net, table_out=table_out, column_out=column_out))


def join_graphs(graphs: Sequence[Graph]) -> Graph:
    """Return graphs side by side."""
    tables = [len(graph.turn_of) for graph in graphs]
    columns = [len(graph.table_of) for graph in graphs]
    names = [int(graph.same_name.max(initial=-1)) + 1 for graph in graphs]
    # What the numbers of each of a graph's arrays count; of turns, each graph has one.
    counted = ([1] * len(graphs), tables, names, columns, tables, tables)
    return Graph(
        *(
            np.concatenate(arrays) + np.repeat(np.cumsum([0, *counts[:-1]]), [len(array) for array in arrays])
            for arrays, counts in zip(
                zip(*(vars(graph).values() for graph in graphs), strict=True), counted, strict=True
            )
        )
    )


def odds(net: Net, examples: Sequence[TrainingTurn]) -> list[tuple[Shares, Shares]]:
    """Return the log-odds of each example's tables and columns."""
    found: list[tuple[Shares, Shares]] = []
    for start in range(0, len(examples), _SCORED):
        batch = examples[start : start + _SCORED]
        tables, columns = net.predict(
            np.concatenate([example.tables for example in batch]),
            np.concatenate([example.columns for example in batch]),
            join_graphs([example.graph for example in batch]),
        )
        found += zip(
            np.split(tables, np.cumsum([len(example.used) for example in batch])[:-1]),
            np.split(columns, np.cumsum([len(example.columns_used) for example in batch])[:-1]),
            strict=True,
        )
    return found


def _fit_scale(inputs: Sequence[Matrix]) -> tuple[Array, Array]:
    """Return the mean of each feature and the inverse of its deviation."""
    rows = np.concatenate(inputs)
    deviation = rows.std(axis=0, dtype=np.float64)
    deviation[deviation < 1e-3] = 1.0
    return rows.mean(axis=0, dtype=np.float64).astype(np.float32), (1 / deviation).astype(np.float32)


def _draw_weights(names: tuple[tuple[str, ...], tuple[str, ...]]) -> dict[str, Array]:
    """Return random weights scaled by the number of inputs; biases are the last rows."""
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


def _compute_loss(
    weights: Mapping[str, Tensor],
    batch: Sequence[TrainingTurn],
    of_tables: tuple[Array, Array],
    of_columns: tuple[Array, Array],
) -> Tensor:
    """Return the cross-entropy, summed over items and averaged over turns."""
    torch = torch_library()

    tables, columns = forward(
        weights,
        standardize(np.concatenate([example.tables for example in batch]), *of_tables),
        standardize(np.concatenate([example.columns for example in batch]), *of_columns),
        join_graphs([example.graph for example in batch]),
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
    weights: Mapping[str, Tensor], tables: Matrix, columns: Matrix, graph: Graph, dropped: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Compute `Net.predict` in torch, with dropout, from standardized inputs."""
    torch = torch_library()

    def active(rows: Tensor, by: Tensor) -> Tensor:
        rows = torch.relu(torch.addmm(by[-1], rows, by[:-1]))
        return torch.dropout(rows, dropped, train=dropped > 0)

    of = {field.name: torch.from_numpy(getattr(graph, field.name)) for field in fields(graph)}
    t = active(torch.from_numpy(tables), weights["table_in"])
    c = active(torch.from_numpy(columns), weights["column_in"])
    column_turns = of["turn_of"][of["table_of"]]
    for table_layer, column_layer in zip(weights["table_layers"], weights["column_layers"], strict=True):
        turn, others = _max_by_group(t, of["turn_of"], len(t)), t[of["end_others"]]
        to_tables = [
            t,
            _mean_by_group(c, of["table_of"], len(t)),
            _max_by_group(c, of["table_of"], len(t)),
            _max_by_group(others, of["end_tables"], len(t)),
            turn[of["turn_of"]],
        ]
        to_columns = [
            c,
            t[of["table_of"]],
            _max_by_group(others, of["end_columns"], len(c)),
            _max_by_group(c, of["same_name"], len(c))[of["same_name"]],
            turn[column_turns],
        ]
        t, c = t + active(torch.cat(to_tables, 1), table_layer), c + active(torch.cat(to_columns, 1), column_layer)
    table_out, column_out = weights["table_out"], weights["column_out"]
    return (torch.addmm(table_out[-1], t, table_out[:-1])[:, 0], torch.addmm(column_out[-1], c, column_out[:-1])[:, 0])


def _max_by_group(rows: Tensor, group_of: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, rows.shape[1]).scatter_reduce(0, group_of[:, None].expand_as(rows), rows, "amax")


def _mean_by_group(rows: Tensor, group_of: Tensor, count: int) -> Tensor:
    sizes = rows.new_zeros(count).index_add(0, group_of, rows.new_ones(len(rows)))
    return rows.new_zeros(count, rows.shape[1]).index_add(0, group_of, rows) / sizes.clamp(min=1)[:, None]
