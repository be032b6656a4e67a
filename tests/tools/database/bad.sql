-- Statements that a guarded connection must refuse. One a line; {folder} is the database's folder.
-- The heading `== kind` says which kind of error the lines below it end with; `any` leaves it open.
== rejected
DELETE FROM no_such_table
INSERT INTO customer VALUES (9, 'x', 'y')
INSERT INTO customer (name) SELECT name FROM customer
INSERT OR REPLACE INTO customer VALUES (1, 'x', 'y')
INSERT INTO customer VALUES (1, 'x', 'y') ON CONFLICT DO NOTHING
INSERT INTO customer DEFAULT VALUES
INSERT INTO customer VALUES (9, 'x', 'y') RETURNING *
REPLACE INTO customer VALUES (1, 'x', 'y')
UPDATE customer SET name = 'x'
UPDATE customer SET name = 'x' RETURNING name
UPDATE customer SET name = s.name FROM staff s
UPDATE OR IGNORE customer SET id = 1
DELETE FROM customer
DELETE FROM customer WHERE 0
DELETE FROM customer RETURNING *
DELETE FROM empty
delete from CUSTOMER where id = 1
DeLeTe FrOm customer
/* harmless */ DELETE FROM customer
-- delete in the second line\nDELETE FROM customer
/* a */ /* b */ DELETE /* c */ FROM /* d */ customer
\tDELETE\nFROM\r\ncustomer
\fDELETE FROM customer
DELETE FROM main.customer
DELETE FROM "customer"
DELETE FROM [customer]
DELETE FROM `customer`
WITH x AS (SELECT 1) DELETE FROM customer
WITH x AS (SELECT 1) DELETE FROM customer WHERE id IN x
WITH x AS (SELECT 1) INSERT INTO customer SELECT 1, 'a', 'b' FROM x
WITH x AS (SELECT 1) UPDATE customer SET name = 'x' WHERE id IN x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 3) INSERT INTO customer SELECT n, 'a', 'b' FROM x
EXPLAIN DELETE FROM customer
EXPLAIN QUERY PLAN DELETE FROM customer
EXPLAIN INSERT INTO customer VALUES (9, 'x', 'y')
EXPLAIN ATTACH '{folder}/new.db' AS a
CREATE TABLE t (a)
CREATE TABLE IF NOT EXISTS customer (a)
CREATE TABLE t AS SELECT * FROM customer
CREATE TEMP TABLE t (a)
CREATE TEMPORARY TABLE t AS SELECT * FROM customer
CREATE TABLE temp.t (a)
CREATE VIEW v AS SELECT 1
CREATE TEMP VIEW v AS SELECT 1
CREATE INDEX i ON customer (name)
CREATE UNIQUE INDEX i ON customer (name)
CREATE TRIGGER g AFTER INSERT ON customer BEGIN DELETE FROM orders; END
CREATE TEMP TRIGGER g AFTER INSERT ON customer BEGIN SELECT 1; END
CREATE VIRTUAL TABLE v USING fts5(a)
CREATE VIRTUAL TABLE temp.v USING fts4(a)
CREATE VIRTUAL TABLE temp.v USING rtree(id, a, b)
CREATE VIRTUAL TABLE temp.v USING dbstat(main)
CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, note, row)
DROP TABLE customer
DROP TABLE IF EXISTS customer
DROP VIEW paid
DROP INDEX customer_city
DROP TABLE note
DROP TABLE sqlite_master
ALTER TABLE customer RENAME TO c
ALTER TABLE customer RENAME COLUMN name TO n
ALTER TABLE customer ADD COLUMN x
ALTER TABLE customer DROP COLUMN city
ATTACH '{folder}/new.db' AS a
ATTACH DATABASE '{folder}/new.db' AS a
ATTACH '' AS a
ATTACH ':memory:' AS a
ATTACH 'file:{folder}/new.db?mode=rwc' AS a
ATTACH '/etc/passwd' AS a
ATTACH DATABASE 'file:{folder}/shop.db?mode=rw' AS a
DETACH main
VACUUM
VACUUM main
VACUUM INTO '{folder}/copy.db'
VACUUM main INTO '{folder}/copy.db'
VACUUM INTO 'file:{folder}/copy.db?mode=rwc'
REINDEX
REINDEX customer
REINDEX customer_city
ANALYZE
ANALYZE customer
ANALYZE main
BEGIN
BEGIN IMMEDIATE
BEGIN EXCLUSIVE TRANSACTION
COMMIT
END
ROLLBACK
SAVEPOINT s
RELEASE s
ROLLBACK TO s
PRAGMA query_only
PRAGMA query_only = OFF
PRAGMA query_only(0)
pragma QUERY_ONLY=0
PRAGMA main.query_only = 0
PRAGMA writable_schema = ON
PRAGMA journal_mode = WAL
PRAGMA journal_mode = DELETE
PRAGMA user_version = 7
PRAGMA application_id = 7
PRAGMA schema_version = 7
PRAGMA table_info(customer)
PRAGMA table_list
PRAGMA database_list
PRAGMA function_list
PRAGMA compile_options
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA optimize
PRAGMA incremental_vacuum
PRAGMA temp_store_directory = '{folder}'
PRAGMA data_store_directory = '{folder}'
PRAGMA trusted_schema = ON
PRAGMA hard_heap_limit = 0
PRAGMA soft_heap_limit = 1
PRAGMA cache_size = 1000000
PRAGMA mmap_size = 1000000000
PRAGMA page_size = 512
PRAGMA encoding = 'UTF-16'
PRAGMA foreign_keys = ON
PRAGMA locking_mode = EXCLUSIVE
PRAGMA secure_delete = ON
PRAGMA integrity_check
PRAGMA data_version = 1
PRAGMA case_sensitive_like = ON
PRAGMA key = 'x'
EXPLAIN PRAGMA query_only = OFF
SELECT count(*) FROM temp.sqlite_master
PRAGMA data_version
PRAGMA main."data_version"
/* a */ pragma data_version
EXPLAIN PRAGMA data_version
SELECT * FROM pragma_table_info('customer')
SELECT * FROM pragma_database_list
SELECT file FROM pragma_database_list()
SELECT count(*) FROM pragma_function_list
SELECT * FROM pragma_query_only
SELECT * FROM pragma_compile_options
SELECT * FROM sqlite_master, pragma_table_info(sqlite_master.name)
SELECT * FROM main.pragma_table_info('customer')
WITH a AS (SELECT * FROM pragma_database_list) SELECT * FROM a
SELECT (SELECT file FROM pragma_database_list LIMIT 1)
SELECT load_extension('x')
SELECT load_extension('x', 'y')
SELECT "load_extension"('x')
SELECT LOAD_EXTENSION('x') FROM customer
SELECT name FROM customer WHERE load_extension(name)
SELECT name FROM customer ORDER BY load_extension(name)
SELECT name FROM customer GROUP BY load_extension(name)
SELECT coalesce(NULL, load_extension('x'))
WITH a AS (SELECT load_extension('x') AS y) SELECT y FROM a
SELECT fts3_tokenizer('simple')
SELECT fts3_tokenizer('x', x'0000000000000000')
SELECT optimize(old_note) FROM old_note
SELECT fts5(NULL)
SELECT rtreecheck('main', 'place')
SELECT rtreenode(2, x'00')
SELECT sqlite_compileoption_used('X')
SELECT sqlite_compileoption_get(0)
SELECT sqlite_source_id()
SELECT sqlite_log(1, 'x')
SELECT changes()
SELECT total_changes()
SELECT last_insert_rowid()
SELECT subtype(1)
SELECT json_patch('{"a":1}', '{"a":2}')
SELECT * FROM dbstat
SELECT * FROM sqlite_stmt
SELECT 1; SELECT 2
SELECT 1; DELETE FROM customer
SELECT 1;DELETE FROM customer;
SELECT 1; -- comment\n DROP TABLE customer
SELECT 1; ATTACH '{folder}/new.db' AS a
SELECT name FROM customer WHERE name = 'x'; DROP TABLE customer; --'
;DELETE FROM customer
; ; DELETE FROM customer
INSERT INTO note(note) VALUES ('optimize')
INSERT INTO note(note) VALUES ('rebuild')
INSERT INTO note(note, rank) VALUES ('merge', 500)
INSERT INTO place VALUES (9, 1, 2, 1, 2)
DELETE FROM note_data
UPDATE note_content SET c0 = 'x'
UPDATE sqlite_master SET sql = 'x'
DELETE FROM sqlite_master
INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'x')
DELETE FROM sqlite_sequence
== syntax
 
