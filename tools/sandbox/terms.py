"""The limits of a run, and its result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..database.table import Table
from ..errors import SettingsError
from .static_check import CODE_BYTES

Boundary = Literal["kernel", "without_landlock", "none_i_trust_this_code"]
"""How strong the boundary must be: seccomp and Landlock; seccomp alone, which closes every file and socket too, but
singly; or no boundary at all, for a person who says so in so many words."""

_CHOOSE = f"choose one of {', '.join(get_args(Boundary))}"
_DAY = 86_400.0
# No machine has more, and the kernel's and Arrow's counters still have room.
_MAXIMUM = 2**50
_MINIMUMS: Mapping[str, int] = {
    "memory_bytes": 1, "input_bytes": 0, "output_chars": 0, "rows": 0, "result_bytes": 1, "frame_rows": 1,
    "code_bytes": 1,
}  # fmt: skip

SANDBOX_VARIABLE = "TABLETURN_SANDBOX"  # names a boundary for tools that were given no limits


@dataclass(frozen=True)
class SandboxLimits:
    """The limits of one sandbox run; exceeding one ends the run with an error."""

    seconds: float = 10.0  # of the worker, on the clock and of CPU; and as much for reading all frames
    memory_bytes: int = 1_000_000_000  # what the code may allocate beyond what the warm parent brings along
    input_bytes: int = 200_000_000  # all frames together, as sent; and all their values together when they are read
    output_chars: int = 10_000  # printed text; what goes beyond is dropped
    rows: int = 1_000  # of the result; more mark it as truncated
    result_bytes: int = 5_000_000  # the whole reply
    frame_rows: int = 100_000  # from one table; larger tables are sampled
    boundary: Boundary = "kernel"  # a weaker one is never taken silently
    code_bytes: int = CODE_BYTES  # in UTF-8; code is parsed here before it runs there

    def __post_init__(self) -> None:
        seconds: object = vars(self)["seconds"]
        if not isinstance(seconds, int | float) or not 0 < seconds <= _DAY:
            raise SettingsError(f"the sandbox's seconds cannot be {self.seconds!r}: choose up to {_DAY:,.0f}")
        for name, least in _MINIMUMS.items():
            number: object = getattr(self, name)
            if not isinstance(number, int) or not least <= number <= _MAXIMUM:
                raise SettingsError(f"the sandbox's {name} cannot be {number!r}: choose from {least} to 2**50")
        if self.boundary not in get_args(Boundary):
            raise SettingsError(f"the sandbox's boundary cannot be {self.boundary!r}: {_CHOOSE}")


def get_default_sandbox_limits() -> SandboxLimits:
    """Return the default limits with the boundary that `TABLETURN_SANDBOX` names.

    It is no setting of the agent: whoever runs a turn may change those, and how strong the boundary must be is for
    who runs the machine to say. If it names no boundary, SettingsError is raised.
    """
    name = os.environ.get(SANDBOX_VARIABLE, "") or SandboxLimits.boundary
    for boundary in get_args(Boundary):
        if name == boundary:
            return SandboxLimits(boundary=boundary)
    raise SettingsError(f"{SANDBOX_VARIABLE} is {name!r}: {_CHOOSE}")


@dataclass(frozen=True)
class SandboxResult:
    """The result of code that ran in the sandbox: table, printed text or error."""

    table: Table | None  # the code's answer as rows; None where it gave none
    output: str  # what it printed
    error: str | None  # what went wrong, for the author of the code; None if nothing did
    elapsed: float  # seconds, from the call to the answer
    timed_out: bool = False
    # How many leading columns come from the answer's index (the keys of a group-by), perhaps not meant to be shown.
    index_columns: int = 0
    # Whether the answer was single values under labels (a dictionary, a row of a frame): a dictionary comes as a row
    # for each, anything else as one row; either could be meant.
    labelled: bool = False
