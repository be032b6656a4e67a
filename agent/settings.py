"""Every setting of the agent, with its default and its source.

Settings are given when an agent is built and may be changed for one run (LangGraph's `context`, in Studio too):
only the fields that a run names override the agent's own. Naming a preset sets all of its fields at once; fields
named beside it win over it.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    field_validator,
    model_validator,
)

from ..tools.database.session import Permissions
from ..tools.database.table import Limits
from ..tools.deprecation import warn_deprecated
from ..tools.errors import SettingsError
from ..tools.formats import ENGLISH, find_babel_locale
from ..tools.record_files import read_json, read_text_file, read_toml_file
from ..tools.validation import check_argument, describe_fault
from ..tools.words import find_intended_word, format_did_you_mean

PresetName = Literal["full", "credit", "craft", "track", "revision"]

Few = Annotated[int, Field(ge=0, le=50)]
Temperature = Annotated[float, Field(ge=0.0, le=2.0)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
ShortSeconds = Annotated[float, Field(gt=0, le=3_600)]
EstimatedRows = Annotated[int, Field(ge=0, le=1_000_000_000_000_000)]

REMOVED: dict[str, str] = {
    "annotation_calls": "a turn makes at most 10 such requests; `tableturn annotate` makes the rest",
    "candidate_temperature": "it is always 0.7",
    "code_bytes": "it is always 100,000",
    "feedback_cell": "it is always 80",
    "feedback_rows": "it is always 10",
    "feedback_tokens": "it is always 1,500",
    "gate_confidence": "answers no longer need a minimum confidence",
    "gate_value_score": "only values that the question spells out are required",
    "gate_warnings": "warnings never cause a revision",
    "k_random": "use n_voted",
    "revise_on": "a query is revised after an error, or if it finds no rows and a value is like one of its own",
    "second_reading": "only the model reads the question",
    "tell_unheld": "an answer without rows names the value that is not in the data",
}
"""Settings that `REMOVED_IN` removed, with what to do instead. They are ignored for that release."""

REMOVED_IN = "0.3"


class MethodSettings(BaseModel):
    """The settings that only the presets of papers and experiments change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rephrase: Literal["auto", "always", "never"] = "auto"
    """How each question is made self-contained and its intent labelled (CREDIT-SQL 3.1): by a separate request
    (`always`), not at all (`never`), or in the reply that writes the SQL (`auto`). `auto` still asks separately if the
    translator or prompt form cannot do both at once, and for a later turn over a schema too large to show whole."""
    simplify: bool = True
    """Also put the question into plain common words, for retrieval (revision chain 3.1.1). Only if `rephrase` makes its
    own request, or if the preset's paper makes one for simplification."""
    link_schema: bool = True
    """Order, mark and cut the schema by the probability that the question is about each item (Track-SQL 2.2). If off,
    the whole schema is shown as declared."""
    link_threshold: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Hide schema items of lower probability (Track-SQL 2.2, s = 0.1). 0 shows the whole schema, most probable
    first."""
    all_columns: bool = False
    """In Track-SQL's schema form, mark tables of which all columns are probably asked for (Track-SQL 2.2, all-column
    intent)."""
    examples: Literal["skeleton", "question", "draft", "voted", "random", "none"] = "skeleton"
    """How few-shot examples are chosen: by question skeletons (`skeleton`, revision chain 3.1), by question
    (`question`, SQL-CRAFT 3), by question skeletons and, again before each revision, by the SQL skeleton of the last
    query (`draft`, DAIL-SQL's idea), by diversity and voting (`voted`, CREDIT-SQL 3.3), at random, or not at all
    (`none`)."""
    own_examples: Few = 3
    """Most examples approved on this same database that are shown before the others, however those are chosen."""
    k_question_skeleton: Few = 4
    """Examples by the question's skeleton (revision chain 4.1.1, k1)."""
    k_simplified_skeleton: Few = 4
    """Examples by the simplified question's skeleton (revision chain 4.1.1, k2)."""
    skeleton_form: Literal["marked", "plain"] = "marked"
    """How a question becomes a skeleton. `marked`: common schema words (name, year) stay, and marks say how much is
    asked for. `plain`: every schema word is masked and nothing is added (revision chain 3.1.2)."""
    skeleton_pool: int = Field(default=64, ge=0, le=1_000)
    """Number of nearest skeletons that vote for their form of SQL; one example of each form is shown. With 0, or with
    the plain form, the nearest skeletons themselves are shown (revision chain 3.1.3)."""
    k_question: Few = 5
    """Examples by question (SQL-CRAFT 3, 5-shot)."""
    n_voted: int = Field(default=18, ge=1, le=100)
    """Examples chosen by voting (CREDIT-SQL 3.3, N) or at random (table 3)."""
    clustering: Literal["kmeans", "agglomerative", "spectral"] = "kmeans"
    """How examples are clustered for voting (CREDIT-SQL 5.4, table 4)."""
    m_votes: int = Field(default=20, ge=1, le=200)
    """Clusterings that vote (CREDIT-SQL 3.3, M)."""
    example_likeness: float = Field(default=0.8, ge=0.0, le=1.0)
    """Least similarity to the question of an example chosen by skeleton from other databases; less similar ones are not
    shown. 0 shows the nearest, however dissimilar. On Spider train, the SQL of 28 % of the built-in examples with 0.8
    or more has the gold query's form, against 5 % of the nearest eight. Examples of this database are shown if they
    reach this similarity or share words with the question."""
    regular_examples: bool = False
    """Show the SQL of examples in one regular form (CREDIT-SQL 3.2, SQL regularisation)."""
    example_seed: int = Field(default=0, ge=0, le=1_000_000)
    """Seed of the random choice of examples, and of the first of the clusterings that vote."""
    prompt_style: Literal["full", "credit", "craft", "track", "revision"] = "full"
    """Whose prompt form is used to ask for SQL."""
    schema_style: Literal["compact", "ddl", "credit", "track", "craft", "frames"] = "compact"
    """How the schema is written into a prompt."""
    show_simplified: bool = True
    """Show the simplified question to the model that writes the SQL. If off, it is used only for retrieval (revision
    chain 3.1.3)."""
    mark_used: bool = True
    """Mark the schema items that earlier queries of the conversation used. Track-SQL marks them only for its linker."""
    tell_unshown: bool = True
    """Say how much of the schema is not shown, and name other tables. No paper does this."""
    base_sql: bool = True
    """Show an earlier query as a base to edit (Track-SQL 2.3)."""
    base_choice: Literal["latest", "relevance"] = "latest"
    """Which earlier query is the base. `latest`: the last turn's, unless another is clearly closer; none if the
    question starts a new topic. `relevance`: the one with the highest relevance (Track-SQL 2.3, equation 8)."""
    today: Literal["clock", "none"] = "clock"
    """In the form `full`, whether the model is told today's date. Evaluations leave it out (`none`), so that they can
    be repeated."""
    reason: Literal["off", "pot", "code_blocks"] = "off"
    """Program of thought (SQL-CRAFT 2): pandas code and SQL in one reply (`pot`), or code first, then SQL from it
    (`code_blocks`)."""
    show_code_result: bool = True
    """In the second step of `code_blocks`, show the result of the code. SQL-CRAFT 2 shows only the code."""
    simplify_temperature: Temperature = 0.0
    """Temperature of simplification (revision chain 4.1.1: 1.0)."""
    candidate_reasoning: bool = False
    """If there are several drafts and the others are not reasoned in code, reason every third one in code."""
    merge: bool = True
    """If the results of several drafts differ, merge the two strongest by one more request."""
    draft_again: bool = True
    """If `max_attempts` is 1 and the draft fails for a table or column that was not shown, write it once more with that
    shown. No paper does this."""
    mend_names: bool = True
    """If a query fails for a misspelt table or column and exactly one name in the tables shown is nearest, run it with
    that name, without a request to the model. No paper does this."""
    gate: bool = True
    """End the turn without a revision if an attempt runs and agrees with the code's result, if there is one, unless it
    gives nothing and looks for a text that its column does not hold, where the column holds exactly one like it."""
    converge: Literal["sql", "result", "either"] = "either"
    """When the loop ends: if the SQL repeats (`sql`, SQL-CRAFT algorithm 1), if the result repeats (`result`, revision
    chain 3.2.2), or at either."""
    stop_cycles: bool = True
    """Also end the loop if an attempt repeats any earlier one. The papers compare it only with the one before."""
    final: Literal["best", "last"] = "best"
    """Which attempt is the answer: the first draft, unless a revision is clearly better (`best`), or the last attempt
    (`last`; SQL-CRAFT algorithm 1, revision chain 3.2.2)."""
    feedback_error: bool = True
    """Feed back the execution error (revision chain 3.2.1)."""
    feedback_names: bool = True
    """With the execution error, feed back its class and the nearest correct names."""
    feedback_findings: bool = True
    """Feed back what the static checks found."""
    feedback_explanation: bool = False
    """Feed back what the SQL means in plain words and how that differs from the question, by one more request per
    revision (revision chain 3.2.1)."""
    feedback_contents: bool = True
    """Feed back values of the columns involved (revision chain 3.2.1)."""
    feedback_result: bool = True
    """Feed back the result as CSV (SQL-CRAFT 2, IC-Loop)."""
    feedback_code: bool = True
    """Feed back the pandas code's result if it differs or the query failed."""


def _order_schema_fields(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Order the fields of a JSON schema: settings for users first, then method settings."""
    fields, model_fields = schema["properties"], model.model_fields
    own_first = sorted(fields, key=lambda name: name in MethodSettings.model_fields)
    schema["properties"] = {name: fields[name] | {"description": model_fields[name].description} for name in own_first}


class Settings(MethodSettings):
    """The settings of a turn, including the method settings of papers and experiments."""

    model_config = ConfigDict(title="tableturn settings", json_schema_extra=_order_schema_fields)

    preset: PresetName = "full"
    """A paper's published configuration, or `full`, which combines all four papers."""
    effort: Literal["low", "auto", "high"] = "auto"
    """How much a turn may spend beyond the other settings. `low`: nothing more. `auto`: more drafts and their merge if
    no query runs, and a separate request for understanding if the record says that the model is weak. `high`: all of
    these from the start."""
    clarify: bool = True
    """Ask back when a question is ambiguous, and decline what the database cannot answer. If off, every question is
    answered as well as possible; it is off in evaluations and in the presets of papers that do not ask back."""
    max_clarifications: int = Field(default=1, ge=0, le=5)
    """How often one turn may ask back before it answers by its best reading."""
    readings: Literal["off", "tell", "ask"] = "tell"
    """What to do about other readings of the question that nothing rules out (which date, with or without returns,
    ties). `tell`: run them beside the query, without a request to the model, and report them with the answer. `ask`:
    ask back if one changes the answer (`max_clarifications`). `off`: ignore them."""
    ledger: Literal["off", "auto", "full"] = "auto"
    """Whether rows are counted that joins leave out or repeat, and values that are missing in what is grouped or
    averaged. `auto`: for at most as long as the query took, at least 0.1 s and at most 1 s; what changes the answer
    stands in its text. `full`: also show some of the rows that are left out. `off`: count nothing; the default in
    evaluations."""
    history_window: Few = 5
    """Number of earlier turns that a turn sees (Track-SQL 3.1: a window of 5)."""
    annotate: bool = False
    """Have the model describe columns and tables once, for linking and for prompts whose schema form shows comments
    (Track-SQL B.3). The descriptions are stored until the schema changes."""
    values: int = Field(default=10, ge=0, le=100)
    """Most database values mentioned by the question that are shown."""
    knowledge_tokens: int = Field(default=600, ge=0, le=100_000)
    """Most tokens of definitions from the knowledge file in one prompt, the most specific first. 0 shows none."""
    verified: bool = True
    """If a person has approved an answer to the same question, use that query again, replacing values if only values
    differ. If off, the model writes the query and is shown the approved one."""
    conventions: Literal["people", "benchmark", "none"] = "people"
    """In the form `full`, what an answer looks like if the question leaves it open: as people want it (`people`: names
    beside numbers, each thing once, ties, empty groups), as benchmarks like Spider expect it (`benchmark`: what is
    asked for and nothing else), or in few words (`none`)."""
    record: str = ""
    """The file that records how often models were right (`tableturn models`). Evaluations, trials and approved answers
    add to it. `off` for none; empty for `models.jsonl` in the data folder. An evaluation's own turns do not use it."""
    trust: str = ""
    """The file with the bounds that `tableturn trust fit` set, by which answers are marked trusted. `off` for none;
    empty for `trust.json` in the data folder. Off in evaluations."""
    allow: tuple[str, ...] = ()
    """Tables and columns that may be read, written as for `--allow`; `*` matches any characters; without entries, all.
    In a single run it can only narrow what the agent may read."""
    deny: tuple[str, ...] = ()
    """Tables and columns that may not be read, written as for `--deny`. In a single run it can only narrow what the
    agent may read."""
    code_seconds: ShortSeconds = 10.0
    """Longest run of one piece of pandas code, in seconds."""
    temperature: Temperature = 0.0
    """Temperature of every request except simplification (CREDIT-SQL 4.2: 0)."""
    max_output_tokens: int = Field(default=1_000, ge=50, le=100_000)
    """Most tokens of one reply (CREDIT-SQL 4.2: 600)."""
    prompt_tokens: int = Field(default=16_000, ge=500, le=2_000_000)
    """Most tokens of one prompt. Parts that do not fit are left out, and the prompt says so."""
    request_seconds: Seconds = 60.0
    """Longest wait for one reply of a model, in seconds."""
    request_retries: int = Field(default=2, ge=0, le=10)
    """How often a failed request is sent again (rate limits, server errors, connection resets)."""
    candidates: int = Field(default=1, ge=1, le=16)
    """Number of drafts written side by side, each with other examples; their results vote (CREDIT-SQL 5.2)."""
    approve: bool = False
    """A person approves, edits or rejects each query before it runs. Only one draft is then written at a time."""
    max_attempts: int = Field(default=3, ge=1, le=20)
    """Most queries that one turn runs, including the draft (N_max, IC-Loop cap)."""
    turn_calls: int = Field(default=40, ge=1, le=10_000)
    """Most requests to a model in one turn, counting second tries and requests sent again."""
    turn_tokens: int = Field(default=1_000_000, ge=500, le=1_000_000_000)
    """Most tokens in one turn, as the model reports them, otherwise estimated. The cost of a request is estimated
    before it is sent."""
    turn_seconds: Seconds = 600.0
    """Seconds during which one turn may ask a model and run queries and code. Anything later is not waited for."""
    query_seconds: ShortSeconds = 5.0
    """Longest run of one query, in seconds."""
    export_rows: int = Field(default=1_000_000, ge=1, le=100_000_000)
    """Most rows of an export to a file or stream."""
    export_seconds: Seconds = 600.0
    """Longest run of an export in seconds, including writing its rows."""
    rows: int = Field(default=1_000, ge=1, le=1_000_000)
    """Most rows in an answer."""
    locale: str = Field(default="", max_length=35)
    """How numbers, dates and labels are written for people, such as `de` or `pt_BR`. If empty, in the
    language of the question, or of the conversation; if these do not tell or labels lack it, in that of the browser or,
    in a terminal, of `LANG`. Numbers and dates are as written there."""
    cell_bytes: int = Field(default=100_000, ge=100, le=100_000_000)
    """Largest single value of a result, in bytes."""
    result_bytes: int = Field(default=4_000_000, ge=1_000, le=1_000_000_000)
    """Largest result, in bytes of all values together."""
    sql_bytes: int = Field(default=50_000, ge=1_000, le=10_000_000)
    """Longest query that is accepted, in bytes."""
    query_memory_bytes: int = Field(default=256_000_000, ge=0, le=1_000_000_000_000)
    """Most memory of one query in bytes, including its result. 0 for no limit."""
    query_disk_bytes: int = Field(default=1_000_000_000, ge=0, le=1_000_000_000_000)
    """Most bytes in all temporary files of one query."""
    estimated_rows: EstimatedRows = 0
    """Most rows that the engine's plan may expect one query to read, checked before it runs. 0 for no limit."""
    estimated_rows_per_day: EstimatedRows = 0
    """The same for all queries to a database in one day, counted in `TABLETURN_HOME`. 0 for no limit."""

    @model_validator(mode="wrap")
    @classmethod
    def _apply_preset(cls, values: Any, make: ModelWrapValidatorHandler[Settings]) -> Settings:
        if not isinstance(values, Mapping):
            return make(values)
        values = drop_removed_settings(cast("Mapping[str, Any]", values))
        for name in values:
            if name not in cls.model_fields:
                near = find_intended_word(str(name), list(cls.model_fields))
                hint = format_did_you_mean((near[0],) if near else ()) or "docs/settings.md lists all"
                raise SettingsError(f"unknown setting {name!r}: {hint}")
        try:
            settings = make({**PRESETS.get(str(values.get("preset")), {}), **values})
        except ValidationError as error:
            problems = "; ".join(describe_fault(fault, cls) for fault in error.errors())
            raise SettingsError(f"wrong settings: {problems}") from None
        # A preset's own fields are not named: they go where another preset is named later.
        settings.__pydantic_fields_set__ = set(values)
        return settings

    @field_validator("locale")
    @classmethod
    def _check_locale(cls, name: str) -> str:
        if name not in ENGLISH:
            find_babel_locale(name)
        return name

    @property
    def limits(self) -> Limits:
        """The limits of one query."""
        own, names = vars(self), [limit.name for limit in fields(Limits)]
        return Limits(**{name: own[name if name in own else f"query_{name}"] for name in names})

    @property
    def export_limits(self) -> Limits:
        """The limits of a query whose rows are written to a file."""
        return replace(self.limits, rows=self.export_rows, seconds=self.export_seconds)

    @property
    def permissions(self) -> Permissions:
        """The tables and columns that these settings allow."""
        return Permissions.of(self.allow or None, self.deny)

    def overridden(self, by: Settings | None) -> Settings:
        """Return a copy of the settings, with the fields that were set in `by`."""
        if by is None or not by.model_fields_set:
            return self
        names = by.model_fields_set | (PRESETS[by.preset].keys() if "preset" in by.model_fields_set else set())
        return self.model_copy(update={name: getattr(by, name) for name in names})


def drop_removed_settings(values: Mapping[str, Any], removed: Mapping[str, str] = REMOVED) -> Mapping[str, Any]:
    """Return the given settings without removed ones; warn about the removed ones."""
    if removed_names := [name for name in values if name in removed]:
        remarks = "; ".join(f"{name}: {removed[name]}" for name in removed_names)
        warn_deprecated(f"setting {', '.join(map(repr, removed_names))}", f"ignored ({remarks})", REMOVED_IN)
    return {name: value for name, value in values.items() if name not in removed} if removed_names else values


# The text beneath a field describes it. Pydantic's own reading of these (`use_attribute_docstrings`) looks for the file
# of every module that is loaded.
with suppress(OSError):  # an installation without sources has no descriptions
    for _kind in ast.parse((files(__package__ or "") / "settings.py").read_text("utf-8")).body:
        for _field, _text in pairwise(_kind.body if isinstance(_kind, ast.ClassDef) else ()):
            match _field, _text:
                case ast.AnnAssign(target=ast.Name(id=_name)), ast.Expr(value=ast.Constant(value=str(_docs))):
                    Settings.model_fields[_name].description = " ".join(_docs.split())
                case _:
                    pass

_papers = tomllib.loads((files(__package__ or "") / "data" / "papers.toml").read_text("utf-8"))
_unsaid = _papers.pop("unsaid")

PAPERS: dict[str, dict[str, Any]] = {name: {"preset": name, **_unsaid, **own} for name, own in _papers.items()}
"""Each paper's fields of `Settings` by its preset's name; what a paper does not fix is not among them."""

_FULL = {
    name: field.default for name, field in Settings.model_fields.items() if any(name in p for p in PAPERS.values())
}
"""The defaults of every field that some paper sets.

Limits and budgets are no paper's, so that changing the preset of a run never widens them.
"""

PRESETS = {"full": _FULL} | {name: {**_FULL, **fields} for name, fields in PAPERS.items()}
"""The papers' published configurations by name, and `full`; what a paper does not fix keeps its default."""


def make_settings(given: Settings | Mapping[str, Any] | None = None, *, preset: str | None = None) -> Settings:
    """Create settings from a preset and from fields that override the preset.

    Raises:
        SettingsError: An unknown preset or field, or a value out of bounds; one line that names it.
    """
    if isinstance(given, Settings) and preset is None:
        return given
    check_argument("settings", given, "a mapping of fields, as in {'rows': 100}", Settings, Mapping)
    fields = given.model_dump(exclude_unset=True) if isinstance(given, Settings) else dict(given or {})
    if preset is not None:
        fields["preset"] = preset
    name = fields.get("preset")
    if name is not None and name not in PRESETS:
        raise SettingsError(f"unknown preset {name!r}: choose one of {', '.join(PRESETS)}")
    return Settings(**fields)


def uses_code_result(settings: Settings) -> bool:
    """Whether the model is asked for pandas code whose result is used."""
    is_shown = settings.reason == "code_blocks" and settings.show_code_result
    is_used = is_shown or settings.feedback_code or settings.gate or settings.final == "best"
    return settings.reason != "off" and is_used


def read_settings_file(path: str | Path) -> dict[str, Any]:
    """Read the fields of a settings file, which is TOML or JSON by its ending."""
    path = Path(path)
    content = read_json(read_text_file(path), path) if path.suffix == ".json" else read_toml_file(path)
    if not isinstance(content, dict):
        raise SettingsError(f'{path} must hold one object with the names of settings, as in {{"preset": "full"}}')
    return cast("dict[str, Any]", content)
