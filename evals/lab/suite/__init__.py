"""Test suites: small databases that tell a gold query from queries that are nearly right (Zhong et al., 2020)."""

from __future__ import annotations

from .build import SuiteReport, build_random_suite, build_suite, check_folder

__all__ = ["SuiteReport", "build_random_suite", "build_suite", "check_folder"]
