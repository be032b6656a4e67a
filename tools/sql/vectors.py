"""A query as a vector of counts (CREDIT-SQL appendix G), and diverse samples of such vectors (3.3).

The paper's pseudo-code (its figure 9) has slips; the evident intention is followed. One by one:

1. `intersect`, `union`, `except` are listed but never counted: here a compound counts its operator, on top of the
   average of its two sides.
2. `from_ext`, `from_tb` are listed but never counted: here other sources (sub-queries, CTEs, table functions) and the
   tables read.
3. `groupby` is counted from WHERE: here from GROUP BY.
4. `hv_g`, `hv_l`, `hv_else` and the HAVING aggregates are counted from WHERE: here from HAVING.
5. ORDER BY is looked up as `orderby` but stored as `order by`, so never found: here it is counted.
6. `order_asc` counts the word, which is nearly always left out: here every term without DESC is ascending.
7. `limit` is inverted (0 where there is a LIMIT): here 1 where there is one.
8. `wh_and` counts words, so that each BETWEEN adds one: here only the connective.
9. `wh_pm` counts characters: here the operators, not the sign of a number.

As in the paper, what stands in a clause's sub-queries counts for the clause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from ..errors import SettingsError
from .dialects import fold
from .parse import guard_nesting_depth
from .query import Query

FEATURES = (
    *("intersect", "union", "except"),
    *("sel_col", "sel_all", "sel_count", "sel_min", "sel_max", "sel_avg", "sel_sum"),
    *("from_ext", "from_tb"),
    *("wh_and", "wh_or", "wh_in", "wh_like", "wh_is", "wh_eq", "wh_gl", "wh_subq", "wh_between", "wh_pm"),
    "groupby",
    *("hv_eq", "hv_g", "hv_l", "hv_else", "hv_count", "hv_min", "hv_max", "hv_avg", "hv_sum"),
    *("order_n", "order_count", "order_min", "order_max", "order_avg", "order_sum", "order_asc", "order_desc"),
    "limit",
)
"""The 41 features, in the paper's order."""

_INDEX = {name: index for index, name in enumerate(FEATURES)}
_AGGREGATES = {"count": exp.Count, "min": exp.Min, "max": exp.Max, "avg": exp.Avg, "sum": exp.Sum}
_WHERE = {
    "wh_and": (exp.And,),
    "wh_or": (exp.Or,),
    "wh_in": (exp.In,),
    "wh_like": (exp.Like, exp.ILike),
    "wh_is": (exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ),
    "wh_eq": (exp.EQ, exp.NEQ),
    "wh_gl": (exp.GT, exp.GTE, exp.LT, exp.LTE),
    "wh_subq": (exp.Select,),
    "wh_between": (exp.Between,),
    "wh_pm": (exp.Add, exp.Sub),
}
_HAVING = {"hv_eq": (exp.EQ,), "hv_g": (exp.GT, exp.GTE), "hv_l": (exp.LT, exp.LTE)}
_NOT_ELSE = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Connector, exp.Dot)

Vector = NDArray[np.float64]


@guard_nesting_depth
def vectorize_query(sql: str, dialect: str = "sqlite") -> Vector:
    """Return the 41 feature counts of a query, in the order of `FEATURES`."""
    return _count_query_features(Query.of(sql, dialect).tree)


def _count_query_features(node: exp.Expr) -> Vector:
    while isinstance(node, exp.Subquery | exp.Paren):
        node = node.this
    if isinstance(node, exp.SetOperation):
        vector = (_count_query_features(node.this) + _count_query_features(node.expression)) / 2
        vector[_INDEX[node.key]] += 1
        _count_order_and_limit(node, vector)
        return vector
    vector = np.zeros(len(FEATURES))
    if isinstance(node, exp.Select):
        _count_select_features(node, vector)
        _count_from_sources(node, vector)
        _count_filter_and_group_features(node, vector)
        _count_order_and_limit(node, vector)
    return vector


def _count_select_features(node: exp.Select, vector: Vector) -> None:
    for item in node.expressions:
        inner = item.unalias().unnest()
        vector[_INDEX["sel_all"]] += inner.is_star and not isinstance(inner, exp.Count)
        vector[_INDEX["sel_col"]] += isinstance(inner, exp.Column) and not inner.is_star
        _count_aggregate_functions(inner, "sel", vector)


def _count_from_sources(node: exp.Select, vector: Vector) -> None:
    start = node.args.get("from_")
    sources = [start.this] if start is not None else []
    sources += [join.this for join in node.args.get("joins") or ()]
    with_ = node.args.get("with_")
    ctes = {fold(cte.alias) for cte in with_.expressions} if with_ is not None else set[str]()
    for source in sources:
        plain = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
        vector[_INDEX["from_tb" if plain and fold(source.name) not in ctes else "from_ext"]] += 1


