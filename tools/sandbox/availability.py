"""Whether code can be run here, and if not, why."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

from .boundary import MISSING_LANDLOCK, MISSING_SECCOMP, has_seccomp, landlock_version
from .syscalls import MACHINES, this_machine
from .terms import SANDBOX_VARIABLE, Boundary


def sandbox_available(boundary: Boundary = "kernel") -> str | None:
    """Why code cannot be run with this boundary, in one line; None if it can."""
    lacking = _lacking(boundary)
    return lacking and f"reasoning with code is off: {lacking}"


def _lacking(boundary: Boundary) -> str | None:
    if sys.platform != "linux":
        return f"the sandbox needs Linux; this is {platform.system()}"
    if missing := [name for name in ("pandas", "pyarrow") if find_spec(name) is None]:
        return f"{' and '.join(missing)} missing; install tableturn[reason]"
    if boundary == "none_i_trust_this_code":
        return None
    if this_machine() is None:
        return f"the sandbox knows {' and '.join(MACHINES)}; this processor is {platform.machine()}"
    if not has_seccomp():
        return MISSING_SECCOMP
    if boundary == "kernel" and landlock_version() == 0:
        return f"{MISSING_LANDLOCK}; {SANDBOX_VARIABLE}=without_landlock accepts that"
    return None
