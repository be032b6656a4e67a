"""Other readings of a question, as queries that differ from the written one in one matter.

>>> from tableturn.tools.readings import QuestionContext, rivals
>>> found = rivals("SELECT count(*) FROM orders", schema, QuestionContext("How many orders do we have?"))
>>> [rival.words for rival in found]
['without returned and cancelled orders']
"""

from .compare import Agreement, Outcome, ReadingResult, outcome_of, short_cell, summarize
from .reading import Look, QuestionContext, Rival
from .rivals import rivals

__all__ = [
    "Agreement",
    "Look",
    "Outcome",
    "QuestionContext",
    "ReadingResult",
    "Rival",
    "outcome_of",
    "rivals",
    "short_cell",
    "summarize",
]
