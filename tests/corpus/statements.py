"""Statements for fuzzing a read-only database: attacks, questions, and everything that mutation makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

SCHEMA = """
CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, born TEXT, boss INTEGER REFERENCES person (id));
CREATE TABLE pay (person_id INTEGER REFERENCES person (id), month TEXT, amount REAL, note TEXT);
CREATE INDEX pay_month ON pay (month);
CREATE VIEW total AS SELECT person_id, sum(amount) AS amount FROM pay GROUP BY person_id;
CREATE TRIGGER person_gone AFTER DELETE ON person BEGIN DELETE FROM pay WHERE person_id = old.id; END;
CREATE VIRTUAL TABLE letter USING fts5(title, body);
CREATE VIRTUAL TABLE old_letter USING fts4(body);
CREATE VIRTUAL TABLE place USING rtree(id, west, east);
INSERT INTO person (name, born, boss) VALUES ('Ada', '1990-01-02', NULL), ('Ben', '1985-05-06', 1), ('Cem', NULL, 1);
INSERT INTO pay VALUES (1, '2024-01', 10.5, 'x'), (1, '2024-02', 11, '{"a": [1, 2]}'), (2, '2024-01', 7.25, NULL);
INSERT INTO letter VALUES ('first', 'hello there'), ('second', 'hello again');
INSERT INTO old_letter VALUES ('dear all');
INSERT INTO place VALUES (1, 0, 1), (2, 5, 6);
"""

# {f} becomes the path of a file beside the database, or one that a relative name would make.
_SEEDS = """
SELECT name, count(*) FROM person JOIN pay ON pay.person_id = person.id GROUP BY name HAVING count(*) > 1 ORDER BY 2
SELECT * FROM person LEFT JOIN total ON total.person_id = person.id WHERE born IS NOT NULL LIMIT 5 OFFSET 1
SELECT month, sum(amount) OVER (PARTITION BY person_id ORDER BY month ROWS UNBOUNDED PRECEDING) FROM pay
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 9) SELECT x, (SELECT max(amount) FROM pay) FROM n
WITH a AS MATERIALIZED (SELECT * FROM pay) SELECT note ->> '$.a[0]', json_type(note) FROM a WHERE json_valid(note)
SELECT value FROM pay, json_each(pay.note, '$.a') WHERE json_valid(note) UNION SELECT key FROM json_tree('[{"b": 2}]')
SELECT title, snippet(letter, 1, '', '', '', 3), bm25(letter) FROM letter WHERE letter MATCH 'hel* NOT x' ORDER BY rank
SELECT offsets(old_letter), hex(matchinfo(old_letter)) FROM old_letter WHERE old_letter MATCH 'dear'
SELECT id FROM place WHERE west < 3 AND east >= 1 EXCEPT SELECT id FROM person INTERSECT VALUES (1), (2)
SELECT strftime('%Y', born), date('now', '-1 month'), julianday(born) - julianday('2000-01-01') FROM person
SELECT CASE WHEN amount BETWEEN 1 AND 9 THEN 'low' ELSE printf('%.2f', amount) END, iif(note LIKE '%x%', 1, 0) FROM pay
SELECT name FROM person p WHERE EXISTS (SELECT 1 FROM pay WHERE person_id = p.id AND month GLOB '2024*') AND id IN (1)
EXPLAIN QUERY PLAN SELECT * FROM person NATURAL JOIN pay
INSERT INTO person (name) VALUES ('Eve') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *
INSERT OR REPLACE INTO pay SELECT * FROM pay
UPDATE person SET name = 'Eve' WHERE id = 1 RETURNING id
DELETE FROM person WHERE id > 0
WITH x AS (SELECT id FROM person) DELETE FROM pay WHERE person_id IN x
CREATE TABLE t AS SELECT * FROM person
CREATE TEMP TABLE t (a, b)
CREATE VIRTUAL TABLE temp.t USING fts5(a, content='person')
CREATE TRIGGER temp.g AFTER UPDATE ON main.person BEGIN DELETE FROM pay; END
CREATE VIEW v AS SELECT load_extension('{f}')
DROP TABLE IF EXISTS person
DROP VIEW total
ALTER TABLE person RENAME TO people
ALTER TABLE person ADD COLUMN x DEFAULT 1
ATTACH DATABASE '{f}' AS other
ATTACH 'file:{f}?mode=rwc&cache=shared' AS other KEY 'x'
DETACH DATABASE main
VACUUM main INTO '{f}'
VACUUM
REINDEX pay_month
ANALYZE person
PRAGMA main.query_only = OFF
PRAGMA writable_schema(1)
PRAGMA journal_mode = WAL
PRAGMA user_version = 9
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA temp_store_directory = '{f}'
BEGIN EXCLUSIVE TRANSACTION
SAVEPOINT s
COMMIT
ROLLBACK TO s
SELECT load_extension('{f}', 'main')
SELECT fts3_tokenizer('simple', x'0011223344556677')
SELECT writefile('{f}', 'x'), readfile('{f}'), edit('{f}')
SELECT * FROM pragma_table_info('person'), pragma_database_list, sqlite_master, sqlite_sequence, dbstat, sqlite_stmt
INSERT INTO letter (letter, rank) VALUES ('rebuild', 1)
INSERT INTO letter_data VALUES (1, x'00')
UPDATE sqlite_master SET sql = 'x' WHERE name = 'person'
SELECT 1; DELETE FROM person; -- done
SELECT zeroblob(1000000000), randomblob(1000000000), hex(zeroblob(100000)), replace(hex(zeroblob(99)), '0', 'ab')
SELECT trim(name, 'A'), instr(name, 'd'), substr(name, -2), upper(name), quote(born), typeof(boss), abs(id) FROM person
"""
_WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET JOIN LEFT NATURAL ON USING AS WITH RECURSIVE UNION ALL EXCEPT
INSERT INTO REPLACE UPDATE SET DELETE CREATE DROP ALTER TABLE VIEW INDEX TRIGGER VIRTUAL TEMP ATTACH DETACH DATABASE
VACUUM REINDEX ANALYZE PRAGMA BEGIN COMMIT ROLLBACK SAVEPOINT RELEASE EXPLAIN RETURNING DEFAULT CONFLICT DO NOTHING
IF EXISTS NOT NULL IN LIKE GLOB MATCH BETWEEN AND OR CASE WHEN THEN ELSE END DISTINCT OVER PARTITION CAST COLLATE VALUES
main temp person pay total letter old_letter place letter_data sqlite_master sqlite_schema pragma_database_list id name
amount note rowid rank * ( ) , ; . = < > + - || -> ->> / % ? :x @x $x 1 0 -1 1e999 9223372036854775808 x'00' 'text' ''
"name" [name] `name` -- /* */ '{f}' count sum load_extension fts3_tokenizer printf zeroblob json_each writable_schema
"""
_SIGNS = (
    "\0",
    "\n",
    "\t",
    "'",
    '"',
    "`",
    "[",
    ";",
    "--",
    "/*",
    "*/",
    "\\",
    "é",
    "\u2028",
    "\ufeff",
    "\U0001f600",
    "\x1a",
)


