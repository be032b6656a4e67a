"""The chat model of a run: by name, with its replies kept; or replayed from files."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from ...agent.models import resolve_model
from ..datasets import Dataset
from ..metrics import read_predictions
from .cache import ReplyCache
from .replay import REPLAY, ReplayModel
from .spec import RunSpec

CACHE_FILE = "replies.sqlite"


@contextmanager
def run_model(spec: RunSpec, dataset: Dataset, out: Path) -> Generator[BaseChatModel | str]:
    """The model that a run's agents are given; `offline` where the built-in translator answers.

    Every reply is kept in the run's folder: what was asked once is not asked again, in this run or when it is repeated.

    Args:
        spec: The run.
        dataset: The whole split, which replayed predictions must fit.
        out: The run's folder.

    Raises:
        ModelError: The model is unknown or cannot be set up.
        SettingsError: Replayed predictions don't fit the dataset, or replies cannot be kept.
    """
    if spec.model is not None and spec.model.startswith(REPLAY):
        files = spec.model.removeprefix(REPLAY).split(",")
        yield ReplayModel(files=[read_predictions(Path(file), dataset) for file in files])
        return
    model = resolve_model(spec.model, base_url=spec.base_url)
    if model is None:
        yield "offline"
        return
    cache = ReplyCache(out / CACHE_FILE)
    try:
        yield model.model_copy(update={"cache": cache})
    finally:
        cache.close()
