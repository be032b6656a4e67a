"""Odd databases, questions and statements: the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Tables = Sequence[tuple[str, Sequence[str]]]
"""Names of tables, each with those of its columns."""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _warehouse(tables: int, engine: str) -> list[str]:
    """Facts and dimensions, of which some share their names' words."""
    del engine
    things = ["customer", "product", "order", "store", "region", "employee", "invoice", "shipment", "visit", "claim"]
    kinds = ["dim", "fact", "stg", "hist", "agg"]
    made: list[str] = []
    for number in range(tables):
        thing, kind = things[number % 10], kinds[number // 10 % 5]
        name = f"{kind}_{thing}_{number:03}"
        key = f", {things[(number + 1) % 10]}_id INTEGER" if number % 3 else ""
        made.append(
            f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, name TEXT, status TEXT, amount REAL, created_on DATE{key})"
        )
        if number % 7 == 0:
            more = ", 1" if key else ""
            made.append(f"INSERT INTO {name} VALUES (1, 'May {thing}', 'open', 1.5, '2024-05-01'{more})")
            made.append(f"INSERT INTO {name} VALUES (2, 'Paris', 'IN', 2.5, '2023-01-31'{more})")
    return made


def _spaces_and_quotes(engine: str) -> list[str]:
    del engine
    one, two, three = _quoted(' order "details" '), _quoted("it's; --"), _quoted("%s {x} `y` [z]")
    return [
        f"CREATE TABLE {one} ({_quoted('the id')} INTEGER PRIMARY KEY, {_quoted('a ')} TEXT, {_quoted('cost')} REAL)",
        f"CREATE TABLE {two} ({_quoted('id')} INTEGER PRIMARY KEY, {_quoted('x.y')} TEXT, {_quoted('/*')} INTEGER)",
        f"CREATE TABLE {three} ({_quoted(' ')} INTEGER, {_quoted('*')} TEXT, {_quoted('?')} INTEGER)",
        f"INSERT INTO {one} VALUES (1, 'O''Brien', 2.5), (2, '\"quoted\"', -1), (3, '', 0)",
        f"INSERT INTO {two} VALUES (1, '; DROP TABLE x; --', 1), (2, '%', 2)",
        f"INSERT INTO {three} VALUES (1, '{{{{ x }}}}', 1), (2, '```', 2)",
    ]


def _reserved(engine: str) -> list[str]:
    del engine
    return [
        'CREATE TABLE "order" ("select" INTEGER PRIMARY KEY, "from" TEXT, "where" REAL, "group" TEXT)',
        'CREATE TABLE "table" ("limit" INTEGER PRIMARY KEY, "null" TEXT, "in" INTEGER REFERENCES "order" ("select"))',
        'CREATE TABLE "values" ("count" INTEGER, "id" INTEGER, "date" TEXT, "who" TEXT)',
        "INSERT INTO \"order\" VALUES (1, 'select', 1.5, 'group'), (2, 'May', 2, 'IN'), (3, 'who', 3, NULL)",
        "INSERT INTO \"table\" VALUES (1, 'null', 1), (2, 'How many', 2)",
        "INSERT INTO \"values\" VALUES (1, 1, '2024-01-01', 'are there'), (2, 2, 'today', 'OR')",
    ]


def _unicode(engine: str) -> list[str]:
    del engine
    return [
        'CREATE TABLE "Straße" ("größe" INTEGER PRIMARY KEY, "名前" TEXT, "İstanbul" TEXT)',
        'CREATE TABLE "顧客" ("番号" INTEGER PRIMARY KEY, "😀" TEXT, "e\u0301tat" REAL)',
        'CREATE TABLE "عملاء" ("اسم" TEXT, "\u200bzero" INTEGER, "ǅ" TEXT)',
        "INSERT INTO \"Straße\" VALUES (1, '東京', 'ISTANBUL'), (2, 'ß', 'istanbul'), (3, '🇫🇷', 'ı')",
        "INSERT INTO \"顧客\" VALUES (1, '👨‍👩‍👧', 1.5), (2, 'ﬁ', -0.0)",
        "INSERT INTO \"عملاء\" VALUES ('محمد', 1, 'ǆ'), ('\u202e', 2, '\u0301')",
    ]


