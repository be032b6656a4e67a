ATTACH '{folder}/x.duckdb'
ATTACH '{folder}/x.duckdb' AS x (READ_WRITE)
ATTACH ':memory:' AS x
ATTACH IF NOT EXISTS ':memory:' AS x
ATTACH 'host=localhost' AS p (TYPE postgres)
DETACH memory
DETACH DATABASE memory
USE memory
USE memory.main
COPY customer TO '{folder}/x.parquet' (FORMAT parquet)
COPY customer TO '{folder}/x.csv' (USE_TMP_FILE false)
COPY (SELECT * FROM customer) TO '{folder}/x.json'
COPY customer FROM '{folder}/x.csv'
COPY FROM DATABASE memory TO x
EXPORT DATABASE '{folder}/e' (FORMAT parquet)
INSTALL json
INSTALL httpfs FROM community
FORCE INSTALL httpfs
LOAD json
LOAD '{folder}/x.duckdb_extension'
UPDATE EXTENSIONS
SET memory_limit = '100GB'
SET GLOBAL threads = 64
SET SESSION enable_external_access = true
SET enable_external_access TO true
SET lock_configuration = false
SET allowed_paths = ['/etc/passwd']
SET allowed_directories = ['/']
SET autoload_known_extensions = true
SET VARIABLE x = 1
SET temp_directory = '{folder}'
SET s3_secret_access_key = 'x'
SET schema = 'main'
RESET memory_limit
PRAGMA memory_limit = '100GB'
PRAGMA threads = 64
PRAGMA version
PRAGMA database_list
PRAGMA database_size
PRAGMA show_tables
PRAGMA table_info('customer')
PRAGMA storage_info('customer')
PRAGMA enable_profiling
PRAGMA enable_logging
PRAGMA platform
PRAGMA user_agent
PRAGMA import_database('{folder}')
CALL pragma_version()
CALL duckdb_settings()
CALL enable_logging()
CALL pragma_table_info('customer')
CHECKPOINT
FORCE CHECKPOINT
VACUUM
VACUUM ANALYZE
ANALYZE
SHOW TABLES
SHOW ALL TABLES
SHOW DATABASES
SHOW customer
DESCRIBE customer
DESCRIBE SELECT * FROM read_csv('/etc/passwd')
SUMMARIZE customer
SUMMARIZE SELECT * FROM '/etc/passwd'
EXPLAIN SELECT * FROM customer
EXPLAIN ANALYZE SELECT * FROM customer
CREATE MACRO f(x) AS x + 1
CREATE OR REPLACE MACRO lower(x) AS 'a'
CREATE TEMP MACRO count(x) AS 4
CREATE FUNCTION f(x) AS x + 1
CREATE MACRO f() AS TABLE SELECT * FROM customer
CREATE TYPE mood AS ENUM ('a', 'b')
CREATE SECRET s (TYPE s3)
CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')
DROP SECRET s
CREATE TEMP VIEW customer AS SELECT 1 AS id
CREATE OR REPLACE TEMP VIEW customer AS SELECT 1 AS id
CREATE TEMP TABLE customer AS SELECT 1 AS id
CREATE OR REPLACE TABLE customer AS SELECT 1 AS id
INSERT OR REPLACE INTO customer VALUES (1, 'x', 'y')
INSERT INTO customer BY NAME SELECT 1 AS id, 'x' AS name
INSERT INTO customer VALUES (9, 'x', 'y') RETURNING *
INSERT INTO customer VALUES (1, 'x', 'y') ON CONFLICT DO NOTHING
DELETE FROM customer USING orders WHERE customer.id = orders.id
DELETE FROM customer RETURNING *
UPDATE customer SET name = 'x' RETURNING id
PREPARE p AS SELECT 1
EXECUTE p(1)
DEALLOCATE p
BEGIN TRANSACTION READ WRITE
ABORT
IMPORT DATABASE '{folder}'
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM read_csv(['/etc/passwd'], header = false)
SELECT * FROM read_parquet('/etc/passwd')
SELECT * FROM parquet_scan('/etc/passwd')
SELECT * FROM parquet_metadata('/etc/passwd')
SELECT * FROM parquet_schema('/etc/passwd')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_json_auto('/etc/passwd')
SELECT * FROM read_json_objects('/etc/passwd')
SELECT * FROM read_ndjson('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_duckdb('/etc/passwd')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM glob('/etc/*')
SELECT content FROM read_text('/proc/self/environ')
SELECT * FROM "/etc/passwd"
SELECT * FROM '/etc/*.conf'
SELECT * FROM 'https://example.com/x.csv'
SELECT * FROM 's3://bucket/x.parquet'
FROM read_csv('/etc/passwd')
FROM '/etc/passwd'
FROM '/etc/passwd' SELECT *
FROM duckdb_settings()
TABLE duckdb_settings
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_columns()
SELECT * FROM duckdb_views()
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_functions()
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_logs()
SELECT * FROM duckdb_memory()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_variables()
SELECT * FROM duckdb_prepared_statements()
SELECT * FROM duckdb_external_file_cache()
SELECT * FROM duckdb_tables
SELECT * FROM pragma_version()
SELECT * FROM pragma_platform()
SELECT * FROM pragma_user_agent()
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_table_info('customer')
SELECT * FROM pragma_storage_info('customer')
SELECT * FROM pragma_metadata_info()
SELECT * FROM sqlite_master
SELECT * FROM sqlite_schema
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM pg_class
SELECT * FROM information_schema.tables
SELECT * FROM system.main.duckdb_settings
SELECT * FROM memory.main.customer
SELECT * FROM temp.main.customer
SELECT * FROM query('SELECT 1')
SELECT * FROM query('DROP TABLE customer')
SELECT * FROM query_table('customer')
SELECT * FROM query_table(['customer', 'orders'])
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT * FROM seq_scan('customer')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM arrow_scan_dumb(1, 2, 3)
SELECT * FROM pandas_scan(1)
SELECT * FROM python_map_function()
SELECT * FROM which_secret('s3://x', 's3')
SELECT * FROM test_all_types()
SELECT * FROM checkpoint()
SELECT * FROM force_checkpoint()
SELECT * FROM enable_logging()
SELECT * FROM truncate_duckdb_logs()
SELECT * FROM customer, read_csv('/etc/passwd')
SELECT * FROM customer, LATERAL (SELECT * FROM read_text('/etc/passwd'))
SELECT (SELECT content FROM read_text('/etc/passwd'))
SELECT name FROM customer WHERE name IN (SELECT content FROM read_text('/etc/passwd'))
WITH x AS (FROM read_text('/etc/passwd')) SELECT * FROM x
WITH x AS MATERIALIZED (SELECT * FROM '/etc/passwd') SELECT * FROM x
SELECT * FROM customer UNION ALL SELECT 1, content, '' FROM read_text('/etc/passwd')
SELECT * FROM (VALUES (1)) AS v(x), glob('*') AS g
SELECT getenv('HOME')
SELECT getvariable('x')
SELECT current_setting('threads')
SELECT current_setting('secret_directory')
SELECT current_query()
SELECT current_schemas(true)
SELECT version()
SELECT txid_current()
SELECT nextval('s')
SELECT currval('s')
SELECT setval('s', 1)
SELECT setseed(0.5)
SELECT write_log('x')
SELECT sleep_ms(60000)
SELECT pg_sleep(60)
SELECT json_serialize_sql('SELECT 1')
SELECT json_deserialize_sql('x')
SELECT json_serialize_plan('SELECT 1')
SELECT assert_true(false, 'x')
SELECT has_table_privilege('customer', 'select')
SELECT pg_get_viewdef(1)
SELECT inet_server_addr()
SELECT parse_duckdb_log_message('x', 'y')
SELECT get_block_size('memory')
SELECT in_search_path('memory', 'main')
SELECT main.lower('x')
SELECT system.main.lower('x')
SELECT memory.main.nothing(1)
SELECT printf('%1000000000d', 1)
SELECT format('{:>1000000000}', 1)
SELECT length(repeat('x', 1000000000))
SELECT length(repeat(name, 100000000)) FROM customer
SELECT length(lpad('x', 1000000000, 'y'))
SELECT length(rpad(name, id * 1000000000, 'y')) FROM customer
SELECT len(range(1000000000))
SELECT len(generate_series(1, 1000000000))
SELECT len(range(0, id * 1000000000)) FROM customer
SELECT unnest(range(1000000000))
SELECT array_resize([1], 1000000000)
SELECT list_resize([1], 1000000000)
SELECT bitstring('1', 1000000000)
SELECT length(to_base(1, 2, 1000000000))
SELECT list(n) FROM range(10000000000) AS a(n)
SELECT count(DISTINCT n || 'xxxxxxxxxxxxxxxxxxxxxxxxxxx') FROM range(100000000000) AS a(n)
SELECT count(*) FROM customer, range(1000000000000) AS a(n) WHERE n % 7 = 3
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r
SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.word || b.word || c.word || d.word = 'x'
PIVOT customer ON city USING count(*)
UNPIVOT customer ON name, city INTO NAME a VALUE b
PIVOT read_csv('/etc/passwd') ON a USING count(*)
SELECT COLUMNS(*) FROM read_csv('/etc/passwd')
SELECT ?
SELECT $1
SELECT $x
SELECT 1; COPY (SELECT 1) TO '{folder}/x.csv'
SELECT 1; ATTACH '{folder}/x.duckdb'
SELECT $$a$$; DROP VIEW customer
.shell touch {folder}/x
.read /etc/passwd
.output {folder}/x
