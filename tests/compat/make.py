"""Writes, by the version that is checked out, what people and programs keep of it.

    python -m tests.compat.make FILE.tar.xz

in a checkout of that version, into which this folder is copied. It takes PostgreSQL with its `pg_dump`, and no model.
What it wrote of 0.2.0 (commit 5cd1f56) is `0.2.0.tar.xz`, which `test_compat.py` opens.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import uuid
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.tools.database.servers import POSTGRES

HERE = "@FOLDER@"
"""Stands in the archive for the folder that it was made in."""

DDL = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total REAL, placed DATE
);
INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', 'Lyon'), (3, 'Cy', 'Paris');
INSERT INTO orders VALUES
    (1, 1, 10.5, '2024-01-02'), (2, 1, 20.0, '2024-02-03'), (3, 2, 5.0, '2024-03-04'), (4, 3, NULL, NULL);
"""
PARIS = "SELECT name FROM customers WHERE city = 'Paris' ORDER BY name"
BIG = "SELECT name FROM customers JOIN orders ON customers.id = customer_id GROUP BY name HAVING SUM(total) > 8"
KNOWLEDGE = """\
author: ann
extends: [database]
terms:
  parisian:
    means: lives in Paris
    sql: customers.city = 'Paris'
    also: [Paris customer]
metrics:
  revenue:
    means: what was ordered
    expression: SUM(orders.total)
joins:
  - orders.customer_id = customers.id
conventions:
  - Round money to cents.
"""
QUESTIONS: list[dict[str, Any]] = [
    {"id": "customers", "question": "How many customers are there?", "sql": "SELECT COUNT(*) FROM customers"},
    {"id": "orders", "question": "How many orders are there?", "sql": "SELECT COUNT(*) FROM orders"},
    {"id": "names", "question": "List the names of customers.", "sql": "SELECT city FROM customers"},
]
"""The last one's gold is wrong, so that there is something to judge."""


def run(folder: Path, *words: str, given: str = "", codes: tuple[int, ...] = (0,)) -> str:
    """Runs a command in the folder and returns what it printed."""
    ran = subprocess.run(
        [sys.executable, "-m", "tableturn", *words],
        input=given,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(folder),
        check=False,
    )
    if ran.returncode not in codes:
        raise RuntimeError(f"{words} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran.stdout


def environment(folder: Path) -> dict[str, str]:
    """The environment of a person whose files are all in the folder, and who has no model."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("TABLETURN_", "OPENAI_"))}
    places = {"TABLETURN_HOME": "home", "TABLETURN_CACHE": "cache", "XDG_CONFIG_HOME": "config"}
    return own | {name: str(folder / place) for name, place in places.items()} | {"LOGNAME": "ada"}


@contextmanager
def serving(folder: Path, checkpoints: str) -> Generator[httpx.Client]:
    """A client of `tableturn serve` over the folder's database, and conversations that are kept there."""
    command = [sys.executable, "-m", "tableturn", "serve", "--db", "shop.db", "--model", "offline", "--port", "0"]
    command += ["--checkpoints", checkpoints]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment(folder)) as server:
        assert server.stderr is not None
        try:
            address = next(found for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            with httpx.Client(base_url=address[0], timeout=120) as client:
                yield client
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=120)


def asked(client: httpx.Client, thread: str, question: str, **more: Any) -> dict[str, Any]:
    """A turn of a thread, once it has ended."""
    reply = client.post(f"/threads/{thread}/turns", json={"question": question, **more})
    reply.raise_for_status()
    return reply.json()


def make_in(folder: Path) -> None:
    """Writes everything into an empty folder."""
    with closing(sqlite3.connect(folder / "shop.db")) as connection, connection:
        connection.executescript(DDL)
    (folder / "shop.knowledge.yaml").write_text(KNOWLEDGE, encoding="utf-8")
    expected: dict[str, Any] = {}
    _make_by_program(folder, expected)
    _make_by_commands(folder)
    expected["sqlite"] = _make_by_server(folder, "serve.sqlite")
    postgres = POSTGRES.make_database(f"compat_{uuid.uuid4().hex[:8]}")
    expected["postgresql"] = _make_by_server(folder, postgres)
    dump = ("pg_dump", "--no-owner", "--no-privileges", "--inserts", postgres)
    lines = subprocess.run(dump, capture_output=True, text=True, check=True).stdout.splitlines()
    statements = (line for line in lines if not line.startswith(("\\", "--")))  # without what psql alone understands
    (folder / "serve.sql").write_text("\n".join(statements), encoding="utf-8")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