def _views(engine: str) -> list[str]:
    del engine
    return [
        "CREATE VIEW sales AS SELECT 1 AS id, 'Paris' AS city, 2.5 AS total UNION ALL SELECT 2, 'Rome', 3",
        "CREATE VIEW cities AS SELECT DISTINCT city AS name FROM sales",
        "CREATE VIEW no_sales AS SELECT * FROM sales WHERE 1 = 0",
    ]


def _people(engine: str) -> list[str]:
    del engine
    return [
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city TEXT, born DATE)",
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES people (id), cost REAL, day DATE)",
    ]


def _all_null(engine: str) -> list[str]:
    rows = [f"INSERT INTO people VALUES ({n}, NULL, NULL, NULL, NULL)" for n in range(3)]
    return [*_people(engine), *rows, "INSERT INTO visits VALUES (1, NULL, NULL, NULL), (2, 0, NULL, NULL)"]


def _blobs(engine: str) -> list[str]:
    binary, cell = ("BYTEA", r"'\x00ff80'") if engine == "postgres" else ("BLOB", "X'00FF80'")
    if engine == "duckdb":
        cell = r"'\x00\xFF\x80'::BLOB"
    made = [
        f"CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT, content {binary}, size INTEGER)",
        f"CREATE TABLE thumbs (file_id INTEGER, picture {binary})",
        f"INSERT INTO files VALUES (1, 'a.png', {cell}, 3), (2, NULL, NULL, 0), (3, '{'x' * 5_000}', {cell}, 9223372)",
        f"INSERT INTO thumbs VALUES (1, {cell}), (2, {cell})",
    ]
    if engine == "sqlite":  # a column of any type, and numbers that are none
        made.append("INSERT INTO files VALUES (4, X'FF', 'text', 'many'), (5, 1e999, -1e999, 9223372036854775807)")
    return made


def _generated(engine: str) -> list[str]:
    stored = "VIRTUAL" if engine == "duckdb" else "STORED"
    return [
        "CREATE TABLE lines (id INTEGER PRIMARY KEY, item TEXT, price REAL, pieces INTEGER, "
        f"total REAL GENERATED ALWAYS AS (price * pieces) {stored}, "
        f"label TEXT GENERATED ALWAYS AS (upper(item)) {stored})",
        "INSERT INTO lines (id, item, price, pieces) VALUES (1, 'May', 2.5, 4), (2, 'in', 1, 0), (3, NULL, NULL, NULL)",
    ]


DATABASES: dict[str, Callable[[str], list[str]]] = {
    "tables_298": lambda engine: _warehouse(298, engine),
    "tables_500": lambda engine: _warehouse(500, engine),
    "spaces_and_quotes": _spaces_and_quotes,
    "reserved_words": _reserved,
    "unicode": _unicode,
    "views_only": _views,
    "no_rows": _people,
    "all_null": _all_null,
    "blobs": _blobs,
    "generated_columns": _generated,
}
"""By name, the statements that make each on an engine: `sqlite`, `duckdb` or `postgres`."""

_PLAIN = """
How many {t} are there?
List all {t}.
Show the {c} of {t}
What is the average {c} of {t}?
Which {t} has the highest {c}?
How many {t} have no {u}?
{t} whose {c} is Paris
Show {t} with {c} over 3, sorted by {d}, newest first
Give me the {c} and {d} of each {t} in May
How many {t} per {c}?
What percentage of {t} are in Paris?
What was the total {c} last month, and the month before?
Top 3 {t} by {c} as a bar chart
Draw {c} by {d}
Which {t} are not IN {u}, OR May?
the status of {t} that is not open
""".strip().splitlines()

