"""Fits the schema linker's model on training databases: `evals.lab train linker FOLDER`.

Turns of CoSQL train and questions of Spider train; development databases are never read. Each interaction is learned
from twice: with the gold SQL of earlier turns, and with what a first linker, which does not know the database, found in
them, as histories are partly wrong in use, too; and from questions of Spider asked after its first turns, which change
the subject. What is printed is measured on all turns of interactions, and on those changes of subject, each by a model
fitted on other databases. The same data gives the same model.
"""

from __future__ import annotations

import json
import logging
import math
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from ....tools.errors import SettingsError
from ....tools.linking import STAR
from ....tools.linking.associations import Associations
from ....tools.linking.features import Features, column_features, star_features, table_features
from ....tools.linking.forest import Forest, Matrix
from ....tools.linking.net import Net, matrix, mixed, net_features
from ....tools.linking.net_graph import Graph
from ....tools.linking.scoring import COLUMNS_FROM, Model
from ....tools.linking.vocabulary import Shares
from ....tools.values.schema_words import name_words
from ....tools.values.text_words import stem, words
from ....tools.whole_files import write_whole, written_whole
from ...datasets import load_dataset
from ...metrics.redundancy import COUNTED
from .fit_linker_net import Example, odds, torch_library
from .fit_linker_net import train as train_net
from .fit_linker_turns import (
    FOLDS,
    Dialogue,
    LinkedDatabase,
    LinkedTurn,
    changed_subjects,
    column_redundancy,
    linked_turn,
    linked_turns,
    measure,
    own_answers,
    read_dialogues,
    table_redundancy,
    with_found,
)

_LOG = logging.getLogger(__name__)

_SPARED = 0.05
"""The share of columns of improbable tables that are learned from, too."""

Flags = npt.NDArray[np.bool_]

_LEAST_SEEN = 10
_LEAST_USED = 5
_LEAST_WEIGHT = 0.4
_MOST_WEIGHT = 3.0
_BELIEF = 4
"""Turns' worth of belief that a word of a question says nothing."""

_LEAVES = 31
_DEPTH = 8
_BINS = 100


@dataclass
class WordCounts:
    """How often words of questions met words of names.

    Attributes:
        there: Turns whose schema has the word in a name.
        used: Turns whose SQL uses such a name.
        there_with: The same, by a word of the question and the name's.
        used_with: Likewise.
        heads: Columns of used tables, by their names' last words.
        used_heads: Those of them that are used.
    """

    there: Counter[str] = field(default_factory=Counter[str])
    used: Counter[str] = field(default_factory=Counter[str])
    there_with: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    used_with: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    heads: Counter[str] = field(default_factory=Counter[str])
    used_heads: Counter[str] = field(default_factory=Counter[str])

    def add(self, dialogue: Dialogue) -> None:
        """Count a dialogue's turns."""
        names = dialogue.database.names
        tables, columns = _stems(dialogue.database)
        there = frozenset[str]().union(*tables, *columns)
        for asked in dialogue.questions:
            use = names.past_use(asked.gold)
            numbers = {names.column_number[column] for column in use.columns if column[1] != STAR}
            used = frozenset[str]().union(
                *(columns[number] for number in numbers), *(tables[names.table_number[table]] for table in use.tables)
            )
            self.there.update(there)
            self.used.update(used)
            for word in {word.stem for word in words(asked.text)}:
                self.there_with.update((word, part) for part in there)
                self.used_with.update((word, part) for part in used)
            of_used = [number for number, (table, _) in enumerate(names.columns) if table in use.tables]
            self.heads.update(names.column_heads[number] for number in of_used)
            self.used_heads.update(names.column_heads[number] for number in numbers)

    def associations(self) -> Associations:
        """Return pairs whose name is used clearly more often where the question holds the word."""
        pairs: dict[str, dict[str, float]] = defaultdict(dict)
        for (word, part), used in self.used_with.items():
            there = self.there_with[word, part]
            if word == part or there < _LEAST_SEEN or used < _LEAST_USED:
                continue
            usual = self.used[part] / self.there[part]
            weight = math.log((used + _BELIEF * usual) / (there + _BELIEF) / usual)
            if weight > _LEAST_WEIGHT:
                pairs[word][part] = round(min(weight, _MOST_WEIGHT) / _MOST_WEIGHT, 3)
        usual_heads = {
            head: round((self.used_heads[head] + 0.5) / (count + 2), 3)
            for head, count in self.heads.items()
            if count >= 2 * _LEAST_SEEN
        }
        return Associations(dict(pairs), usual_heads)


def _stems(database: LinkedDatabase) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    names = database.names
    return (
        [frozenset(map(stem, name_words(table))) for table in names.table_number],
        [frozenset(map(stem, name_words(column))) for _, column in names.columns],
    )


