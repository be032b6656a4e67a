"""Training of the schema linker: `evals.lab train linker FOLDER`.

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
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from ....tools.errors import SettingsError
from ....tools.linking import STAR
from ....tools.linking.evidence import (
    Features,
    build_first_column_features,
    build_first_table_features,
    build_star_features,
)
from ....tools.linking.scoring import (
    COLUMNS_FROM,
    DecisionForest,
    LinkingModel,
    Matrix,
    MessagePassingNet,
    build_feature_matrix,
    build_net_features,
    combine_log_odds,
)
from ....tools.linking.vocabulary import Shares, WordAssociations
from ....tools.whole_files import replace_file, write_text_atomically
from ....tools.words import split_name_into_words, stem_word, words
from ...datasets import load_dataset
from ...metrics.summary import CUTOFF
from .fit_linker_net import TrainingTurn, import_torch, pack_model_part, predict_log_odds, shift_log_odds
from .fit_linker_net import train_linker_net as train_net
from .fit_linker_turns import (
    FOLDS,
    LinkedTurn,
    TrainingDialogue,
    add_links,
    build_linked_turn,
    build_linked_turns,
    make_subject_changes,
    read_dialogues,
    score_column_redundancy,
    score_links,
    score_table_redundancy,
    select_probable_items,
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


def find_word_associations(dialogues: Sequence[TrainingDialogue]) -> WordAssociations:
    """Return pairs of question words and schema name words that often occur together."""
    # Turns whose schema has the word in a name, and whose SQL uses such a name; the same by a word of the question.
    there, used = Counter[str](), Counter[str]()
    there_with, used_with = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    # Columns of used tables, by their names' last words, and those of them that are used.
    heads, used_heads = Counter[str](), Counter[str]()
    for dialogue in dialogues:
        names = dialogue.database.names
        tables = [frozenset(map(stem_word, split_name_into_words(table))) for table in names.table_number]
        columns = [frozenset(map(stem_word, split_name_into_words(column))) for _, column in names.columns]
        all_parts = frozenset[str]().union(*tables, *columns)
        for asked in dialogue.questions:
            use = names.find_past_use(asked.gold)
            numbers = {names.column_number[column] for column in use.columns if column[1] != STAR}
            parts = frozenset[str]().union(
                *(columns[number] for number in numbers), *(tables[names.table_number[table]] for table in use.tables)
            )
            there.update(all_parts)
            used.update(parts)
            for word in {word.stem for word in words(asked.text)}:
                there_with.update((word, part) for part in all_parts)
                used_with.update((word, part) for part in parts)
            of_used = [number for number, (table, _) in enumerate(names.columns) if table in use.tables]
            heads.update(names.column_heads[number] for number in of_used)
            used_heads.update(names.column_heads[number] for number in numbers)
    pairs: dict[str, dict[str, float]] = defaultdict(dict)
    for (word, part), uses in used_with.items():
        met = there_with[word, part]
        if word == part or met < _LEAST_SEEN or uses < _LEAST_USED:
            continue
        usual = used[part] / there[part]
        weight = math.log((uses + _BELIEF * usual) / (met + _BELIEF) / usual)
        if weight > _LEAST_WEIGHT:
            pairs[word][part] = round(min(weight, _MOST_WEIGHT) / _MOST_WEIGHT, 3)
    usual_heads = {
        head: round((used_heads[head] + 0.5) / (count + 2), 3)
        for head, count in heads.items()
        if count >= 2 * _LEAST_SEEN
    }
    return WordAssociations(dict(pairs), usual_heads)


@dataclass(frozen=True)
class LinkerModelSize:
    """The size of a linker model: trees of the forests, and training epochs of the net.

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


def _fit_tree_classifier(stage: str, inputs: Matrix, wanted: Shares, weights: Shares, size: LinkerModelSize) -> Any:
    """Fit boosted trees to the inputs of one training stage."""
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


