"""Experiments as files: one TOML file a table or figure of a paper."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...tools.errors import SettingsError

Needs = Literal["nothing", "pairs", "rephrased", "simplified"]
"""What an experiment's example store has to hold: pairs of a training set, all of them rephrased, or all simplified."""

How = Literal["mean", "min", "max", "vote"]
"""How several runs become one row: by their figures, or by the prediction that most of them agree on by EM."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Combine(_Part):
    """A row made of runs of another row with other seeds (CREDIT-SQL figure 4)."""

    of: str  # the row with `seeds`
    first: int = Field(ge=1)  # how many of its runs
    how: How


class Row(_Part):
    """One line of a table: a run, and what the paper reports for it.

    Figures are named by `ex`, `em`, `ts`, or `valid` for the share of queries that run; before it `im_` for
    interactions, `easy_` and so on for a level, `turn1_` and so on for a turn (`turn5_` for all from the fifth on),
    `attempt2_ex` for EX had the second attempt been the last. `trs` and `crs` are Track-SQL's redundancy scores at 0.5,
    `crs_all` over all tables; `em_ex`, `em_only`, `ex_only` and `neither` the shares of questions right by both, by one
    alone or by none, `miss_select` and so on the share of EM's errors in that clause (CREDIT-SQL figure 7), `share`
    that of a cause among all errors (SQL-CRAFT table 3). `table_weighted_p`, `column_macro_f1` and so on are precision,
    recall and F1 of the linker (Track-SQL tables 10 and 11); `link_seconds` and `generate_seconds` what a question
    took, `link_total_seconds` all of them, `link_13_columns_seconds` on databases of about so many columns.
    """

    name: str
    preset: str = "full"
    baseline: str | None = None
    settings: dict[str, Any] = {}
    dataset: str | None = None  # if not the experiment's own
    paper: dict[str, float]  # in percent; `..._seconds`, `..._hours` and `..._gb` in those
    not_run: str = ""  # why nothing is run for it here: it takes a training of the paper's
    other_model: str = ""  # the paper's model of this row, if not the experiment's: `--model-for` must name one
    base: str | None = None  # the row that it is compared with; none for the method itself
    changes: tuple[str, ...] = ()  # all that its requests differ in from those of `base` (tests/evals/rows.py)
    seeds: int = Field(default=1, ge=1)  # so many runs, with one `example_seed` after the other; figures are means
    combine: Combine | None = None


class Experiment(_Part):
    """A table or figure of a paper."""

    title: str
    dataset: str
    needs: Needs = "nothing"
    levels: dict[str, int] = {}  # questions of each level of difficulty that the paper drew; all if it drew none
    parts: bool = False  # whether EX of ten equal parts is compared between the first two rows (SQL-CRAFT A.2)
    model: str = ""  # what the paper ran
    figures: tuple[str, ...] = ()  # what is printed; by default what the paper reports
    rows: tuple[Row, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the figures to print."""
        reported = tuple(dict.fromkeys(name for row in self.rows for name in row.paper))
        return self.figures or reported or ("ex", "em")

    def models(self, given: Sequence[str]) -> dict[str, str]:
        """Return the models of single rows, by the row's name; each is given as `ROW=MODEL`.

        Raises:
            SettingsError: One is not of that form, or no row of that name is run.
        """
        names = [row.name for row in self.rows if row.combine is None and not row.not_run]
        found: dict[str, str] = {}
        for text in given:
            row, _, model = text.rpartition("=")  # a row's name may hold `=` itself
            if row not in names or not model:
                known = ", ".join(map(repr, names))
                raise SettingsError(f"--model-for takes ROW=MODEL, not {text!r}; rows that are run: {known}")
            found[row] = model
        return found


_DATA = files("tableturn.evals.experiments") / "data"


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(entry.name.removesuffix(".toml") for entry in _DATA.iterdir() if entry.name.endswith(".toml"))


def read_experiment(name: str) -> Experiment:
    """Return an experiment.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in experiment_names():
        raise SettingsError(f"no experiment is called {name!r}; known: {', '.join(experiment_names())}")
    return Experiment(**tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8")))
