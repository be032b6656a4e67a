"""What a run is, kept in its folder, so that it is resumed as what it was begun as."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...tools.errors import SettingsError
from .files import write_whole

SPEC_FILE = "run.json"

History = Literal["gold", "predicted"]


@dataclass(frozen=True)
class RunSpec:
    """Everything that a run's answers depend on.

    Attributes:
        dataset: A benchmark's name, or a file of one's own questions.
        split: Its part.
        model: As `tableturn ask --model` takes it, or `replay:FILE,FILE` for predictions made elsewhere as
            drafts side by side (with `candidates`) or as a draft and its revisions; None
            chooses by the environment.
        preset: The agent's preset; None for its default.
        settings: Fields that differ from the preset.
        history: What a turn sees of its interaction: the gold SQL of the turns before it, or the agent's own.
        limit: Only the first so many interactions.
        without: Databases left out.
        examples: An example store; None for the built-in examples.
        base_url: Of an OpenAI-compatible server.
        baseline: Who answers instead of the agent as it is, by name (`evals.baselines`); None for the agent.
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


def begin(spec: RunSpec, out: Path) -> None:
    """Writes a run's specification into its folder, or finds the same one there.

    Raises:
        SettingsError: The folder holds another run, or cannot be written.
    """
    check_folder(spec, out)
    path = out / SPEC_FILE
    try:
        if not path.exists():
            write_whole(path, json.dumps(asdict(spec), indent=2))
    except OSError as error:
        raise SettingsError(f"{out} cannot hold a run: {error}") from error


def check_folder(spec: RunSpec, out: Path) -> None:
    """Makes a run's folder, or finds it empty or with the same run.

    Raises:
        SettingsError: The folder holds another run, or cannot be made.
    """
    path = out / SPEC_FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{out} cannot hold a run: {error}") from error
    wanted = json.loads(json.dumps(asdict(spec)))
    differing = sorted(name for name in {*kept, *wanted} if kept.get(name) != wanted.get(name))
    if differing:
        name = differing[0]
        raise SettingsError(
            f"{out} holds a run with {name}={kept.get(name)!r}, not {wanted.get(name)!r}: resume it as it was, "
            "or name another folder"
        )


def read_spec(out: Path) -> RunSpec:
    """The specification of a run.

    Raises:
        SettingsError: The folder holds no run.
    """
    try:
        kept: dict[str, Any] = json.loads((out / SPEC_FILE).read_text(encoding="utf-8"))
        kept["without"] = tuple(kept["without"])
        return RunSpec(**kept)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{out} holds no run: {error}") from error
