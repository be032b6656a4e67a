"""The chat model of a run: by name, with its replies kept; or replayed from files."""

from __future__ import annotations

from pathlib import Path

from langchain_core.caches import BaseCache
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseChatModel

from ...agent.model.resolve import model_label, resolve_model
from ...agent.settings import Settings, make_settings
from ...tools.errors import SettingsError
from ..datasets import Dataset
from ..metrics import read_predictions
from .replay import REPLAY, ReplayModel
from .spec import RunSpec
from .watch import Watch

CACHE_FILE = "replies.sqlite"
"""The file in a run's folder that keeps every reply."""


def run_model(spec: RunSpec, dataset: Dataset, cache: BaseCache) -> BaseChatModel | None:
    """The model that a run's agents are given; None where the built-in translator answers.

    Every reply is kept: what was asked once is not asked again, in this run or when it is repeated.

    Args:
        spec: The run.
        dataset: The whole split, which replayed predictions must fit.
        cache: Keeps the replies.

    Raises:
        ModelError: The model is unknown or cannot be set up.
        SettingsError: Replayed predictions don't fit the dataset, or no file is named.
    """
    if spec.model is not None and spec.model.startswith(REPLAY):
        files = spec.model.removeprefix(REPLAY).split(",")
        if not all(map(str.strip, files)):
            raise SettingsError(f"model {spec.model!r} lacks a file: write {REPLAY}FILE or {REPLAY}FILE,FILE")
        asked = dataset.without(spec.without).first(spec.limit)
        return ReplayModel(files=[read_predictions(Path(file), dataset, asked) for file in files])
    return kept_model(spec.model, spec.base_url, make_settings(spec.settings, preset=spec.preset), cache)


def kept_model(name: str | None, base_url: str | None, settings: Settings, cache: BaseCache) -> BaseChatModel | None:
    """A chat model whose replies are kept; None where the name, or the environment, means the built-in translator.

    Raises:
        ModelError: The model is unknown or cannot be set up.
    """
    model = resolve_model(
        name, base_url=base_url, timeout=settings.request_seconds, max_retries=settings.request_retries
    )
    if model is None:
        return None
    given = model.callbacks
    handlers = given.handlers if isinstance(given, BaseCallbackManager) else given or ()
    return model.model_copy(update={"cache": cache, "callbacks": [*handlers, Watch(model_label(model))]})
