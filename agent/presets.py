"""The method of a turn as the four papers set it: its fields, and each paper's published configuration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Method(BaseModel):
    """Those of `Settings` that only papers' presets and experiments set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rephrase: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="How each question is made self-contained and its intent labelled (CREDIT-SQL 3.1): by a separate "
        "request (`always`), not at all (`never`), or in the reply that writes the SQL (`auto`). `auto` "
        "still asks separately if the translator or prompt form cannot do both at once, and for a later "
        "turn over a schema too large to show whole.",
    )
    simplify: bool = Field(
        default=True,
        description="Also put the question into plain common words, for retrieval (revision chain 3.1.1). Only if "
        "`rephrase` makes its own request, or if the preset's paper makes one for simplification.",
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
    n_voted: int = Field(
        default=18, ge=1, le=100, description="Examples chosen by voting (CREDIT-SQL 3.3, N) or at random (table 3)."
    )
    clustering: Literal["kmeans", "agglomerative", "spectral"] = Field(
        default="kmeans", description="How examples are clustered for voting (CREDIT-SQL 5.4, table 4)."
    )
    m_votes: int = Field(default=20, ge=1, le=200, description="Clusterings that vote (CREDIT-SQL 3.3, M).")
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
    example_seed: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Seed of the random choice of examples, and of the first of the clusterings that vote.",
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
    show_code_result: bool = Field(
        default=True,
        description="In the second step of `code_blocks`, show the result of the code. SQL-CRAFT 2 shows only the "
        "code.",
    )
    simplify_temperature: float = Field(
        default=0.0, ge=0.0, le=2.0, description="Temperature of simplification (revision chain 4.1.1: 1.0)."
    )
    candidate_reasoning: bool = Field(
        default=False,
        description="If there are several drafts and the others are not reasoned in code, reason every third one in "
        "code.",
    )
    merge: bool = Field(
        default=True,
        description="If the results of several drafts differ, merge the two strongest by one more request.",
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
        description="End the turn without a revision if an attempt runs and agrees with the code's result, if there is "
        "one, unless it gives nothing and looks for a text that its column does not hold, where the column holds "
        "exactly one like it.",
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


_NO_LOOP: dict[str, Any] = {
    "max_attempts": 1,
    "gate": False,
    "feedback_error": False,
    "feedback_names": False,
    "feedback_findings": False,
    "feedback_explanation": False,
    "feedback_contents": False,
    "feedback_result": False,
    "feedback_code": False,
}

_UNSAID: dict[str, Any] = {
    "clarify": False,
    "base_choice": "relevance",
    "conventions": "none",
    "today": "none",
    "own_examples": 0,
    "example_likeness": 0.0,
    "mark_used": False,
    "tell_unshown": False,
    "values": 0,
    "draft_again": False,
    "stop_cycles": False,
    "final": "last",
    "effort": "low",
    "mend_names": False,
    "verified": False,
    "readings": "off",
}
"""What is ours alone: no paper asks back, tells a model that, leaves out examples or answers with another attempt."""

PAPERS: dict[str, dict[str, Any]] = {
    # CREDIT-SQL: rephrasing to "Give me ..." (3.1), 18 voted examples of 20 clusterings (3.3), regularised SQL,
    # temperature 0 and 600 output tokens (4.2), one draft. Each question is rephrased after all earlier ones (3.1).
    "credit": {
        "preset": "credit",
        **_UNSAID,
        "rephrase": "always",
        "simplify": False,
        "history_window": 50,
        "examples": "voted",
        "n_voted": 18,
        "regular_examples": True,
        "m_votes": 20,
        "prompt_style": "credit",
        "schema_style": "credit",
        "link_schema": False,
        "base_sql": False,
        "temperature": 0.0,
        "max_output_tokens": 600,
        **_NO_LOOP,
    },
    # SQL-CRAFT: 5 examples by question (3), program of thought and the interactive-correction loop (2), which ends when
    # the SQL repeats; what the database returned goes back as CSV, or the error as it came, and nothing else. Its best
    # row of table 2 is IC-Loop with PoT. It has an upper limit of iterations but does not say which: 5 attempts.
    "craft": {
        "preset": "craft",
        **_UNSAID,
        "rephrase": "never",
        "simplify": False,
        "examples": "question",
        "k_question": 5,
        "prompt_style": "craft",
        "schema_style": "craft",
        "link_schema": False,
        "base_sql": False,
        "reason": "pot",
        "show_code_result": False,
        "max_attempts": 5,
        "gate": False,
        "converge": "sql",
        "feedback_error": True,
        "feedback_names": False,
        "feedback_findings": False,
        "feedback_explanation": False,
        "feedback_contents": False,
        "feedback_result": True,
        "feedback_code": False,
    },
    # Track-SQL: schema items over 0.1 in order of probability, found with a model's comments (2.2), the base SQL of the
    # related turn (2.3), the questions concatenated within a window of 5 turns, this one included (3.1), no rephrasing,
    # no examples, one draft.
    "track": {
        "preset": "track",
        **_UNSAID,
        "rephrase": "never",
        "simplify": False,
        "history_window": 4,
        "link_threshold": 0.1,
        "all_columns": True,
        "annotate": True,
        "examples": "none",
        "prompt_style": "track",
        "schema_style": "track",
        "base_sql": True,
        **_NO_LOOP,
    },
    # Revision chain: simplification at temperature 1.0, drafts at 0.5, 4 + 4 examples by skeletons (4.1.1), feedback of
    # error as it came or else the rows (section 1: execution results), explanation, and contents with the values that
    # the question mentions (3.2.1), ending when the result repeats (3.2.2). It does not give N_max: 5 attempts.
    "revision": {
        "preset": "revision",
        **_UNSAID,
        "rephrase": "never",
        "simplify": True,
        "simplify_temperature": 1.0,
        "temperature": 0.5,
        "examples": "skeleton",
        "k_question_skeleton": 4,
        "k_simplified_skeleton": 4,
        "prompt_style": "revision",
        "schema_style": "ddl",
        "skeleton_form": "plain",
        "skeleton_pool": 0,
        "show_simplified": False,
        "link_schema": False,
        "base_sql": False,
        "max_attempts": 5,
        "gate": False,
        "converge": "result",
        "feedback_error": True,
        "feedback_names": False,
        "feedback_findings": False,
        "feedback_explanation": True,
        "feedback_contents": True,
        "feedback_result": True,
        "feedback_code": False,
    },
}
"""Each paper's fields of `Settings` by its preset's name; what a paper does not fix is not among them."""