def _make_by_program(folder: Path, expected: dict[str, Any]) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from tableturn import Settings, SQLAgent

    from tests.support.scripted import ScriptedModel, instead_of_sql, writes

    os.environ.update(environment(folder))
    fields = Settings().model_dump()
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    (folder / "settings.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps(fields), encoding="utf-8")
    (folder / "people.toml").write_text('[default]\ndeny = ["orders"]\n\n[users.ada]\n', encoding="utf-8")
    (folder / "tableturn.toml").write_text('database = "shop.db"\nmodel = "offline"\nformat = "json"\n')

    def agent(*replies: str, **more: Any) -> Any:
        given: dict[str, Any] = {"model": writes(*replies), "examples": folder / "home" / "examples", **more}
        return SQLAgent(folder / "shop.db", checkpointer=saver, audit=folder / "audit.jsonl", **given)

    with SqliteSaver.from_conn_string(str(folder / "program.sqlite")) as saver:
        with agent(PARIS, BIG) as asking:
            told = asking.conversation("told")
            first = told.ask("Who lives in Paris?")
            told.ask("Which of all the customers are big customers?", notes="Count every order.")
            expected["told"] = told.last().to_dict()
            if first.database != identity(folder / "shop.db"):
                raise RuntimeError(f"this version calls the database {first.database}")
            asking.approve(first, question="Who lives in Paris?")
            lyon = "SELECT name FROM customers WHERE city = 'Lyon'"
            asking.correct(told.last(), lyon, question="Who lives in Lyon?")
            asking.note("loyal customer means has ordered more than once")
        with agent(PARIS, settings={"approve": True}) as asking:
            expected["approve"] = asking.conversation("approve").ask("Who is from Paris?").to_dict()
        asks_back = instead_of_sql("ambiguous", "Which ones do you mean?", ["by name", "by city"])
        with agent(model=ScriptedModel(script=lambda _: asks_back)) as asking:
            expected["clarify"] = asking.conversation("clarify").ask("Show them").to_dict()


def _make_by_commands(folder: Path) -> None:
    offline = ("--db", "shop.db", "--model", "offline")
    run(folder, "chat", *offline, "--thread", "t", given="How many customers are in Paris?\n")
    (folder / "questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    run(folder, "trial", *offline, "--questions", "questions.json", "--out", "trial")
    own = [one | {"database": "shop.db"} for one in QUESTIONS]
    (folder / "own.json").write_text(json.dumps(own), encoding="utf-8")
    run(folder, "eval", "--dataset", "own.json", "--model", "offline", "--out", "run")
    labels = [{"question": one["question"], "sql": one["sql"], "right": True} for one in QUESTIONS[:2]]
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), encoding="utf-8")
    fit = ("trust", "fit", *offline, "--labels", "labels.jsonl", "--alpha", "0.5", "--certainty", "0.7")
    run(folder, *fit, codes=(0, 1))


def _make_by_server(folder: Path, checkpoints: str) -> dict[str, Any]:
    with serving(folder, checkpoints) as client:
        thread = client.post("/threads", json={}).json()["id"]
        turn = asked(client, thread, "How many customers are in Paris?")
        client.post(f"/turns/{turn['id']}/feedback", json={"kind": "approve"}).raise_for_status()
        waiting = client.post("/threads", json={}).json()["id"]
        asked(client, waiting, "How many orders are there?", approve=True)
        return {"thread": thread, "waiting": waiting, "kept": client.get(f"/threads/{thread}").json()}


def pack(folder: Path, archive: Path) -> None:
    """Packs a folder, without what can be made again, and without its own place."""
    move(folder, str(folder), HERE)
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.relative_to(folder).parts[0] != "cache" and path.suffix != ".lock":
                entry = tarfile.TarInfo(str(path.relative_to(folder)))
                entry.size = path.stat().st_size
                with path.open("rb") as file:
                    packed.addfile(entry, file)


def identity(database: Path) -> str:
    """What stores and trails call a database."""
    return f"{database.stem}@{hashlib.sha256(str(database.resolve()).encode()).hexdigest()[:16]}"


def room(database: str) -> str:
    """What the collections of an example store have in their names for a database's own examples."""
    return hashlib.sha256(database.encode()).hexdigest()[:16]


def move(folder: Path, old: str, new: str) -> None:
    """Writes a new place of the folder wherever its files tell the old one."""
    for path in folder.rglob("*"):
        if path.suffix in (".json", ".jsonl", ".html"):
            path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    for name in ("home/conversations.sqlite", "serve.sqlite", "program.sqlite"):
        with closing(sqlite3.connect(folder / name)) as connection, connection:
            for table in ("checkpoints", "writes"):
                connection.execute(f"UPDATE {table} SET thread_id = replace(thread_id, ?, ?)", (old, new))
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute("VACUUM")


def main(archive: Path) -> None:
    """Makes the archive."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        make_in(folder)
        pack(folder, archive)
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
