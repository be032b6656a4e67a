"""A ledger of rows: what the joins of a query leave out or repeat, counted in the data.

>>> from tableturn.tools.ledger import build_query_ledger
>>> from tableturn.tools.sql import read_query
>>> ledger = build_query_ledger(read_query(sql, schema), lambda counting: database.execute(counting).rows)
>>> ledger.line
'97 of 100 sales have no matching product and are left out.'
"""

from .count import Count, build_query_ledger
from .ledger import JoinCount, Ledger, MissingCount, NewestDate, VariantCount
from .path import NotCountedError

__all__ = [
    "Count",
    "JoinCount",
    "Ledger",
    "MissingCount",
    "NewestDate",
    "NotCountedError",
    "VariantCount",
    "build_query_ledger",
]
