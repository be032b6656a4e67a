"""Columns of secrets are found by name and content, and none of their values reaches a model."""

from __future__ import annotations

import base64
import random
import sqlite3
import string
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import duckdb
import pytest
from tableturn.agent import SQLAgent
from tableturn.tools.database import ColumnSchema, Database, Schema, TableSchema
from tableturn.tools.database.secret_columns import find_secret_columns, is_iban
from tableturn.tools.values import ValueIndex

from tests.support.scripted import writes

from .servers import MARIADB, POSTGRES, Server

chance = random.Random(7)
BASE64 = string.ascii_letters + string.digits + "+/"


def drawn(length: int, of: str = string.ascii_letters + string.digits) -> str:
    return "".join(chance.choice(of) for _ in range(length))


def hexadecimal(length: int) -> str:
    return drawn(length, "0123456789abcdef")


def token() -> str:
    return f"eyJhbGciOiJIUzI1NiJ9.{drawn(60)}.{drawn(43)}"


def iban(country: str = "DE", digits: int = 18) -> str:
    body = drawn(digits, string.digits)
    return f"{country}{98 - int(''.join(str(int(sign, 36)) for sign in f'{body}{country}00')) % 97:02d}{body}"


def grouped(text: str) -> str:
    return " ".join(text[place : place + 4] for place in range(0, len(text), 4))


