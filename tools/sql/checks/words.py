"""What makes a contradiction between a question's words and a query certain: a plain question, and a plain query.

Words alone prove little: a query may answer a superlative by an anti-join and a ceiling by its opposite. What a check
of words says is a note, put as a question; it sends a query back only where nothing here could account for the
difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..conditions import split
from ..name_stems import name_stems, stem
from ..scope import Resolution

_TURNS = re.compile(
    r"\b(?:not?|never|none|neither|nor|without|except\w*|exclud\w*|only|others?|but|besides?|apart|aside|away|outside"
    r"|beyond|elsewhere|abroad|foreign|overseas|unlike|differ\w*|rather|instead|rest|remain\w*|remov\w*|drop\w*|skip\w*"
    r"|ignor\w*|omit\w*|lack\w*|fail\w*|miss\w*|unless|hardly|barely|non|anti|opposite|revers\w*|inverse\w*|backwards?"
    r"|opponents?|against|rivals?|compet\w*|even|also|too|includ\w*|regardless|whether|left|leav\w*|far|free|if)\b|n't\b"
)
"""Words that may turn what is asked round, or set a condition aside."""

_STANDINGS = frozenset(
    stem(word)
    for words in (
        "rank ranking position pos place placing order level grade class priority seed tier standing number no",
        "date day time year birth birthday born dob age since start begin end from until expiry deadline due",
        "min max minimum maximum limit ceiling floor required requirement threshold allowed permitted low high",
        "best worst remaining left available vacant depth",
    )
    for word in words.split()
)
"""In a column's name: less may be more (first place, born later), or the column is itself a bound."""


def turns(question: str) -> bool:
    """Whether some word may turn the question round."""
    return _TURNS.search(question) is not None


def is_flat(tree: exp.Expr) -> bool:
    """Whether a query is one SELECT that reads each table once, with nothing in it that could answer by a detour."""
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select, exp.SetOperation))) > 1:
        return False
    detours = (exp.Not, exp.Is, exp.Case, exp.If, exp.Window, exp.Filter, exp.Anonymous, exp.Or)
    tables = [table.name.lower() for table in tree.find_all(exp.Table)]
    return tree.find(*detours) is None and len(set(tables)) == len(tables)


def conditions(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of WHERE and HAVING that AND connects."""
    for clause in ("where", "having"):
        if tree.args.get(clause) is not None:
            yield from split(tree.args[clause].this)


def reads_tables(resolution: Resolution) -> bool:
    """Whether all that is read are tables: a view may hold a condition or an order of its own."""
    sources = [source for scope in resolution.scopes for source in scope.sources]
    return bool(sources) and all(source.table is not None and source.table.kind == "table" for source in sources)


def is_standing(node: exp.Expr) -> bool:
    """Whether an expression reads a rank, a date or a bound, of which the smaller may be the more."""
    return any(_STANDINGS & set(name_stems(column.name)) for column in node.find_all(exp.Column))


def stems_of(words: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(word) for word in re.findall(r"[a-z]+", words)]
