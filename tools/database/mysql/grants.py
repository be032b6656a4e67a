"""What the login may do that it should not, and how to make one that may not."""

from __future__ import annotations

import re

from .catalogue import Asks

_GRANT = re.compile(r"^GRANT (?P<powers>.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(?P<where>\S+) TO ", re.IGNORECASE)
_COLUMNS = re.compile(r"\([^)]*\)")
_READING = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROXY"}


def warnings(connection: Asks) -> tuple[str, ...]:
    """One line for each grant of more than reading, and one with the remedy."""
    found: list[str] = []
    for (grant,) in connection.rows("SHOW GRANTS"):
        given = _GRANT.match(str(grant))
        if given is None:
            continue
        powers = {power.strip().upper() for power in _COLUMNS.sub("", given["powers"]).split(",")} - _READING
        if powers:
            files = (
                "; with FILE, it reads and writes files on the server" if powers & {"FILE", "ALL PRIVILEGES"} else ""
            )
            listed = ", ".join(sorted(powers)[:6])
            found.append(f"the login may do more than read: {listed} on {given['where']}{files}")
    if found:
        found.append(
            "create one that can only read: CREATE USER reader IDENTIFIED BY '...';"
            " GRANT SELECT ON my_database.* TO reader;"
        )
    return tuple(found)
