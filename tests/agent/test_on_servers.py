"""The agent on databases of servers: the same answers, costs told, nothing secret kept, people kept apart."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import SQLAgent
from tableturn.tools import as_tools
from tableturn.tools.database import Database
from tableturn.tools.errors import TurnCancelled

from tests.support.command_line import tableturn
from tests.support.scripted import writes
from tests.tools.database.servers import MARIADB, POSTGRES, Server, locked

SECRET = "s3cr3t-horse"
TOTALS = "SELECT c.name, sum(o.total) AS spent FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name"
NONE: dict[str, Any] = {"examples": "none"}
HOSTILE = "*/ DROP TABLE customers; --' \"\n%s %(x)s {0} \\ \0 ünï /*! SELECT 1"

_SHOP = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total REAL)",
    "INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', 'Lyon'), (3, 'Cy', 'Paris')",
    "INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 20.0), (3, 2, 5.0), (4, 3, NULL)",
)
_RUNNING = {
    "PostgreSQL": "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
    " AND pid <> pg_backend_pid()",
    "MariaDB": "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
    " AND info IS NOT NULL",
}
_ENDLESS = {
    "PostgreSQL": "SELECT count(*) FROM generate_series(1, 1000000000000)",
    "MariaDB": f"SELECT count(*) FROM {', '.join(f'orders o{n}' for n in range(30))}",
}


@pytest.fixture(scope="module", params=[POSTGRES, MARIADB], ids=["PostgreSQL", "MariaDB"])
def server(request: pytest.FixtureRequest) -> Server:
    if request.param.unavailable():
        pytest.skip(request.param.unavailable())
    return request.param


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    made = server.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in _SHOP:
        server.run(made, statement)
    return made


@pytest.fixture(scope="module")
def reader(server: Server, url: str) -> Iterator[str]:
    """The URL of a login with a password, which may only read."""
    name = f"tt_{uuid4().hex[:8]}"
    kind = "postgres" if server is POSTGRES else "mariadb"
    made = {
        "postgres": (f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'", f"GRANT SELECT ON customers, orders TO {name}"),
        "mariadb": (f"CREATE USER {name} IDENTIFIED BY '{SECRET}'", f"GRANT SELECT ON {_name(url)}.* TO {name}"),
    }[kind]
    for statement in made:
        server.run(url, statement)
    parts = urlsplit(url)
    yield urlunsplit(parts._replace(netloc=f"{name}:{SECRET}@{parts.hostname}:{parts.port}"))
    if kind == "postgres":
        server.run(url, f"DROP OWNED BY {name}")
    server.run(url, f"DROP {'ROLE' if kind == 'postgres' else 'USER'} {name}")


def _name(url: str) -> str:
    return urlsplit(url).path.strip("/")


def _until(found: Callable[[], Any]) -> Any:
    """What a function gives once it gives anything; patient with a busy machine."""
    deadline = time.monotonic() + 60
    while not (held := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return held


def test_answers_and_what_they_cost(reader: str) -> None:
    model = writes(TOTALS)
    with SQLAgent(reader, model=model, settings=NONE) as agent:
        answer = agent.ask("How much did each customer spend?")
        assert sorted(answer.rows, key=str) == [("Ada", 30.5), ("Bo", 5), ("Cy", None)]
        assert answer.estimate is not None
        assert answer.estimate.rows >= 4
        assert answer.to_dict()["estimate"]["rows"] == answer.estimate.rows
        assert agent.resources.database.warnings == ()
        asked = agent.conversation("t")
        pending = asked.ask("How much did each customer spend?", settings={"approve": True})
        assert pending.status == "needs_clarification"
        assert pending.estimate is not None
        assert asked.ask("approve").row_count == 3


def test_caps_are_settings(reader: str) -> None:
    model = writes(TOTALS)
    with SQLAgent(reader, model=model, settings={**NONE, "estimated_rows": 1, "max_attempts": 1}) as agent:
        answer = agent.ask("How much did each customer spend?")
        assert answer.status == "failed"
        assert "estimated_rows" in (answer.attempts[0].error or "")
        assert agent.ask("How much did each customer spend?", settings={"estimated_rows": 10**6}).row_count == 3


def test_nothing_kept_or_said_has_the_password(reader: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    model, kept = writes(TOTALS), InMemorySaver()
    with SQLAgent(reader, model=model, settings=NONE, checkpointer=kept) as agent:
        chat = agent.conversation("t")
        answer = chat.ask("How much did each customer spend?")
        events = [*chat.stream("And now?")]
        state = agent.graph.get_state({"configurable": {"thread_id": "t"}})
        told = (answer.to_json(), repr(answer), repr(events), repr(state), repr(agent.resources), model.prompts)
        stored = repr([*kept.list(None)])
    assert SECRET not in repr(told) + stored + caplog.text
    ran = tableturn("ask", "--db", reader, "--model", "offline", "How many customers are there?", "--json")
    assert json.loads(ran.stdout)["rows"] == [[3]]
    assert SECRET not in ran.stdout + ran.stderr
    wrong = reader.replace(SECRET, SECRET + "x").replace("127.0.0.1", "127.0.0.2")
    ran = tableturn("ask", "--db", wrong.replace(f":{urlsplit(reader).port}", ":1"), "--model", "offline", "x")
    assert ran.returncode == 2
    assert SECRET not in ran.stdout + ran.stderr


@pytest.mark.parametrize("waits", [False, True], ids=["blocking", "asynchronous"])
@pytest.mark.parametrize("thread", ["monday", HOSTILE])
def test_the_server_sees_who_asks_and_where(server: Server, url: str, thread: str, waits: bool) -> None:
    kind = "PostgreSQL" if server is POSTGRES else "MariaDB"
    settings = {**NONE, "query_seconds": 120}
    with SQLAgent(url, model=writes(_ENDLESS[kind]), settings=settings, user="ada'*/ x") as agent:
        chat = agent.conversation(thread)

        def ask() -> None:
            with pytest.raises(TurnCancelled):
                asyncio.run(chat.aask("How many?")) if waits else chat.ask("How many?")

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            seen = _until(lambda: [sql for (sql,) in server.run(url, _RUNNING[kind]) if "*/ SELECT" in str(sql)])
        finally:
            chat.cancel()
            asking.join()
        told = f"thread='{quote(thread[:64], safe='')}',user='ada%27%2A%2F%20x'"
        assert str(seen[0]).startswith(f"/*application='tableturn',{told}*/ SELECT")
        assert agent.resources.database.execute("SELECT count(*) FROM customers").rows == ((3,),)


def test_the_parts_as_tools(reader: str) -> None:
    with Database.open(reader) as database:
        tools = {tool.name: tool for tool in as_tools(database)}
        assert "Ada\t30.5" in tools["run_sql"].invoke({"sql": TOTALS})
        assert "rejected" in tools["run_sql"].invoke({"sql": "DROP TABLE customers"})
        assert "customers" in tools["describe_schema"].invoke({})
        assert "Paris" in tools["find_values"].invoke({"text": "people in paris"})
        ran = tools["run_pandas"].invoke({"code": "result = db_dict['orders']['total'].sum()"})
        assert "35.5" in ran or "off" in ran


def test_policies_of_two_tenants(url: str, server: Server) -> None:
    """Values, counts, answers and costs are those of the person's own rows."""
    if server is not POSTGRES:
        pytest.skip("row-level security is PostgreSQL's")
    role = f"tt_{uuid4().hex[:8]}"
    for statement in (
        "CREATE TABLE parcels (id INTEGER PRIMARY KEY, tenant TEXT, label TEXT, sent DATE)",
        "INSERT INTO parcels SELECT n, CASE WHEN n < 9 THEN 'north' ELSE 'south' END, 'label ' || n,"
        " DATE '2020-01-01' + n FROM generate_series(1, 1000) n",
        "ANALYZE parcels",
        "ALTER TABLE parcels ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON parcels USING (tenant = current_setting('tableturn.user', true))",
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT ON parcels TO {role}",
    ):
        server.run(url, statement)
    try:
        of_role = url.replace("//postgres@", f"//{role}@")
        model = writes("SELECT count(*) AS n FROM parcels")
        with SQLAgent(of_role, model=model, settings=NONE, user="north") as agent:
            north = agent.ask("How many parcels?")
            south = agent.ask("How many parcels?", user="south")
            assert (north.rows, south.rows) == (((8,),), ((992,),))
            # The plan rests on everybody's rows.
            assert (north.estimate, north.to_dict()["estimate"]) == (None, None)
            found = agent.resources.database.estimate("SELECT count(*) FROM parcels")
            assert found is not None
            assert found.private
            refused = agent.ask("How many parcels?", settings={"estimated_rows": 5, "max_attempts": 1})
            assert "to read more" in (refused.attempts[0].error or "")
            values = agent.resources.values
            assert [match.value for match in values.find("label 7", 5)][:1] == ["label 7"]
            assert not [match for match in values.find("label 900", 5) if match.value == "label 900"]
            assert "label 900" not in "".join(model.prompts[:1])
            assert not north.confidence_reason
            # What quotes a row is told only to whom it was written for.
            agent.note("special means parcels.label = 'label 7'")
            agent.note("odd means SELECT count(*) FROM parcels WHERE label = 'label 7'")
            agent.note("blank means parcels.label IS NULL")
            assert {lesson.name for lesson in agent.list_lessons()} == {"special", "odd", "blank"}
            assert [lesson.name for lesson in agent.for_user("south").list_lessons()] == ["blank"]
        # Of somebody without a name nobody knows which rows are theirs: 0 is no sure answer.
        for sql in ("SELECT count(*) AS n FROM parcels", "WITH p AS (SELECT id FROM parcels) SELECT count(*) FROM p"):
            with SQLAgent(of_role, model=writes(sql), settings=NONE) as agent:
                nobody = agent.ask("How many parcels?")
                unnamed = "hich rows of parcels may be read depends on who asks, and nobody is named"
                assert nobody.rows == ((0,),)
                assert nobody.text.endswith(f"W{unnamed}.")
                assert f"W{unnamed}." in nobody.notes
                assert nobody.certainty == "", "it is told once"
                assert nobody.confidence < north.confidence
        # Nor is anything said of rows that are hidden from them.
        server.run(url, "CREATE POLICY old ON parcels USING (id < 3)")
        for condition, told in (
            ("label = 'label 7'", "no row of"),
            ("extract(year FROM sent) = 2021", "the data ends on"),
        ):
            with SQLAgent(of_role, model=writes(f"SELECT id FROM parcels WHERE {condition}"), settings=NONE) as agent:
                nobody, other = (agent.ask("Which parcels?", user=user).text for user in (None, "east"))
            assert unnamed in nobody
            assert told not in nobody.lower()
            assert told in other.lower()
        server.run(url, "DROP POLICY old ON parcels")
        with SQLAgent(of_role, model=writes("SELECT count(*) AS n FROM parcels"), settings=NONE) as agent:
            german = agent.ask("Wie viele Pakete gibt es?")
            told = "elche Zeilen von parcels gelesen werden dürfen, hängt davon ab, wer fragt, und niemand ist genannt"
            assert german.text.endswith(f" W{told}.")
        with SQLAgent(url, model=writes("SELECT count(*) AS n FROM parcels"), settings=NONE) as agent:
            assert agent.ask("How many parcels?").confidence_reason == "", "this login sees all rows"
        # A view may ask for the person itself, and then shows the same to every login.
        named = "tenant = current_setting('tableturn.user', true)"
        server.run(url, f"CREATE VIEW own_parcels AS SELECT * FROM parcels WHERE {named}")
        with SQLAgent(url, model=writes("SELECT count(*) AS n FROM own_parcels"), settings=NONE) as agent:
            assert "hich rows of own_parcels may be read depends on who asks" in agent.ask("How many parcels?").text
            assert agent.ask("How many parcels?", user="south").confidence_reason == ""
    finally:
        server.run(url, "DROP VIEW IF EXISTS own_parcels")
        server.run(url, f"DROP OWNED BY {role}")
        server.run(url, f"DROP ROLE {role}")
        server.run(url, "DROP TABLE parcels")


