"""What a question leaves open, as queries that differ from a written one in that alone.

>>> from tableturn.tools.readings import Said, rivals
>>> [rival.words for rival in rivals("SELECT count(*) FROM orders", schema, Said("How many orders do we have?"))]
['without returned and cancelled orders']
"""

from .compare import Agreement, Outcome, Ran, outcome_of, shown, told
from .reading import Look, Matter, Rival, Said
from .rivals import MOST, rivals

__all__ = [
    "MOST",
    "Agreement",
    "Look",
    "Matter",
    "Outcome",
    "Ran",
    "Rival",
    "Said",
    "outcome_of",
    "rivals",
    "shown",
    "told",
]
