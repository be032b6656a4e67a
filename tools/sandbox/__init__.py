"""The sandbox, which runs a model's pandas code inside a boundary of the kernel.

>>> from tableturn.tools.sandbox import run_on_database
>>> result, loaded = run_on_database("result = db_dict['orders'].groupby('country').size()", database)
>>> result.table, loaded.notes

The code runs in a process of its own, forked from a warm parent that has pandas loaded. It can compute, and write its
answer to a pipe; every other door is closed by seccomp and Landlock, whatever the code does to get at it.
"""

from typing import TYPE_CHECKING

from .. import make_lazy_importer

if TYPE_CHECKING:
    from .agreement import ResultComparison, compare_code_and_sql_results
    from .frames import LoadedFrames, load_frames
    from .run import find_sandbox_problem, run_on_database, run_python, warm_up
    from .static_check import find_code_problem
    from .terms import Boundary, SandboxLimits, SandboxResult, get_default_sandbox_limits

__all__ = [
    "Boundary",
    "LoadedFrames",
    "ResultComparison",
    "SandboxLimits",
    "SandboxResult",
    "compare_code_and_sql_results",
    "find_code_problem",
    "find_sandbox_problem",
    "get_default_sandbox_limits",
    "load_frames",
    "run_on_database",
    "run_python",
    "warm_up",
]

# The processes that run queries stand behind the same boundary, and have no need of the rest.
__getattr__ = make_lazy_importer(
    __name__,
    {
        "agreement": "ResultComparison compare_code_and_sql_results",
        "frames": "LoadedFrames load_frames",
        "run": "run_on_database run_python find_sandbox_problem warm_up",
        "static_check": "find_code_problem",
        "terms": "Boundary SandboxLimits SandboxResult get_default_sandbox_limits",
    },
)
