"""What the gate saves: how many questions end after one call, and their EX against that of the rest."""

from __future__ import annotations

from .registry import BenchOptions
from .replayed import SYSTEMS, Replayed, share


def run(options: BenchOptions) -> dict[str, object]:
    """`one_call_share`, `ex_gated`, `ex_rest`, from 0 to 1, with DAIL-SQL's drafts revised by DIN-SQL's."""
    replayed = Replayed.load(options.folder, options.limit)
    judged = replayed.play([replayed.predictions[name] for name in SYSTEMS[:2]], {})
    return {
        "n": len(judged),
        "one_call_share": share([one.record.calls == 1 for one in judged]),
        "ex_gated": share([one.right for one in judged if one.record.calls == 1]),
        "ex_rest": share([one.right for one in judged if one.record.calls > 1]),
    }