SECRETS: dict[str, Callable[[], str | bytes]] = {
    "password": lambda: chance.choice(["hunter2", "letmein", "123456", "S3cr3t!!"]),
    "PassWord": lambda: drawn(20),
    "userPwd": lambda: chance.choice(["qwerty", "dragon99", "monkey"]),
    "passwd_enc": lambda: drawn(32, BASE64),
    "hashed_password": lambda: hexadecimal(64),
    "password_salt": lambda: hexadecimal(16),
    "salt": lambda: drawn(12, BASE64) + "==",
    "digest": lambda: hexadecimal(64),
    "pin_hash": lambda: hexadecimal(40).encode(),
    "key_hash": lambda: chance.randbytes(20),
    "crypt": lambda: f"$6${drawn(16)}${drawn(86)}",
    "col1": lambda: f"$2b$12${drawn(53)}",
    "col2": lambda: f"$argon2id$v=19$m=65536,t=3,p=4${drawn(22)}${drawn(43)}",
    "django": lambda: f"pbkdf2_sha256$260000${drawn(12)}${drawn(43)}=",
    "ldap": lambda: "{SSHA}" + drawn(32, BASE64),
    "api_key": lambda: hexadecimal(32),
    "stripe_key": lambda: hexadecimal(40),
    "google_maps_key": lambda: hexadecimal(40),
    "webhookKey": lambda: hexadecimal(40),
    "consumer_key": lambda: hexadecimal(40),
    "hmac": lambda: hexadecimal(40),
    "magic_link_code": lambda: hexadecimal(40),
    "apikey": lambda: drawn(32),
    "APIKeys": lambda: drawn(40),
    "openai": lambda: f"sk-proj-{drawn(40)}7",
    "openai_old": lambda: f"sk-{drawn(47)}7",
    "stripe": lambda: f"sk_live_{drawn(24)}",
    "aws_id": lambda: "AKIA" + drawn(16, string.ascii_uppercase + string.digits),
    "aws_secret_access_key": lambda: drawn(40, BASE64),
    "github": lambda: f"ghp_{drawn(36)}",
    "slack": lambda: f"xoxb-{drawn(12, string.digits)}-{drawn(24)}",
    "google": lambda: f"AIza{drawn(35)}",
    "client_secret": lambda: drawn(40),
    "private_key": lambda: f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64, BASE64)}",
    "dsn": lambda: f"postgres://app:{drawn(10)}@db.internal:5432/app",
    "webhook": lambda: f"whsec_{drawn(32)}",
    "license_key": lambda: "-".join(drawn(5, string.ascii_uppercase + string.digits) for _ in range(5)),
    "session_token": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
    "token_uuid": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
    "access_token": token,
    "whatever": token,
    "refreshToken": lambda: drawn(40),
    "reset_tokens": lambda: hexadecimal(40),
    "session_id": lambda: hexadecimal(32),
    "sessionid": lambda: hexadecimal(32),
    "csrf": lambda: drawn(32, BASE64),
    "cookie": lambda: drawn(43),
    "otp_secret": lambda: base64.b32encode(chance.randbytes(20)).decode(),
    "recovery_code_2": lambda: hexadecimal(20),
    "iban": iban,
    "account": iban,
    "konto": lambda: grouped(iban()),
    "compte": lambda: iban("FR", 23),
    **dict.fromkeys(
        ("pw", "pass", "pw_enc", "password_user", "temp_password_sent", "contraseña", "mot_de_passe", "wachtwoord"),
        lambda: chance.choice(["hunter2", "S3cr3t!!"]),
    ),
    **dict.fromkeys(
        ("пароль", "ＰＡＳＳＷＯＲＤ", "Hasło", "CONTRASEÑA"), lambda: chance.choice(["letmein", "qwerty"])
    ),
    "pwhash": lambda: hexadecimal(64),
    "password_blob": lambda: b"\xff" + chance.randbytes(20),
    "authorization": lambda: f"Bearer {token()}",
    "header": lambda: "Basic " + base64.b64encode(f"app:{drawn(12)}".encode()).decode(),
    "api-key (prod)": lambda: hexadecimal(32),
    **dict.fromkeys(("session", "sid", "tok", "key", "key_material"), lambda: drawn(32)),
    "otp_seed": lambda: base64.b32encode(chance.randbytes(20)).decode(),
    "pin": lambda: drawn(4, string.digits),
    "resetCode": lambda: drawn(6, string.digits),
    "recovery_codes": lambda: ", ".join(f"{hexadecimal(5)}-{hexadecimal(5)}" for _ in range(4)),
    "connection": lambda: f"Server=db;Database=app;User Id=sa;Password={drawn(12)};Encrypt=true",
    "libpq": lambda: f"host=db user=app password={drawn(10)}",
    "jdbc": lambda: f"jdbc:mysql://db:3306/app?user=app&password={drawn(10)}",
    "note": lambda: f"see postgres://app:{drawn(10)}@db.internal/app for details",
    "redis": lambda: f"redis://:{drawn(10)}@cache:6379/0",
    "hook": lambda: f"https://hooks.slack.com/services/T0{drawn(8)}/B0{drawn(8)}/{drawn(24)}",
    "link": lambda: f"https://example.com/reset?id=7&token={drawn(20)}7",
    "shared": lambda: f"https://example.com/f?secret={drawn(20)}7#top",
    "authenticator": lambda: f"otpauth://totp/App:ann?secret={drawn(16)}&issuer=App",
    "config": lambda: f'{{"user": "ann", "github": "ghp_{drawn(36)}7"}}',
    "settings": lambda: f'{{"db": {{"password": "{drawn(10)}"}}}}',
    "credentials_json": lambda: f'{{"pem": "-----BEGIN PRIVATE KEY-----\\n{drawn(64)}"}}',
    "vault": lambda: f"hvs.{drawn(90)}",
    **dict.fromkeys(("smtp_pass", "SMTP_PASS", "dbpass", "mysql_pass"), lambda: f"Tr0ub4dor&{hexadecimal(4)}"),
    **dict.fromkeys(("hmac_key", "wlan_key"), lambda: drawn(43) + "="),
    "api_keys": lambda: f'["{hexadecimal(32)}", "{hexadecimal(32)}"]',
    "bank": lambda: f"IBAN\u00a0{grouped(iban())}",
    "authentication_string": lambda: "*" + hexadecimal(40).upper(),
    "request": lambda: f"GET / Authorization: Bearer {drawn(30)}7",
    "groq": lambda: f"gsk_{drawn(51)}7",
    "telegram": lambda: f"{drawn(9, '123456789')}:AA{drawn(33)}",
}

