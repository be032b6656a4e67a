"""Experiments as files: one TOML file a table or figure of a paper."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...tools.errors import SettingsError


class Row(BaseModel):
    """One line of a table: a run, and what the paper reports for it.

    Figures are named by `ex`, `em` or `ts`; before it `im_` for interactions, `easy_` and so on for a level, `turn1_`
    and so on for a turn (`turn5_` for all from the fifth on). `trs` and `crs` are Track-SQL's redundancy scores at 0.5.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    preset: str = "full"
    baseline: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    dataset: str | None = Field(default=None, description="Where it is not the experiment's own.")
    paper: dict[str, float] = Field(description="In percent.")


class Experiment(BaseModel):
    """A table or figure of a paper."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    dataset: str
    split: str = "dev"
    figures: tuple[str, ...] = Field(default=(), description="What is printed; by default what the paper reports.")
    rows: tuple[Row, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the figures to print."""
        reported = tuple(dict.fromkeys(name for row in self.rows for name in row.paper))
        return self.figures or reported or ("ex", "em")


_DATA = files("tableturn.evals.experiments") / "data"


def experiment_names() -> list[str]:
    """All experiments, by name."""
    return sorted(entry.name.removesuffix(".toml") for entry in _DATA.iterdir() if entry.name.endswith(".toml"))


def read_experiment(name: str) -> Experiment:
    """Reads an experiment.

    Raises:
        SettingsError: There is none of that name, or its file is wrong.
    """
    if name not in experiment_names():
        raise SettingsError(f"no experiment is called {name!r}; known: {', '.join(experiment_names())}")
    try:
        return Experiment(**tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8")))
    except (ValueError, ValidationError) as error:
        raise SettingsError(f"experiment {name!r} cannot be read: {error}") from error
