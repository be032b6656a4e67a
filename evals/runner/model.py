"""The chat model of a run: by name, with its replies cached; or replayed from a file."""

from __future__ import annotations

from pathlib import Path

from langchain_core.language_models import BaseChatModel

from ...agent.models import resolve_model
from ..datasets import Dataset
from ..metrics import read_predictions
from .replay import REPLAY, ReplayModel
from .spec import RunSpec

CACHE_FILE = "replies.sqlite"


def run_model(spec: RunSpec, dataset: Dataset, out: Path) -> BaseChatModel | str:
    """The model that a run's agents are given; `offline` where the built-in translator answers.

    Every reply is kept in the run's folder: what was asked once is not asked again, in this run or when it is repeated.

    Args:
        spec: The run.
        dataset: The whole split, which replayed predictions must fit.
        out: The run's folder.

    Raises:
        ModelError: The model is unknown or cannot be set up.
        SettingsError: Replayed predictions don't fit the dataset.
    """
    if spec.model is not None and spec.model.startswith(REPLAY):
        return ReplayModel(sql=read_predictions(Path(spec.model.removeprefix(REPLAY)), dataset))
    model = resolve_model(spec.model, base_url=spec.base_url)
    if model is None:
        return "offline"
    from langchain_community.cache import SQLiteCache

    model.cache = SQLiteCache(str(out / CACHE_FILE))
    return model