;
-- nothing but a comment
SELECT
SELECT * FORM customer
SELECT name FROM
SELECT (1
SELECT 'open
SELECT * FROM customer WHERE
SELECT name,, city FROM customer
DELETE customer
GRANT ALL ON customer TO PUBLIC
COPY customer TO '{folder}/x.csv'
SELECT * INTO OUTFILE '{folder}/x.csv' FROM customer
.dump
.shell ls
.output {folder}/x.csv
\\! ls
CALL something()
EXEC xp_cmdshell 'ls'
SHOW TABLES
USE other
SET x = 1
LOAD DATA INFILE 'x' INTO TABLE customer
MERGE INTO customer USING staff ON 1 = 1 WHEN MATCHED THEN DELETE
TRUNCATE TABLE customer
(SELECT 1)
SELECT ?
SELECT :name
SELECT @name
SELECT $name
SELECT ?1 + ?2
SELECT 1\x00; DELETE FROM customer
SELECT '\ud800'
ＤＥＬＥＴＥ FROM customer
DE/**/LETE FROM customer
SELECT 1 UNION SELECT 1, 2
SELECT (SELECT 1, 2)
SELECT name FROM customer ORDER BY 7
SELECT 1 FROM customer UNION SELECT 2 ORDER BY name UNION SELECT 3
SELECT (1, 2)
== unknown_table
SELECT * FROM no_such_table
SELECT * FROM temp.customer
SELECT * FROM sqlite_temp_master
SELECT count(*) FROM sqlite_temp_master
SELECT count(*) FROM sqlite_temp_schema
SELECT * FROM other.customer
SELECT no_such_table.name FROM no_such_table
SELECT * FROM generate_series(1, 3)
== unknown_column
SELECT no_such_column FROM customer
SELECT customer.no_such_column FROM customer
SELECT c.name FROM customer
SELECT name FROM customer WHERE no_such_column = 1
SELECT * FROM customer JOIN orders USING (no_such_column)
SELECT name FROM customer ORDER BY no_such_column
== ambiguous_column
SELECT id FROM customer JOIN orders ON customer.id = orders.customer_id
SELECT name FROM customer, staff
== aggregate_misuse
SELECT name FROM customer WHERE count(*) > 1
SELECT max(count(*)) FROM customer
SELECT row_number() FROM orders WHERE row_number() OVER () = 1
SELECT sum(row_number() OVER ()) FROM orders
SELECT name FROM customer GROUP BY count(*)
== unknown_function
SELECT no_such_function(1)
SELECT concat_words('a', 'b')
SELECT readfile('/etc/passwd')
SELECT writefile('{folder}/x', 'y')
SELECT edit('x')
SELECT eval('DELETE FROM customer')
SELECT year(ordered_on) FROM orders
SELECT length(1, 2)
== any
SELECT customer FROM customer WHERE customer MATCH 'x'
SELECT * FROM note WHERE note MATCH '"'
SELECT * FROM note WHERE note MATCH 'no_column: x'
SELECT json_extract('{', '$')
SELECT abs(-9223372036854775808)
SELECT 'a' LIKE 'b' ESCAPE 'cc'
SELECT * FROM no_module
SELECT count(DISTINCT name, city) FROM customer
