"""Definitions of a business's words, checked against its database and found for questions.

>>> from tableturn.tools.database import Database
>>> from tableturn.tools.knowledge import Knowledge, read_knowledge
>>> with Database.open("shop.db") as database:
...     knowledge = Knowledge.of(read_knowledge("shop.knowledge.yaml"), database)
...     print([entry.name for entry in knowledge.find("How many active customers are there?").entries])
"""

from .entry import Entry
from .read import build_knowledge_json_schema, knowledge_path, read_knowledge
from .search import Knowledge

__all__ = ["Entry", "Knowledge", "build_knowledge_json_schema", "knowledge_path", "read_knowledge"]