OTHERS: dict[str, Callable[[], str | int]] = {
    **dict.fromkeys(
        (
            "git_commit_hash",
            "transaction_hash",
            "url_hash",
            "file_md5",
            "content_sha256",
            "checksum",
            "etag",
            "product_sha256",
            "download_sha256",
            "attachment_hash",
            "account_key",
            "client_key",
        ),
        lambda: hexadecimal(64),
    ),
    **dict.fromkeys(("session", "session_id"), lambda: str(uuid.UUID(int=chance.getrandbits(128)))),
    "sid": lambda: f"S-{chance.randrange(9_999)}",
    "seed": lambda: chance.randrange(9_999),
    "pw": lambda: chance.randrange(400),
    "pass": lambda: chance.choice(["pass", "fail", "Day ticket", "Gold"]),
    "boarding_pass": lambda: f"BP{drawn(12)}",
    "password_sent": lambda: "2024-01-02 10:00:00",
    "customer_key": lambda: drawn(32),
    "question": lambda: "How do I reset my password? I typed password: twice",
    "page": lambda: "https://example.com/list?page=12345678&sort=name",
    "basic": lambda: chance.choice(["Basic membership", "Bearer share"]),
    "id": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
    "user_id": lambda: drawn(22),
    "sku": lambda: f"SKU-{drawn(6).upper()}",
    "token_count": lambda: chance.randrange(9_999),
    "token": lambda: chance.choice(["river", "mountain", "of", "house"]),
    "session_key": lambda: chance.randrange(9_999),
    "password_changed_at": lambda: f"2024-01-0{chance.randrange(1, 9)}",
    "has_password": lambda: chance.choice(["yes", "no"]),
    "password_policy": lambda: chance.choice(["at least eight", "any"]),
    "hash_algorithm": lambda: "sha256",
    "hashtag": lambda: "#summer2024vibesforever",
    "secret": lambda: chance.choice(["the butler did it", "a hidden door"]),
    "secretary": lambda: "Ann Person",
    "key": lambda: chance.choice(["C#", "D minor"]),
    "signature": lambda: chance.choice(["4/4", "3/4"]),
    "url": lambda: f"https://example.com/{drawn(20)}",
    "email": lambda: f"{drawn(8)}@example.org",
    "passport": lambda: drawn(9).upper(),
    "pass_yards": lambda: chance.randrange(400),
    "cookie_flavor": lambda: "oat and raisin 2024",
    "constraint_name": lambda: "pk_customers_2020_primary",
    "pin_code": lambda: drawn(6, string.digits),
    "pin_": lambda: chance.choice(["GPIO1", "GPIO12"]),
    "access_code": lambda: f"A{chance.randrange(9)}",
    "service_pass": lambda: chance.choice(["Gold", "Day ticket", "passed"]),
    "has_secret": lambda: chance.choice(["true", "false"]),
    "s3_key": lambda: f"uploads/2024/01/01/family-at-the-beach-{chance.randrange(9)}.jpg",
    "gene": lambda: "ATATTGCATGCATTAGCTAGCATGCA",
    "sbp_mean": lambda: "sbp_mean_baseline_visit_1",
    "reference": lambda: "DE00" + drawn(18, string.digits),
}


def found(columns: dict[str, Callable[[], str | bytes | int]]) -> set[str]:
    made = tuple(
        ColumnSchema(name, samples=tuple(make() for _ in range(8)), primary_key=number == 0)
        for number, (name, make) in enumerate(columns.items())
    )
    return {column for _, column in find_secret_columns(Schema("x", (TableSchema("t", made),)))}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found(name: str) -> None:
    assert found({name: SECRETS[name]}) == {name}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_like_one_is_not(name: str) -> None:
    assert found({name: OTHERS[name]}) == set()


def test_a_column_without_values_goes_by_its_name() -> None:
    assert found({}) == set()
    columns = tuple(map(ColumnSchema, ("password", "token", "api_key", "name")))
    assert find_secret_columns(Schema("x", (TableSchema("t", columns),))) == {("t", "password"), ("t", "api_key")}


def test_a_secret_that_few_rows_have_is_found() -> None:
    column = ColumnSchema("api_key", samples=("none", "revoked", "-", "see vault", "expired", hexadecimal(32)))
    assert find_secret_columns(Schema("x", (TableSchema("t", (column,)),))) == {("t", "api_key")}


@pytest.mark.parametrize(
    "names",
    [("name", "value"), ("k", "v"), ("param", "setting"), ("cfg_key", "cfg_val"), ("option_name", "option_value")],
)
def test_values_of_settings_are_secrets_where_a_name_beside_is(names: tuple[str, str]) -> None:
    keys, values = ("region", "smtp_password", "ftp.user"), ("eu-west-1-amsterdam", "Summer-a1-2024", "bob")

    def settings(keys: tuple[str, ...], distinct: int) -> Schema:
        key = ColumnSchema(names[0], samples=keys, distinct=distinct)
        regions = TableSchema("regions", (ColumnSchema("name", samples=values[:1]),))
        return Schema("s", (TableSchema("t", (key, ColumnSchema(names[1], samples=values)), row_count=3), regions))

    assert find_secret_columns(settings(keys, 3)) == {("t", names[1])}, "a region is no secret elsewhere"
    assert not find_secret_columns(settings(("region", "reset your password", "ftp.user"), 3))
    assert not find_secret_columns(settings(keys, 2)), "names of events stand many times"
    plain = settings(("region", "ftp.user", "ftp.host"), 3).tables[0]
    assert not find_secret_columns(Schema("s", (plain,)))
    many = replace(plain, name="app_settings")
    assert find_secret_columns(Schema("s", (many,))) == {("app_settings", names[1])}, "of many few are seen"


