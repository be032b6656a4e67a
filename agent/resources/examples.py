"""Where an agent's few-shot examples come from, and where answers that a person approves go."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ...tools.errors import SettingsError
from ..settings import Settings

if TYPE_CHECKING:
    from ...tools.examples import ExampleStore


class AgentExamples:
    """Opens the store at its first use: a turn that needs no examples pays nothing for them.

    A store given by its location shows the built-in examples too as long as it shares few of its own. A folder that is
    not there yet is made when something is saved, not before.

    Args:
        given: An open store, a folder, a Chroma server's URL, or None for the built-in examples alone.
        embedding: Of a store given by its location, as `make_embedding` names it.
        stack: Closes what is opened here.
    """

    def __init__(self, given: ExampleStore | str | Path | None, embedding: str, stack: ExitStack) -> None:
        self._given = given
        self._embedding = embedding
        self._stack = stack
        self._lock = threading.Lock()
        self._own: ExampleStore | None = None
        self._built_in: ExampleStore | None = None

    @property
    def can_save(self) -> bool:
        """Whether there is a store to save in."""
        return self._given is not None

    def store(self) -> ExampleStore:
        """The store to look examples up in.

        Raises:
            ExampleStoreError: It cannot be opened, or was made by another version or with another embedding.
        """
        with self._lock:
            if self._own is None and (self._given is None or self._unmade(self._given)):
                return self._seeds()
            return self._opened()

    def own(self) -> ExampleStore | None:
        """The store that was given, if anything was ever saved in it; None where there is none.

        Raises:
            ExampleStoreError: As for `store`.
        """
        with self._lock:
            return None if self._given is None or self._unmade(self._given) else self._opened()

    def saving(self) -> ExampleStore:
        """The store to save in.

        Raises:
            SettingsError: There is none.
            ExampleStoreError: As for `store`.
        """
        if self._given is None:
            raise SettingsError(
                "this agent has no example store to save in: pass one as `examples`, a folder or a Chroma server's URL"
            )
        with self._lock:
            return self._opened()

    @staticmethod
    def _unmade(given: ExampleStore | str | Path) -> bool:
        from ...tools.examples import is_made

        return isinstance(given, str | Path) and not is_made(given)

    def _opened(self) -> ExampleStore:
        from ...tools.examples import ExampleStore, make_embedding, open_with_seeds

        if self._own is None:
            if isinstance(self._given, ExampleStore):
                self._own = self._given
            else:
                self._own = self._stack.enter_context(open_with_seeds(self._given, make_embedding(self._embedding)))
        return self._own

    def _seeds(self) -> ExampleStore:
        from ...tools.examples import default_store

        if self._built_in is None:
            self._built_in = self._stack.enter_context(default_store())
        return self._built_in


def selector_numbers(settings: Settings) -> dict[str, int | float | str]:
    """How many examples, in the chosen selector's own terms."""
    numbers: dict[str, dict[str, int | float | str]] = {
        "skeleton": {
            "k1": settings.k_question_skeleton,
            "k2": settings.k_simplified_skeleton,
            "least": settings.example_likeness,
            "pool": settings.skeleton_pool,
            "form": settings.skeleton_form,
            "simplified": settings.simplify,
        },
        "draft": {"k": settings.k_question_skeleton + settings.k_simplified_skeleton},
        "voted": {
            "n": settings.n_voted,
            "m": settings.m_votes,
            "method": settings.clustering,
            "seed": settings.example_seed,
        },
        "random": {"k": settings.n_voted, "seed": settings.example_seed},
    }
    return numbers.get(settings.examples, {"k": settings.k_question})