ODD_WORDS = [
    ".", "?", "???!!!", "...", ",;:", "()", "-", "'", '"', "''''", "“”", "`", "```", "\\", "%", "*", "#", "/",
    "//", "--", "the", "of the in", "is it", "a an the or and not", "who what which", "IN", "OR", "Is", "I", "it",
    "no", "yes", "ok", "hello", "hi there", "thanks!", "May", "may", "US", "A", "id", "IDs", "null", "NULL",
    "None", "true", "NaN", "inf", "😀", "👨‍👩‍👧‍👦🇫🇷", "😀 how many 😀?", "東京", "顧客は何人いますか？",
    "Сколько клиентов?", "كم عدد العملاء؟", "ß", "İ", "ﬁ", "\u200b", "\u202eabc", "e\u0301", "ǆ", "ͺ",
    "how many ﹰ are ͺ", "\ufeff", "\x00", "a\x00b", "\ud800", "how many \udfff?", "\x1b[31mred", "1", "0", "-1",
    "1 2 3", "3.14159", "1e999", "9" * 400, "12345678901234567890", "0x1F", "½ ² Ⅷ ٣", "1,000.5", "2024",
    "2024-02-30", "12:61", "31/12/9999", "1.2.3.4", "+49 170 0000000", "99%", "$5", "€ 5,00",
    "more than 1e400 items", "'; DROP TABLE people; --", "1 OR 1=1", "SELECT * FROM people", "SELECT",
    "' UNION SELECT NULL --", "DELETE FROM x", "delete all of them", "drop table orders", "remove the oldest",
    "/approve", "/* x */", "{{ 7*7 }}", "${x}", "<b>x</b>", "it's O'Brien's \"own\" `thing`", '"unclosed', "(((",
    ")))", "[[[", "a" * 3_000, "how many " * 300, "x y " * 500, "and and and or or", "not not not", "than than",
    "more than", "at least", "between and", "from to", "before", "since", "the most", "fewest", "highest lowest",
    "per", "each each", "by", "sorted by", "top", "top -1", "top 0", "first 1e9", "How?", "Why is that?",
    "What are you?", "What tables are there?", "Show the names", "show me", "list", "count", "as a pie chart",
    "draw it", "plot", "bar chart of", "chart the the", "export as csv", "in January in February",
    "last year this year next year", "yesterday", "in the 1990s", "in the 0000s", "non-", "non-fiction",
    "how many does have",
]  # fmt: skip

_FOLLOW_UPS = """
and those?
And?
which of them?
what about it?
What about the others?
who?
their names
those in Paris
not those
the other ones
how many?
sort them
the oldest
older than 3
in 2024?
only the first
and per {c}?
the same for {t}
of each {t}?
without {c}
also show the {d}
as a bar chart
draw that
more
How about May?
and in the other {t}?
which {t} do they have
the highest of these
1
2
the first
neither
all of them
I mean {t}
none of your business
""".strip().splitlines()


def questions(chance: random.Random, tables: Tables, number: int) -> list[str]:
    """The words that a person says, turn after turn: odd ones, plain ones, and ones that lean on what was before."""

    kinds = (_PLAIN, ODD_WORDS, _FOLLOW_UPS)
    first = chance.choice(chance.choices(kinds, (5, 4, 1))[0])
    later = [chance.choice(chance.choices(kinds, (2, 3, 5))[0]) for _ in range(number - 1)]
    return [_twisted(chance, _spoken(chance, words, tables)) for words in (first, *later)]


def _spoken(chance: random.Random, words: str, tables: Tables) -> str:
    (table, columns), (other, _) = chance.choice(tables), chance.choice(tables)
    names = {"t": table, "u": other, "c": chance.choice(columns), "d": chance.choice(columns)}
    for key, name in names.items():
        words = words.replace(f"{{{key}}}", name.replace("_", " ") if chance.random() < 0.6 else name)
    return words