VIEWS = {
    "sqlite": [
        ("id *lg", "SELECT id, name || ':' || password AS lg FROM users"),
        ("id *lg", "SELECT id, printf('%s/%s', name, u.password) FROM users AS u"),
        ("id *lg", "WITH x AS (SELECT id, upper(password) p FROM users) SELECT id, p || '!' lg FROM x"),
        ("id *lg", "SELECT id, name AS lg FROM users UNION SELECT 1, substr(password, 2) FROM users"),
        ("id name *password *lg", "SELECT *, name || ':' || password FROM users"),
        ("id *b ip", "SELECT u.*, s.ip FROM (SELECT id, name || password FROM users) u, sessions s"),
        ("id *lg", "WITH c(i, p) AS (SELECT id, password FROM users) SELECT i, 'x-' || p AS lg FROM c"),
        ("*lg", "SELECT 'x' || w AS lg FROM (SELECT name AS w FROM users UNION ALL SELECT password FROM users)"),
        (
            "id *lg",
            "WITH RECURSIVE c(i, a, b) AS (SELECT 0, 'x', 'y' UNION ALL SELECT u.id, c.b, u.password"
            " FROM c JOIN users u ON u.id = c.i + 1) SELECT i, a FROM c",
        ),
        ("*lg name", "SELECT (SELECT 'p' || max(x.password) FROM users x), name FROM users"),
        ("*lg name", "SELECT iif(password = 'a', 'b', password || '!') AS lg, name FROM users"),
        ("*lg", "SELECT 'x' || first_value(password) OVER (ORDER BY id) AS lg FROM users"),
        ("*lg", "SELECT column2 AS lg FROM (VALUES (1, (SELECT 'z' || password FROM users)))"),
        ("*lg", "SELECT 'x' || j.value AS lg FROM users, json_each(json_array(password)) AS j"),
        ("*lg *x", "WITH a AS (SELECT p FROM b), b AS (SELECT password AS p FROM users) SELECT 'x' || p, 'x' FROM a"),
        ("id *name *password", "SELECT * FROM users NATURAL JOIN vectors"),
        ("id *name", "SELECT id, name FROM users WHERE this cannot be (((read"),
        ("id *name", f"SELECT id, name FROM users WHERE name <> '{'x' * 50_000}'"),
        ("id *name *lg", "SELECT id, name FROM users"),
        (
            "id *lg",
            "WITH c(i, a, b) AS (SELECT 0, 'x', 'y' UNION ALL SELECT u.id, c.b, u.password FROM c JOIN users u"
            " ON u.id = c.i + 1) SELECT i, a FROM c",
        ),
        ("*name *lg", "SELECT p.ip, (SELECT p.password FROM (users) AS p LIMIT 1) FROM sessions AS p"),
        ("lg", "SELECT CASE WHEN password IS NULL THEN 'none' ELSE name END AS lg FROM users"),
        ("lg", "SELECT CASE password WHEN '' THEN 'none' ELSE 'some' END AS lg FROM users"),
        ("lg", "SELECT name AS lg FROM users WHERE password <> ''"),
        ("token ip", "SELECT v.token, s.ip FROM vectors v CROSS JOIN sessions s"),
        ("lg", "SELECT first_value(name) OVER (PARTITION BY password ORDER BY password) AS lg FROM users"),
        ("lg ip", "SELECT count(s.token) || '/' || length(s.token) AS lg, max(s.ip) AS ip FROM sessions s"),
        ("lg", "SELECT (SELECT x.name FROM users x WHERE x.password = u.password) AS lg FROM users u"),
        ("name ip", "SELECT name, s.ip FROM users u JOIN (SELECT id, ip, token FROM sessions) s ON s.id = u.id"),
        ("id name", "SELECT * FROM (SELECT id, name FROM users) UNION ALL SELECT id, token FROM vectors"),
        ("lg", "SELECT a.column1 AS lg FROM (VALUES ('words')) a, vectors"),
    ],
    "postgres": [
        ("*lg", "SELECT ('x-'::text || d.b) AS lg FROM ( SELECT users.id, users.password FROM users) d(a, b)"),
        ("name *lg", "SELECT u.name, (u.*)::text AS lg FROM users u"),
        ("name *lg", "SELECT u.name, u::text AS lg FROM users u"),
        ("*lg", "SELECT t.v AS lg FROM (users u CROSS JOIN LATERAL ( VALUES (u.password)) t(v))"),
        ("*lg", "SELECT t.v AS lg FROM users u, LATERAL unnest(ARRAY[u.password]) t(v)"),
        ("*lg ip", "SELECT t.v, s.ip FROM (sessions s CROSS JOIN LATERAL ( SELECT s.token AS v) t)"),
        ("*lg", "SELECT mode() WITHIN GROUP (ORDER BY users.password) AS lg FROM users"),
        ("ip *lg", "SELECT p.ip, 'x' || p.token AS lg FROM sessions_of_2024 p"),
        ("ip token", "SELECT s.ip, v.token FROM (sessions s JOIN vectors v ON ((s.token = v.token)))"),
        ("lg", 'SELECT ("substring"((u.name)::text, 2) COLLATE "C") AS lg FROM public.users u'),
    ],
    "mysql": [
        ("name *lg", "select `s`.`u`.`name` AS `name`,concat(`s`.`u`.`password`,'!') AS `lg` from `s`.`users` `u`"),
        (
            "name",
            "select `s`.`users`.`name` AS `name` from (`s`.`users` join `s`.`sessions` on(`s`.`sessions`.`id` = 1))",
        ),
    ],
    "duckdb": [
        (
            "*password *name",
            "SELECT * FROM (SELECT password, name FROM users) UNPIVOT (name FOR password IN (password))",
        ),
        ("*lg", "SELECT concat_ws(':', UNPACK(COLUMNS(*))) AS lg FROM users"),
        ("id name *password", "FROM users"),
        # Fewer names than columns: DuckDB leaves the others their own.
        (
            "*name *lg",
            "SELECT name, (WITH c(a) AS (SELECT id, password AS ip FROM users) SELECT ip FROM c) FROM sessions",
        ),
        ("*name *lg", "SELECT ip, (SELECT ip FROM (SELECT id, password AS ip FROM users) AS c(a)) FROM sessions"),
        ("*k *lg", "SELECT 'literal' AS k, substr(password, 1) AS k, k || '.' AS lg FROM users"),
        ("*lg", "SELECT upper(#3) AS lg FROM users"),
    ],
}
"""Views' columns, those that hold secrets marked, with their queries, by dialect."""


