"""What a run may cost, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..database.table import Table

Boundary = Literal["kernel", "without_landlock", "none_i_trust_this_code"]
"""How strong the boundary must be: seccomp and Landlock; seccomp alone, which closes every file and socket too, but
singly; or no boundary at all, for a person who says so in so many words."""

SANDBOX_VARIABLE = "TABLETURN_SANDBOX"
"""The environment variable that names a boundary for tools that were given no limits."""


@dataclass(frozen=True)
class SandboxLimits:
    """Limits of one run. Passing one ends the run with an error in its result.

    Attributes:
        seconds: Wall-clock time of the worker, CPU time too. 10 s, since pandas is slower than SQL.
        memory_bytes: What the code may allocate beyond what the warm parent brings along.
        input_bytes: All frames together, as sent.
        output_chars: Printed text that is kept; what goes beyond is dropped.
        rows: Rows of the result that are kept; more mark it as truncated.
        result_bytes: The whole reply.
        frame_rows: Rows loaded from one table; larger tables are sampled.
        boundary: How strong the boundary must be; a weaker one is never taken silently.
    """

    seconds: float = 10.0
    memory_bytes: int = 1_000_000_000
    input_bytes: int = 200_000_000
    output_chars: int = 10_000
    rows: int = 1_000
    result_bytes: int = 5_000_000
    frame_rows: int = 100_000
    boundary: Boundary = "kernel"


@dataclass(frozen=True)
class SandboxResult:
    """What a run gave.

    Attributes:
        table: The code's answer as rows; None where it gave none.
        output: What it printed.
        error: What went wrong, for the author of the code; None if nothing did.
        elapsed: Seconds, from the call to the answer.
        timed_out: Whether the time limit ended it.
        index_columns: How many leading columns of `table` come from the answer's index (the keys of a group-by) and
            were perhaps not meant to be shown.
    """

    table: Table | None
    output: str
    error: str | None
    elapsed: float
    timed_out: bool = False
    index_columns: int = 0
