"""Fits the linker's forests stage by stage, each on what the one before gives databases that it was not fitted on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...tools.linking.features import Features, column_features, star_features, table_features
from ...tools.linking.forest import Forest, Matrix
from ...tools.linking.net import Net, matrix, mixed, net_features
from ...tools.linking.net_graph import Graph
from ...tools.linking.scoring import COLUMNS_FROM, Model
from ...tools.linking.vocabulary import Shares
from .fit_linker_forests import Size, boosted, exported, given
from .fit_linker_net import Example, odds, train
from .fit_linker_turns import FOLDS, LinkedTurn

_LOG = logging.getLogger(__name__)

_SPARED = 0.05
"""The share of columns of improbable tables that are learned from, too."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Fitted:
    """What `fit_models` gives.

    Attributes:
        models: By fold, fitted on the turns of the other folds' databases; the last, if asked for, on all turns.
        tables: By turn, probabilities of tables by a model that does not know the database,
        columns: and of columns.
        by_trees: Both, by its trees alone: what the net adds is measured against them.
    """

    models: Sequence[Model]
    tables: Sequence[Shares]
    columns: Sequence[Shares]
    by_trees: tuple[Sequence[Shares], Sequence[Shares]]


def fit_models(
    turns: Sequence[LinkedTurn], size: Size, *, weights: Sequence[float] | None = None, whole: bool = True
) -> Fitted:
    """Fits all stages, on all turns if `whole`, and leaving one fold of databases out after another."""
    chain = _Chain(turns, size, weights, whole)
    tables, columns = chain.fit()
    models = [
        Model(
            **{stage: forests[number] for stage, forests in chain.forests.items()},
            net=chain.nets[number] if chain.nets else None,
        )
        for number in range(FOLDS + whole)
    ]
    return Fitted(models, tables, columns, chain.by_trees)


class _Chain:
    def __init__(self, turns: Sequence[LinkedTurn], size: Size, weights: Sequence[float] | None, whole: bool) -> None:
        self.forests: dict[str, list[Forest]] = {}
        self.nets: list[Net] = []
        self.by_trees: tuple[Sequence[Shares], Sequence[Shares]] = (), ()
        self._size = size
        self._weights = weights
        self._whole = whole
        self._turns = turns
        self._items = [(turn.evidence, turn.database.shape) for turn in turns]

    def fit(self) -> tuple[list[Shares], list[Shares]]:
        """Probabilities of tables and columns in the end."""
        items = self._items
        used, columns_used = [turn.tables for turn in self._turns], [turn.columns for turn in self._turns]
        first = self._stage("tables", [table_features(*item) for item in items], used)
        learned = self._learned(first)
        features = [column_features(*item, p) for item, p in zip(items, first, strict=True)]
        columns = self._stage("columns", features, columns_used, learned)
        self.by_trees = first, columns
        if self._size.epochs:
            tables, columns = self._with_net(first, columns)
        else:
            tables = first
        features = [star_features(*item, p) for item, p in zip(items, tables, strict=True)]
        self._stage("stars", features, [turn.stars for turn in self._turns])
        return tables, columns

    def _with_net(self, tables: list[Shares], columns: list[Shares]) -> tuple[list[Shares], list[Shares]]:
        """Trains the nets; the probabilities of each on the fold that it was not trained on."""
        _LOG.info("training nets")
        examples, names = self._examples(tables, columns)
        folds = np.array([turn.database.fold for turn in self._turns])
        tables, columns = list(tables), list(columns)
        for fold in range(FOLDS + self._whole):
            net = train([examples[number] for number in np.flatnonzero(folds != fold)], names, self._size.epochs)
            self.nets.append(net)
            here = np.flatnonzero(folds == fold).tolist()
            for number, (p, q) in zip(here, odds(net, [examples[number] for number in here]), strict=True):
                tables[number], columns[number] = mixed(tables[number], p), mixed(columns[number], q)
        return tables, columns

    def _examples(
        self, tables: list[Shares], columns: list[Shares]
    ) -> tuple[list[Example], tuple[tuple[str, ...], tuple[str, ...]]]:
        """What the nets learn from, and the names of its features of tables and columns."""
        examples: list[Example] = []
        names: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        weights = self._weights or [1.0] * len(self._turns)
        for turn, weight, p, q in zip(self._turns, weights, tables, columns, strict=True):
            shape = turn.database.shape
            of_tables, of_columns = net_features(turn.evidence, shape, p, q)
            every = np.arange(shape.tables)
            graph, numbers = Graph.of(shape, every)
            names = tuple(of_tables), tuple(of_columns)
            inputs = matrix(names[0], of_tables, every), matrix(names[1], of_columns, numbers)
            examples.append(Example(graph, *inputs, turn.tables, turn.columns, weight))
        return examples, names

    def _learned(self, tables: list[Shares]) -> Flags:
        """The columns to learn from: those of probable tables, and a few others."""
        probable = np.concatenate(
            [p[turn.database.shape.table_of] for turn, p in zip(self._turns, tables, strict=True)]
        )
        return (probable >= COLUMNS_FROM) | (np.random.default_rng(5).random(len(probable)) < _SPARED)

    def _stage(
        self, stage: str, features: list[Features], targets: Sequence[Shares], learned: Flags | None = None
    ) -> list[Shares]:
        """Fits a stage's forests; what each finds in the fold that it does not know."""
        _LOG.info("fitting %s", stage)
        names = tuple(features[0])
        inputs: Matrix = np.concatenate(
            [np.stack([item[name] for name in names], axis=1).astype(np.float32) for item in features]
        )
        sizes = [len(target) for target in targets]
        folds = np.repeat([turn.database.fold for turn in self._turns], sizes)
        weights = None if self._weights is None else np.repeat(self._weights, sizes)
        wanted = np.concatenate(targets)
        known = np.ones(len(wanted), dtype=bool) if learned is None else learned
        found = np.zeros(len(wanted))
        self.forests[stage] = []

        for fold in range(FOLDS + self._whole):
            there, here = known & (folds != fold), folds == fold
            trees = boosted(
                stage, inputs[there], wanted[there], None if weights is None else weights[there], self._size
            )
            self.forests[stage].append(exported(names, trees))
            if here.any():
                found[here] = given(trees, inputs[here])
        return np.split(found, np.cumsum(sizes)[:-1])