def accounts_with(*others: TableSchema, dialect: str = "sqlite") -> Schema:
    number = ColumnSchema("id", kind="number")
    token = ColumnSchema("token", samples=tuple(hexadecimal(40) for _ in range(4)))
    users = TableSchema("users", (number, ColumnSchema("name"), ColumnSchema("password", samples=("hunter22x",))))
    sessions = TableSchema("sessions", (number, ColumnSchema("ip"), token))
    vectors = TableSchema("vectors", (number, ColumnSchema("token", samples=("river", "of"))))
    return Schema("s", (*others, users, sessions, vectors), dialect=dialect)


def view_of(name: str, columns: str, definition: str) -> TableSchema:
    made = (ColumnSchema(each, kind="number" if each == "id" else "text", samples=("a",)) for each in columns.split())
    return TableSchema(name, tuple(made), kind="view", definition=definition)


@pytest.mark.parametrize(
    ("dialect", "columns", "query"),
    [(dialect, columns, query) for dialect, views in VIEWS.items() for columns, query in views],
)
@pytest.mark.parametrize("created", [True, False])
def test_a_view_shows_what_is_traced_to_no_secret(dialect: str, columns: str, query: str, created: bool) -> None:
    definition = f"CREATE VIEW v AS {query}" if created else query
    view = view_of("v", columns.replace("*", ""), definition)
    secrets = find_secret_columns(accounts_with(view, dialect=dialect))
    marked = {column.removeprefix("*") for column in columns.split() if column.startswith("*")}
    assert {column for table, column in secrets if table == "v"} == marked


