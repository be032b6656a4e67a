"""Chat models: their choice, requests, replies, errors and budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tools import make_lazy_importer

if TYPE_CHECKING:
    from .chat import PromptedTranslator, TranslatorOptions
    from .choose_model import OFFLINE, choose_model_name, get_model_label, resolve_model
    from .replies import get_reply_usage, is_model_out_of_reach, make_model_error
    from .track_record import ModelRunRecord, append_run_record, check_record_file, get_record_file_path, read_records
    from .turn_budget import TRIES, BudgetReached, TurnBudget, compute_node_budget

__all__ = [
    "OFFLINE",
    "TRIES",
    "BudgetReached",
    "ModelRunRecord",
    "PromptedTranslator",
    "TranslatorOptions",
    "TurnBudget",
    "append_run_record",
    "check_record_file",
    "choose_model_name",
    "compute_node_budget",
    "get_model_label",
    "get_record_file_path",
    "get_reply_usage",
    "is_model_out_of_reach",
    "make_model_error",
    "read_records",
    "resolve_model",
]

# Effects need replies and chats need effects; and a file of records needs no client of a model.
__getattr__ = make_lazy_importer(
    __name__,
    {
        "chat": "PromptedTranslator TranslatorOptions",
        "choose_model": "OFFLINE choose_model_name get_model_label resolve_model",
        "replies": "get_reply_usage is_model_out_of_reach make_model_error",
        "track_record": "ModelRunRecord append_run_record check_record_file get_record_file_path read_records",
        "turn_budget": "TRIES BudgetReached TurnBudget compute_node_budget",
    },
)
