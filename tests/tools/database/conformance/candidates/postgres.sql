SELECT pg_sleep(10)
SELECT pg_sleep_for('10 seconds')
SELECT pg_sleep_until(now() + interval '10 seconds')
SELECT pg_catalog.pg_sleep(10)
SELECT "pg_sleep"(10)
SELECT PG_SLEEP(10)
SELECT "pg_catalog"."pg_sleep"(10)
SELECT name FROM customer WHERE pg_sleep(10) IS NULL
SELECT name FROM customer ORDER BY pg_sleep(10)
SELECT (SELECT pg_sleep(10))
SELECT * FROM pg_sleep(10)
SELECT * FROM customer, LATERAL pg_sleep(id)
SELECT * FROM ROWS FROM (generate_series(1, 2), pg_ls_dir('.'))
SELECT * FROM ROWS FROM (pg_ls_dir('.'))
SELECT count(*) FILTER (WHERE pg_sleep(10) IS NULL) FROM customer
SELECT sum(id) OVER (ORDER BY pg_sleep(10)) FROM customer
SELECT CASE WHEN true THEN pg_sleep(10) END
WITH x AS (SELECT pg_sleep(10)) SELECT * FROM x
VALUES (pg_sleep(10))
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_file('PG_VERSION')
SELECT pg_read_binary_file('/etc/passwd')
SELECT pg_ls_dir('/')
SELECT * FROM pg_ls_dir('/')
SELECT * FROM pg_ls_logdir()
SELECT * FROM pg_ls_waldir()
SELECT * FROM pg_stat_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '{folder}/x')
SELECT lo_create(0)
SELECT lo_from_bytea(0, 'x')
SELECT lo_put(1, 0, 'x')
SELECT lo_get(1)
SELECT lo_unlink(1)
SELECT loread(1, 1)
SELECT lowrite(1, 'x')
SELECT pg_file_write('{folder}/x', 'x', false)
COPY customer TO '{folder}/x'
COPY (SELECT 1) TO '{folder}/x'
COPY (SELECT 1) TO PROGRAM 'touch {folder}/x'
COPY customer FROM '/etc/passwd'
COPY customer FROM PROGRAM 'id'
COPY customer TO STDOUT
SELECT set_config('statement_timeout', '0', false)
SELECT set_config('tableturn.user', 'root', true)
SELECT set_config('role', 'postgres', true)
SELECT set_config('transaction_read_only', 'off', true)
SELECT current_setting('data_directory')
SHOW data_directory
SHOW ALL
SET LOCAL statement_timeout = 0
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
SET LOCAL ROLE NONE
RESET ROLE
DISCARD ALL
SELECT nextval('s')
SELECT setval('s', 5)
SELECT currval('s')
SELECT lastval()
SELECT txid_current()
SELECT pg_current_xact_id()
SELECT pg_export_snapshot()
SELECT pg_notify('x', 'y')
LISTEN x
NOTIFY x
UNLISTEN *
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_xact_lock(1)
SELECT pg_terminate_backend(pg_backend_pid())
SELECT pg_cancel_backend(1)
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_switch_wal()
SELECT pg_create_restore_point('x')
SELECT pg_promote()
SELECT pg_stat_reset()
SELECT pg_logical_emit_message(true, 'a', 'b')
SELECT pg_create_physical_replication_slot('x')
SELECT pg_drop_replication_slot('x')
SELECT pg_backup_start('x')
SELECT dblink('dbname=postgres', 'DELETE FROM customer')
SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS t(x INTEGER)
SELECT dblink_exec('dbname=postgres', 'DROP TABLE customer')
SELECT query_to_xml('DELETE FROM customer', true, true, '')
SELECT query_to_xml('SELECT pg_sleep(10)', true, true, '')
SELECT table_to_xml('customer', true, true, '')
SELECT cursor_to_xml('c', 1, true, true, '')
SELECT database_to_xml(true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT ts_stat('SELECT to_tsvector(name) FROM customer')
SELECT * FROM ts_stat('DELETE FROM customer')
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')
SELECT * FROM crosstab('SELECT 1, 2, 3') AS t(a INTEGER, b INTEGER)
SELECT xpath_table('id', 'x', 'customer', '/a', 'true')
SELECT setseed(0.5)
SELECT pg_stat_get_activity(NULL)
SELECT * FROM pg_stat_activity
SELECT * FROM pg_catalog.pg_stat_activity
SELECT * FROM pg_authid
SELECT rolname, rolpassword FROM pg_catalog.pg_authid
SELECT * FROM pg_shadow
SELECT * FROM pg_user_mappings
SELECT * FROM pg_settings
SELECT * FROM pg_file_settings
SELECT * FROM pg_hba_file_rules
SELECT * FROM pg_class
SELECT * FROM information_schema.tables
SELECT * FROM "pg_catalog"."pg_roles"
SELECT * FROM postgres.pg_catalog.pg_roles
TABLE pg_authid
WITH x AS (WITH pg_authid AS (SELECT 1 AS a) SELECT * FROM pg_authid) SELECT * FROM x
SELECT * FROM (WITH pg_authid AS (SELECT 1 AS a) SELECT a FROM pg_authid) x, pg_authid
WITH x AS (SELECT * FROM "PG_AUTHID"), "PG_AUTHID" AS (SELECT 1 AS a) SELECT * FROM x
WITH "PG_SHADOW" AS (SELECT 1 AS a) SELECT * FROM pg_shadow
SELECT * FROM customer FOR UPDATE
SELECT * FROM customer FOR SHARE
SELECT * FROM customer FOR NO KEY UPDATE
SELECT * FROM customer FOR KEY SHARE SKIP LOCKED
SELECT * FROM (SELECT * FROM customer FOR UPDATE) x
SELECT * INTO t FROM customer
SELECT * INTO TEMP t FROM customer
SELECT 1 INTO t
WITH d AS (DELETE FROM customer RETURNING *) SELECT * FROM d
WITH d AS (UPDATE customer SET name = 'x' RETURNING *) SELECT * FROM d
WITH d AS (INSERT INTO customer VALUES (9, 'x', 'y') RETURNING *) SELECT * FROM d
WITH d AS MATERIALIZED (DELETE FROM customer RETURNING *) SELECT 1
SELECT * FROM (DELETE FROM customer RETURNING *) x
EXPLAIN ANALYZE DELETE FROM customer
EXPLAIN (ANALYZE) SELECT pg_sleep(10)
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE ALL
DECLARE c CURSOR FOR SELECT 1
FETCH ALL FROM c
CLOSE ALL
DO $$ BEGIN DELETE FROM customer; END $$
DO LANGUAGE plpgsql 'BEGIN PERFORM pg_sleep(10); END'
CALL p()
VACUUM FULL customer
ANALYZE customer
CLUSTER customer
REINDEX TABLE customer
CHECKPOINT
LOAD '{folder}/x.so'
REFRESH MATERIALIZED VIEW v
COMMENT ON TABLE customer IS 'x'
SECURITY LABEL ON TABLE customer IS 'x'
IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public
CREATE SERVER s FOREIGN DATA WRAPPER file_fdw
SELECT 1 OPERATOR(pg_catalog.+) 1
SELECT 'pg_sleep'::regproc
SELECT 'customer'::regclass
SELECT CAST('pg_authid' AS regclass)
SELECT 'x'::public.evil
SELECT evil(1)
SELECT public.evil(1)
SELECT "Lower"('x'), "LOWER_"('x')
SELECT to_days('2020-01-01')
SELECT $1
SELECT :x
SELECT %s
SELECT U&'\0061' UESCAPE '!', 1; SELECT pg_sleep(10)
SELECT 'a' /* '; SELECT pg_sleep(10); /* */ */ ; SELECT pg_sleep(10)
SELECT $x$a$x$; DELETE FROM customer
SELECT 1;;DELETE FROM customer
SELECT 1 \; DELETE FROM customer
\copy customer to '{folder}/x'
\! touch {folder}/x
BEGIN; DELETE FROM customer; COMMIT
COMMIT; DELETE FROM customer
ROLLBACK; DELETE FROM customer
SELECT 1) AS s(c1) LIMIT 1) AS r(c1); DELETE FROM customer; --
SELECT 1) AS s(c1), pg_sleep(10) AS p; --
SELECT repeat('x', 1000000000)
SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, 500)
SELECT count(*) FROM generate_series(1, 100000000000)
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r
SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d
SELECT EXTRACT("year FROM now()), pg_sleep(10), EXTRACT(year" FROM now())
SELECT EXTRACT("year FROM now()) FROM pg_authid; --" FROM now())
SELECT make_interval("days => 1), pg_sleep(10), make_interval(days" => 1)
SELECT 'a' COLLATE "C"", pg_sleep(10) --"
SELECT date_trunc("day', now()), pg_sleep(10), date_trunc('day", now())
SELECT INTERVAL '1' "day, pg_sleep(10)" FROM pg_authid
SELECT "pg_sleep(10), lower"('a')
SELECT "lower('a'), pg_sleep"(10)
SELECT name FROM customer TABLESAMPLE "system(1), pg_sleep"(10)
SELECT sum(id) OVER (ROWS "UNBOUNDED PRECEDING), pg_sleep(10) --") FROM customer
