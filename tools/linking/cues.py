"""Words of a question that say what kind of answer is wanted, whatever the database."""

from __future__ import annotations

import re
from collections.abc import Mapping

_CUES: Mapping[str, str] = {
    "all_columns": r"(all (of )?(the )?(information|info|details?|columns|fields|data|attributes)|everything|"
    r"(information|info|details) (of|on|about|for))",
    "count": r"(how many|number of|count|amount of)",
    "those": r"(th(ose|ese|em|ey)|ones?)",
    "their": r"(their|its?|his|her|he|she|him)",
    "this": r"(this|that|it|same)",
    "also": r"(also|too|as well|add|include|along with|besides)",
    "instead": r"(instead|rather|what about|how about|change|only|just)",
    "measures": r"(average|avg|mean|total|sum|max(imum)?|min(imum)?|most|least|more|less|fewer|greater|over|under|"
    r"above|below|(high|low|larg|small|old|young|long|short|heav|big|cheap|great)(er|est)|ier|iest|between)",
    "most": r"(most|least|fewest|top|maximum|minimum|highest|lowest|largest|smallest|best|first|last)",
    "average": r"(average|avg|mean|total|sum)",
    "times": r"(when|dates?|years?|months?|days?|times?|recent(ly)?|earl(y|ier|iest)|lat(er|est)|since)",
    "who": r"(who|whose|whom|people|person)",
    "where": r"(where|located|location|place)",
    "name": r"(names?|called|named|titles?)",
    "identify": r"(ids?|identifiers?|codes?|numbers?)",
    "each": r"(each|every|per|by|respective(ly)?|group(ed)?)",
    "distinct": r"(different|distinct|unique|various)",
    "order": r"(sort(ed)?|order(ed)?|rank(ed)?|alphabetical(ly)?|ascending|descending)",
    "not": r"(not|no|never|without|n't|except|other|don|doesn|didn|haven|hasn)",
    "have": r"(ha(ve|s|d)|with|own(s|ed)?|belong(s|ing)?)",
    "many": r"(both|and|or|any|some)",
    "which": r"(which|what|show|list|give|find|tell)",
    "thanks": r"(thanks?|great|ok(ay)?|good|cool|please|nice|no)",
}
_PATTERNS = {cue: re.compile(rf"\b{pattern}\b", re.IGNORECASE) for cue, pattern in _CUES.items()}

CUES = tuple(_CUES)
"""The cues, by name."""


def cues(question: str) -> dict[str, float]:
    """1 for each cue that a question holds, else 0."""
    return {cue: float(pattern.search(question) is not None) for cue, pattern in _PATTERNS.items()}
