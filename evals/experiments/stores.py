"""Whether an example store holds what an experiment needs."""

from __future__ import annotations

from functools import lru_cache

from ...tools.examples import Example
from ...tools.examples.store import ENOUGH_SHARED
from .experiment import Needs

ENOUGH = 0.9
"""The share of the pairs that have to be rephrased or simplified: a model fails at a few of any training set."""

_MAKES = {
    "pairs": "`tableturn examples import TRAIN.json --databases DIR --whole-schemas --store STORE`",
    "rephrased": "`tableturn examples rephrase STORE --model ...`",
    "simplified": "`tableturn examples simplify STORE --model ...`",
}


def lacking(needs: Needs, place: str | None, embedding: str) -> str:
    """What a store lacks for an experiment, and which command makes it; empty where it lacks nothing.

    Raises:
        ExampleStoreError: The store cannot be opened, or was made with another embedding.
        SettingsError: There is no such embedding.
    """
    if needs == "nothing":
        return ""
    if place is None:
        return f"it needs an example store of a training set (--examples): {_MAKES['pairs']} makes one"
    pairs, rephrased, simplified = _counts(place, embedding)
    if not pairs:
        return f"the example store {place} holds no imported pairs: {_MAKES['pairs']} adds them"
    if pairs < ENOUGH_SHARED:
        return (
            f"the {pairs} imported pairs of the example store {place} are too few to choose from, so that built-in "
            f"ones would be shown with them: it takes {ENOUGH_SHARED}, which {_MAKES['pairs']} adds"
        )
    had = {"pairs": pairs, "rephrased": rephrased, "simplified": simplified}[needs]
    if had < ENOUGH * pairs:
        return f"of the {pairs} pairs of the example store {place} {had} are {needs}: {_MAKES[needs]} goes on"
    return ""


@lru_cache(maxsize=8)
def _counts(place: str, embedding: str) -> tuple[int, int, int]:
    from ...tools.examples import open_existing

    with open_existing(place, embedding) as store:
        imported = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    rephrased = sum(map(_is_demonstration, imported))
    return len(imported), rephrased, sum(bool(example.simplified) for example in imported)


def _is_demonstration(example: Example) -> bool:
    """Whether CREDIT-SQL could show it: rephrased, with its whole schema."""
    return bool(example.rephrased and example.database_schema)
