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
        description="A paper's published configuration, or `full`, which combines the four.",
    )

    rephrase: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Make each question self-contained and label its intent (CREDIT-SQL 3.1): by a request of its own, "
        "or in the reply that writes the SQL (`auto`), which asks first only where it must: of a translator or prompt "
        "form that cannot do both, and for a later turn over a schema too large to show whole.",
    )
    effort: Literal["low", "auto", "high"] = Field(
        default="auto",
        description="What a turn spends: what the other settings say and no more (`low`); more drafts and their merge "
        "where the reply is unsure or no query passes the checks, and a request of its own for understanding where the "
        "record says that the model is weak (`auto`); or all of that at once (`high`).",
    )
    simplify: bool = Field(
        default=True,
        description="Also put the question into plain common words, for retrieval (revision chain 3.1.1); not where "
        "`rephrase` makes no request of its own, unless the preset's paper makes one for it.",
    )
    clarify: bool = Field(
        default=True,
        description="Ask back when a question is ambiguous and decline what the database cannot answer; "
        "off in presets of papers that do not ask back and for evaluations: every question is answered as well as it "
        "can be.",
    )
    max_clarifications: int = Field(
        default=1, ge=0, le=5, description="Times one turn may ask back before it answers its best reading."
    )
    readings: Literal["off", "tell", "ask"] = Field(
        default="tell",
        description="What becomes of other readings that nothing settles (which date, returns in or out, ties): run "
        "beside the query, without a request, and told of; or, where one changes the answer, asked about "
        "(`max_clarifications`); or left alone.",
    )
    history_window: int = Field(
        default=5, ge=0, le=50, description="Earlier turns that a turn sees (Track-SQL 3.1: a window of 5)."
    )

    link_schema: bool = Field(
        default=True,
        description="Order, mark and cut the schema by how probably the question is about its items (Track-SQL 2.2); "
        "off shows the whole schema as it is declared.",
    )
    link_threshold: float = Field(
        default=0.0,
        ge=0.0,
        lt=1.0,
        description="Schema items of lower probability are not shown (Track-SQL 2.2, s = 0.1); "
        "0 shows the whole schema, most probable first.",
    )
    all_columns: bool = Field(
        default=False,
        description="Say in Track-SQL's schema form where all columns of a table are probably asked for "
        "(Track-SQL 2.2, all-column intent).",
    )
    annotate: bool = Field(
        default=False,
        description="Have the model describe columns and tables once, for linking and for prompts whose schema form "
        "shows comments (Track-SQL B.3); kept by what the schema says.",
    )
    annotation_calls: int = Field(
        default=10,
        ge=0,
        le=1_000,
        description="Descriptions that one turn may ask for, a quarter of `turn_calls` at most; the next turn, or "
        "`tableturn annotate`, goes on.",
    )
    values: int = Field(
        default=10, ge=0, le=100, description="Database values mentioned by the question that are shown, at most."
    )

    examples: Literal["skeleton", "question", "draft", "voted", "random", "none"] = Field(
        default="skeleton",
        description="How few-shot examples are chosen: by question skeletons (revision chain 3.1), by question "
        "(SQL-CRAFT 3), by question skeletons and before each revision anew by the last query's SQL skeleton too "
        "(`draft`, DAIL-SQL's idea), by diversity and voting (CREDIT-SQL 3.3), at random, or none.",
    )
    own_examples: int = Field(
        default=3,
        ge=0,
        le=50,
        description="Examples of this very database, approved on it, that are shown before the others at most, "
        "whichever way those are chosen.",
    )
    k_question_skeleton: int = Field(
        default=4, ge=0, le=50, description="Examples by the question's skeleton (revision chain 4.1.1, k1)."
    )
    k_simplified_skeleton: int = Field(
        default=4, ge=0, le=50, description="Examples by the simplified question's skeleton (revision chain 4.1.1, k2)."
    )
    skeleton_form: Literal["marked", "plain"] = Field(
        default="marked",
        description="What skeletons are compared: with common words of a schema (name, year) left in, and marks of how "
        "much is asked for; or with every schema word masked and nothing added (revision chain 3.1.2).",
    )
    skeleton_pool: int = Field(
        default=64,
        ge=0,
        le=1_000,
        description="So many nearest skeletons vote for their form of SQL, of which one example each is shown; 0, and "
        "the plain form, show the nearest themselves (revision chain 3.1.3).",
    )
    k_question: int = Field(default=5, ge=0, le=50, description="Examples by question (SQL-CRAFT 3, 5-shot).")
    k_random: int = Field(
        default=18, ge=0, le=100, description="Examples chosen at random (CREDIT-SQL table 3: as many as are voted)."
    )
    n_voted: int = Field(default=18, ge=1, le=100, description="Examples chosen by voting (CREDIT-SQL 3.3, N).")
    clustering: Literal["kmeans", "agglomerative", "spectral"] = Field(
        default="kmeans", description="How examples are clustered for voting (CREDIT-SQL 5.4, table 4)."
    )
    example_likeness: float = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        description="Of examples over other data chosen by skeletons, the least similarity to the question's: none is "
        "shown rather than one unlike it; 0 shows the nearest however far. Of the nearest eight built-in ones 5 % have "
        "the gold query's form on Spider train, of those with 0.8 or more 28 %. Of this database's own, those with it "
        "or with words alike are shown.",
    )
    regular_examples: bool = Field(
        default=False, description="Show examples' SQL in one regular form (CREDIT-SQL 3.2, SQL regularisation)."
    )
    m_votes: int = Field(default=20, ge=1, le=200, description="Clusterings that vote (CREDIT-SQL 3.3, M).")
    example_seed: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Of random choice and of the clusterings that vote.",
    )

    knowledge_tokens: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description="Definitions of the knowledge file that a prompt shows at most, the most specific first; 0 shows "
        "none.",
    )
    verified: bool = Field(
        default=True,
        description="A question that a person has approved an answer to is answered by that query, with other values "
        "where only values differ; off leaves it to the model, which is shown the approved one.",
    )

    prompt_style: Literal["full", "credit", "craft", "track", "revision"] = Field(
        default="full", description="Whose prompt form is used to ask for SQL."
    )
    schema_style: Literal["compact", "ddl", "credit", "track", "craft", "frames"] = Field(
        default="compact", description="How a schema is written into a prompt."
    )
    show_simplified: bool = Field(
        default=True,
        description="Show the simplified question to whoever writes the SQL; off keeps it to retrieval (revision chain "
        "3.1.3).",
    )
    mark_used: bool = Field(
        default=True,
        description="Mark in the schema what earlier queries of the conversation used; Track-SQL marks it for its "
        "linker alone.",
    )
    tell_unshown: bool = Field(
        default=True,
        description="Say how much of the schema is not shown, and name other tables; no paper does.",
    )
    tell_unheld: bool = Field(
        default=True,
        description="Say, in the form `full`, which words of the question no name, value or definition of the database"
        " holds; no paper does.",
    )
    base_sql: bool = Field(
        default=True,
        description="Show past SQL as a base to edit (Track-SQL 2.3).",
    )
    base_choice: Literal["latest", "relevance"] = Field(
        default="latest",
        description="Which: the last turn's unless another is clearly nearer, and none where the question starts "
        "afresh; or the one of highest relevance (Track-SQL 2.3, equation 8).",
    )
    conventions: Literal["people", "benchmark", "none"] = Field(
        default="people",
        description="What an answer looks like where the question leaves it open, in the form `full`: for people "
        "(names beside numbers, each thing once, ties, groups of none), for benchmarks like Spider (what is asked for "
        "and nothing beside it), or in few words.",
    )
    today: Literal["clock", "none"] = Field(
        default="clock",
        description="Today's date as the model is told it, in the form `full`: by the clock, or, as in evaluations, "
        "which can then be repeated, not at all.",
    )
    reason: Literal["off", "pot", "code_blocks"] = Field(
        default="off",
        description="Program of thought: pandas code and SQL in one reply, or code, then SQL from it (SQL-CRAFT 2).",
    )

    record: str = Field(
        default="",
        description="The record of how often models were right (`tableturn models`), to which evaluations, trials and "
        "approved answers add: a file, `off` for none, or empty for `models.jsonl` in the data folder. Off in "
        "evaluations themselves.",
    )

    trust: str = Field(
        default="",
        description="The bounds that `tableturn trust fit` set, by which answers are marked trusted: a file, `off` for "
        "none, or empty for `trust.json` in the data folder. Off in evaluations.",
    )
    second_reading: bool = Field(
        default=True,
        description="The built-in grammar reads each question too, without a request: whether its query gives the same "
        "counts for the confidence, and for nothing else; no paper does.",
    )

    show_code_result: bool = Field(
        default=True,
        description="In the second step of `code_blocks`, show what the code gave when it ran; SQL-CRAFT 2 shows the "
        "code alone.",
    )

    allow: tuple[str, ...] = Field(
        default=(),
        description="Tables and columns that may be read, as `--allow` takes them, `*` for any characters; in a run it "
        "narrows what the agent may read, and never widens it.",
    )
    deny: tuple[str, ...] = Field(
        default=(), description="Tables and columns that may not be read, as `--deny` takes them; narrows likewise."
    )

    code_seconds: float = Field(default=10.0, gt=0, le=3_600, description="Longest run of one piece of pandas code.")
    code_bytes: int = Field(
        default=100_000, ge=1_000, le=10_000_000, description="Longest pandas code that is read and run."
    )

    temperature: float = Field(
        default=0.0, ge=0.0, le=2.0, description="For everything but simplification (CREDIT-SQL 4.2: 0)."
    )
    simplify_temperature: float = Field(
        default=0.0, ge=0.0, le=2.0, description="For simplification alone (revision chain 4.1.1: 1.0)."
    )
    max_output_tokens: int = Field(
        default=1_000, ge=50, le=100_000, description="Output limit of one reply (CREDIT-SQL 4.2: 600)."
    )
    prompt_tokens: int = Field(
        default=16_000,
        ge=500,
        le=2_000_000,
        description="Budget of one prompt; what does not fit is left out and said.",
    )
    request_seconds: float = Field(default=60.0, gt=0, le=86_400, description="Longest wait for one reply of a model.")
    request_retries: int = Field(
        default=2, ge=0, le=10, description="Times a failed request is sent again (rate limits, server errors, resets)."
    )

    candidates: int = Field(
        default=1,
        ge=1,
        le=16,
        description="Drafts written side by side, each with other examples; their results vote (CREDIT-SQL 5.2).",
    )
    candidate_temperature: float = Field(
        default=0.7, ge=0.0, le=2.0, description="For every draft but the first, where there are several."
    )
    candidate_reasoning: bool = Field(
        default=True, description="Of several drafts, every third is reasoned in code where the others aren't."
    )
    merge: bool = Field(
        default=True,
        description="Where several drafts differ, one more call merges the two strongest results.",
    )

    approve: bool = Field(
        default=False,
        description="A person approves, edits or rejects each query before it runs; then there is one draft at a time.",
    )

    max_attempts: int = Field(
        default=3, ge=1, le=20, description="Queries run for one turn at most, the draft included (N_max, IC-Loop cap)."
    )
    draft_again: bool = Field(
        default=True,
        description="Where max_attempts is 1: a draft that fails for a table or column that was not shown is written "
        "once more, with that shown; no paper does.",
    )
    mend_names: bool = Field(
        default=True,
        description="A query that fails for a misspelt table or column runs with the one name of the tables shown that "
        "is nearest, without a request; no paper does.",
    )
    gate: bool = Field(
        default=True,
        description="An attempt that runs, has nothing against it that `revise_on` counts, and agrees with the code's "
        "result where there is one, ends the turn without a revision.",
    )
    revise_on: Literal["evidence", "doubt"] = Field(
        default="evidence",
        description="What the gate sends back: what is proved (an error, a condition that cannot hold, an empty result "
        "where a value is looked for that the column does not hold, an aggregate over rows that a join repeats), or "
        "every empty result and every warning of static checks. Warnings that remain are notes to the answer.",
    )
    gate_warnings: int = Field(
        default=0,
        ge=0,
        le=20,
        description="Warnings of static checks that an attempt may have and pass the gate, where `revise_on` is "
        "`doubt`.",
    )
    gate_value_score: float = Field(
        default=1.0,
        ge=0.5,
        le=2.0,
        description="Values that the question mentions with this score or more must be in the query, or it gets a "
        "warning; 1 is the same text (of Spider train's gold queries 0.8 % lack such a value), above 1 none must.",
    )
    gate_confidence: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Least confidence of an attempt that passes the gate."
    )
    converge: Literal["sql", "result", "either"] = Field(
        default="either",
        description="The loop ends when the SQL repeats (SQL-CRAFT algorithm 1), when the result does "
        "(revision chain 3.2.2), or on either.",
    )
    stop_cycles: bool = Field(
        default=True,
        description="The loop also ends when an attempt repeats an earlier one than the last; the papers compare with "
        "the last alone.",
    )
    final: Literal["best", "last"] = Field(
        default="best",
        description="Which attempt is the answer: the first draft unless a revision is clearly better, or the last one "
        "(SQL-CRAFT algorithm 1, revision chain 3.2.2).",
    )
    feedback_error: bool = Field(default=True, description="Feed back the execution error (revision chain 3.2.1).")
    feedback_names: bool = Field(
        default=True, description="With the execution error, say its class and the nearest right names."
    )
    feedback_findings: bool = Field(default=True, description="Feed back what static checks found.")
    feedback_explanation: bool = Field(
        default=False,
        description="Feed back what the SQL means in plain words and how that differs from the question, one more "
        "call per revision (revision chain 3.2.1).",
    )
    feedback_contents: bool = Field(
        default=True, description="Feed back values of the columns involved (revision chain 3.2.1)."
    )
    feedback_result: bool = Field(default=True, description="Feed back the result as CSV (SQL-CRAFT 2, IC-Loop).")
    feedback_code: bool = Field(
        default=True, description="Feed back the pandas code's result where it differs, or where the query failed."
    )
    feedback_rows: int = Field(default=10, ge=1, le=1_000, description="Rows of a result that feedback shows.")
    feedback_cell: int = Field(
        default=80, ge=8, le=10_000, description="Characters of one value that feedback shows; longer ones are cut."
    )
    feedback_tokens: int = Field(
        default=1_500, ge=50, le=100_000, description="Tokens of one part of the feedback, by our own estimate."
    )

    turn_calls: int = Field(
        default=40,
        ge=1,
        le=10_000,
        description="Requests to a model that one turn may make, second tries and requests sent again included.",
    )
    turn_tokens: int = Field(
        default=1_000_000,
        ge=500,
        le=1_000_000_000,
        description="Tokens that one turn may use, as the model reports them or else estimated; each request is "
        "reckoned beforehand.",
    )
    turn_seconds: float = Field(
        default=600.0,
        gt=0,
        le=86_400,
        description="Time in which one turn may ask a model and run queries and code; what is late is not waited for.",
    )

    query_seconds: float = Field(default=5.0, gt=0, le=3_600, description="Longest run of one query.")
    export_rows: int = Field(
        default=1_000_000, ge=1, le=100_000_000, description="Rows that an export to a file or stream holds at most."
    )
    export_seconds: float = Field(
        default=600.0, gt=0, le=86_400, description="Longest run of an export, writing its rows included."
    )
    rows: int = Field(default=1_000, ge=1, le=1_000_000, description="Rows that an answer holds at most.")
    cell_bytes: int = Field(default=100_000, ge=100, le=100_000_000, description="Largest single value of a result.")
    result_bytes: int = Field(
        default=4_000_000, ge=1_000, le=1_000_000_000, description="Largest result, all values together."
    )

    sql_bytes: int = Field(
        default=50_000, ge=1_000, le=10_000_000, description="Longest query that is read, checked and run."
    )
    query_memory_bytes: int = Field(
        default=256_000_000,
        ge=0,
        le=1_000_000_000_000,
        description="Memory of one query, its result included; 0 for no limit.",
    )
    query_disk_bytes: int = Field(
        default=1_000_000_000, ge=0, le=1_000_000_000_000, description="Temporary files of one query, all together."
    )
    estimated_rows: int = Field(
        default=0,
        ge=0,
        le=1_000_000_000_000_000,
        description="Rows that the engine may expect one query to read, by its plan, before it runs; 0 for any number.",
    )
    estimated_rows_per_day: int = Field(
        default=0,
        ge=0,
        le=1_000_000_000_000_000,
        description="The same for all queries of a day to a database, counted in `TABLETURN_HOME`; 0 for any number.",
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
