"""Definitions of a business's words, checked against its database and found for questions.

>>> from tableturn.tools.database import Database
>>> from tableturn.tools.knowledge import Knowledge, read_knowledge
>>> with Database.open("shop.db") as database:
...     knowledge = Knowledge.of(read_knowledge("shop.knowledge.yaml"), database)
...     print([entry.name for entry in knowledge.find("How many active customers are there?").entries])
"""

from .entry import Entry, SelectedEntries
from .fragment import expand_named_definitions, find_used_entries
from .read import build_knowledge_json_schema, knowledge_path, read_knowledge
from .search import Knowledge, find_unknown
from .write import KnowledgeWriter

__all__ = [
    "Entry",
    "Knowledge",
    "KnowledgeWriter",
    "SelectedEntries",
    "build_knowledge_json_schema",
    "expand_named_definitions",
    "find_unknown",
    "find_used_entries",
    "knowledge_path",
    "read_knowledge",
]
