"""The four papers' published configurations."""

from __future__ import annotations

from typing import Any

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
    "tell_unheld": False,
    "values": 0,
    "draft_again": False,
    "stop_cycles": False,
    "final": "last",
    "effort": "low",
    "mend_names": False,
    "verified": False,
    "second_reading": False,
    "readings": "off",
}
"""What is ours alone: no paper asks back, tells a model that, leaves out examples or answers with another attempt."""

PAPERS: dict[str, dict[str, Any]] = {
    # CREDIT-SQL: rephrasing to "Give me ..." (3.1), 18 voted examples of 20 clusterings (3.3), regularised SQL,
    # temperature 0 and 600 output tokens (4.2), one draft.
    "credit": {
        "preset": "credit",
        **_UNSAID,
        "rephrase": "always",
        "simplify": False,
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
