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
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..tools.database.session import Permissions
from ..tools.database.table import Limits
from ..tools.errors import SettingsError
from .presets import PAPERS

PresetName = Literal["full", "credit", "craft", "track", "revision"]


class Settings(BaseModel):
    """What a turn does, and how far it may go."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="tableturn settings")

    preset: PresetName = Field(
        default="full",
        description="A paper's published configuration, or `full`, which combines all four papers.",
    )

    rephrase: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="How each question is made self-contained and its intent labelled (CREDIT-SQL 3.1): by a separate "
        "request (`always`), not at all (`never`), or in the reply that writes the SQL (`auto`). `auto` "
        "still asks separately if the translator or prompt form cannot do both at once, and for a later "
        "turn over a schema too large to show whole.",
    )
    effort: Literal["low", "auto", "high"] = Field(
        default="auto",
        description="How much a turn may spend beyond the other settings. `low`: nothing more. `auto`: more drafts and "
        "their merge if the reply is unsure or no query passes the checks, and a separate request for "
        "understanding if the record says that the model is weak. `high`: all of these from the start.",
    )
    simplify: bool = Field(
        default=True,
        description="Also put the question into plain common words, for retrieval (revision chain 3.1.1). Only if "
        "`rephrase` makes its own request, or if the preset's paper makes one for simplification.",
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

    link_schema: bool = Field(
        default=True,
        description="Order, mark and cut the schema by the probability that the question is about each item (Track-SQL "
        "2.2). If off, the whole schema is shown as declared.",
    )
    link_threshold: float = Field(
        default=0.0,
        ge=0.0,
        lt=1.0,
        description="Hide schema items of lower probability (Track-SQL 2.2, s = 0.1). 0 shows the whole schema, most "
        "probable first.",
    )
    all_columns: bool = Field(
        default=False,
        description="In Track-SQL's schema form, mark tables of which all columns are probably asked for (Track-SQL "
        "2.2, all-column intent).",
    )
    annotate: bool = Field(
        default=False,
        description="Have the model describe columns and tables once, for linking and for prompts whose schema form "
        "shows comments (Track-SQL B.3). The descriptions are stored until the schema changes.",
    )
    annotation_calls: int = Field(
        default=10,
        ge=0,
        le=1_000,
        description="Requests for descriptions that one turn may make, at most a quarter of `turn_calls`. The next "
        "turn, or `tableturn annotate`, continues.",
    )
    values: int = Field(
        default=10, ge=0, le=100, description="Most database values mentioned by the question that are shown."
    )

    examples: Literal["skeleton", "question", "draft", "voted", "random", "none"] = Field(
        default="skeleton",
        description="How few-shot examples are chosen: by question skeletons (`skeleton`, revision chain 3.1), by "
        "question (`question`, SQL-CRAFT 3), by question skeletons and, again before each revision, by the "
        "SQL skeleton of the last query (`draft`, DAIL-SQL's idea), by diversity and voting (`voted`, "
        "CREDIT-SQL 3.3), at random, or not at all (`none`).",
    )
    own_examples: int = Field(
        default=3,
        ge=0,
        le=50,
        description="Most examples approved on this same database that are shown before the others, however those are "
        "chosen.",
    )
    k_question_skeleton: int = Field(
        default=4, ge=0, le=50, description="Examples by the question's skeleton (revision chain 4.1.1, k1)."
    )
    k_simplified_skeleton: int = Field(
        default=4, ge=0, le=50, description="Examples by the simplified question's skeleton (revision chain 4.1.1, k2)."
    )
    skeleton_form: Literal["marked", "plain"] = Field(
        default="marked",
        description="How a question becomes a skeleton. `marked`: common schema words (name, year) stay, and marks say "
        "how much is asked for. `plain`: every schema word is masked and nothing is added (revision chain "
        "3.1.2).",
    )
    skeleton_pool: int = Field(
        default=64,
        ge=0,
        le=1_000,
        description="Number of nearest skeletons that vote for their form of SQL; one example of each form is shown. "
        "With 0, or with the plain form, the nearest skeletons themselves are shown (revision chain "
        "3.1.3).",
    )
    k_question: int = Field(default=5, ge=0, le=50, description="Examples by question (SQL-CRAFT 3, 5-shot).")
    k_random: int = Field(
        default=18, ge=0, le=100, description="Examples chosen at random (CREDIT-SQL table 3: as many as with voting)."
    )
    n_voted: int = Field(default=18, ge=1, le=100, description="Examples chosen by voting (CREDIT-SQL 3.3, N).")
    clustering: Literal["kmeans", "agglomerative", "spectral"] = Field(
        default="kmeans", description="How examples are clustered for voting (CREDIT-SQL 5.4, table 4)."
    )
    example_likeness: float = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        description="Least similarity to the question of an example chosen by skeleton from other databases; less "
        "similar ones are not shown. 0 shows the nearest, however dissimilar. On Spider train, the SQL of "
        "28 % of the built-in examples with 0.8 or more has the gold query's form, against 5 % of the "
        "nearest eight. Examples of this database are shown if they reach this similarity or share words "
        "with the question.",
    )
    regular_examples: bool = Field(
        default=False, description="Show the SQL of examples in one regular form (CREDIT-SQL 3.2, SQL regularisation)."
    )
    m_votes: int = Field(default=20, ge=1, le=200, description="Clusterings that vote (CREDIT-SQL 3.3, M).")
    example_seed: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Seed of the random choice of examples, and of the clusterings that vote.",
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

    prompt_style: Literal["full", "credit", "craft", "track", "revision"] = Field(
        default="full", description="Whose prompt form is used to ask for SQL."
    )
    schema_style: Literal["compact", "ddl", "credit", "track", "craft", "frames"] = Field(
        default="compact", description="How the schema is written into a prompt."
    )
    show_simplified: bool = Field(
        default=True,
        description="Show the simplified question to the model that writes the SQL. If off, it is used only for "
        "retrieval (revision chain 3.1.3).",
    )
    mark_used: bool = Field(
        default=True,
        description="Mark the schema items that earlier queries of the conversation used. Track-SQL marks them only "
        "for its linker.",
    )
    tell_unshown: bool = Field(
        default=True,
        description="Say how much of the schema is not shown, and name other tables. No paper does this.",
    )
    tell_unheld: bool = Field(
        default=True,
        description="In the form `full`, list the words of the question that are in no name, value or definition of "
        "the database. No paper does this.",
    )
    base_sql: bool = Field(
        default=True,
        description="Show an earlier query as a base to edit (Track-SQL 2.3).",
    )
    base_choice: Literal["latest", "relevance"] = Field(
        default="latest",
        description="Which earlier query is the base. `latest`: the last turn's, unless another is clearly closer; "
        "none if the question starts a new topic. `relevance`: the one with the highest relevance "
        "(Track-SQL 2.3, equation 8).",
    )
    conventions: Literal["people", "benchmark", "none"] = Field(
        default="people",
        description="In the form `full`, what an answer looks like if the question leaves it open: as people want it "
        "(`people`: names beside numbers, each thing once, ties, empty groups), as benchmarks like Spider "
        "expect it (`benchmark`: what is asked for and nothing else), or in few words (`none`).",
    )
    today: Literal["clock", "none"] = Field(
        default="clock",
        description="In the form `full`, whether the model is told today's date. Evaluations leave it out (`none`), so "
        "that they can be repeated.",
    )
    reason: Literal["off", "pot", "code_blocks"] = Field(
        default="off",
        description="Program of thought (SQL-CRAFT 2): pandas code and SQL in one reply (`pot`), or code first, then "
        "SQL from it (`code_blocks`).",
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
    second_reading: bool = Field(
        default=True,
        description="Also read each question with the built-in grammar, without a request to the model. Whether its "
        "query gives the same result affects the confidence and nothing else. No paper does this.",
    )

    show_code_result: bool = Field(
        default=True,
        description="In the second step of `code_blocks`, show the result of the code. SQL-CRAFT 2 shows only the "
        "code.",
    )

    allow: tuple[str, ...] = Field(
        default=(),
        description="Tables and columns that may be read, written as for `--allow`; `*` matches any characters. In a "
        "single run it can only narrow what the agent may read.",
    )
    deny: tuple[str, ...] = Field(
        default=(),
        description="Tables and columns that may not be read, written as for `--deny`. In a single run it can only "
        "narrow what the agent may read.",
    )

    code_seconds: float = Field(
        default=10.0, gt=0, le=3_600, description="Longest run of one piece of pandas code, in seconds."
    )
    code_bytes: int = Field(
        default=100_000, ge=1_000, le=10_000_000, description="Longest pandas code that is accepted, in bytes."
    )

    temperature: float = Field(
        default=0.0,
        ge=0.0,
        le=2.0,
        description="Temperature of every request except simplification (CREDIT-SQL 4.2: 0).",
    )
    simplify_temperature: float = Field(
        default=0.0, ge=0.0, le=2.0, description="Temperature of simplification (revision chain 4.1.1: 1.0)."
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
    candidate_temperature: float = Field(
        default=0.7, ge=0.0, le=2.0, description="Temperature of every draft except the first, if there are several."
    )
    candidate_reasoning: bool = Field(
        default=True,
        description="If there are several drafts and the others are not reasoned in code, reason every third one in "
        "code.",
    )
    merge: bool = Field(
        default=True,
        description="If the results of several drafts differ, merge the two strongest by one more request.",
    )

    approve: bool = Field(
        default=False,
        description="A person approves, edits or rejects each query before it runs. Only one draft is then written at "
        "a time.",
    )

    max_attempts: int = Field(
        default=3, ge=1, le=20, description="Most queries that one turn runs, including the draft (N_max, IC-Loop cap)."
    )
    draft_again: bool = Field(
        default=True,
        description="If `max_attempts` is 1 and the draft fails for a table or column that was not shown, write it "
        "once more with that shown. No paper does this.",
    )
    mend_names: bool = Field(
        default=True,
        description="If a query fails for a misspelt table or column and exactly one name in the tables shown is "
        "nearest, run it with that name, without a request to the model. No paper does this.",
    )
    gate: bool = Field(
        default=True,
        description="End the turn without a revision if an attempt runs, nothing counted by `revise_on` is found "
        "against it, and it agrees with the code's result, if there is one.",
    )
    revise_on: Literal["evidence", "doubt"] = Field(
        default="evidence",
        description="What the gate rejects. `evidence`: what is proved (an error, a condition that can never be true, "
        "an empty result of a search for a value that the column does not contain, an aggregate over rows "
        "that a join repeats). `doubt`: also every empty result and every warning of the static checks. "
        "Warnings that remain become notes to the answer.",
    )
    gate_warnings: int = Field(
        default=0,
        ge=0,
        le=20,
        description="With `revise_on` at `doubt`, the most warnings of static checks with which an attempt passes the "
        "gate.",
    )
    gate_value_score: float = Field(
        default=1.0,
        ge=0.5,
        le=2.0,
        description="If the question mentions a value with at least this score and the query does not contain it, the "
        "query gets a warning. 1 means identical text (0.8 % of Spider train's gold queries lack such a "
        "value); above 1, no value is required.",
    )
    gate_confidence: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Least confidence with which an attempt passes the gate."
    )
    converge: Literal["sql", "result", "either"] = Field(
        default="either",
        description="When the loop ends: if the SQL repeats (`sql`, SQL-CRAFT algorithm 1), if the result repeats "
        "(`result`, revision chain 3.2.2), or at either.",
    )
    stop_cycles: bool = Field(
        default=True,
        description="Also end the loop if an attempt repeats any earlier one. The papers compare it only with the one "
        "before.",
    )
    final: Literal["best", "last"] = Field(
        default="best",
        description="Which attempt is the answer: the first draft, unless a revision is clearly better (`best`), or "
        "the last attempt (`last`; SQL-CRAFT algorithm 1, revision chain 3.2.2).",
    )
    feedback_error: bool = Field(default=True, description="Feed back the execution error (revision chain 3.2.1).")
    feedback_names: bool = Field(
        default=True, description="With the execution error, feed back its class and the nearest correct names."
    )
    feedback_findings: bool = Field(default=True, description="Feed back what the static checks found.")
    feedback_explanation: bool = Field(
        default=False,
        description="Feed back what the SQL means in plain words and how that differs from the question, by one more "
        "request per revision (revision chain 3.2.1).",
    )
    feedback_contents: bool = Field(
        default=True, description="Feed back values of the columns involved (revision chain 3.2.1)."
    )
    feedback_result: bool = Field(default=True, description="Feed back the result as CSV (SQL-CRAFT 2, IC-Loop).")
    feedback_code: bool = Field(
        default=True, description="Feed back the pandas code's result if it differs or the query failed."
    )
    feedback_rows: int = Field(default=10, ge=1, le=1_000, description="Most rows of a result in feedback.")
    feedback_cell: int = Field(
        default=80, ge=8, le=10_000, description="Most characters of one value in feedback; longer values are cut."
    )
    feedback_tokens: int = Field(
        default=1_500, ge=50, le=100_000, description="Most tokens of one part of the feedback, by our own estimate."
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
        for name in cast("Mapping[str, Any]", given):
            if name not in cls.model_fields:
                raise SettingsError(_unknown(str(name), cls.model_fields))
        if "preset" not in given:
            return given  # pyright: ignore[reportUnknownVariableType]
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
        return Permissions.of(self.allow, self.deny)

    def overridden(self, by: Settings | None) -> Settings:
        """These settings with the fields that `by` was explicitly given."""
        if by is None or not by.model_fields_set:
            return self
        return self.model_copy(update={name: getattr(by, name) for name in by.model_fields_set})


def _unknown(name: str, fields: Iterable[str]) -> str:
    close = get_close_matches(name, fields, 1)
    return f"unknown setting {name!r}: " + (f"did you mean {close[0]}?" if close else "docs/settings.md lists all")


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
