"""The specification of a run, kept in its folder, so that it is resumed with the same options."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...tools.errors import SettingsError
from ...tools.whole_files import write_whole
from ..datasets import Dataset

SPEC_FILE = "run.json"

_DIGEST = "questions"
"""The key of the questions' hash, beside the keys of `RunSpec`."""

History = Literal["gold", "predicted"]


@dataclass(frozen=True)
class RunSpec:
    """Everything that a run's answers depend on.

    Attributes:
        dataset: A benchmark's name, or a file of your own questions.
        split: The part of the dataset, such as `dev`.
        model: The model, as for `tableturn ask --model`. `replay:FILE,FILE` names files of predictions: drafts side by
            side (with `candidates`), or a draft and its revisions. None if the environment chooses.
        preset: The agent's preset; None for its default.
        settings: Fields that differ from the preset.
        history: The SQL of earlier turns that a turn sees: `gold`, or the agent's own (`predicted`).
        limit: The number of interactions, taken from the start; None for all.
        without: Databases left out.
        examples: An example store; None for the built-in examples.
        base_url: The address of an OpenAI-compatible server.
        embedding: The embedding of the example store.
        baseline: The name of the baseline that answers instead of the agent, such as `zero-shot`; None for the agent.
        annotator: The model that describes schemas, where the settings have them described; None for `model`.
    """

    dataset: str
    split: str = "dev"
    model: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    history: History = "predicted"
    limit: int | None = None
    without: tuple[str, ...] = ()
    examples: str | None = None
    base_url: str | None = None
    baseline: str | None = None
    embedding: str = "hashed"
    annotator: str | None = None


def write_spec(spec: RunSpec, asked: Dataset, out: Path) -> None:
    """Write a run's specification into its folder, which `check_folder` has made, unless it is there."""
    if not (out / SPEC_FILE).exists():
        write_whole(out / SPEC_FILE, json.dumps(asdict(spec) | {_DIGEST: _digest(asked)}, indent=2))


def check_folder(spec: RunSpec, asked: Dataset, out: Path) -> None:
    """Make a run's folder, or find it empty or with the same run.

    Raises:
        SettingsError: The folder holds another run, or one over other questions, or cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not (out / SPEC_FILE).exists():
            return
        kept: dict[str, Any] = dict(json.loads((out / SPEC_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise SettingsError(f"{out} cannot hold a run: {error}") from error
    before = kept.pop(_DIGEST, None)
    kept = {"embedding": "hashed", **kept}  # what runs made before it was known had
    wanted: dict[str, Any] = json.loads(json.dumps(asdict(spec)))
    if differing := sorted(name for name in {*kept, *wanted} if kept.get(name) != wanted.get(name)):
        theirs, ours = (", ".join(f"{name}={run.get(name)!r}" for name in differing) for run in (kept, wanted))
        raise SettingsError(f"{out} holds a run with {theirs}, not {ours}: resume it as it was, or name another folder")
    if before != _digest(asked):
        raise SettingsError(
            f"{out} holds a run over other questions: those of {asked.name} {asked.split}, or their gold SQL, have "
            "changed since it was started; name another folder"
        )


def _digest(asked: Dataset) -> str:
    """Return a hash of the questions: answers are kept by their ids alone."""
    # Fields that are None are left out: folders of runs made before a field was known can be resumed.
    questions = [
        {name: value for name, value in asdict(question).items() if value is not None} for question in asked.questions
    ]
    return hashlib.sha256(json.dumps(questions).encode()).hexdigest()
