"""Finding the same things in two lists."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")


def paired(before: Sequence[T], after: Sequence[T], *keys: Callable[[T], Hashable]) -> list[tuple[T, T]]:
    """What is in both, in the order of `before`, each thing once.

    Args:
        before: One list.
        after: The other.
        keys: What makes two things the same; a later key is for those that earlier ones leave over.
    """
    found: dict[int, T] = {}
    left = list(enumerate(after))
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, thing in left:
            waiting[key(thing)].append(place)
        for place, thing in enumerate(before):
            if place not in found and waiting[key(thing)]:
                found[place] = after[waiting[key(thing)].popleft()]
        over = {place for places in waiting.values() for place in places}
        left = [(place, thing) for place, thing in left if place in over]
    return [(thing, found[place]) for place, thing in enumerate(before) if place in found]
