"""Running a model's pandas code inside a boundary that the kernel keeps.

>>> from tableturn.tools.sandbox import load_frames, run_python
>>> code = "result = db_dict['orders'].groupby('country').size()"
>>> run_python(code, load_frames(code, database).frames).table

The code runs in a process of its own, forked from a warm parent that has pandas loaded. It can compute, and write its
answer to a pipe; every other door is closed by seccomp and Landlock, whatever the code does to get at it.
"""

from .agreement import Comparison, results_agree
from .availability import sandbox_available
from .environment import default_limits
from .frames import Frames, load_frames
from .run import run_python
from .static_check import refuse
from .terms import Boundary, SandboxLimits, SandboxResult

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
    "run_python",
    "sandbox_available",
]