@dataclass(frozen=True)
class Size:
    """How large the forests are, and how long the net is trained.

    Attributes:
        trees: Trees of the forests of tables and `table.*`,
        column_trees: and of columns, of which there are many more to learn from.
        rate: What a tree counts for.
        epochs: How often the net sees each turn; there is no net where that is never.
    """

    trees: int
    column_trees: int
    rate: float
    epochs: int = 0


def fit_trees(stage: str, inputs: Matrix, wanted: Shares, weights: Shares, size: Size) -> Any:
    """Fit trees to one stage's inputs."""
    # The library's own annotations are narrower than what it takes.
    unfitted = cast("Any", HistGradientBoostingClassifier)(
        max_iter=size.column_trees if stage == "columns" else size.trees,
        learning_rate=size.rate,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=40,
        l2_regularization=10,
        max_features=0.4,
        max_bins=_BINS,
        early_stopping=False,
        random_state=1,
    )
    return unfitted.fit(inputs, wanted, sample_weight=weights)


def export_forest(names: tuple[str, ...], trees: Any) -> Forest:
    """Return a fitted classifier's trees as plain arrays, each node's two children side by side."""
    roots: list[int] = []
    nodes: list[tuple[int, float, int, float]] = []
    depth = 0
    for (predictor,) in trees._predictors:
        theirs = predictor.nodes
        roots.append(len(nodes))
        nodes.append((0, np.inf, 0, 0.0))
        waiting = [(0, roots[-1], 0)]
        while waiting:
            number, place, level = waiting.pop()
            node = theirs[number]
            depth = max(depth, level)
            if node["is_leaf"]:
                nodes[place] = (0, np.inf, place, float(node["value"]))
                continue
            left = len(nodes)
            nodes += [(0, np.inf, 0, 0.0)] * 2
            nodes[place] = (int(node["feature_idx"]), float(node["num_threshold"]), left, 0.0)
            waiting += [(int(node["left"]), left, level + 1), (int(node["right"]), left + 1, level + 1)]
    feature, threshold, lefts, value = zip(*nodes, strict=True)
    return Forest(
        names,
        np.array(roots, dtype=np.int32),
        np.array(feature, dtype=np.int32),
        np.array(threshold, dtype=np.float32),
        np.array(lefts, dtype=np.int32),
        np.array(value, dtype=np.float32),
        float(np.ravel(trees._baseline_prediction)[0]),
        depth,
    )


@dataclass(frozen=True)
class Fitted:
    """Fitted models, and what they find.

    Attributes:
        models: By fold, fitted on the turns of the other folds' databases; the last, if asked for, on all turns.
        tables: By turn, probabilities of tables by a model that does not know the database,
        columns: and of columns.
    """

    models: Sequence[Model]
    tables: Sequence[Shares]
    columns: Sequence[Shares]


