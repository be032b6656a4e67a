"""Definitions of a business's words, checked against its database and found for questions.

>>> from tableturn.tools.database import Database
>>> from tableturn.tools.knowledge import Knowledge, read_knowledge
>>> with Database.open("shop.db") as database:
...     knowledge = Knowledge.of(read_knowledge("shop.knowledge.yaml"), database)
...     print([entry.name for entry in knowledge.find("How many active customers are there?").entries])
"""

from .entry import Entry, Selection
from .fragment import compile_definitions, used_entries
from .read import knowledge_path, knowledge_schema, read_knowledge
from .search import Knowledge, unknown_words
from .write import KnowledgeWriter

__all__ = [
    "Entry",
    "Knowledge",
    "KnowledgeWriter",
    "Selection",
    "compile_definitions",
    "knowledge_path",
    "knowledge_schema",
    "read_knowledge",
    "unknown_words",
    "used_entries",
]
