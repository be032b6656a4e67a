"""The basis of an answer, read from its query, the schema and the data.

>>> from tableturn.tools.basis import build_query_basis
>>> from tableturn.tools.sql import Query
>>> query = Query.of("SELECT country, count(*) FROM customers GROUP BY country", "sqlite", schema)
>>> build_query_basis(query, "customers by country").grain
'one row per country'
"""

from .basis import Basis, DateUse, Filter, Origin, build_query_basis
from .dates import NewestDateCache

__all__ = ["Basis", "DateUse", "Filter", "NewestDateCache", "Origin", "build_query_basis"]
