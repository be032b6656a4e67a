"""Answering in this process."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from langchain_core.caches import BaseCache

from ...agent import Settings, make_settings
from ...tools.errors import ModelError
from ..baselines import find_baseline
from ..datasets import Dataset
from .agents import Agents
from .answering import Answering
from .by_agent import AgentAnswering
from .cache import ReplyCache
from .model import CACHE_FILE, run_model
from .replay import REPLAY, REPLAY_SETTINGS
from .spec import RunSpec


@contextmanager
def local_engine(spec: RunSpec, dataset: Dataset, out: Path) -> Generator[Answering]:
    """Answers in this process, with replies kept in the run's folder.

    Raises:
        ModelError: The model cannot be set up.
        SettingsError: Settings are wrong, or replies cannot be kept.
    """
    with closing(ReplyCache(out / CACHE_FILE)) as cache, closing(make_answering(spec, dataset, cache)) as answering:
        yield answering


def make_answering(spec: RunSpec, dataset: Dataset, cache: BaseCache) -> Answering:
    """Who answers a run's questions.

    Args:
        spec: The run.
        dataset: Its split, whole.
        cache: Keeps the model's replies.

    Raises:
        ModelError: The model cannot be set up, or a baseline has none to ask.
        SettingsError: Settings are wrong, or the baseline cannot be had.
    """
    settings = run_settings(spec, dataset)
    model = run_model(spec, dataset, cache)
    name = find_baseline(spec.baseline).module if spec.baseline else ""
    module = import_module(f"..baselines.{name}", __package__) if name else None
    if spec.baseline and model is None:
        # The built-in translator reads neither prompts nor examples: baselines would differ in name only.
        raise ModelError(f"the baseline {spec.baseline} asks a chat model: pass --model")
    if module is not None:
        return module.make(dataset, model, settings, spec.history)
    return AgentAnswering(Agents(dataset, model or "offline", settings, spec.examples, spec.embedding), spec.history)


def run_settings(spec: RunSpec, dataset: Dataset) -> Settings:
    """The preset with the run's own fields; no question is asked back unless the dataset says what its asker means.

    Raises:
        SettingsError: Settings are wrong, or there is no such baseline.
    """
    return settings_of(spec, conversational=dataset.conversational)


def settings_of(spec: RunSpec, *, conversational: bool) -> Settings:
    """See `run_settings`.

    Args:
        spec: The run.
        conversational: Whether the dataset says what its asker means; papers' presets ask nobody back even so.
    """
    replayed = spec.model is not None and spec.model.startswith(REPLAY)
    fields: dict[str, Any] = {"today": "none", "record": "off", "trust": "off"} | (
        {} if conversational else {"clarify": False}
    )
    if spec.preset in (None, "full"):
        fields["conventions"] = "benchmark"
    if spec.baseline is not None:
        fields |= find_baseline(spec.baseline).settings
    fields |= {**spec.settings, **(REPLAY_SETTINGS if replayed else {})}
    return make_settings(fields, preset=spec.preset)
