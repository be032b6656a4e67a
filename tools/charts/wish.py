"""The chart that a question asks for, read from its words by rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from .chart import Kind

_SORTS: dict[Kind, str] = {
    "stacked": r"stacked(?:\s+(?:bars?|columns?))?",
    "bar": r"(?:horizontal\s+|vertical\s+|grouped\s+)?(?:bars?|columns?)",
    "line": r"(?:time\s*series|lines?|trends?)",
    "area": r"areas?",
    "pie": r"(?:pie|donut|doughnut)",
    "point": r"(?:scatter|points?|dots?|bubble)",
}
_SORT = "|".join(f"(?P<{kind}>{words})" for kind, words in _SORTS.items())
_PICTURE = r"(?:charts?|plots?|graphs?|diagrams?|visuali[sz]ations?)"
_NOUN = (  # the last group that matches is named as the kind, with a line after it where that name is taken
    rf"(?:(?:nice|simple|small|quick)\s+)?(?:(?:{_SORT})\s*-?\s*)?{_PICTURE}"
    r"|(?P<histogram>histogram)|(?P<point_>scatter\s*plot)|(?P<pie_>pie)"
)
_NOUN_OR_SORT = _NOUN.replace(_PICTURE, f"{_PICTURE}?", 1)
_POLITE = r"(?:(?:please|now|then|and|also|ok(?:ay)?|can|could|would|will)\s*,?\s+(?:you\s+)?(?:please\s+)?)*"
_VERB = r"(?:plot|chart|graph|visuali[sz]e|draw)"
_GIVE = r"(?:show|give|make|create|draw|build|produce|generate|plot|i\s+(?:want|need|would\s+like)|i'd\s+like)"

_AS = re.compile(
    rf"[\s,;:]*(?:\b(?:and|then)\s+)?(?:\b(?:show|display|draw|plot|present|render)\s+(?:it|that|this|them|the\s+result)\s+)?"
    rf"\b(?:as\s+(?:an?\s+)?|(?:in|with|using|on)\s+an?\s+)(?:{_NOUN_OR_SORT})(?=[\s.?!,;]*$|\s+(?:of|for|with|showing)\b)",
    re.IGNORECASE,
)
_OF = re.compile(
    rf"^\s*{_POLITE}(?!(?:an?\s+|the\s+)?plots?\s+of\b)"  # which a film has too
    rf"(?:{_GIVE}\s+(?:me\s+)?)?(?:it\s+|that\s+|this\s+|them\s+)?(?:an?\s+|the\s+)?(?:{_NOUN})"
    r"(?:\s+(?:of|for|showing|with|that\s+shows)\s+|[\s.?!]*$)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(rf"^\s*{_POLITE}{_VERB}\s+(?:me\s+)?(?=\S)(?!(?:of|is|was|for)\b)", re.IGNORECASE)
_AND_PLOT = re.compile(
    rf"(?:[\s,;]*\b(?:and|then)\s+(?:then\s+)?|[.;?!]\s*(?:please\s+)?){_VERB}\s+"
    r"(?:it|that|this|them|the\s+results?)(?=[\s.?!]*$)",
    re.IGNORECASE,
)
_THAT = re.compile(
    r"(?:(?:now|please|then|and|also|ok(?:ay)?)\b[\s,;:]*)*[\s,;:]*(?:(?:show|give|draw|display|plot|make)(?:\s+me)?\s*)?"
    r"(?:it|that|this|them|those|these|the\s+(?:same|results?|answer|data|numbers|rows))?(?:\s+again)?[\s.?!]*",
    re.IGNORECASE,
)
_AXES = re.compile(
    r"^(?P<y>.+?)\s+(?:(?P<against>against|vs\.?|versus)|by|per|over|for\s+each|for\s+every|across|in\s+each)\s+"
    r"(?:the\s+)?(?P<x>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_SPLIT = re.compile(r",|\band\b|\bby\b|\bper\b|\bsplit\b|\bcolou?red\b", re.IGNORECASE)
_TOO_LONG = 2_000


@dataclass(frozen=True)
class ChartRequest:
    """A chart that a question asks for."""

    kind: Kind | None  # None where any will do
    question: str  # without the words about the picture; empty where it is about the answer before
    y: str = ""  # words for what is measured, as the question has them
    x: tuple[str, ...] = ()  # words for what it is measured by, the first for the axis
    measure: int | None = None  # the place of the only column to measure, if a person chose one


def parse_request(question: str) -> ChartRequest | None:
    """Return the chart that a question asks for; None if it does not ask for a chart.

    Words such as `plot` and `chart` count where they are what is asked for ("plot sales by month", "sales by month as
    a bar chart"), not where they are what the data is about ("the plot of each film").
    """
    if len(question) > _TOO_LONG:
        return None
    kind, text, is_wish = None, question, False
    for pattern in (_AS, _AND_PLOT, _OF, _IMPERATIVE):
        if match := pattern.search(text):
            is_wish = True
            kind = kind or (cast("Kind", match.lastgroup.rstrip("_")) if match.lastgroup else None)
            lead = "Show " if pattern in (_OF, _IMPERATIVE) else ""
            text = lead + (text[: match.start()] + " " + text[match.end() :]).strip()
    if not is_wish:
        return None
    if _THAT.fullmatch(text):
        return ChartRequest(kind, "")
    axes = _AXES.match(text.strip(" .?!"))
    if kind is None and re.search(r"\bover (?:time|the (?:years|months|days))\b", text, re.IGNORECASE):
        kind = "line"
    if axes is None:
        return ChartRequest(kind, text, text)
    kind = kind or ("point" if axes["against"] else None)
    return ChartRequest(kind, text, axes["y"], tuple(part.strip() for part in _SPLIT.split(axes["x"]) if part.strip()))
