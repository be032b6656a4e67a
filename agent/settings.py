"""Every hyper-parameter of the agent, with its default and where it comes from.

Settings are given when an agent is built and may be changed for one run (LangGraph's `context`, in Studio too):
only the fields that a run names override the agent's own. Naming a preset sets all of its fields at once; fields
named beside it win over it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..tools.database.session import Permissions
from ..tools.database.table import Limits
from ..tools.deprecation import warn_deprecated
from ..tools.errors import SettingsError
from ..tools.words import did_you_mean, nearest_names
from .presets import PAPERS, Method

PresetName = Literal["full", "credit", "craft", "track", "revision"]

REMOVED: dict[str, str] = {
    "annotation_calls": "a turn makes at most 10 such requests; `tableturn annotate` makes the rest",
    "candidate_temperature": "it is 0.7",
    "code_bytes": "it is 100,000",
    "feedback_cell": "it is 80",
    "feedback_rows": "it is 10",
    "feedback_tokens": "it is 1,500",
    "gate_confidence": "the gate asks for none",
    "gate_value_score": "only values that the question spells out are required",
    "gate_warnings": "warnings are for people",
    "k_random": "use n_voted",
    "revise_on": "an error, or an empty result with one value near to what was looked for, sends a query back",
    "second_reading": "nothing reads a question beside the model",
    "tell_unheld": "a value that nothing holds is told beside its empty result",
}
"""Settings that `REMOVED_IN` removed, with what to do instead. They are ignored for that release."""

REMOVED_IN = "0.3"


def _own_first(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Put the fields that people set before those of the method, where a form is made of the schema."""
    fields = schema["properties"]
    schema["properties"] = {name: fields[name] for name in sorted(fields, key=lambda name: name in Method.model_fields)}


