"""`import tableturn`: the names that a program starts from."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import tableturn
from tableturn.evals import trial
from tableturn.evals.impact import Impact
from tableturn.tools.deprecation import Deprecated

from tests.test_packaging import imported_names, modules


def test_every_name_is_there() -> None:
    assert {"Answer", "Database", "SQLAgent", "Settings", "__version__"} <= set(tableturn.__all__)
    assert all(hasattr(tableturn, name) for name in tableturn.__all__)
    assert set(tableturn.__all__) <= set(dir(tableturn))


def test_it_is_the_same_as_its_home() -> None:
    from tableturn import Database, SQLAgent
    from tableturn.agent.sqlagent import SQLAgent as Same
    from tableturn.tools.database import Database as SameDatabase

    assert (SQLAgent, Database) == (Same, SameDatabase)


def test_the_version_has_one_place() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    assert tableturn.__version__ == version("tableturn") == project["version"]


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tableturn.nonsense


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        ("tableturn.agent", "Saved", "SavedAnswer"),
        ("tableturn.serve", "Limits", "ServerLimits"),
    ],
)
def test_old_names_are_told_and_work(package: str, old: str, new: str) -> None:
    with pytest.warns(Deprecated, match=f"{package}.{old}; use {package}.{new}"):
        assert getattr(import_module(package), old) is getattr(import_module(package), new)


def test_old_attributes_are_told_and_work() -> None:
    with pytest.warns(Deprecated, match=r"Impact\.kept; use kept_share"):
        assert Impact(()).kept is None
    assert "pictured" in vars(tableturn.Answer)
    with pytest.warns(Deprecated, match="use tableturn.evals.trial.compare_trials"):
        assert trial.compared is trial.compare_trials


def test_importing_it_loads_nothing_else() -> None:
    code = (
        "import sys, tableturn\n"
        "print([name for name in sys.modules if name.startswith('tableturn.') or name in ('langgraph', 'pandas')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


EVALUATION: dict[str, str] = {
    "agent": "Answer Conversation SQLAgent Settings TableturnError make_settings",
    "agent.cli": "RootCommandGroup",
    "agent.context": "describe_whole_schema",
    "agent.effects": "BudgetTracker QUERY_NUMBER Translator arun ask",
    "agent.evidence": "TrustBound compute_fingerprints get_trust_file_path read_trust_bounds write_trust_bound",
    "agent.model": "BudgetReached ModelRunRecord PromptedTranslator TranslatorOptions TurnBudget append_run_record "
    "check_record_file choose_model_name compute_node_budget explain_model_failure get_model_label "
    "get_record_file_path get_reply_usage read_records resolve_model",
    "agent.options": "AnnotatorOption EmbeddingOption OFFLINE_LINE PresetOption PriceOption SettingsOption UrlOption "
    "expand_options is_model_unnamed",
    "agent.records": "PlainResult Usage convert_cell make_plain_result",
    "agent.settings": "read_settings_file uses_code_result",
    "prompts.generate": "DialogueExample DialogueQueryTask",
    "prompts.judge": "JudgeTask JudgedQuery Kind QueryVerdict QueryVerdictPair Word",
    "prompts.templating": "estimate_tokens",
    "tools.database": "Cell Database Limits Schema Table hide_url_secrets quote render_schema",
    "tools.errors": "DatabaseUnavailable ModelError NotUnderstood QueryError QueryFailed QueryRejected QueryTimeout "
    "ReplyError ResultTooLarge SQLParseError SettingsError TableturnError",
    "tools.examples": "ENOUGH_SHARED VERIFIED database_identity get_store_folder has_example_store "
    "is_example_of_database open_existing",
    "tools.deprecation": "make_old_names make_old_property",
    "tools.knowledge": "Entry read_knowledge",
    "tools.linking": "PastTurn STAR",
    "tools.record_files": "decode_text read_file read_json read_lines read_records read_text_file",
    "tools.results": "WorkLimit can_match_columns same_result",
    "tools.sandbox": "find_sandbox_problem get_default_sandbox_limits",
    "tools.sql": "ALL_COLUMNS Query check_has_queries explain find_requested_tables find_used_schema_items is_ordered "
    "read_query regularize return_default_if_unparsable split_statements",
    "tools.terminal": "say warn",
    "tools.validation": "describe_fault",
    "tools.whole_files": "append_lines find_incomplete_last_line write_text_atomically",
    "tools.words": "FUNCTION_WORDS format_count stem_name stem_word stems words",
}
"""What `evals/` takes of the other rooms, by module. The laboratory measures their insides, and takes what it likes."""


def test_evaluation_uses_what_is_public() -> None:
    """Names that a package gives, or a module at the top of a room: what lies deeper may change."""
    used: dict[str, set[str]] = {}
    for name, path in modules():
        if name.startswith("evals") and not name.startswith("evals.lab"):
            for module, names in imported_names(name, path):
                if module != "tableturn" and not module.startswith("evals"):
                    used.setdefault(module, set()).update(names)
    assert used == {module: set(names.split()) for module, names in EVALUATION.items()}
    for module, names in used.items():
        home = import_module(f"tableturn.{module}")
        assert hasattr(home, "__path__") or module.count(".") == 1, module
        if hasattr(home, "__path__"):
            assert names <= set(home.__all__), module
        assert not [one for one in names if one.startswith("_")], module