def test_a_view_of_a_view_shows_its_secrets() -> None:
    top = view_of("w", "a b c", "CREATE VIEW w (a, b, c) AS SELECT v.lg, v.name, u.name FROM v, users AS u")
    middle = view_of("v", "name lg", "CREATE VIEW v AS SELECT * FROM x")
    bottom = view_of("x", "name lg", "CREATE VIEW x AS SELECT name, name || password AS lg FROM users")
    secrets = find_secret_columns(accounts_with(top, middle, bottom))
    assert {place for place in secrets if place[0] in "vwx"} == {("w", "a"), ("v", "lg"), ("x", "lg")}


@pytest.mark.parametrize(
    ("columns", "query"),
    [
        ("*lg name", "SELECT u.name || ':' || u.password AS lg, u.name FROM hidden u"),
        ("*lg name", "SELECT password || '!' AS lg, name FROM hidden"),
        ("*lg name", 'SELECT h.p AS lg, h.n AS name FROM (SELECT "user password" AS p, n FROM hidden) h'),
        ("*lg name", "SELECT (SELECT max(h.passwd) FROM hidden h) AS lg, u.name FROM users u"),
        ("name lg", "SELECT u.name, length(h.password) AS lg FROM users u JOIN hidden h ON h.password <> ''"),
        ("*name *lg", "SELECT h.name, (h.*)::text AS lg FROM hidden h WHERE h.password <> ''"),
        ("*name *lg", "SELECT h.a, h.b FROM hidden h(a, b, password)"),
        ("name lg", "SELECT h.name, h.label AS lg FROM hidden h"),
        ("name lg", "SELECT h.name, u.password_changed || h.name AS lg FROM hidden h, others u"),
    ],
)
def test_a_view_shows_a_secret_by_name_of_what_may_not_be_read(columns: str, query: str) -> None:
    view = view_of("v", columns.replace("*", ""), query)
    users = TableSchema("users", (ColumnSchema("id", kind="number"), ColumnSchema("name")))
    secrets = find_secret_columns(Schema("s", (view, users), dialect="postgres"))
    assert secrets == {("v", column.removeprefix("*")) for column in columns.split() if column.startswith("*")}


def test_a_view_without_a_definition_shows_what_tables_have() -> None:
    view = view_of("v", "id name label", "")
    assert ("v", "label") in find_secret_columns(accounts_with(view))
    assert not {("v", "id"), ("v", "name")} & find_secret_columns(accounts_with(view))
    plain = TableSchema("t", (ColumnSchema("name"),))
    assert not find_secret_columns(Schema("s", (view, plain)))


def test_a_generated_text_beside_a_secret_is_one() -> None:
    columns = (ColumnSchema("a", generated=True), ColumnSchema("n", kind="number", generated=True), ColumnSchema("b"))
    password = ColumnSchema("password", samples=("hunter22x",))
    assert find_secret_columns(Schema("s", (TableSchema("t", (*columns, password)), TableSchema("u", columns)))) == {
        ("t", "password"),
        ("t", "a"),
    }


@pytest.mark.parametrize(
    ("table", "column", "secret"),
    [("commits", "hash", False), ("documents", "sha256", False), ("logins", "hash", True), ("commits", "salt", True)],
)
def test_hashes_of_what_is_public_are_no_secrets(table: str, column: str, secret: bool) -> None:
    made = ColumnSchema(column, samples=tuple(hexadecimal(40) for _ in range(4)))
    assert bool(find_secret_columns(Schema("s", (TableSchema(table, (made,)),)))) == secret


def test_ibans_are_told_by_their_check_digits() -> None:
    assert is_iban("DE89370400440532013000")
    assert not is_iban("DE88370400440532013000")


@pytest.fixture
def accounts(tmp_path: Path) -> Path:
    path = tmp_path / "accounts.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, api_token TEXT, account TEXT);"
            "CREATE TABLE calls (id INTEGER PRIMARY KEY, token TEXT REFERENCES users (api_token));"
            "CREATE VIEW holders (who, what) AS SELECT name, api_token FROM users;"
            "CREATE VIEW logins AS SELECT name || ':' || api_token AS login FROM users;"
        )
        for number in range(9):
            key = f"CaNaRy{number}{hexadecimal(32)}"
            connection.execute("INSERT INTO users VALUES (?, ?, ?, ?)", (number, f"Ann {number}", key, iban()))
            connection.execute("INSERT INTO calls VALUES (?, ?)", (number, key))
    return path


