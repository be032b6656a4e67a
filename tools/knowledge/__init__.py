"""What the business means: definitions of a database's words, checked against it, and found for a question.

>>> from tableturn.tools.database import Database
>>> from tableturn.tools.knowledge import Knowledge, read_knowledge
>>> with Database.open("shop.db") as database:
...     knowledge = Knowledge.of(read_knowledge("shop.knowledge.yaml"), database)
...     print([entry.name for entry in knowledge.find("How many active customers are there?").entries])
"""

from .check import Problem
from .compile import compiled, names_definition
from .entry import Entry, EntryKind, Selection
from .file import KnowledgeFile, knowledge_schema
from .knowledge import Knowledge
from .place import knowledge_path
from .read import read_knowledge
from .unknown import unknown_words
from .used import used_entries
from .write import KnowledgeWriter

__all__ = [
    "Entry",
    "EntryKind",
    "Knowledge",
    "KnowledgeFile",
    "KnowledgeWriter",
    "Problem",
    "Selection",
    "compiled",
    "knowledge_path",
    "knowledge_schema",
    "names_definition",
    "read_knowledge",
    "unknown_words",
    "used_entries",
]
