"""What the environment says of the sandbox.

It is no setting of the agent: whoever runs a turn may change those, and how strong the boundary must be is for who
runs the machine to say.
"""

from __future__ import annotations

import os
from typing import get_args

from ..errors import SettingsError
from .terms import SANDBOX_VARIABLE, Boundary, SandboxLimits


def default_limits() -> SandboxLimits:
    """The default limits, with the boundary that `TABLETURN_SANDBOX` names.

    Raises:
        SettingsError: It names no boundary.
    """
    said = os.environ.get(SANDBOX_VARIABLE)
    if not said:
        return SandboxLimits()
    for boundary in get_args(Boundary):
        if said == boundary:
            return SandboxLimits(boundary=boundary)
    raise SettingsError(f"{SANDBOX_VARIABLE} is {said!r}: choose one of {', '.join(get_args(Boundary))}")
