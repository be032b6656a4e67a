"""PostgreSQL: a database of its own on the test server, read by its superuser, whom only the checks hold back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from ...servers import POSTGRES

_CONTENTS = """
    SELECT table_name, query_to_xml(format('SELECT * FROM public.%I ORDER BY 1', table_name), true, true, '')::text
    FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1
"""
_OBJECTS = """
    SELECT (SELECT string_agg(concat_ws(' ', oid, relname, relkind, relnamespace), ',' ORDER BY oid) FROM pg_class
            WHERE relnamespace <> 'pg_toast'::regnamespace),
           (SELECT string_agg(proname, ',' ORDER BY oid) FROM pg_proc WHERE oid > 16383),
           (SELECT string_agg(rolname, ',' ORDER BY rolname) FROM pg_roles WHERE rolname IN ('u', 'r', 'evil')),
           (SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database WHERE datname IN ('d', 'shop')),
           (SELECT string_agg(concat_ws(' ', name, setting), ',' ORDER BY name) FROM pg_settings
            WHERE source NOT IN ('client', 'session') AND name <> 'transaction_read_only'),
           (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_largeobject_metadata),
           (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), to_regclass('s')::text
"""


class Postgres:
    """See `Candidate`."""

    name = "PostgreSQL"
    dialect = "postgres"
    restricts = False
    # It is looked at every few minutes only.
    has_state = False
    counts_rows = True
    estimates = True
    keeps_keys = True
    endless = "SELECT count(*) FROM generate_series(1, 1000000000000)"
    wide_cell = "SELECT repeat('x', 2000000)"
    attacks: Sequence[str] = tuple((Path(__file__).parent / "postgres.sql").read_text(encoding="utf-8").splitlines())

    def unavailable(self) -> str:
        return POSTGRES.unavailable()

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        del folder
        url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
        for statement in statements:
            POSTGRES.run(url, statement)
        return url

    def change(self, url: str, statement: str) -> None:
        POSTGRES.run(url, statement)

    def fingerprint(self, url: str) -> str:
        told = (POSTGRES.run(url, _CONTENTS), POSTGRES.run(url, _OBJECTS))
        return hashlib.sha256(repr(told).encode()).hexdigest()
