"""Errors are told to people in plain words; their texts keep their advice for whoever writes queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.database import Cancellation, Database, Limits
from tableturn.tools.errors import QueryError, QueryFailed, QueryTimeout, SettingsError
from tableturn.tools.labels import IN_ENGLISH, Labels


def test_an_error_is_said_in_plain_words_without_its_advice_for_a_model(shop: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    stop = Cancellation()
    stop.cancel()
    brief, few = Limits(seconds=0.1), Limits(estimated_rows=1)
    with Database.open(shop) as database:
        for sql, limits, cancellation, english, german in (
            (endless, brief, None, "This took more than 0.1 s. Try", "Das dauerte mehr als 0.1 s."),
            ("DROP TABLE orders", brief, None, "I can only read data, so nothing was changed.", "Ich kann nur lesen"),
            ("SELECT * FROM orders, customers", few, None, "This would read more rows", "Dafür müssten mehr"),
            ("SELECT 1" + " UNION SELECT 1" * 999, brief, None, "The query is too long", "Die Abfrage ist zu lang"),
            ("SELECT 1", brief, stop, "The query was cancelled.", "Die Abfrage wurde abgebrochen."),
        ):
            with pytest.raises(QueryError) as caught:
                database.execute(sql, limits, cancellation)
            assert IN_ENGLISH.say_error(caught.value).startswith(english)
            assert Labels("de").say_error(caught.value).startswith(german)
            assert IN_ENGLISH.say_error(f"not saved: {caught.value}").startswith(f"not saved: {english}")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (QueryTimeout("canceling statement"), "This took too long. Try a shorter period or fewer rows."),
        (QueryFailed("no such column: x", "unknown_column"), "The database says: no such column: x"),
        (SettingsError("x cannot be read: [Errno 2] No such file: 'x'"), "x cannot be read: No such file"),
    ],
)
def test_what_an_engine_or_a_system_says_stays_true(error: Exception, says: str) -> None:
    assert IN_ENGLISH.say_error(error) == says
