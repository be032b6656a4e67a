"""What an answer rests on: the query's own account of itself, with what its result and the data add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...tools.basis import Basis, Origin, basis_of
from ...tools.errors import SQLParseError
from ..advice import advisory
from ..context.inputs import as_asked
from ..records import Attempt, Readings, Turn, UsedKnowledge
from ..resources import Run

_LONGEST = 20_000


@advisory("basis", None)
def basis_for(
    chosen: Attempt | None, turn: Turn, run: Run, used: Sequence[UsedKnowledge], readings: Readings
) -> Basis | None:
    """What the query of an answer rests on, looked up within an effect; None where there is none that can be read."""
    if chosen is None or chosen.result is None or len(chosen.sql) > _LONGEST:
        return None
    try:
        found = basis_of(
            chosen.sql,
            run.resources.database.schema(),
            as_asked(turn),
            turn.values,
            origin=_origin(chosen, used, run),
        )
    except SQLParseError:
        return None
    date = found.date
    if date is not None:
        date = replace(date, newest=run.resources.newest.of(date.table, date.column))
    result = chosen.result
    cut = f"the first {result.row_count:,} rows" if result.truncated and not result.withheld else found.cut
    return replace(
        found,
        date=date,
        cut=cut,
        ties=_ties(found.ties, readings),
        definitions=tuple(entry.name for entry in used if entry.name),
        assumed=tuple(
            dict.fromkeys(reading.assumed for reading in readings.tried if reading.says and reading.matter != "ties")
        ),
        readings=readings.line,
    )


def _origin(chosen: Attempt, used: Sequence[UsedKnowledge], run: Run) -> Origin:
    if chosen.source in ("verified", "edited"):
        return "verified" if chosen.source == "verified" else "edited"
    if run.resources.translator(run.settings).name == "offline":
        return "offline"
    return "definition" if any(entry.sql for entry in used) else "generated"


def _ties(said: str, readings: Readings) -> str:
    """What becomes of ties, now that somebody has looked."""
    looked = next((reading for reading in readings.tried if reading.matter == "ties"), None)
    if looked is None:
        return said
    return f"ties with the last row are cut ({looked.says})" if looked.says else "nothing ties with the last row"