@dataclass
class _Chain:
    """Fits the stages one after another: tables, columns, the net, and `table.*`.

    One fold of databases is left out after another, and in the end, if `whole`, none.
    """

    turns: Sequence[LinkedTurn]
    size: Size
    weights: Sequence[float]
    whole: bool = True
    forests: dict[str, list[Forest]] = field(default_factory=dict[str, list[Forest]])
    nets: list[Net] = field(default_factory=list[Net])

    def fit(self) -> Fitted:
        """Fit all stages."""
        items = [(turn.evidence, turn.database.shape) for turn in self.turns]
        used, columns_used = [turn.tables for turn in self.turns], [turn.columns for turn in self.turns]
        tables = self._stage("tables", [table_features(*item) for item in items], used)
        features = [column_features(*item, p) for item, p in zip(items, tables, strict=True)]
        columns = self._stage("columns", features, columns_used, self._learned(tables))
        if self.size.epochs:
            tables, columns = self._with_net(tables, columns)
        features = [star_features(*item, p) for item, p in zip(items, tables, strict=True)]
        self._stage("stars", features, [turn.stars for turn in self.turns])
        models = [
            Model(
                **{stage: forests[number] for stage, forests in self.forests.items()},
                net=self.nets[number] if self.nets else None,
            )
            for number in range(FOLDS + self.whole)
        ]
        return Fitted(models, tables, columns)

    def _with_net(self, tables: list[Shares], columns: list[Shares]) -> tuple[list[Shares], list[Shares]]:
        """Train the nets; return the probabilities of each on the fold that it was not trained on."""
        _LOG.info("training nets")
        examples, names = self._examples(tables, columns)
        folds = np.array([turn.database.fold for turn in self.turns])
        tables, columns = list(tables), list(columns)
        for fold in range(FOLDS + self.whole):
            net = train_net([examples[number] for number in np.flatnonzero(folds != fold)], names, self.size.epochs)
            self.nets.append(net)
            here = np.flatnonzero(folds == fold).tolist()
            for number, (p, q) in zip(here, odds(net, [examples[number] for number in here]), strict=True):
                tables[number], columns[number] = mixed(tables[number], p), mixed(columns[number], q)
        return tables, columns

    def _examples(
        self, tables: list[Shares], columns: list[Shares]
    ) -> tuple[list[Example], tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return what the nets learn from, and the names of its features of tables and columns."""
        examples: list[Example] = []
        names: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        for turn, weight, p, q in zip(self.turns, self.weights, tables, columns, strict=True):
            shape = turn.database.shape
            of_tables, of_columns = net_features(turn.evidence, shape, p, q)
            every = np.arange(shape.tables)
            graph, numbers = Graph.of(shape, every)
            names = tuple(of_tables), tuple(of_columns)
            inputs = matrix(names[0], of_tables, every), matrix(names[1], of_columns, numbers)
            examples.append(Example(graph, *inputs, turn.tables, turn.columns, weight))
        return examples, names

    def _learned(self, tables: list[Shares]) -> Flags:
        """Return the columns to learn from: those of probable tables, and a few others."""
        probable = np.concatenate([p[turn.database.shape.table_of] for turn, p in zip(self.turns, tables, strict=True)])
        return (probable >= COLUMNS_FROM) | (np.random.default_rng(5).random(len(probable)) < _SPARED)

    def _stage(
        self, stage: str, features: list[Features], targets: Sequence[Shares], learned: Flags | None = None
    ) -> list[Shares]:
        """Fit a stage's forests; return what each finds in the fold that it does not know."""
        _LOG.info("fitting %s", stage)
        names = tuple(features[0])
        inputs: Matrix = np.concatenate(
            [np.stack([item[name] for name in names], axis=1).astype(np.float32) for item in features]
        )
        sizes = [len(target) for target in targets]
        folds = np.repeat([turn.database.fold for turn in self.turns], sizes)
        weights = np.repeat(self.weights, sizes)
        wanted = np.concatenate(targets)
        known = np.ones(len(wanted), dtype=bool) if learned is None else learned
        found = np.zeros(len(wanted))
        self.forests[stage] = []

        for fold in range(FOLDS + self.whole):
            there, here = known & (folds != fold), folds == fold
            trees = fit_trees(stage, inputs[there], wanted[there], weights[there], self.size)
            self.forests[stage].append(export_forest(names, trees))
            if here.any():
                found[here] = np.asarray(trees.predict_proba(inputs[here])[:, 1], dtype=np.float64)
        return np.split(found, np.cumsum(sizes)[:-1])


_FIRST_SIZE = Size(trees=40, column_trees=20, rate=0.2, epochs=3)
_SIZE = Size(trees=70, column_trees=60, rate=0.12, epochs=5)

_OWN_WEIGHT = 0.4
"""What a turn counts for whose history a linker found, against one with gold SQL before it."""

_CHANGED_WEIGHT = 0.3
"""What a change of subject counts for."""

_SHIFTS = np.arange(0.0, 1.6, 0.1)
"""Log-odds to add, of which the best are taken: what is missing costs more than what is too much."""

Figures = dict[str, dict[str, float]]
Gathered = Callable[[Sequence[Dialogue]], list[LinkedTurn]]


def fit(dialogues: Sequence[Dialogue]) -> tuple[Model, Associations, Figures]:
    """Fit the model and the associations.

    Returns:
        Both, and the figures with gold history, with the first linker's own and where the subject changes, on databases
        that the model that is measured was not fitted on.
    """
    apart = [_count_words(dialogues, {*range(FOLDS)} - {fold}).associations() for fold in range(FOLDS)]

    def gathered(some: Sequence[Dialogue]) -> list[LinkedTurn]:
        return [turn for dialogue in some for turn in linked_turns(dialogue, apart[dialogue.database.fold])]

    gold, own, alone, changed = _with_histories(dialogues, gathered, apart)
    begun = [turn for turn in gold if not turn.number]
    # First turns have no history: once is enough.
    gold, own = ([turn for turn in some if turn.number] for some in (gold, own))
    parts = ((begun, 1.0), (gold, 1.0), (own, _OWN_WEIGHT), (alone, 1.0), (changed, _CHANGED_WEIGHT))
    turns = [turn for part, _ in parts for turn in part]
    weights = [weight for part, weight in parts for _ in part]
    known = len(begun) + len(gold)
    judged = {
        "gold": range(known),
        "own": [*range(len(begun)), *range(known, known + len(own))],
        "changed": range(len(turns) - len(changed), len(turns)),
    }
    fitted = _raised(_Chain(turns, _SIZE, weights).fit(), turns[:known])
    figures = {
        history: measure(
            [turns[number] for number in some],
            [fitted.tables[number] for number in some],
            [fitted.columns[number] for number in some],
        )
        for history, some in judged.items()
        if some
    }
    return fitted.models[-1], _count_words(dialogues, {*range(FOLDS)}).associations(), figures


def _with_histories(
    dialogues: Sequence[Dialogue], gathered: Gathered, apart: Sequence[Associations]
) -> tuple[list[LinkedTurn], list[LinkedTurn], list[LinkedTurn], list[LinkedTurn]]:
    """Return turns after gold SQL, turns after what a first linker found, single questions and changes of subject.

    The first linker's probabilities stand beside both kinds of history. Changes of subject come after gold SQL, every
    third after what the first linker found.
    """
    known = [gathered([dialogue]) for dialogue in dialogues]
    every = [turn for theirs in known for turn in theirs]
    first = _raised(_Chain(every, _FIRST_SIZE, [1.0] * len(every), whole=False).fit(), every)
    found = zip(first.tables, first.columns, strict=True)
    seen = [
        with_found(d, {turn.number: next(found) for turn in theirs}) for d, theirs in zip(dialogues, known, strict=True)
    ]

    def scored(turn: LinkedTurn) -> tuple[Shares, Shares]:
        return first.models[turn.database.fold].score(turn.evidence, turn.database.shape)[:2]

    several, single = ([d for d in seen if (len(d.questions) > 1) == many] for many in (True, False))
    own = [own_answers(d, scored, apart[d.database.fold]) for d in dialogues if len(d.questions) > 1]
    both = zip(changed_subjects(several, single), changed_subjects(own, single), strict=True)
    changes = [after_own if number % 3 == 2 else after_gold for number, (after_gold, after_own) in enumerate(both)]
    last = [linked_turn(d, len(d.questions) - 1, apart[d.database.fold]) for d in changes]
    return gathered(several), gathered(own), gathered(single), [turn for turn in last if turn.tables.any()]


def _count_words(dialogues: Sequence[Dialogue], folds: Collection[int]) -> WordCounts:
    counts = WordCounts()
    for fold in sorted(folds):
        for dialogue in dialogues:
            if dialogue.database.fold == fold:
                counts.add(dialogue)
    return counts


def _raised(fitted: Fitted, known: Sequence[LinkedTurn]) -> Fitted:
    """Return nets, and what they give, with what makes redundancy least by the first turns added to their log-odds.

    Models without a net stay as they are.
    """
    shifts = (
        _shift(lambda counted: table_redundancy(known, fitted.tables[: len(known)], counted)),
        _shift(lambda counted: column_redundancy(known, fitted.columns[: len(known)], counted)),
    )
    nets = [model.net and model.net.raised(*shifts) for model in fitted.models]
    if not all(nets):
        return fitted
    models = [replace(model, net=net) for model, net in zip(fitted.models, nets, strict=True)]
    tables, columns = (
        [_shifted(p, shift) for p in each] for each, shift in zip((fitted.tables, fitted.columns), shifts, strict=True)
    )
    return Fitted(models, tables, columns)


def _shift(redundancy: Callable[[float], float]) -> float:
    """Return the log-odds to add that make a redundancy score least."""
    return float(min(_SHIFTS, key=lambda shift: redundancy(float(_shifted(np.array(COUNTED), -shift)))))


def _shifted(p: Shares, shift: float) -> Shares:
    return p / (p + (1 - p) * np.exp(-shift))


def write(model: Model, associations: Associations, folder: Path) -> None:
    """Write what the linker reads: `forests.npz` and `associations.json`."""
    with written_whole(folder / "forests.npz") as file:
        np.savez_compressed(file, allow_pickle=False, **model.pack())
    stored = {"pairs": associations.pairs, "usual": associations.usual}
    write_whole(folder / "associations.json", json.dumps(stored, sort_keys=True) + "\n")


def train(out: Path, data: Path | None = None, limit: int | None = None) -> Figures:
    """Fit on both benchmarks' training questions and writes what the linker reads.

    Args:
        out: The folder to write to.
        data: The folder of benchmark data; None for `TABLETURN_DATA`'s.
        limit: Interactions of each dataset, for a quick look; None for all.

    Returns:
        Figures measured on databases that were left out.

    Raises:
        SettingsError: torch is not installed, the data is not there, or the folder cannot be written to.
    """
    torch_library()
    datasets = [load_dataset(name, "train", data).first(limit) for name in ("cosql", "spider")]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot write the linker's model to {out}: {error}") from None
    with tempfile.TemporaryDirectory() as cache:
        cosql, spider = (read_dialogues(dataset, Path(cache)) for dataset in datasets)
    model, associations, figures = fit([*cosql, *spider])
    write(model, associations, out)
    return figures
