"""The basis of an answer, read from its query, the schema and the data.

>>> from tableturn.tools.basis import basis_of
>>> from tableturn.tools.sql import Query
>>> query = Query.of("SELECT country, count(*) FROM customers GROUP BY country", "sqlite", schema)
>>> basis_of(query, "customers by country").grain
'one row per country'
"""

from .basis import Basis, DateUse, Filter, Origin, basis_of
from .dates import NewestDates

__all__ = ["Basis", "DateUse", "Filter", "NewestDates", "Origin", "basis_of"]