def test_no_value_of_theirs_is_in_a_prompt(accounts: Path, tmp_path: Path) -> None:
    asked = ("Who has the token CaNaRy3?", "Show all users")
    statements = (
        "SELECT name, api_token FROM users",
        "SELECT * FROM users",
        "SELECT what FROM holders",
        "SELECT login FROM logins",
        "SELECT token FROM calls WHERE token LIKE 'CaNaRy3%'",
    )
    for sql in statements:
        settings = {"max_attempts": 3, "gate": False}
        with SQLAgent(accounts, model=(model := writes(sql)), settings=settings, examples=tmp_path / "s") as agent:
            for question in asked:
                assert "CaNaRy" in str(agent.ask(question).rows), "whoever asked gets the rows"
        said = "\n".join(model.prompts).replace("CaNaRy3?", "").replace("'CaNaRy3%'", "")
        assert "CaNaRy" not in said
        assert "DE" not in said.replace("DESC", "").replace("DECIMAL", "") or not [
            word for word in said.split() if is_iban(word.strip("'\",;()[]"))
        ]
    with Database.open(accounts) as database:
        assert not ValueIndex.open(database).find("CaNaRy3")
        rest = SQLAgent(accounts, model=(model := writes("SELECT count(*) FROM users")))
        with rest as agent:
            assert agent.ask("How many users are there?").rows == ((9,),)
        assert "'Ann 0'" in model.prompts[0], "other columns of the table are shown"


def test_an_entry_lets_them_leave(accounts: Path) -> None:
    rules = {"columns": dict.fromkeys(("users.api_token", "users.account", "calls.*", "holders", "logins"), "values")}
    with Database.open(accounts) as closed, Database.open(accounts, egress=rules) as opened:
        assert {*closed.leaving().column_levels} == {
            ("users", "api_token"),
            ("users", "account"),
            ("calls", "token"),
            ("holders", "what"),
            ("logins", "login"),
        }
        assert not opened.leaving().column_levels
        assert "CaNaRy" in str(opened.schema())
        assert "CaNaRy" not in str(closed.schema())


def test_a_stricter_rule_stays(accounts: Path) -> None:
    with Database.open(accounts, egress={"default": "none"}) as database:
        assert {*database.leaving().column_levels.values()} == {"none"}


def test_a_view_that_cuts_a_secret_holds_one(accounts: Path) -> None:
    with closing(sqlite3.connect(accounts)) as connection:
        connection.executescript(
            "CREATE VIEW cut AS SELECT name, substr(api_token, 8) AS rest, id || '' AS number FROM users;"
        )
    with Database.open(accounts) as database:
        assert ("cut", "rest") in database.leaving().column_levels
        assert not {("cut", "name"), ("cut", "number")} & database.leaving().column_levels.keys()


WRITTEN = {
    "sqlite": "name || ':' || password",
    "duckdb": "name || ':' || password",
    "postgres": "name || ':' || password",
    "mariadb": "concat(name, ':', password)",
}


@pytest.fixture(params=WRITTEN)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """A database of an engine in which a view and a generated column are written from passwords."""
    written = WRITTEN[request.param]
    statements = (
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20), password VARCHAR(20),"
        f" label VARCHAR(50) GENERATED ALWAYS AS ({written}) {'STORED' if request.param == 'postgres' else 'VIRTUAL'})",
        "INSERT INTO users (id, name, password) VALUES (1, 'Ada', 'Canary1horse'), (2, 'Bo', 'Canary2horse')",
        f"CREATE VIEW logins AS WITH c(i, w) AS (SELECT id, {written} FROM users) SELECT i, name, w FROM c"
        " JOIN users ON id = i WHERE password <> 'Canary3horse'",
        "CREATE VIEW others AS SELECT 1 AS n",
    )
    if request.param in ("sqlite", "duckdb"):
        path = tmp_path / f"written.{'db' if request.param == 'sqlite' else 'duckdb'}"
        with closing((sqlite3 if request.param == "sqlite" else duckdb).connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path
    server = POSTGRES if request.param == "postgres" else MARIADB
    if server.unavailable():
        pytest.skip(server.unavailable())
    url = server.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in statements:
        server.run(url, statement)
    return url


def test_what_an_engine_writes_from_secrets_is_not_sent(written: str | Path) -> None:
    with Database.open(written) as database:
        assert {*database.leaving().column_levels} == {("users", "password"), ("users", "label"), ("logins", "w")}
        shown = database.schema()
        assert "Canary" not in str(shown)
        assert "Ada" in str(shown)
        definitions = {table.name: table.definition for table in shown.tables}
        assert not definitions["logins"], "it names a value"
        assert definitions["others"]


@pytest.fixture
def reader_of() -> Iterator[Callable[..., str]]:
    """Makes a database and a login of its own with rights to parts of it; returns the login's address."""
    logins: list[tuple[Server, str, str]] = []

    def make(server: Server, *statements: str) -> str:
        if server.unavailable():
            pytest.skip(server.unavailable())
        url, login = server.make_database(f"tt_{uuid4().hex[:12]}"), f"tt_{uuid4().hex[:8]}"
        parts = urlsplit(url)
        password = "PASSWORD" if server is POSTGRES else "IDENTIFIED BY"
        logins.append((server, url, login))
        for statement in (f"CREATE USER {login} {password} 'x'", *statements):
            server.run(url, statement.replace("LOGIN", login).replace("DATABASE", parts.path[1:]))
        return urlunsplit(parts._replace(netloc=f"{login}:x@{parts.hostname}:{parts.port}"))

    yield make
    for server, url, login in logins:
        if server is POSTGRES:
            server.run(url, f"DROP OWNED BY {login}")
        server.run(url, f"DROP USER {login}")


USERS = (
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20), password VARCHAR(20))",
    "INSERT INTO users VALUES (1, 'Ada', 'Canary1horse'), (2, 'Bo', 'Canary2horse')",
    "CREATE VIEW logins AS SELECT id, name, concat(name, ':', password) AS login FROM users",
)


