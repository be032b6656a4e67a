"""Query frames: what a query asks as frozen data, from SQL and back to it, edited, and as one plain sentence.

>>> frame = read_sql("SELECT name FROM singer WHERE age > 20", schema)
>>> build(replace(frame, limit=3), schema).sql("sqlite")
'SELECT Name FROM singer WHERE Age > 20 LIMIT 3'
>>> give_me(frame)
'Give me the name of singers where the age is more than 20.'
"""

from .build import build, joined
from .edit import complement, counted, holder, meeting, narrowed, per_group, picked, respelled, rows_of
from .frame import Aggregate, Column, Condition, Frame, Operator, Scalar, SetOperator, Term, Value
from .phrase import give_me
from .read import read_sql

__all__ = [
    "Aggregate",
    "Column",
    "Condition",
    "Frame",
    "Operator",
    "Scalar",
    "SetOperator",
    "Term",
    "Value",
    "build",
    "complement",
    "counted",
    "give_me",
    "holder",
    "joined",
    "meeting",
    "narrowed",
    "per_group",
    "picked",
    "read_sql",
    "respelled",
    "rows_of",
]