class Settings(Method):
    """What a turn does, and how far it may go: what people set; `Method` holds what only papers and experiments do."""

    model_config = ConfigDict(title="tableturn settings", json_schema_extra=_own_first)

    preset: PresetName = Field(
        default="full",
        description="A paper's published configuration, or `full`, which combines all four papers.",
    )

    effort: Literal["low", "auto", "high"] = Field(
        default="auto",
        description="How much a turn may spend beyond the other settings. `low`: nothing more. `auto`: more drafts and "
        "their merge if no query runs, and a separate request for understanding if the record says that the model is "
        "weak. `high`: all of these from the start.",
    )
    clarify: bool = Field(
        default=True,
        description="Ask back when a question is ambiguous, and decline what the database cannot answer. If off, every "
        "question is answered as well as possible; it is off in evaluations and in the presets of papers "
        "that do not ask back.",
    )
    max_clarifications: int = Field(
        default=1, ge=0, le=5, description="How often one turn may ask back before it answers by its best reading."
    )
    readings: Literal["off", "tell", "ask"] = Field(
        default="tell",
        description="What to do about other readings of the question that nothing rules out (which date, with or "
        "without returns, ties). `tell`: run them beside the query, without a request to the model, and "
        "report them with the answer. `ask`: ask back if one changes the answer (`max_clarifications`). "
        "`off`: ignore them.",
    )
    history_window: int = Field(
        default=5, ge=0, le=50, description="Number of earlier turns that a turn sees (Track-SQL 3.1: a window of 5)."
    )

    annotate: bool = Field(
        default=False,
        description="Have the model describe columns and tables once, for linking and for prompts whose schema form "
        "shows comments (Track-SQL B.3). The descriptions are stored until the schema changes.",
    )
    values: int = Field(
        default=10, ge=0, le=100, description="Most database values mentioned by the question that are shown."
    )

    knowledge_tokens: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description="Most tokens of definitions from the knowledge file in one prompt, the most specific first. 0 "
        "shows none.",
    )
    verified: bool = Field(
        default=True,
        description="If a person has approved an answer to the same question, use that query again, replacing values "
        "if only values differ. If off, the model writes the query and is shown the approved one.",
    )

    conventions: Literal["people", "benchmark", "none"] = Field(
        default="people",
        description="In the form `full`, what an answer looks like if the question leaves it open: as people want it "
        "(`people`: names beside numbers, each thing once, ties, empty groups), as benchmarks like Spider "
        "expect it (`benchmark`: what is asked for and nothing else), or in few words (`none`).",
    )

    record: str = Field(
        default="",
        description="The file that records how often models were right (`tableturn models`). Evaluations, trials and "
        "approved answers add to it. `off` for none; empty for `models.jsonl` in the data folder. An "
        "evaluation's own turns do not use it.",
    )

    trust: str = Field(
        default="",
        description="The file with the bounds that `tableturn trust fit` set, by which answers are marked trusted. "
        "`off` for none; empty for `trust.json` in the data folder. Off in evaluations.",
    )

    allow: tuple[str, ...] = Field(
        default=(),
        description="Tables and columns that may be read, written as for `--allow`; `*` matches any characters; "
        "without entries, all. In a single run it can only narrow what the agent may read.",
    )
    deny: tuple[str, ...] = Field(
        default=(),
        description="Tables and columns that may not be read, written as for `--deny`. In a single run it can only "
        "narrow what the agent may read.",
    )

    code_seconds: float = Field(
        default=10.0, gt=0, le=3_600, description="Longest run of one piece of pandas code, in seconds."
    )

    temperature: float = Field(
        default=0.0,
        ge=0.0,
        le=2.0,
        description="Temperature of every request except simplification (CREDIT-SQL 4.2: 0).",
    )
    max_output_tokens: int = Field(
        default=1_000, ge=50, le=100_000, description="Most tokens of one reply (CREDIT-SQL 4.2: 600)."
    )
    prompt_tokens: int = Field(
        default=16_000,
        ge=500,
        le=2_000_000,
        description="Most tokens of one prompt. Parts that do not fit are left out, and the prompt says so.",
    )
    request_seconds: float = Field(
        default=60.0, gt=0, le=86_400, description="Longest wait for one reply of a model, in seconds."
    )
    request_retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a failed request is sent again (rate limits, server errors, connection resets).",
    )

    candidates: int = Field(
        default=1,
        ge=1,
        le=16,
        description="Number of drafts written side by side, each with other examples; their results vote (CREDIT-SQL "
        "5.2).",
    )

    approve: bool = Field(
        default=False,
        description="A person approves, edits or rejects each query before it runs. Only one draft is then written at "
        "a time.",
    )

    max_attempts: int = Field(
        default=3, ge=1, le=20, description="Most queries that one turn runs, including the draft (N_max, IC-Loop cap)."
    )

    turn_calls: int = Field(
        default=40,
        ge=1,
        le=10_000,
        description="Most requests to a model in one turn, counting second tries and requests sent again.",
    )
    turn_tokens: int = Field(
        default=1_000_000,
        ge=500,
        le=1_000_000_000,
        description="Most tokens in one turn, as the model reports them, otherwise estimated. The cost of a request is "
        "estimated before it is sent.",
    )
    turn_seconds: float = Field(
        default=600.0,
        gt=0,
        le=86_400,
        description="Seconds during which one turn may ask a model and run queries and code. Anything later is not "
        "waited for.",
    )

    query_seconds: float = Field(default=5.0, gt=0, le=3_600, description="Longest run of one query, in seconds.")
    export_rows: int = Field(
        default=1_000_000, ge=1, le=100_000_000, description="Most rows of an export to a file or stream."
    )
    export_seconds: float = Field(
        default=600.0, gt=0, le=86_400, description="Longest run of an export in seconds, including writing its rows."
    )
    rows: int = Field(default=1_000, ge=1, le=1_000_000, description="Most rows in an answer.")
    cell_bytes: int = Field(
        default=100_000, ge=100, le=100_000_000, description="Largest single value of a result, in bytes."
    )
    result_bytes: int = Field(
        default=4_000_000, ge=1_000, le=1_000_000_000, description="Largest result, in bytes of all values together."
    )

    sql_bytes: int = Field(
        default=50_000, ge=1_000, le=10_000_000, description="Longest query that is accepted, in bytes."
    )
    query_memory_bytes: int = Field(
        default=256_000_000,
        ge=0,
        le=1_000_000_000_000,
        description="Most memory of one query in bytes, including its result. 0 for no limit.",
    )
    query_disk_bytes: int = Field(
        default=1_000_000_000, ge=0, le=1_000_000_000_000, description="Most bytes in all temporary files of one query."
    )
    estimated_rows: int = Field(
        default=0,
        ge=0,
        le=1_000_000_000_000_000,
        description="Most rows that the engine's plan may expect one query to read, checked before it runs. 0 for no "
        "limit.",
    )
    estimated_rows_per_day: int = Field(
        default=0,
        ge=0,
        le=1_000_000_000_000_000,
        description="The same for all queries to a database in one day, counted in `TABLETURN_HOME`. 0 for no limit.",
    )

    @model_validator(mode="before")
    @classmethod
    def _start_from_preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        given = without_removed(cast("Mapping[str, Any]", given))
        for name in given:
            if name not in cls.model_fields:
                raise SettingsError(_unknown(str(name), cls.model_fields))
        if "preset" not in given:
            return given
        return {**PRESETS.get(str(given["preset"]), {}), **given}

    @property
    def limits(self) -> Limits:
        """The limits of one query."""
        return Limits(
            seconds=self.query_seconds,
            rows=self.rows,
            cell_bytes=self.cell_bytes,
            result_bytes=self.result_bytes,
            memory_bytes=self.query_memory_bytes,
            disk_bytes=self.query_disk_bytes,
            sql_bytes=self.sql_bytes,
            estimated_rows=self.estimated_rows,
            estimated_rows_per_day=self.estimated_rows_per_day,
        )

    @property
    def export_limits(self) -> Limits:
        """The limits of a query whose rows are written to a file."""
        return replace(self.limits, rows=self.export_rows, seconds=self.export_seconds)

    @property
    def permissions(self) -> Permissions:
        """What these settings let be read."""
        return Permissions.of(self.allow or None, self.deny)

    def overridden(self, by: Settings | None) -> Settings:
        """These settings with the fields that `by` was explicitly given."""
        if by is None or not by.model_fields_set:
            return self
        return self.model_copy(update={name: getattr(by, name) for name in by.model_fields_set})


