"""The published Spider-family evaluators' judgement in our own code, their faults included: EX, EM and difficulty.

The tool that defines it is the test-suite evaluator (Zhong et al., 2020), which took over exact set match and
difficulty from Spider's first evaluator (Yu et al., 2018). Where it errs, this package errs in the same way, and the
docstring there says so.
"""

from __future__ import annotations

from .exact_match import (
    Names,
    Unparsed,
    differing_clauses,
    exact_set_match,
    hardness,
    parse,
    read_foreign_key_maps,
)
from .execution import MANIFEST, OfficialDatabases, execute_both, suite_files

__all__ = [
    "MANIFEST",
    "Names",
    "OfficialDatabases",
    "Unparsed",
    "differing_clauses",
    "exact_set_match",
    "execute_both",
    "hardness",
    "parse",
    "read_foreign_key_maps",
    "suite_files",
]
