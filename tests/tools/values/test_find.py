"""Questions, and the values that they mention."""

from __future__ import annotations

import pytest
from tableturn.tools.values import ValueIndex


@pytest.mark.parametrize(
    ("question", "place", "value", "how"),
    [
        ("customers from France", "customer.country", "France", "exact"),
        ("customers from france", "customer.country", "France", "case"),
        ("FRANCE only, please", "customer.country", "France", "case"),
        ("who bought rocking chair", "product.label", "Rocking Chairs", "inflection"),
        ("wines from SonomaCounty", "product.maker", "Sonoma County", "inflection"),
        ("orders of Zoe Muller", "customer.name", "Zoë Müller", "inflection"),
        ("Astrid Gruber's orders", "customer.name", "Astrid Gruber", "exact"),
        ("orders of Ann O'Neil", "customer.name", "Ann O'Neil", "exact"),
        ("the class ACCT-211", "product.code", "ACCT-211", "exact"),
        ("an Airbus A340-300", "product.code", "A340-300", "exact"),
        ("customers from Frence", "customer.country", "France", "typo"),
        ("customers from the Netherlnds", "customer.country", "Netherlands", "typo"),
        ("orders of Astrid Grubber", "customer.name", "Astrid Gruber", "typo"),
        ("French customers", "customer.country", "France", "abbreviation"),
        ("Dutch customers", "customer.country", "Netherlands", "abbreviation"),
        ("customers in the USA", "customer.country", "United States of America", "abbreviation"),
        ("American customers", "customer.country", "United States of America", "abbreviation"),
        ("bureaus in California", "bureau.state", "CA", "abbreviation"),
        ("female customers", "customer.sex", "F", "abbreviation"),
        ("orders of Gruber", "customer.name", "Astrid Gruber", "part"),
        ("the naval works", "bureau.title", "Office of Naval Works", "part"),
        ('products with grade "A"', "product.grade", "A", "exact"),
        ("products of grade A", "product.grade", "A", "exact"),
        ("notes about IT", "product.note", "IT", "exact"),
        ("the happy hour in May", "bureau.month", "May", "exact"),
    ],
)
def test_finds(index: ValueIndex, question: str, place: str, value: str, how: str) -> None:
    match = index.find(question)[0]
    assert (f"{match.table}.{match.column}", match.value, match.how) == (place, value, how)
    assert question[match.start : match.end] == match.mention
    assert 0 < match.score <= 1
    assert (match.score == 1) == (how == "exact")


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?!",
        "How many are there of each?",
        "who are the customers",  # not the band
        "is it a product",  # neither a grade A nor IT
        "tell us",  # not the US
        "which products\nIt may be a grade",  # a line begins here, no name
        "men at work",  # no sex column holds "men", a product's grade is not M
        "customers with a secret name",
    ],
)
def test_says_nothing(index: ValueIndex, question: str) -> None:
    assert [match.value for match in index.find(question) if match.value != "M"] == []


def test_ranks_the_whole_mention_before_its_parts(index: ValueIndex) -> None:
    assert [match.value for match in index.find("wines from Sonoma County")][:1] == ["Sonoma County"]


def test_finds_several(index: ValueIndex) -> None:
    found = {match.value for match in index.find("Did Bob Fosse or the German lady buy a Tony award?")}
    assert {"Bob Fosse", "Germany", "Tony Award"} <= found


def test_limits(index: ValueIndex) -> None:
    assert len(index.find("Bob Fosse, Ann O'Neil, Astrid Gruber in France", limit=2)) == 2


def test_survives_hostile_questions(index: ValueIndex) -> None:
    honest = index.find("France")
    for question in ('" OR 1=1 --', "NEAR(a b) AND NOT *", "'''", "x" * 5000, "word " * 3000, "🙂 ﷽ \x00 ﬀ", "¼"):
        matches = index.find(question)
        assert all(0 <= match.start < match.end <= len(question) for match in matches)
    assert index.find("France") == honest, "the index is as it was"
