"""Suites of small databases that tell gold from near misses (Zhong et al., 2020)."""

from __future__ import annotations

from .build import SuiteReport, build_random_suite, build_suite, check_output_folder

__all__ = ["SuiteReport", "build_random_suite", "build_suite", "check_output_folder"]