def test_the_schema_of_chosen_schemas(url: str, server: Server) -> None:
    if server is not POSTGRES:
        pytest.skip("a schema is a database there")
    server.run(url, "CREATE SCHEMA sales CREATE TABLE bill (id INTEGER)")
    ran = tableturn("schema", "--db", url, "--schema", "sales")
    server.run(url, "DROP SCHEMA sales CASCADE")
    assert (ran.returncode, "bill(" in ran.stdout, "customers" in ran.stdout) == (0, True, False)


def test_a_table_made_meanwhile_is_found(url: str, server: Server) -> None:
    with SQLAgent(url, model=writes("SELECT x FROM later"), settings=NONE) as agent:
        assert agent.ask("What is in it?").status == "failed"
        server.run(url, "CREATE TABLE later AS SELECT 5 AS x")
        assert agent.ask("What is in it?").rows == ((5,),)
        server.run(url, "DROP TABLE later")


@pytest.mark.parametrize("settings", [{}, {"candidates": 2}, {"max_attempts": 1}])
def test_a_locked_table_is_no_matter_for_the_model(url: str, settings: dict[str, Any]) -> None:
    model = writes("SELECT count(*) FROM orders")
    with SQLAgent(url, model=model, settings=NONE | settings) as agent:
        agent.resources.database.schema()
        with locked(url, "orders"):
            answer = agent.ask("How many orders are there?")
    assert (answer.status, answer.stop_kind) == ("failed", "error")
    assert answer.text == "the table orders is locked by another program: try again later"
    assert len(model.prompts) == settings.get("candidates", 1)
