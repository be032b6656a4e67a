"""A few-shot example: a question and the SQL that answers it on its database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Example:
    """One question-SQL pair.

    Attributes:
        question: Self-contained, as asked.
        sql: One query that answers it.
        database: Short name of the database that it was asked of.
        schema: That database's schema in the compact prompt form (the tables that the SQL uses are enough).
        simplified: The question in plain common words; empty if not simplified yet.
        rephrased: The question in the regular form "Give me ..." (CREDIT-SQL 3.1); empty where it has none of its own.
        source: Where it comes from: `seed`, `import:NAME`, `approved`.
        shared: Whether other databases' questions may see it.
        added: When it was added.
        owner: Whose it is: `database_identity` of its database. Where it is not shared, it is found under that alone.
            Empty: `database` itself stands for it.
    """

    question: str
    sql: str
    database: str
    schema: str = ""
    simplified: str = ""
    source: str = "seed"
    shared: bool = True
    added: datetime | None = None
    owner: str = ""
    rephrased: str = ""