def statements(seed: int, folder: str) -> Iterator[str]:
    """Endlessly many statements, the same for the same seed.

    Args:
        seed: Where chance starts.
        folder: Where the files would appear that statements try to make.
    """
    chance = random.Random(seed)
    seeds = [list[str](line.split(" ")) for line in _SEEDS.strip().splitlines()]
    words = list[str](_WORDS.split())
    files = (f"{folder}/made.db", "made.db", "", ":memory:", f"{folder}/fuzzed.db")
    while True:
        tokens = list(chance.choice(seeds))
        kind = chance.random()
        if kind < 0.1:
            tokens = [chance.choice(words) for _ in range(chance.randint(1, 12))]
        elif kind < 0.3:
            other = chance.choice(seeds)
            tokens = tokens[: chance.randint(0, len(tokens))] + other[chance.randint(0, len(other)) :]
        if kind < 0.95:
            for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 5))):
                _mutate(tokens, words, chance)
        text = _cased(" ".join(tokens), chance).replace("{f}", chance.choice(files)).replace("{F}", "made.db")
        if chance.random() < 0.1:
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(_SIGNS) + text[place + chance.randint(0, 1) :]
        yield text


def _mutate(tokens: list[str], words: list[str], chance: random.Random) -> None:
    place = chance.randint(0, len(tokens))
    what = chance.randrange(4)
    if what == 0 or place == len(tokens):
        tokens.insert(place, chance.choice(words))
    elif what == 1:
        del tokens[place]
    elif what == 2:
        tokens[place] = chance.choice(words)
    else:
        other = chance.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]


def _cased(text: str, chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.1:
        return text.upper()
    if kind < 0.2:
        return text.lower()
    return text.replace(" ", chance.choice(("\n", "/**/", "\t", "  "))) if kind < 0.25 else text