def _count_filter_and_group_features(node: exp.Select, vector: Vector) -> None:
    for clause, features in (("where", _WHERE), ("having", _HAVING)):
        if (part := node.args.get(clause)) is not None:
            for name, types in features.items():
                vector[_INDEX[name]] += len(list(part.find_all(*types)))
    if (group := node.args.get("group")) is not None:
        vector[_INDEX["groupby"]] += len(group.expressions)
    if (having := node.args.get("having")) is not None:
        others = having.find_all(exp.Binary, exp.In, exp.Between)
        vector[_INDEX["hv_else"]] += sum(1 for other in others if not isinstance(other, _NOT_ELSE))
        _count_aggregate_functions(having, "hv", vector)


def _count_order_and_limit(node: exp.Query, vector: Vector) -> None:
    order = node.args.get("order")
    for term in order.expressions if order is not None else ():
        vector[_INDEX["order_n"]] += 1
        vector[_INDEX["order_desc" if term.args.get("desc") else "order_asc"]] += 1
        _count_aggregate_functions(term, "order", vector)
    if node.args.get("limit") is not None:
        vector[_INDEX["limit"]] = 1


def _count_aggregate_functions(node: exp.Expr, prefix: str, vector: Vector) -> None:
    for name, kind in _AGGREGATES.items():
        vector[_INDEX[f"{prefix}_{name}"]] += sum(1 for _ in node.find_all(kind))


Matrix = NDArray[np.float64]
Method = Literal["kmeans", "agglomerative", "spectral"]
"""CREDIT-SQL's table 4."""

_JITTER = 1e-6
"""How far rows are moved before k-means. Of vectors of counts, many lie exactly between two centroids: the last bit of
a sum, which differs by processor, would choose between them."""

_DECIMALS = 3
"""Of squared distances to a centroid: beyond, rows are equally near."""

_MOST_PAIRWISE = 8_000
"""Rows up to which the methods that compare all pairs are run (half a gigabyte); beyond, on an even sample of them."""


def choose_diverse_rows(vectors: Matrix, n: int, rounds: int, seed: int = 0, method: Method = "kmeans") -> list[int]:
    """Return the n rows chosen most often in samples with `rounds` seeds, most chosen first.

    A sample is the nearest row to each cluster's centroid, of equally near ones the first, then farthest points. Of
    equally often chosen rows, the first. Rows that repeat are chosen once.
    """
    # SQL vectors repeat a lot: clustering the distinct ones with weights is the same, faster.
    rows, first, weights = np.unique(vectors, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    rows, first, weights = rows[order], first[order], weights[order]
    if not 0 < n < len(rows):
        return first[:n].tolist()

    def compute_square_distances(centroid: Matrix) -> Matrix:
        return ((rows - centroid) ** 2).sum(axis=1)

    counts: Counter[int] = Counter()
    for centroids in _compute_cluster_centroids(rows, weights, n, range(seed, seed + rounds), method):
        nearest = (int(np.argmin(compute_square_distances(centroid).round(_DECIMALS))) for centroid in centroids)
        selection = list(dict.fromkeys(nearest))
        gaps = np.min([compute_square_distances(rows[row]) for row in selection], axis=0)
        while len(selection) < n:
            selection.append(int(np.argmax(gaps)))
            gaps = np.minimum(gaps, compute_square_distances(rows[selection[-1]]))
        counts.update(selection)
    return first[sorted(counts, key=lambda row: (-counts[row], row))[:n]].tolist()


def _compute_cluster_centroids(
    rows: Matrix, weights: NDArray[np.intp], n: int, seeds: range, method: Method
) -> Iterator[list[Matrix]]:
    """Yield the centroids of n clusters for each seed; only once if seeds change nothing."""
    if find_spec("sklearn") is None:
        raise SettingsError("choosing examples by diversity needs scikit-learn: pip install 'tableturn[evals]'")
    # scikit-learn takes over a second to load; only what follows needs it.
    from sklearn.cluster import AgglomerativeClustering, KMeans

    single, several = cast("tuple[Any, Any]", (1, 10))
    if method == "kmeans":
        points = rows + np.random.default_rng(0).uniform(-_JITTER, _JITTER, rows.shape)
        for seed in seeds:
            yield list(KMeans(n, n_init=single, random_state=seed).fit(points, sample_weight=weights).cluster_centers_)
        return
    # The others know no weights: repeated rows stand for them.
    copies = np.repeat(rows, weights, axis=0)
    rows = copies[:: -(-len(copies) // _MOST_PAIRWISE)]
    if method == "agglomerative":
        labellings = iter([AgglomerativeClustering(n, linkage="ward").fit_predict(rows)])
    else:
        # As in `SpectralClustering`, which would find the places anew for every seed.
        from sklearn.manifold import spectral_embedding
        from sklearn.metrics.pairwise import rbf_kernel

        places = spectral_embedding(rbf_kernel(rows, gamma=1.0), n_components=n, drop_first=False, random_state=0)
        # The best of ten starts, as there: single starts on a spectrum agree far less from seed to seed.
        labellings = (KMeans(n, n_init=several, random_state=seed).fit_predict(places) for seed in seeds)
    for labels in labellings:
        yield [rows[labels == label].mean(axis=0) for label in np.unique(labels)]
