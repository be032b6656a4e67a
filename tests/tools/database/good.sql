-- Statements that a guarded connection must run. One a line; comments start with two dashes at the line's start.
SELECT 1
SELECT 1;
  select 1 ;  
SELECT 1 -- the end
/* first */ SELECT 1
VALUES (1, 'a'), (2, 'b')
VALUES (NULL)
EXPLAIN SELECT * FROM customer
EXPLAIN QUERY PLAN SELECT * FROM orders JOIN customer ON customer.id = orders.customer_id
SELECT * FROM customer
SELECT customer.* FROM customer
SELECT rowid, * FROM customer
SELECT _rowid_, oid FROM customer
SELECT "name" FROM "customer"
SELECT [name] FROM [customer]
SELECT `name` FROM `customer`
SELECT name FROM customer WHERE name = "Anna Berg"
SELECT "no such column, so a string"
SELECT main.customer.name FROM main.customer
SELECT NAME FROM CUSTOMER
SELECT c.name AS n FROM customer c
SELECT c.name n FROM customer AS c WHERE c.city IN ('Oslo', 'Bergen')
SELECT DISTINCT city FROM customer
SELECT ALL city FROM customer
SELECT count(*) FROM customer
SELECT count(DISTINCT city) FROM customer
SELECT city, count(*) FROM customer GROUP BY city
SELECT city, count(*) AS n FROM customer GROUP BY city HAVING n > 1
SELECT city, count(*) FROM customer GROUP BY 1 ORDER BY 2 DESC, 1
SELECT name FROM customer ORDER BY name COLLATE NOCASE
SELECT name FROM customer ORDER BY name DESC NULLS LAST
SELECT name FROM customer LIMIT 2 OFFSET 1
SELECT name FROM customer LIMIT 1, 2
SELECT min(total), max(total), avg(total), sum(total), total(total) FROM orders
SELECT group_concat(name) FROM customer
SELECT group_concat(name, '; ') FROM customer
SELECT group_concat(DISTINCT city) FROM customer
SELECT sum(total) FILTER (WHERE status = 'paid') FROM orders
SELECT name FROM customer WHERE city IS NULL
SELECT name FROM customer WHERE city IS NOT NULL
SELECT name FROM customer WHERE city NOTNULL
SELECT name FROM customer WHERE city ISNULL
SELECT name FROM customer WHERE city IS DISTINCT FROM 'Oslo'
SELECT name FROM customer WHERE NOT (city = 'Oslo')
SELECT name FROM customer WHERE city == 'Oslo'
SELECT name FROM customer WHERE city <> 'Oslo' AND city != 'Bergen'
SELECT name FROM customer WHERE name LIKE 'A%'
SELECT name FROM customer WHERE name NOT LIKE '%a_'
SELECT name FROM customer WHERE name LIKE '10\%' ESCAPE '\'
SELECT name FROM customer WHERE name GLOB '[A-C]*'
SELECT total FROM orders WHERE total BETWEEN 1 AND 100
SELECT total FROM orders WHERE total NOT BETWEEN 1 AND 100
SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customer WHERE city = 'Oslo')
SELECT id FROM orders WHERE customer_id NOT IN (1, 2, 3)
SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE orders.customer_id = customer.id)
SELECT name FROM customer c WHERE (SELECT count(*) FROM orders o WHERE o.customer_id = c.id) > 1
SELECT name, (SELECT max(total) FROM orders WHERE customer_id = customer.id) FROM customer
SELECT id FROM orders WHERE (customer_id, status) IN (SELECT id, 'paid' FROM customer)
SELECT id FROM orders WHERE (customer_id, status) = (1, 'paid')
SELECT id FROM orders WHERE total > (SELECT avg(total) FROM orders)
SELECT * FROM customer JOIN orders ON customer.id = orders.customer_id
SELECT * FROM customer, orders WHERE customer.id = orders.customer_id
SELECT * FROM customer INNER JOIN orders ON customer.id = orders.customer_id
SELECT * FROM customer LEFT JOIN orders ON customer.id = orders.customer_id
SELECT * FROM customer LEFT OUTER JOIN orders ON customer.id = orders.customer_id WHERE orders.id IS NULL
SELECT * FROM customer CROSS JOIN orders
SELECT * FROM customer NATURAL JOIN orders
SELECT * FROM orders JOIN line USING (id)
SELECT a.name, b.name FROM customer a JOIN customer b ON a.city = b.city AND a.id < b.id
SELECT * FROM (SELECT city, count(*) n FROM customer GROUP BY city) WHERE n > 1
SELECT * FROM (customer JOIN orders ON customer.id = orders.customer_id)
SELECT city FROM customer UNION SELECT status FROM orders
SELECT city FROM customer UNION ALL SELECT city FROM customer ORDER BY 1
SELECT id FROM customer INTERSECT SELECT customer_id FROM orders
SELECT id FROM customer EXCEPT SELECT customer_id FROM orders
SELECT 1 UNION SELECT 2 EXCEPT SELECT 1 LIMIT 5
WITH big AS (SELECT * FROM orders WHERE total > 50) SELECT count(*) FROM big
WITH big(n) AS (SELECT total FROM orders), small AS (SELECT n FROM big WHERE n < 10) SELECT * FROM small
WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT x FROM a
WITH a AS NOT MATERIALIZED (SELECT 1 AS x) SELECT x FROM a
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10) SELECT sum(x) FROM n
WITH RECURSIVE up(id, boss) AS (SELECT id, boss_id FROM staff WHERE id = 3 UNION SELECT s.id, s.boss_id FROM staff s JOIN up ON s.id = up.boss) SELECT * FROM up
WITH RECURSIVE day(d) AS (VALUES ('2024-01-01') UNION ALL SELECT date(d, '+1 day') FROM day WHERE d < '2024-01-07') SELECT * FROM day
SELECT * FROM (WITH a AS (SELECT 1 AS x) SELECT x FROM a)
WITH c AS (SELECT 1) SELECT count(*) FROM c
WITH customer AS (SELECT 7 AS x) SELECT x FROM customer
SELECT CASE WHEN total > 50 THEN 'big' ELSE 'small' END FROM orders
SELECT CASE status WHEN 'paid' THEN 1 WHEN 'open' THEN 0 END FROM orders
SELECT iif(total > 50, 'big', 'small') FROM orders
SELECT coalesce(city, 'unknown'), ifnull(city, '?'), nullif(city, 'Oslo') FROM customer
SELECT CAST(total AS INTEGER), CAST('12' AS REAL), CAST(12 AS TEXT), CAST('x' AS BLOB) FROM orders
SELECT typeof(total), typeof(NULL), typeof(x'00') FROM orders
SELECT abs(-3), sign(-2), round(2.567, 1), round(2.5)
SELECT 7 / 2, 7 % 2, 7 & 2, 7 | 2, 7 << 2, 7 >> 1, ~7, -7, +7
SELECT 1e3, .5, 0x1F, 9223372036854775807, 9223372036854775808
SELECT TRUE, FALSE, NULL, x'ABCD', 'it''s'
SELECT 1 = 1, 1 IS 1, 1 IS NOT 2, NULL IS NULL, 1 < 2 AND 2 < 3 OR 0
SELECT 'a' || 'b' || 1
SELECT length(name), upper(name), lower(name), trim(name), ltrim(name), rtrim(name) FROM customer
SELECT trim(name, 'An'), ltrim(name, 'A'), rtrim(name, 'g') FROM customer
SELECT substr(name, 1, 3), substr(name, -3), substring(name, 2) FROM customer
SELECT replace(name, ' ', '-'), instr(name, ' ') FROM customer
SELECT replace(replace(name, 'a', 'b'), 'c', 'd') FROM customer
SELECT instr(c.name, s.name) FROM customer c, staff s
SELECT hex(name), quote(name), unicode(name), char(65, 66) FROM customer
SELECT printf('%05.2f', total), format('%s!', status) FROM orders
SELECT zeroblob(4), length(randomblob(8)), random() IS NOT NULL
SELECT max(1, 2, 3), min('a', 'b')
SELECT likely(1), unlikely(0), likelihood(1, 0.5)
SELECT soundex('Robert') = 'R163' OR 1
SELECT sqlite_version()
SELECT glob('A*', 'Anna'), like('A%', 'Anna')
SELECT acos(1), asin(0), atan(1), atan2(1, 1), ceil(1.2), ceiling(1.2), cos(0), cosh(0), degrees(pi())
SELECT exp(1), floor(1.8), ln(2), log(10), log10(100), log2(8), log(2, 8), mod(7, 3), pi(), pow(2, 3), power(2, 3)
SELECT radians(180), sin(0), sinh(0), sqrt(16), tan(0), tanh(0), trunc(1.9), acosh(1), asinh(0), atanh(0)
SELECT date('now'), time('now'), datetime('now'), julianday('now'), strftime('%Y', 'now')
SELECT unixepoch('2024-01-01')
SELECT current_date, current_time, current_timestamp
SELECT date(ordered_on, 'start of month') FROM orders
SELECT date('now', '-7 days'), date('2024-01-31', '+1 month'), date('2024-02-10', 'weekday 0')
SELECT date(ordered_on, 'start of year', '+1 year', '-1 day') FROM orders
SELECT strftime('%Y-%m', ordered_on) AS month, sum(total) FROM orders GROUP BY month
SELECT CAST(strftime('%w', ordered_on) AS INTEGER) FROM orders
SELECT julianday('2024-03-01') - julianday('2024-02-01')
SELECT datetime(1700000000, 'unixepoch', 'localtime')
SELECT strftime('%s', ordered_on) FROM orders
SELECT ordered_on FROM orders WHERE ordered_on >= date('2024-01-01') AND ordered_on < date('2024-12-31')
SELECT substr(ordered_on, 1, 4) AS year, count(*) FROM orders GROUP BY year
SELECT (strftime('%Y', 'now') - strftime('%Y', '1990-05-05')) AS age
SELECT row_number() OVER (ORDER BY total) FROM orders
SELECT rank() OVER (ORDER BY total DESC), dense_rank() OVER (ORDER BY total DESC) FROM orders
SELECT percent_rank() OVER (ORDER BY total), cume_dist() OVER (ORDER BY total) FROM orders
SELECT ntile(4) OVER (ORDER BY total) FROM orders
SELECT lag(total) OVER (ORDER BY id), lead(total) OVER (ORDER BY id) FROM orders
SELECT lag(total, 2, 0) OVER (ORDER BY id), lead(total, 1, -1) OVER (ORDER BY id) FROM orders
SELECT first_value(total) OVER (ORDER BY id), last_value(total) OVER (ORDER BY id) FROM orders
SELECT nth_value(total, 2) OVER (ORDER BY id) FROM orders
SELECT sum(total) OVER (PARTITION BY customer_id ORDER BY id) FROM orders
SELECT avg(total) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders
SELECT sum(total) OVER (ORDER BY total RANGE BETWEEN 10 PRECEDING AND 10 FOLLOWING) FROM orders
SELECT count(*) OVER (ORDER BY total GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM orders
SELECT sum(total) OVER w, avg(total) OVER w FROM orders WINDOW w AS (PARTITION BY status ORDER BY id)
SELECT max(total) FILTER (WHERE status = 'paid') OVER (ORDER BY id) FROM orders
SELECT group_concat(status) OVER (ORDER BY id) FROM orders
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY total DESC) AS r FROM orders) WHERE r = 1
SELECT total, sum(total) OVER () AS everything, 100.0 * total / sum(total) OVER () FROM orders
SELECT json('{"a": [1, 2]}')
SELECT json_extract(details, '$.colour') FROM line
SELECT details -> '$.colour', details ->> '$.colour', details ->> 'size' FROM line
SELECT json_extract(details, '$.tags[0]'), json_type(details, '$.tags') FROM line
SELECT json_array_length(details, '$.tags') FROM line
SELECT json_array(1, 'a', NULL), json_object('k', 1), json_quote('x'), json_valid('{')
SELECT json_set('{}', '$.a', 1), json_insert('{}', '$.a', 1), json_replace('{"a":0}', '$.a', 1), json_remove('{"a":0}', '$.a')
SELECT json_group_array(name), json_group_object(id, name) FROM customer
SELECT line.id, tag.value FROM line, json_each(line.details, '$.tags') AS tag
SELECT key, value, type, path FROM json_tree('{"a": {"b": 1}}')
SELECT count(*) FROM json_each('[1,2,3]')
SELECT name FROM customer WHERE id IN (SELECT value FROM json_each('[1,2]'))
SELECT * FROM note WHERE note MATCH 'parcel'
SELECT title FROM note WHERE title MATCH 'first OR second'
SELECT title FROM note WHERE note MATCH 'par*' ORDER BY rank
SELECT title, bm25(note) FROM note WHERE note MATCH 'body:parcel'
SELECT highlight(note, 1, '<b>', '</b>'), snippet(note, 1, '[', ']', '...', 5) FROM note WHERE note MATCH 'parcel'
SELECT * FROM note('parcel')
SELECT * FROM note WHERE note MATCH 'NEAR(parcel arrived, 5)'
SELECT rowid, title FROM note
SELECT count(*) FROM old_note WHERE old_note MATCH 'letter'
SELECT snippet(old_note), offsets(old_note), length(matchinfo(old_note)) FROM old_note WHERE body MATCH 'letter'
SELECT term, doc FROM note_terms
SELECT * FROM place
SELECT id FROM place WHERE west <= 11 AND east >= 10
SELECT * FROM paid
SELECT count(*) FROM paid
SELECT name, tax FROM product
SELECT * FROM "odd name"
SELECT "a ""quoted"" column", "select", "größe" FROM "odd name"
SELECT * FROM country WHERE code = 'no'
SELECT * FROM sqlite_master
SELECT name FROM sqlite_schema WHERE type = 'table'
SELECT sql FROM main.sqlite_master
SELECT * FROM customer INDEXED BY customer_city WHERE city = 'Oslo'
SELECT * FROM customer NOT INDEXED WHERE city = 'Oslo'
SELECT * FROM empty
SELECT max(x) FROM empty
SELECT 1 WHERE 0
SELECT 'delete from customer'
SELECT name AS "drop table customer" FROM customer
SELECT name FROM customer WHERE name = 'Robert''); DROP TABLE customer; --'
SELECT 'a;b'
SELECT 1 /* ; DELETE FROM customer */
SELECT 1 -- ; DELETE FROM customer
SELECT title FROM note WHERE note MATCH "parcel" ORDER BY title
SELECT n.title FROM customer AS c, note AS n WHERE n.note MATCH 'parcel' AND c.id = 1
SELECT title FROM note WHERE note = 'late' AND length(body) > 2
SELECT * FROM old_note WHERE body MATCH 'letter' COLLATE nocase
WITH ranked AS (SELECT name, row_number() OVER (ORDER BY name) AS place FROM customer) SELECT a.name FROM ranked a JOIN ranked b USING (place)
SELECT 'pragma data_version'
WITH match AS (SELECT title AS match FROM note) SELECT m.match, match.match FROM match, match AS m WHERE m.match > '' ORDER BY match.match
SELECT match FROM (SELECT 1 AS match) WHERE match = 1 ORDER BY match
