"""How the official evaluator cuts SQL into tokens: by the Penn Treebank's rules for English.

So `a=1` stays one token (and its query is unreadable), while `a>1` is three; a comma before a digit does not separate.
"""

from __future__ import annotations

import re

_STRING = re.compile('"[^"]*"')
_SEPARATE = re.compile(r"(--|\.{2,}|`+|[;@#$%&?!*\[\](){}<>«»“”‘’„]|[:,](?!\d))")
_FINAL_PERIOD = re.compile(r"(?<!\.)\.\s*$")


class OddQuotes(ValueError):
    """A query with an unpaired quote cannot be cut."""


def tokenize(sql: str) -> list[str]:
    """Tokens in lower case; strings whole, in double quotes, in their own case.

    Raises:
        OddQuotes: A quote has no partner. An apostrophe counts as a quote.
    """
    text = sql.replace("'", '"')
    if text.count('"') % 2:
        raise OddQuotes("unpaired quote")
    strings: dict[str, str] = {}

    def hide(found: re.Match[str]) -> str:
        key = f"__val_{found.start()}__"
        strings[key] = found.group()
        return key

    text = _STRING.sub(hide, text)
    text = _FINAL_PERIOD.sub(" . ", _SEPARATE.sub(r" \1 ", text))
    return _join_comparisons([strings.get(word, word) for word in text.lower().split()])


def _join_comparisons(tokens: list[str]) -> list[str]:
    """Puts `!`, `<`, `>` and a following `=` together again."""
    joined: list[str] = []
    for word in tokens:
        if word == "=" and joined and joined[-1] in ("!", "<", ">"):
            joined[-1] += "="
        else:
            joined.append(word)
    return joined