def without_removed(given: Mapping[str, Any], removed: Mapping[str, str] = REMOVED) -> Mapping[str, Any]:
    """Return the fields without those that were removed, of which one note tells."""
    if gone := [name for name in given if name in removed]:
        told = "; ".join(f"{name}: {removed[name]}" for name in gone)
        warn_deprecated(f"setting {', '.join(map(repr, gone))}", f"ignored ({told})", REMOVED_IN)
    return {name: value for name, value in given.items() if name not in removed} if gone else given


def _unknown(name: str, fields: Iterable[str]) -> str:
    return f"unknown setting {name!r}: {did_you_mean(nearest_names(name, fields, 1)) or 'docs/settings.md lists all'}"


def _presets() -> dict[str, dict[str, Any]]:
    """Each paper's fields over the defaults of every field that some paper sets.

    Limits and budgets are no paper's, so that changing the preset of a run never widens them.
    """
    of_method = {name for fields in PAPERS.values() for name in fields}
    full = {name: field.default for name, field in Settings.model_fields.items() if name in of_method}
    return {"full": full} | {name: {**full, **fields} for name, fields in PAPERS.items()}


PRESETS = _presets()
"""The papers' published configurations by name, and `full`; what a paper does not fix keeps its default."""


def make_settings(given: Settings | Mapping[str, Any] | None = None, *, preset: str | None = None) -> Settings:
    """Settings from settings, a mapping, or nothing, with a preset underneath.

    Raises:
        SettingsError: An unknown preset or field, or a value out of bounds; one line that names it.
    """
    if isinstance(given, Settings) and preset is None:
        return given
    fields = given.model_dump(exclude_unset=True) if isinstance(given, Settings) else dict(given or {})
    if preset is not None:
        fields["preset"] = preset
    name = fields.get("preset")
    if name is not None and name not in PRESETS:
        raise SettingsError(f"unknown preset {name!r}: choose one of {', '.join(PRESETS)}")
    try:
        return Settings(**fields)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors())
        raise SettingsError(f"wrong settings: {problems}") from None


def read_settings(path: str | Path) -> dict[str, Any]:
    """The fields of a settings file, TOML or JSON by its ending.

    Raises:
        SettingsError: The file cannot be read or is neither.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"cannot read settings file {path}: {reason}") from None
    try:
        loaded = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise SettingsError(
            f"settings file {path} is not valid {'JSON' if path.suffix == '.json' else 'TOML'}: {error}"
        ) from None
    if not isinstance(loaded, dict):
        raise SettingsError(f"settings file {path} must hold one table of fields")
    return loaded