def _twisted(chance: random.Random, words: str) -> str:
    """The words, one time in four written otherwise."""
    ways: list[Callable[[str], str]] = [
        str.upper,
        str.lower,
        lambda text: text[::-1],
        lambda text: f'"{text}"',
        lambda text: text.replace(" ", "  \n"),
        lambda text: text[: max(len(text) // 2, 1)],
        lambda text: f"{text} {chance.choice(ODD_WORDS)}",
        lambda text: "\u00a0".join(text.split()),
        lambda text: f"(({text}",
    ]
    return chance.choice(ways)(words) if chance.random() < 0.25 else words


_STATEMENTS = """
SELECT {c} FROM {t} LIMIT (SELECT 3)
SELECT {c} FROM {t} LIMIT 2 OFFSET (SELECT 1)
SELECT {c} FROM {t} LIMIT 1 + 1
SELECT {c} FROM {t} LIMIT -1
SELECT {c} FROM {t} LIMIT ALL
SELECT {c} FROM {t} LIMIT 1e1
SELECT {c} FROM {t} LIMIT 2 OFFSET 1e0
SELECT {c} FROM {t} LIMIT 1, 2
SELECT {c} FROM {t} FETCH FIRST 2 ROWS ONLY
SELECT {c} FROM {t} FETCH FIRST ROW ONLY
SELECT {c} FROM {t} ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES
SELECT {c} FROM {t} OFFSET 1
SELECT {c} FROM {t} OFFSET 1 ROWS
SELECT {c} FROM {t} LIMIT 50 PERCENT
SELECT {c} FROM {t} LIMIT 10%
SELECT {c} FROM {t} LIMIT NULL
SELECT {c} FROM {t} LIMIT 999999999999999999999
SELECT {c} FROM {t} LIMIT CAST('2' AS INTEGER)
SELECT {c} FROM {t} WHERE 1e999 > 0
SELECT {c} FROM {t} WHERE {c} = 1e999
SELECT {c} FROM {t} WHERE {c} < -1e999
SELECT {c} FROM {t} WHERE {c} = 1e5
SELECT {c} FROM {t} WHERE {c} > 1E-3
SELECT {c} FROM {t} WHERE {c} = .5
SELECT {c} FROM {t} WHERE {c} = 5.
SELECT {c} FROM {t} WHERE {c} = 1_000
SELECT {c} FROM {t} WHERE {c} = 0x1F
SELECT {c} FROM {t} WHERE {c} = 123456789012345678901234567890
SELECT {c} FROM {t} WHERE {c} = -5
SELECT {c} FROM {t} WHERE {c} = - - 5
SELECT {c} FROM {t} WHERE {c} = +5
SELECT {c} FROM {t} WHERE NOT {c} = 1
SELECT {c} FROM {t} WHERE NOT NOT {c} IS NULL
SELECT {c} FROM {t} WHERE {c} IS NOT NULL
SELECT {c} FROM {t} WHERE {c} IS 1
SELECT {c} FROM {t} WHERE {c} IS NOT DISTINCT FROM 1
SELECT {c} FROM {t} WHERE {c} ISNULL
SELECT {c} FROM {t} WHERE {c} IS TRUE
SELECT {c} FROM {t} WHERE {c}
SELECT {c} FROM {t} WHERE TRUE
SELECT {c} FROM {t} WHERE NULL
SELECT {c} FROM {t} WHERE 1 = 1 AND (1 = 1 OR (2 = 2 AND (3 = 3)))
SELECT {c} FROM {t} WHERE {c} IN (1, 2, 3)
SELECT {c} FROM {t} WHERE {c} IN ()
SELECT {c} FROM {t} WHERE {c} IN (NULL)
SELECT {c} FROM {t} WHERE {c} IN (SELECT {c} FROM {t})
SELECT {c} FROM {t} WHERE {c} NOT IN (SELECT {d} FROM {t} LIMIT (SELECT 1))
SELECT {c} FROM {t} WHERE ({c}, {d}) IN (SELECT {c}, {d} FROM {t})
SELECT {c} FROM {t} WHERE {c} IN (VALUES (1), (2))
SELECT {c} FROM {t} WHERE {c} = (SELECT max({c}) FROM {t})
SELECT {c} FROM {t} WHERE {c} = ANY (SELECT {c} FROM {t})
SELECT {c} FROM {t} WHERE {c} > ALL (SELECT {d} FROM {t})
SELECT {c} FROM {t} WHERE EXISTS (SELECT 1)
SELECT {c} FROM {t} WHERE NOT EXISTS (SELECT 1 FROM {u})
SELECT {c} FROM {t} WHERE {c} LIKE 'a%' ESCAPE '!'
SELECT {c} FROM {t} WHERE {c} LIKE '%' || 'x'
SELECT {c} FROM {t} WHERE {c} NOT LIKE '\\_%'
SELECT {c} FROM {t} WHERE {c} ILIKE 'PARIS'
SELECT {c} FROM {t} WHERE {c} GLOB '*[a-z]'
SELECT {c} FROM {t} WHERE {c} SIMILAR TO '(a|b)%'
SELECT {c} FROM {t} WHERE {c} BETWEEN 1 AND (SELECT 3)
SELECT {c} FROM {t} WHERE {c} BETWEEN 1 AND 1e999
SELECT {c} FROM {t} WHERE {c} NOT BETWEEN 'a' AND 'b'
SELECT {c} FROM {t} WHERE {c} = 'it''s'
SELECT {c} FROM {t} WHERE {c} = ''
SELECT {c} FROM {t} WHERE {c} = '名前'
SELECT {c} FROM {t} WHERE {c} = E'\\n'
SELECT {c} FROM {t} WHERE {c} = X'FF'
SELECT {c} FROM {t} WHERE {c} = DATE '2024-02-30'
SELECT {c} FROM {t} WHERE {c} >= CURRENT_DATE - INTERVAL '1 month'
SELECT {c} FROM {t} WHERE CAST({c} AS TEXT) = 'Paris'
SELECT {c} FROM {t} WHERE lower(CAST({c} AS TEXT)) = 'paris' OR {c} IS NULL
SELECT {c} FROM {t} WHERE {c} = {c}
SELECT {c} FROM {t} WHERE 'Paris' = CAST({c} AS TEXT)
SELECT {c} FROM {t} WHERE 1 < 2 < 3
SELECT {c}, {d} FROM {t}
SELECT {c} AS "x y", {d} AS "select" FROM {t}
SELECT {c} AS "", {d} AS "a""b" FROM {t}
SELECT {c} AS "😀", {d} AS "x" FROM {t}
SELECT * FROM {t}
SELECT *, * FROM {t}
SELECT a.*, {c} FROM {t} AS a
SELECT a.* FROM {t} AS a, {u} AS b
SELECT count(*) FROM {t}
SELECT COUNT(1), count({c}), count(DISTINCT {c}) FROM {t}
SELECT count(DISTINCT {c}, {d}) FROM {t}
SELECT count(*) AS n, count(*) AS n FROM {t}
SELECT count(*) FILTER (WHERE {c} IS NULL) FROM {t}
SELECT sum(CASE WHEN {c} IS NULL THEN 1 ELSE 0 END) FROM {t}
SELECT sum(1) / count(*) FROM {t}
SELECT 1.0 * count({c}) / NULLIF(count(*), 0) FROM {t}
SELECT avg(length(CAST({c} AS TEXT))) FROM {t}
SELECT min({c}), max({c}) FROM {t}
SELECT max(max({c})) FROM {t}
SELECT count(*) FROM {t} GROUP BY {c}
SELECT {c}, count(*) FROM {t} GROUP BY 1 ORDER BY 2 DESC
SELECT {c}, count(*) FROM {t} GROUP BY ALL
SELECT {c}, count(*) FROM {t} GROUP BY ROLLUP ({c})
SELECT {c}, {d}, count(*) FROM {t} GROUP BY GROUPING SETS (({c}), ({d}), ())
SELECT {c}, count(*) FROM {t} GROUP BY CUBE ({c})
SELECT {c}, count(*) FROM {t} GROUP BY {c} HAVING count(*) > 1
SELECT {c}, count(*) FROM {t} GROUP BY {c} HAVING count(*) > (SELECT 1)
SELECT {c}, count(*) FROM {t} GROUP BY {c} HAVING NOT (count(*) < 1e999)
SELECT {c} FROM {t} GROUP BY {c}, length(CAST({c} AS TEXT)) HAVING 1 = 1
SELECT DISTINCT {c} FROM {t}
SELECT DISTINCT ON ({c}) {c}, {d} FROM {t}
SELECT ALL {c} FROM {t}
SELECT {c} FROM {t} ORDER BY {d} DESC NULLS LAST
SELECT {c} FROM {t} ORDER BY count(*) OVER ()
SELECT {c} FROM {t} ORDER BY CASE WHEN {d} IS NULL THEN 1 END, 1
SELECT {c} FROM {t} ORDER BY random()
SELECT {c} FROM {t} ORDER BY length(CAST({c} AS TEXT)), {d} ASC LIMIT 1
SELECT {c} FROM {t} ORDER BY 1 COLLATE "C"
SELECT row_number() OVER (ORDER BY {c}) FROM {t}
SELECT {c}, sum(1) OVER (PARTITION BY {d} ORDER BY {c} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM {t}
SELECT {c}, rank() OVER w FROM {t} WINDOW w AS (ORDER BY {c})
SELECT * FROM (SELECT {c}, row_number() OVER () AS r FROM {t}) AS s WHERE r = 1
SELECT {c} FROM {t} QUALIFY row_number() OVER (ORDER BY {c}) = 1
SELECT a.{c} FROM {t} AS a JOIN {t} AS b ON a.{c} = b.{c}
SELECT a.{c} FROM {t} AS a LEFT JOIN {u} AS b ON 1 = 1
SELECT a.{c} FROM {t} a CROSS JOIN {u} b LIMIT 3
SELECT {c} FROM {t} NATURAL JOIN {u}
SELECT count(*) FROM {t} a FULL OUTER JOIN {t} b USING ({c})
SELECT a.{c} FROM {t} AS a, LATERAL (SELECT 1) AS l
SELECT a.{c} FROM {t} AS a JOIN (SELECT {c} AS k FROM {t} LIMIT 2) AS b ON a.{c} = b.k
SELECT "A".{c} FROM {t} AS "A"
SELECT "a b".{c} FROM {t} AS "a b"
SELECT {c} FROM {t} AS t(x, y)
SELECT x FROM (SELECT {c} FROM {t}) AS t(x)
WITH q AS (SELECT * FROM {t}) SELECT {c} FROM q
WITH q(x) AS (SELECT {c} FROM {t}) SELECT x, count(*) FROM q GROUP BY x
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n
WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b, {t} LIMIT 2
SELECT (WITH z AS (SELECT 1 AS x) SELECT x FROM z), {c} FROM {t}
SELECT {c} FROM {t} UNION SELECT {c} FROM {t}
SELECT {c} FROM {t} UNION ALL SELECT NULL LIMIT (SELECT 2)
(SELECT {c} FROM {t}) UNION (SELECT {c} FROM {t}) ORDER BY 1
(SELECT {c} FROM {t} LIMIT 1)
((SELECT {c} FROM {t}))
SELECT {c} FROM {t} INTERSECT SELECT {c} FROM {t} EXCEPT SELECT {c} FROM {t}
SELECT {c} FROM {t} EXCEPT ALL SELECT {c} FROM {t}
SELECT {c} FROM {t} UNION SELECT {c} FROM {t} WHERE {c} IN (SELECT {c} FROM {t} UNION SELECT NULL)
VALUES (1, 'a'), (2, 'b')
VALUES (1) LIMIT 1
TABLE {t}
FROM {t}
FROM {t} SELECT {c}
SELECT
SELECT 1
SELECT 1, 1, 1
SELECT NULL
SELECT ''
SELECT 1 WHERE 1 = 0
SELECT 'x' AS {c}
SELECT 1e308 * 10
SELECT -1e308 * 10, 0.0 * -1
SELECT 1e308 * 10 - 1e308 * 10
SELECT 9223372036854775807 + 0, 123456789012345678901234567890.123456789
SELECT 1 / 0
SELECT CAST('NaN' AS DOUBLE PRECISION), CAST('inf' AS REAL)
SELECT 'a' || chr(0) || 'b'
SELECT char(0) || 'x', char(55357)
SELECT CAST(X'FF' AS TEXT), X'00'
SELECT DATE '9999-12-31', TIMESTAMP '0001-01-01 00:00:00', INTERVAL '1 day'
SELECT TIME '12:00:00', INTERVAL '1 year 2 months'
SELECT ARRAY[1, 2, NULL], ARRAY['a']
SELECT [1, 2], {'a': 1}
SELECT ROW(1, 'a'), (1, 2)
SELECT json_object('a', 1), json_array(1, 2)
SELECT '{"a": [1]}'::json -> 'a'
SELECT gen_random_uuid(), uuid()
SELECT TRUE, FALSE, NULL
SELECT current_timestamp, date('now'), now()
SELECT unnest(ARRAY[1, 2, 3]) AS n
SELECT * FROM generate_series(1, 3)
SELECT * FROM range(3)
SELECT {c} FROM {t} TABLESAMPLE SYSTEM (50)
SELECT {c} FROM {t} USING SAMPLE 2
SELECT {c} FROM {t} FOR UPDATE
SELECT {c} INTO x FROM {t}
SELECT {c} FROM main.{t}
SELECT {c} FROM public.{t}
SELECT {c} FROM a.b.c.{t}
SELECT {t}.{c} FROM {t}
SELECT {c} FROM nowhere
SELECT nothing FROM {t}
SELECT {c} {d} FROM {t}
SELECT {c}, FROM {t}
SELECT {c} FROM {t} WHERE
SELECT {c} FROM {t} WHERE (
SELECT {c} FROM {t} WHERE {c} = 'unclosed
SELECT {c} FROM {t}; SELECT 2
SELECT {c} FROM {t}; DROP TABLE {t}
SELECT {c} FROM {t} -- comment
SELECT /* {c} */ {c} FROM {t} /* unclosed
SELECT {c} FROM {t} WHERE {c} = ?
SELECT {c} FROM {t} WHERE {c} = :name
SELECT {c} FROM {t} WHERE {c} = $1
SELECT {c} FROM {t} WHERE {c} = @x
SELECT `{c}` FROM {t}
SELECT [{c}] FROM {t}
EXPLAIN SELECT {c} FROM {t}
DESCRIBE {t}
SHOW TABLES
PRAGMA table_info({t})
DELETE FROM {t}
UPDATE {t} SET {c} = NULL
INSERT INTO {t} DEFAULT VALUES
SELECT COALESCE({c}, {d}) FROM {t}
SELECT IFNULL({c}, 0), IIF(1 = 1, 2, 3) FROM {t}
SELECT {c} IS NULL, {c} = {d}, NOT ({c} IS NULL) FROM {t}
SELECT CASE {c} WHEN 1 THEN 'a' WHEN 2 THEN NULL ELSE {d} END FROM {t}
SELECT CASE WHEN {c} IS NULL THEN (SELECT 1) END AS x FROM {t}
SELECT EXTRACT(YEAR FROM CURRENT_DATE), strftime('%Y', 'now')
SELECT substr(CAST({c} AS TEXT), 1, 2), count(*) FROM {t} GROUP BY substr(CAST({c} AS TEXT), 1, 2)
SELECT group_concat({c}), string_agg(CAST({c} AS TEXT), ',') FROM {t}
SELECT group_concat({c} ORDER BY {d}) FROM {t}
SELECT string_agg(CAST({c} AS TEXT), ',' ORDER BY 1) FROM {t}
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 1) FROM {t}
SELECT (SELECT count(*) FROM {u}), (SELECT count(*) FROM {t}) FROM {t} LIMIT 1
SELECT {c} FROM {t} WHERE (SELECT count(*) FROM {u}) > 0 AND {c} IN (SELECT {c} FROM {t} LIMIT 1 OFFSET (SELECT 0))
SELECT max({c}) - min({c}) FROM {t}
SELECT count(*) * 100.0 / (SELECT count(*) FROM {t}) FROM {t} WHERE {c} IS NOT NULL
SELECT {c} COLLATE NOCASE FROM {t}
SELECT {c}::TEXT, {d}::INTEGER FROM {t}
SELECT EXCLUDE FROM {t}
SELECT * EXCLUDE ({c}) FROM {t}
SELECT COLUMNS('.*') FROM {t}
SELECT {c} FROM {t} WHERE rowid = 1
SELECT rowid, oid, _rowid_ FROM {t}
SELECT ctid, {c} FROM {t}
PIVOT {t} ON {c} USING count(*)
SELECT {c} FROM {t} ASOF JOIN {u} ON 1 = 1
""".strip().splitlines()


def statement(chance: random.Random, tables: Tables) -> str:
    """A statement of an odd form over some of these tables."""
    return _filled(chance, chance.choice(_STATEMENTS), tables)


def numbered_statement(number: int, tables: Tables) -> str:
    """The statement of that number over these tables; each form comes before any comes again."""
    return _filled(random.Random(f"statement/{number}"), _STATEMENTS[number % len(_STATEMENTS)], tables)


def around(number: int, tables: Tables) -> list[str]:
    """What is asked where that statement is the reply, and twice after it: plain words, so that they are read."""
    chance = random.Random(f"around/{number}")
    forms = (_PLAIN, _FOLLOW_UPS, _FOLLOW_UPS)
    return [_spoken(chance, chance.choice(words), tables) for words in forms]


def _filled(chance: random.Random, form: str, tables: Tables) -> str:
    (table, columns), (other, _) = chance.choice(tables), chance.choice(tables)
    names = {"t": table, "u": other, "c": chance.choice(columns), "d": chance.choice(columns)}
    for key, name in names.items():
        form = form.replace(f"{{{key}}}", _quoted(name))
    return form
