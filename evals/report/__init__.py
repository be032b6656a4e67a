"""One self-contained page about one or more finished runs."""

from __future__ import annotations

from .page import write_report

__all__ = ["write_report"]
