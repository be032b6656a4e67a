"""Chat models: their choice, requests, replies, errors and budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tools import make_lazy_importer

if TYPE_CHECKING:
    from .chat import PromptedTranslator, TranslatorOptions
    from .choose_model import choose_model_name, get_model_label, resolve_model
    from .replies import explain_model_failure, get_reply_usage
    from .track_record import ModelRunRecord, append_run_record, check_record_file, get_record_file_path, read_records
    from .turn_budget import BudgetReached, TurnBudget, compute_node_budget

__all__ = [
    "BudgetReached",
    "ModelRunRecord",
    "PromptedTranslator",
    "TranslatorOptions",
    "TurnBudget",
    "append_run_record",
    "check_record_file",
    "choose_model_name",
    "compute_node_budget",
    "explain_model_failure",
    "get_model_label",
    "get_record_file_path",
    "get_reply_usage",
    "read_records",
    "resolve_model",
]

# Effects need replies and chats need effects; and a file of records needs no client of a model.
__getattr__ = make_lazy_importer(
    __name__,
    {
        "chat": "PromptedTranslator TranslatorOptions",
        "choose_model": "choose_model_name get_model_label resolve_model",
        "replies": "explain_model_failure get_reply_usage",
        "track_record": "ModelRunRecord append_run_record check_record_file get_record_file_path read_records",
        "turn_budget": "BudgetReached TurnBudget compute_node_budget",
    },
)
