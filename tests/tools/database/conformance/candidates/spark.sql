SELECT * FROM csv.`/etc/passwd`
SELECT * FROM text.`/etc/passwd`
SELECT * FROM parquet.`{folder}/x.parquet`
SELECT * FROM json.`{folder}/x.json`
SELECT * FROM orc.`{folder}/x.orc`
SELECT * FROM avro.`{folder}/x.avro`
SELECT * FROM binaryFile.`/etc/passwd`
SELECT * FROM `csv`.`/etc/passwd`
SELECT * FROM delta.`{folder}`
SELECT * FROM customer WHERE id IN (SELECT length(value) FROM text.`/etc/passwd`)
WITH x AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM x
SELECT * FROM read_files('/etc/passwd')
SELECT * FROM read_kafka()
SELECT * FROM IDENTIFIER('customer')
SELECT IDENTIFIER('id') FROM customer
SELECT java_method('java.lang.System', 'exit', 0)
SELECT reflect('java.lang.System', 'getenv', 'PATH')
SELECT reflect('java.util.UUID', 'randomUUID')
SELECT try_reflect('java.lang.System', 'getProperty', 'user.home')
SELECT system.builtin.reflect('java.lang.System', 'getenv', 'PATH')
SELECT `reflect`('java.lang.System', 'getenv', 'PATH')
SELECT '${env:PATH}'
SELECT "${env:PATH}"
SELECT '${system:user.home}'
SELECT '${spark.app.name}'
SELECT ${spark:spark.app.name}
SELECT 1 AS `${env:PATH}`
SELECT id FROM customer WHERE name = '${env:HOME}'
SELECT input_file_name() FROM customer
SELECT raise_error('x')
SELECT assert_true(false)
SELECT from_avro(x, '{}') FROM spare
SELECT from_protobuf(x, 'A', '/etc/passwd') FROM spare
SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/etc/passwd'))
SELECT xpath_string('<a>b</a>', 'a')
SELECT TRANSFORM(id) USING 'cat' AS (x) FROM customer
SELECT TRANSFORM(id) USING 'touch {folder}/x' FROM customer
FROM customer SELECT TRANSFORM(id) USING 'cat'
MAP id USING 'cat' FROM customer
REDUCE id USING 'cat' FROM customer
FROM customer INSERT INTO spare SELECT id
INSERT OVERWRITE TABLE customer SELECT * FROM customer
INSERT OVERWRITE DIRECTORY '{folder}/x' USING parquet SELECT * FROM customer
INSERT OVERWRITE LOCAL DIRECTORY '{folder}/x' SELECT * FROM customer
INSERT INTO spare VALUES (1)
INSERT INTO spare TABLE spare
INSERT INTO csv.`{folder}/x` SELECT 1
CREATE TABLE t USING parquet AS SELECT * FROM customer
CREATE TABLE t USING csv LOCATION '{folder}/x' AS SELECT 1
CREATE TABLE t USING text OPTIONS (path '/etc/passwd')
CREATE EXTERNAL TABLE t (x INT) LOCATION '{folder}'
CREATE TEMPORARY VIEW t USING csv OPTIONS (path '/etc/passwd')
CREATE TEMPORARY VIEW customer AS SELECT 1 AS id
CREATE GLOBAL TEMPORARY VIEW g AS SELECT 1 AS x
CREATE OR REPLACE TEMP VIEW customer AS SELECT 1 AS id
CREATE FUNCTION f AS 'java.lang.Runtime' USING JAR '{folder}/x.jar'
CREATE TEMPORARY FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.UDFLength'
CREATE OR REPLACE TEMPORARY FUNCTION lower(x STRING) RETURNS STRING RETURN 'x'
CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1
DECLARE VARIABLE x INT DEFAULT 1
DECLARE OR REPLACE VARIABLE x = 1
SET VAR x = 1
SET VARIABLE x = (SELECT 1)
SELECT * FROM global_temp.g
SELECT * FROM customer VERSION AS OF 1
SELECT * FROM customer TIMESTAMP AS OF '2024-01-01'
SELECT * FROM tableturn_nowhere.customer
SELECT * FROM spark_catalog.default.nothing
SELECT * FROM system.session.x
SELECT * FROM information_schema.tables
CACHE TABLE customer
CACHE LAZY TABLE c AS SELECT * FROM customer
UNCACHE TABLE customer
CLEAR CACHE
REFRESH TABLE customer
REFRESH '{folder}'
REFRESH FUNCTION f
ADD JAR '{folder}/x.jar'
ADD FILE '/etc/passwd'
ADD ARCHIVE '{folder}/x.zip'
LIST JARS
LIST FILES
DELETE JAR '{folder}/x.jar'
SET spark.sql.shuffle.partitions = 1
SET spark.sql.ansi.enabled = false
SET -v
SET
SET TIME ZONE 'UTC'
SET CATALOG spark_catalog
RESET
RESET spark.sql.shuffle.partitions
USE default
USE CATALOG spark_catalog
ANALYZE TABLE customer COMPUTE STATISTICS
ANALYZE TABLES IN default COMPUTE STATISTICS
MSCK REPAIR TABLE customer
REPAIR TABLE customer
ALTER TABLE customer SET TBLPROPERTIES ('x' = 'y')
ALTER TABLE customer SET LOCATION '{folder}'
ALTER TABLE customer ADD COLUMNS (x INT)
ALTER TABLE customer RECOVER PARTITIONS
ALTER VIEW large_orders AS SELECT 1 AS x
ALTER DATABASE default SET DBPROPERTIES ('x' = 'y')
DROP DATABASE default CASCADE
DROP FUNCTION IF EXISTS f
DROP TEMPORARY VARIABLE IF EXISTS x
TRUNCATE TABLE customer PARTITION (x = 1)
LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE customer
LOAD DATA INPATH '/etc/passwd' OVERWRITE INTO TABLE customer
EXPORT TABLE customer TO '{folder}/x'
IMPORT FROM '{folder}/x'
SHOW TABLES
SHOW DATABASES
SHOW CREATE TABLE customer
SHOW TBLPROPERTIES customer
SHOW FUNCTIONS
SHOW PARTITIONS customer
DESCRIBE customer
DESCRIBE EXTENDED customer
DESCRIBE FUNCTION lower
DESCRIBE QUERY SELECT 1
EXPLAIN SELECT * FROM customer
EXPLAIN EXTENDED SELECT * FROM customer
EXPLAIN CODEGEN SELECT 1
EXECUTE IMMEDIATE 'DROP TABLE customer'
EXECUTE IMMEDIATE 'SELECT 1' INTO x
BEGIN DELETE FROM customer; END
BEGIN DECLARE x INT; SET x = 1; END
CALL system.f()
COMMENT ON TABLE customer IS 'x'
COMMENT ON DATABASE default IS 'x'
MERGE INTO customer t USING customer s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'x'
SELECT 1) AS x; DROP TABLE customer; SELECT * FROM (SELECT 1
SELECT 1) UNION SELECT * FROM (SELECT 1
SELECT * FROM customer; DROP TABLE customer
FROM customer |> SELECT name INTO x
SELECT * FROM customer |> WHERE id = 1 |> SELECT name INTO x
SELECT * FROM (FROM customer |> SELECT name INTO x) AS c
FROM customer |> DROP name
SELECT :x
SELECT ?
SELECT @x
SELECT 'a\nb'
SELECT * FROM python_worker_logs()
SELECT * FROM sql_keywords()
SELECT ai_query('m', 'x')
SELECT http_request('http://localhost')
SELECT secret('a', 'b')
FROM customer |> SELECT java_method('java.lang.System', 'exit', 0)
FROM customer |> DROP name |> SELECT reflect('java.lang.System', 'getenv', 'PATH')
SELECT * FROM STREAM customer
SELECT * FROM customer PIVOT (count(*) FOR name IN ('a'))
