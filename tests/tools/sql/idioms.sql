SELECT * FROM customer;
select  NAME from CUSTOMER where country="France"
SELECT "name" FROM customer WHERE name = "country"
SELECT 'name', "nobody", name FROM customer
SELECT T1.name, T2.total FROM customer AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id
SELECT t1.name FROM customer t1 INNER JOIN orders t2 ON t1.id == t2.customer_id WHERE t2.total <> 20
SELECT a.name, b.name FROM customer a LEFT OUTER JOIN customer b ON a.manager_id = b.id ORDER BY a.id ASC
SELECT c.name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
SELECT c.name FROM customer c WHERE c.id > (SELECT avg(c2.id) FROM customer c2 WHERE c2.country = c.country)
SELECT name FROM customer AS outer_c WHERE EXISTS (SELECT 1 FROM customer WHERE manager_id = outer_c.id)
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > `id`)
SELECT [name], `birth year`, "birth year" FROM customer WHERE [birth year] > 1970
SELECT p."order", p.name FROM product AS p ORDER BY p."order" DESC LIMIT 1, 2
SELECT country, COUNT(*) AS n FROM customer GROUP BY country HAVING n >= 1 ORDER BY n DESC, country
SELECT country AS c, count(DISTINCT (name)) FROM customer GROUP BY c ORDER BY 2, 1
SELECT upper(name) AS name FROM customer ORDER BY name
SELECT upper(name) AS name FROM customer GROUP BY name ORDER BY lower(name)
SELECT id AS x, x FROM (SELECT id, 3 AS x FROM customer)
SELECT name FROM customer UNION SELECT name FROM product ORDER BY name
SELECT T1.name FROM customer AS T1 UNION ALL SELECT T2.name FROM product AS T2 ORDER BY 1 LIMIT 3
SELECT id FROM customer INTERSECT SELECT customer_id FROM orders EXCEPT SELECT 3
SELECT name AS "Full Name" FROM customer ORDER BY "Full Name"
SELECT name AS 'who' FROM customer ORDER BY who
SELECT count(*) FROM (SELECT DISTINCT country FROM customer)
SELECT x.n FROM (SELECT country, count(*) AS n FROM customer GROUP BY country) AS x WHERE x.n > 1
SELECT "count(*)" FROM (SELECT count(*) FROM customer)
SELECT "COUNT( * )" + 1 FROM (SELECT country, COUNT( * ) FROM customer GROUP BY country)
WITH big AS (SELECT * FROM orders AS o WHERE o.total > 9) SELECT b.id, c.name FROM big b JOIN customer c ON c.id = b.customer_id
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n
WITH RECURSIVE chain AS (SELECT id, manager_id FROM customer WHERE id = 5 UNION ALL SELECT c.id, c.manager_id FROM customer c JOIN chain ON c.id = chain.manager_id) SELECT id FROM chain
WITH customer AS (SELECT 7 AS id) SELECT id FROM customer
SELECT c.name, o.total FROM customer c, orders o WHERE c.id = o.customer_id
SELECT name, total FROM customer NATURAL JOIN (SELECT id, total FROM orders)
SELECT id, name, total FROM customer JOIN orders USING (id)
SELECT id, total FROM customer LEFT JOIN orders USING (id) ORDER BY id
SELECT id, name, note FROM customer FULL JOIN orders USING (id) ORDER BY id
SELECT c.id, o.id FROM customer AS c RIGHT JOIN orders AS o ON c.id = o.customer_id ORDER BY o.id
SELECT c.name FROM customer c CROSS JOIN product p WHERE p.id = 1
SELECT o.id FROM (orders o JOIN item i ON o.id = i.order_id) JOIN product p ON p.id = i.product_id WHERE p.name = "pen"
SELECT name FROM customer WHERE name LIKE "%n%" OR name NOT LIKE 'a_n' ESCAPE '\'
SELECT name FROM customer WHERE name GLOB '[A-C]*' AND NOT name = 'Cy'
SELECT name FROM customer WHERE country IS NULL OR "birth year" NOT NULL
SELECT name FROM customer WHERE country ISNULL UNION SELECT name FROM customer WHERE country NOTNULL
SELECT name FROM customer WHERE country IS NOT 'France' AND country IS NOT NULL
SELECT name FROM customer WHERE country IS NOT DISTINCT FROM 'France'
SELECT name FROM customer WHERE "birth year" BETWEEN 1970 AND 1990 AND country NOT IN ('USA', "France")
SELECT name FROM customer WHERE (country, id) IN (VALUES ('France', 1), ('USA', 2))
SELECT name FROM customer WHERE (id, name) = (SELECT id, name FROM customer WHERE id = 3)
SELECT -id, - 3, +id, ~id, 1 - -1, id - 1, 2 * -3 FROM customer
SELECT 1 || 2 * 3, 5 / 2, 5 % 3, 1 << 2 | 1, 7 & 3, 'a' || 'b', 2 + 3 * 4 - 1
SELECT NOT 1 = 2, 1 = 2 = 0, 3 > 2 > 0, NOT (1 AND 0), 1 IS 1, 2 == 2
SELECT CASE WHEN total > 50 THEN "high" WHEN total IS NULL THEN 'none' ELSE "low" END AS level FROM orders
SELECT CASE country WHEN "France" THEN 1 ELSE 0 END FROM customer
SELECT CAST(total AS INTEGER), CAST('12' AS DECIMAL), CAST('7x' AS BOOLEAN), CAST(price AS VARCHAR(10)), CAST("2020-01-01" AS DATE) FROM orders, product
SELECT CAST(12.7 AS STRING), CAST('3.0' AS NUMERIC), typeof(CAST(1 AS FLOAT)), CAST('5' AS DOUBLE PRECISION)
SELECT strftime('%Y', placed), date(placed, '+1 day'), julianday(placed) - julianday('2020-01-01') FROM orders
SELECT strftime("%m", placed) AS m, count(*) FROM orders GROUP BY m
SELECT datetime('2020-01-01', 'start of month', '+1 month', '-1 day'), time('12:00'), unixepoch('2020-01-01')
SELECT substr(name, 1, 2), substring(name, 2), instr(name, 'n'), length(name), replace(name, 'n', 'm') FROM customer
SELECT ifnull(country, "none"), coalesce(country, name, 'x'), nullif(country, 'USA'), iif(id > 2, 'a', 'b') FROM customer
SELECT min(id, 3), max(id, 2, 3), abs(-id), round(total, 1), total(total), printf('%05d', 7) FROM orders
SELECT group_concat(name, "; "), group_concat(DISTINCT country), sum(id), avg(id) FROM customer
SELECT count(*) FILTER (WHERE country = "France") FROM customer
SELECT name, row_number() OVER (PARTITION BY country ORDER BY id DESC) AS rn FROM customer
SELECT id, sum(total) OVER win AS running FROM orders WINDOW win AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
SELECT id, lag(total, 1, 0) OVER (ORDER BY id), ntile(2) OVER (ORDER BY total), first_value(id) OVER (ORDER BY total RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING EXCLUDE TIES) FROM orders
SELECT name, json_extract(data, '$.a[0]'), data -> 'b', data ->> '$.b' FROM product
SELECT j.value FROM product AS p, json_each(p.data, '$.a') AS j WHERE p.id = 1
SELECT p.name, e.key FROM product p JOIN json_each(p.data) e ON 1 ORDER BY p.name, e.key
SELECT rowid, oid, name FROM customer WHERE _rowid_ = 2
SELECT c.rowid FROM customer c
SELECT x'41', X'4142', 0x1F, 1e3, .5, 1.5E-2, 'it''s', "it's"
SELECT true, FALSE, NULL, current_date = date('now')
SELECT name FROM customer ORDER BY country COLLATE NOCASE DESC NULLS LAST, name
SELECT name FROM customer LIMIT 2 OFFSET 1
SELECT name FROM customer LIMIT (SELECT 1), (SELECT min(2, 3))
VALUES (1, 'a'), (2, 'b')
SELECT column1 FROM (VALUES (1), (2))
SELECT DISTINCT (country) FROM customer WHERE (country) = "France"
SELECT ALL country FROM customer
SELECT count( DISTINCT country ) , max ( id ) FROM customer
SELECT * FROM customer AS c JOIN orders AS o ON c.id = o.customer_id AND o.total > 5 WHERE o.note = ""
SELECT c.*, o.id FROM customer c JOIN orders o ON o.customer_id = c.id
SELECT customer.name FROM customer JOIN orders ON orders.customer_id = customer.id GROUP BY customer.id HAVING sum(orders.total) > 10
SELECT T2.name FROM customer AS T1 JOIN customer AS T2 ON T1.manager_id = T2.id GROUP BY T2.id ORDER BY count(*) DESC LIMIT 1
SELECT product.name FROM product WHERE product.price = (SELECT max(price) FROM product)
SELECT name FROM product AS item WHERE EXISTS (SELECT 1 FROM item AS i WHERE i.product_id = item.id)
SELECT (SELECT name FROM customer AS c WHERE c.id = o.customer_id) AS who, (SELECT count(*) FROM item WHERE order_id = o.id) FROM orders AS o
SELECT o.id FROM orders o WHERE o.total = (SELECT max(o2.total) FROM orders o2 WHERE o2.customer_id = o.customer_id AND EXISTS (SELECT 1 FROM orders o3 WHERE o3.id = o.id))
SELECT main.customer.name FROM main.customer
SELECT main.c.name FROM main.customer AS c WHERE 0
SELECT name FROM customer -- who
SELECT /* all */ name FROM customer WHERE /* none */ 1
SELECT name FROM customer WHERE id > = 2 AND id ! = 3 AND name < > 'x' AND country = = "France"
SELECT id FROM orders WHERE note = 'a > = b' OR note = "! ="
SELECT "Customer"."Name" FROM "Customer"
SELECT sum(quantity * price) FROM item JOIN product ON product_id = id
SELECT id % 2 AS odd, sum(total) FROM orders GROUP BY id % 2 HAVING odd = 1
SELECT name FROM customer WHERE country IN ("France") ORDER BY length(name), "birth year" DESC
SELECT max(total) - min(total), count(*) * 1.0 / 3 FROM orders
SELECT t.country FROM (SELECT country FROM customer AS T1 UNION SELECT name FROM product AS T1) AS t ORDER BY t.country
SELECT a.id FROM customer a JOIN orders b ON a.id = b.customer_id JOIN item c ON b.id = c.order_id JOIN item d ON d.order_id = b.id WHERE c.product_id = 1 AND d.product_id = 2
SELECT id FROM customer WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL) OR id = 1 AND name != 'Z'
SELECT name FROM customer GROUP BY id HAVING "birth year" > 1970 ORDER BY max(id)
SELECT name FROM customer c WHERE c.country = "France" AND c.name = "c.name"
SELECT 1 AS "select", 2 AS "Order" FROM customer ORDER BY "select", "Order" LIMIT 1
SELECT ab.name FROM customer AS ab WHERE ab.id IN (SELECT ab.manager_id FROM customer AS ab)
SELECT orders.id FROM customer AS orders WHERE orders.id = 1
SELECT customer.id FROM orders AS customer JOIN customer AS o ON o.id = customer.customer_id
WITH a AS (SELECT id FROM b), b AS (SELECT id FROM customer) SELECT a.id FROM a
WITH item AS (SELECT name FROM product AS x), product AS (SELECT name FROM customer) SELECT name FROM item
SELECT name FROM customer ORDER BY (name) COLLATE NOCASE LIMIT 2
SELECT lower(name) AS country, country FROM customer ORDER BY (country)
SELECT c.name FROM customer AS c WHERE (SELECT count(*) FROM orders WHERE customer_id = c.id AND id > (SELECT min(id) FROM orders AS customer WHERE c.id = customer.customer_id)) > 0
SELECT - - 1, 5 - - 1, name FROM customer WHERE id = 3 - - - -1 OR id - -1 > 4