def convert_trees_to_forest(names: tuple[str, ...], trees: Any) -> DecisionForest:
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
    return DecisionForest(
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
class FittedLinkerModels:
    """Fitted linker models with their predictions on held-out turns.

    Attributes:
        models: By fold, fitted on the turns of the other folds' databases; the last, if asked for, on all turns.
        tables: By turn, probabilities of tables by a model that does not know the database,
        columns: and of columns.
    """

    models: Sequence[LinkingModel]
    tables: Sequence[Shares]
    columns: Sequence[Shares]


def fit_linker_stages(
    turns: Sequence[LinkedTurn], size: LinkerModelSize, weights: Sequence[float], *, whole: bool = True
) -> FittedLinkerModels:
    """Fit the linker's stages in order: tables, columns, the net, and `table.*`.

    One fold of databases is left out after another, and in the end, if `whole`, none.
    """
    rounds = range(FOLDS + whole)
    every = [turn.evidence for turn in turns]
    turn_folds = np.array([turn.database.fold for turn in turns])
    forests: dict[str, list[DecisionForest]] = {}
    nets: list[MessagePassingNet] = []

    def fit_stage(
        stage: str, features: list[Features], targets: Sequence[Shares], learned: Flags | None = None
    ) -> list[Shares]:
        """Fit a stage's forests; return the predictions of each forest on its held-out fold."""
        _LOG.info("fitting %s", stage)
        names = tuple(features[0])
        sizes = [len(target) for target in targets]
        inputs = np.concatenate(
            [build_feature_matrix(names, item, np.arange(n)) for item, n in zip(features, sizes, strict=True)]
        )
        folds, weighed = np.repeat(turn_folds, sizes), np.repeat(weights, sizes)
        wanted = np.concatenate(targets)
        known = np.ones(len(wanted), dtype=bool) if learned is None else learned
        found = np.zeros(len(wanted))
        forests[stage] = []
        for fold in rounds:
            there, here = known & (folds != fold), folds == fold
            trees = _fit_tree_classifier(stage, inputs[there], wanted[there], weighed[there], size)
            forests[stage].append(convert_trees_to_forest(names, trees))
            if here.any():
                found[here] = np.asarray(trees.predict_proba(inputs[here])[:, 1], dtype=np.float64)
        return np.split(found, np.cumsum(sizes)[:-1])

    tables = fit_stage("tables", [build_first_table_features(e) for e in every], [turn.tables for turn in turns])
    # Columns of probable tables are learned from, and a few others.
    probable = np.concatenate([p[e.shape.table_of] for e, p in zip(every, tables, strict=True)])
    learned = (probable >= COLUMNS_FROM) | (np.random.default_rng(5).random(len(probable)) < _SPARED)
    features = [build_first_column_features(e, p) for e, p in zip(every, tables, strict=True)]
    columns = fit_stage("columns", features, [turn.columns for turn in turns], learned)
    if size.epochs:
        _LOG.info("training nets")
        examples: list[TrainingTurn] = []
        names: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        for turn, weight, p, q in zip(turns, weights, tables, columns, strict=True):
            of_tables, of_columns = build_net_features(turn.evidence, p, q)
            rows = np.arange(turn.evidence.shape.tables)
            graph, places = turn.evidence.shape.part(rows)
            names = tuple(of_tables), tuple(of_columns)
            inputs = build_feature_matrix(names[0], of_tables, rows), build_feature_matrix(names[1], of_columns, places)
            examples.append(TrainingTurn(graph, *inputs, turn.tables, turn.columns, weight))
        tables, columns = list(tables), list(columns)
        for fold in rounds:
            net = train_net([examples[number] for number in np.flatnonzero(turn_folds != fold)], names, size.epochs)
            nets.append(net)
            # Each net's probabilities count on the fold that it was not trained on.
            here = np.flatnonzero(turn_folds == fold).tolist()
            for number, (p, q) in zip(here, predict_log_odds(net, [examples[number] for number in here]), strict=True):
                tables[number] = combine_log_odds(tables[number], p)
                columns[number] = combine_log_odds(columns[number], q)
    features = [build_star_features(e, p) for e, p in zip(every, tables, strict=True)]
    fit_stage("stars", features, [turn.stars for turn in turns])
    models = [
        LinkingModel(**{stage: found[number] for stage, found in forests.items()}, net=nets[number] if nets else None)
        for number in rounds
    ]
    return FittedLinkerModels(models, tables, columns)


_FIRST_SIZE = LinkerModelSize(trees=40, column_trees=20, rate=0.2, epochs=3)
_SIZE = LinkerModelSize(trees=70, column_trees=60, rate=0.12, epochs=5)

_OWN_WEIGHT = 0.4
"""What a turn counts for whose history a linker found, against one with gold SQL before it."""

_CHANGED_WEIGHT = 0.3
"""What a change of subject counts for."""

_SHIFTS = np.arange(0.0, 1.6, 0.1)
"""Log-odds to add, of which the best are taken: what is missing costs more than what is too much."""

Figures = dict[str, dict[str, float]]


def fit(dialogues: Sequence[TrainingDialogue]) -> tuple[LinkingModel, WordAssociations, Figures]:
    """Fit the linking model and the word associations; return both with test figures.

    Returns:
        Both, and the figures with gold history, with the first linker's own and where the subject changes, on databases
        that the model that is measured was not fitted on.
    """
    apart = [find_word_associations([d for d in dialogues if d.database.fold != fold]) for fold in range(FOLDS)]

    def build_turns(some: Sequence[TrainingDialogue]) -> list[LinkedTurn]:
        return [turn for dialogue in some for turn in build_linked_turns(dialogue, apart[dialogue.database.fold])]

    def score_turn(turn: LinkedTurn) -> tuple[Shares, Shares]:
        return first.models[turn.database.fold].score(turn.evidence)[:2]

    # A first linker learns after gold SQL; its probabilities stand beside both kinds of history.
    known = [build_turns([dialogue]) for dialogue in dialogues]
    every = [turn for theirs in known for turn in theirs]
    first = _shift_net_odds(fit_linker_stages(every, _FIRST_SIZE, [1.0] * len(every), whole=False), every)
    probabilities = zip(first.tables, first.columns, strict=True)
    seen: list[TrainingDialogue] = []
    for dialogue, theirs in zip(dialogues, known, strict=True):
        found = {turn.number: next(probabilities) for turn in theirs}
        items = (
            select_probable_items(dialogue.database.names, *found[number]) if number in found else ()
            for number in range(len(dialogue.questions))
        )
        seen.append(replace(dialogue, found=tuple(items)))
    several, single = ([d for d in seen if (len(d.questions) > 1) == many] for many in (True, False))
    after_own = [add_links(d, score_turn, apart[d.database.fold], own=True) for d in dialogues if len(d.questions) > 1]
    # Changes of subject come after gold SQL, every third after what the first linker found.
    both = zip(make_subject_changes(several, single), make_subject_changes(after_own, single), strict=True)
    changes = [pair[number % 3 == 2] for number, pair in enumerate(both)]
    last = [build_linked_turn(d, len(d.questions) - 1, apart[d.database.fold]) for d in changes]
    changed = [turn for turn in last if turn.tables.any()]
    gold = build_turns(several)
    begun = [turn for turn in gold if not turn.number]
    # First turns have no history: once is enough.
    gold, own = ([turn for turn in some if turn.number] for some in (gold, build_turns(after_own)))
    parts = ((begun, 1.0), (gold, 1.0), (own, _OWN_WEIGHT), (build_turns(single), 1.0), (changed, _CHANGED_WEIGHT))
    turns = [turn for part, _ in parts for turn in part]
    weights = [weight for part, weight in parts for _ in part]
    count = len(begun) + len(gold)
    judged = {
        "gold": range(count),
        "own": [*range(len(begun)), *range(count, count + len(own))],
        "changed": range(len(turns) - len(changed), len(turns)),
    }
    fitted = _shift_net_odds(fit_linker_stages(turns, _SIZE, weights), turns[:count])
    figures = {
        history: score_links(
            [turns[number] for number in some],
            [fitted.tables[number] for number in some],
            [fitted.columns[number] for number in some],
        )
        for history, some in judged.items()
        if some
    }
    return fitted.models[-1], find_word_associations(dialogues), figures


def _shift_net_odds(fitted: FittedLinkerModels, known: Sequence[LinkedTurn]) -> FittedLinkerModels:
    """Return the models with net log-odds shifted to minimize redundancy on `known` turns.

    Models without a net stay as they are.
    """
    tables, columns = fitted.tables[: len(known)], fitted.columns[: len(known)]
    shifts = (
        _find_best_odds_shift(lambda counted: score_table_redundancy(known, tables, counted)),
        _find_best_odds_shift(lambda counted: score_column_redundancy(known, columns, counted)),
    )
    nets = [model.net and shift_log_odds(model.net, *shifts) for model in fitted.models]
    if not all(nets):
        return fitted
    models = [replace(model, net=net) for model, net in zip(fitted.models, nets, strict=True)]
    parts = zip((fitted.tables, fitted.columns), shifts, strict=True)
    return FittedLinkerModels(models, *([_shift_probabilities(p, shift) for p in part] for part, shift in parts))


def _find_best_odds_shift(redundancy: Callable[[float], float]) -> float:
    """Return the shift of log-odds that minimizes a redundancy score."""
    return float(min(_SHIFTS, key=lambda shift: redundancy(float(_shift_probabilities(np.array(CUTOFF), -shift)))))


def _shift_probabilities(p: Shares, shift: float) -> Shares:
    return p / (p + (1 - p) * np.exp(-shift))


def write_linker_files(model: LinkingModel, associations: WordAssociations, folder: Path) -> None:
    """Write the linker's files: `forests.npz` and `associations.json`."""
    with replace_file(folder / "forests.npz") as file:
        parts = [pack_model_part(name, part) for name, part in vars(model).items() if part]
        np.savez_compressed(file, allow_pickle=False, **dict(ChainMap(*parts)))
    stored = {"pairs": associations.pairs, "usual": associations.usual}
    write_text_atomically(folder / "associations.json", json.dumps(stored, sort_keys=True) + "\n")


def train_schema_linker(out: Path, data: Path | None = None, limit: int | None = None) -> Figures:
    """Fit the schema linker on CoSQL and Spider training questions, and write the files.

    Args:
        out: The folder to write to.
        data: The folder of benchmark data; None for `TABLETURN_DATA`'s.
        limit: Interactions of each dataset, for a quick look; None for all.

    Returns:
        Figures measured on databases that were left out.

    Raises:
        SettingsError: torch is not installed, the data is not there, or the folder cannot be written to.
    """
    import_torch()
    datasets = [load_dataset(name, "train", data).head(limit) for name in ("cosql", "spider")]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot write the linker's model to {out}: {error}") from None
    with tempfile.TemporaryDirectory() as cache:
        cosql, spider = (read_dialogues(dataset, Path(cache)) for dataset in datasets)
    model, associations, figures = fit([*cosql, *spider])
    write_linker_files(model, associations, out)
    return figures
