"""What a query's conditions compare with: the texts and numbers that it looks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from .dialects import rules_of
from .parse import parse
from .untrusted import analysis_or

_VALUES = frozenset({"expression", "expressions", "low", "high"})
"""Where a condition has what a column is compared with."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Constants:
    """The constants of a query.

    Attributes:
        texts: Casefolded, without wildcards at their ends.
        numbers: As they are written.
    """

    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    def looks_for(self, text: str) -> bool:
        """Whether a text is among the texts, or part of one, or one of them part of it, or the same number."""
        text = text.casefold()
        return text in self.numbers or any(text in other or other in text for other in self.texts)


@lru_cache(maxsize=512)
@analysis_or(Constants())
def constants(sql: str, dialect: str = "sqlite") -> Constants:
    """The constants of a query; none where it cannot be parsed."""
    tree = parse(sql, dialect).tree
    literals = list(tree.find_all(exp.Literal))
    texts = [str(literal.this) for literal in literals if literal.is_string]
    if rules_of(dialect).words_as_text:  # SQLite reads "Paris" as a text where there is no such column
        texts += [column.name for column in tree.find_all(exp.Column) if _may_be_text(column)]
    plain = (plain_text(text) for text in texts)
    numbers = (str(literal.this) for literal in literals if not literal.is_string)
    return Constants(frozenset(filter(None, plain)), frozenset(filter(_NUMBER.fullmatch, numbers)))


def plain_text(text: str) -> str:
    """A text as `Constants` has it."""
    return text.strip("% ").casefold()


def _may_be_text(column: exp.Column) -> bool:
    quoted = bool(column.this.args.get("quoted")) and not column.table
    return quoted and isinstance(column.parent, exp.Predicate) and column.arg_key in _VALUES