def test_mariadb_without_the_right_to_see_definitions_shows_no_secret(reader_of: Callable[..., str]) -> None:
    with Database.open(reader_of(MARIADB, *USERS, "GRANT SELECT ON DATABASE.* TO LOGIN")) as database:
        assert {*database.leaving().column_levels} == {("users", "password"), ("logins", "login")}


def test_a_view_of_a_table_that_may_not_be_read_shows_no_secret(reader_of: Callable[..., str]) -> None:
    views = (
        "CREATE VIEW paired AS SELECT u.name, upper(u.password) AS p, l.login AS q FROM users u JOIN logins l"
        " ON l.id = u.id WHERE u.password <> 'Canary3horse'",
        "CREATE VIEW plain AS SELECT id, name FROM users",
    )
    grants = [f"GRANT SELECT ON {name} TO LOGIN" for name in ("logins", "paired", "plain")]
    with Database.open(reader_of(POSTGRES, *USERS, *views, *grants)) as database:
        assert {table.name for table in database.schema().tables} == {"logins", "paired", "plain"}
        assert {*database.leaving().column_levels} == {("logins", "login"), ("paired", "p"), ("paired", "q")}
        assert "Canary" not in str(database.schema())
        assert "Ada" in str(database.schema())


def test_a_view_of_a_column_that_may_not_be_read_shows_no_secret(reader_of: Callable[..., str]) -> None:
    grants = ("GRANT SELECT (id, name) ON users TO LOGIN", "GRANT SELECT ON logins TO LOGIN")
    with Database.open(reader_of(POSTGRES, *USERS, *grants)) as database:
        assert {*database.leaving().column_levels} == {("logins", "login")}


def test_mariadb_shows_no_secret_of_a_table_that_may_not_be_read(reader_of: Callable[..., str]) -> None:
    grants = ("GRANT SELECT, SHOW VIEW ON DATABASE.logins TO LOGIN",)
    with Database.open(reader_of(MARIADB, *USERS, *grants)) as database:
        assert {*database.leaving().column_levels} == {("logins", "login")}


def test_a_definition_that_compares_a_secret_of_a_table_that_may_not_be_read_is_not_shown(
    reader_of: Callable[..., str],
) -> None:
    view = "CREATE VIEW ours AS SELECT name FROM users WHERE password = 'Canary1horse'"
    for server, rights in ((POSTGRES, "SELECT ON ours"), (MARIADB, "SELECT, SHOW VIEW ON DATABASE.ours")):
        with Database.open(reader_of(server, USERS[0], USERS[1], view, f"GRANT {rights} TO LOGIN")) as database:
            assert "Ada" in str(database.schema())
            assert "Canary" not in str(database.schema())


def test_nothing_is_known_without_definitions_and_tables(reader_of: Callable[..., str]) -> None:
    with Database.open(reader_of(MARIADB, *USERS, "GRANT SELECT ON DATABASE.logins TO LOGIN")) as database:
        assert not database.leaving().column_levels
