"""The sandbox, which runs a model's pandas code inside a boundary of the kernel.

>>> from tableturn.tools.sandbox import run_on_database
>>> result, loaded = run_on_database("result = db_dict['orders'].groupby('country').size()", database)
>>> result.table, loaded.notes

The code runs in a process of its own, forked from a warm parent that has pandas loaded. It can compute, and write its
answer to a pipe; every other door is closed by seccomp and Landlock, whatever the code does to get at it.
"""

from typing import TYPE_CHECKING

from .. import lazy_importer

if TYPE_CHECKING:
    from .agreement import Comparison, results_agree
    from .frames import Frames, load_frames
    from .run import run_on_database, run_python, sandbox_available, warm_up
    from .static_check import refuse
    from .terms import Boundary, SandboxLimits, SandboxResult, default_limits

__all__ = [
    "Boundary",
    "Comparison",
    "Frames",
    "SandboxLimits",
    "SandboxResult",
    "default_limits",
    "load_frames",
    "refuse",
    "results_agree",
    "run_on_database",
    "run_python",
    "sandbox_available",
    "warm_up",
]

# The processes that run queries stand behind the same boundary, and have no need of the rest.
__getattr__ = lazy_importer(
    __name__,
    {
        "agreement": "Comparison results_agree",
        "frames": "Frames load_frames",
        "run": "run_on_database run_python sandbox_available warm_up",
        "static_check": "refuse",
        "terms": "Boundary SandboxLimits SandboxResult default_limits",
    },
)
