"""Making a selector by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from ..errors import SettingsError
from .by_similarity import ByDraft, ByQuestion, BySkeleton
from .corpus_wide import AtRandom, NoExamples, Voted
from .diversity import Method
from .masking import SkeletonForm
from .messages import brief_repr
from .plain_skeletons import ByPlainSkeleton
from .query import Selector
from .store import ExampleStore

SelectorKind = Literal["skeleton", "question", "draft", "voted", "random", "none"]
"""How examples are chosen."""


def _by_skeleton(
    store: ExampleStore, *, form: SkeletonForm = "marked", pool: int = 64, simplified: bool = True, **numbers: Any
) -> Selector:
    """The plain form always shows the nearest skeletons themselves."""
    if form == "plain":
        return ByPlainSkeleton(store, simplified=simplified, **numbers)
    return BySkeleton(store, pool=pool, **numbers)


_MAKERS: Mapping[str, Callable[..., Selector]] = {
    "skeleton": _by_skeleton,
    "question": ByQuestion,
    "draft": ByDraft,
    "voted": Voted,
    "random": AtRandom,
}


def make_selector(kind: SelectorKind, store: ExampleStore, **numbers: Any) -> Selector:
    """A selector over a store.

    Args:
        kind: `skeleton` (k1, k2, least, pool, form, simplified), `question` (k), `draft` (k), `voted` (n, m, method,
            seed), `random` (k, seed) or `none`.
        store: Where the examples are.
        **numbers: The selector's own settings, by name; its published values otherwise.

    Raises:
        SettingsError: An unknown kind or method, a number that it doesn't have, or one that is out of range.
    """
    if kind == "none":
        return NoExamples()
    if kind not in _MAKERS:
        raise SettingsError(f"no example selector is called {kind!r}; there are {', '.join([*_MAKERS, 'none'])}")
    for name, value in numbers.items():
        _check(kind, name, value)
    try:
        return _MAKERS[kind](store, **numbers)
    except TypeError as error:
        raise SettingsError(f"example selector {kind!r}: {error}") from None


def _check(kind: str, name: str, value: Any) -> None:
    if name == "method":
        fits, wanted = value in get_args(Method), f"one of {', '.join(get_args(Method))}"
    elif name == "form":
        fits, wanted = value in get_args(SkeletonForm), f"one of {', '.join(get_args(SkeletonForm))}"
    elif name == "simplified":
        fits, wanted = isinstance(value, bool), "true or false"
    elif name == "least":
        fits, wanted = isinstance(value, int | float) and 0 <= value <= 1, "a number from 0 to 1"
    else:
        least = 1 if name in ("n", "m") else 0
        fits, wanted = type(value) is int and value >= least, f"a whole number, at least {least}"
    if not fits:
        raise SettingsError(f"example selector {kind!r}: {name} is {wanted}, not {brief_repr(value)}")
