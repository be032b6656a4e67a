"""Columns that a login of a server may not read are told exactly as columns that are not there.

Each form is tried with the names of hidden columns and with names that do not exist, and on a database that has no
hidden columns at all: what comes back, errors and numbers of requests included, must be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.mysql.engine import MySQLConnection
from tableturn.tools.database.postgres.engine import PostgresConnection
from tableturn.tools.errors import QueryError

from .servers import MARIADB, POSTGRES, Server

_PAIRS = (("salary", "zalary"), ("badge", "zadge"))
"""Hidden columns, of a number and of a text, each with a name of the same length that nothing has."""

_GRANTED = {
    "emp": "id, name, dept_id, boss, joined",
    '"Team"': '"Id", "Lead"',
    "wide": "id, name",
    "sales.emp": "id, region",
}

_NAMING = (
    # Lists of columns, conditions, groups and orders.
    "SELECT {n} FROM emp",
    "SELECT id, {n} FROM emp",
    "SELECT e.{n} FROM emp AS e",
    "SELECT emp.{n} FROM emp",
    "SELECT DISTINCT {n} FROM emp",
    "SELECT {n} AS x FROM emp",
    "SELECT ({n}) FROM emp",
    "SELECT 1 FROM emp WHERE {n} IS NULL",
    "SELECT 1 FROM emp WHERE {n} = {n}",
    "SELECT 1 FROM emp WHERE {n} > 5",
    "SELECT 1 FROM emp WHERE {n} > 'a'",
    "SELECT 1 FROM emp WHERE {n} > CURRENT_DATE",
    "SELECT 1 FROM emp WHERE {n} LIKE 'a%'",
    "SELECT 1 FROM emp WHERE {n} BETWEEN 1 AND 2",
    "SELECT 1 FROM emp WHERE {n} IN (1, 2)",
    "SELECT 1 FROM emp WHERE NOT {n}",
    "SELECT 1 FROM emp WHERE id = 1 OR {n} = 'x'",
    "SELECT id FROM emp ORDER BY {n}",
    "SELECT id FROM emp ORDER BY emp.{n} DESC LIMIT 1",
    "SELECT count(*) FROM emp GROUP BY {n}",
    "SELECT dept_id, count(*) FROM emp GROUP BY dept_id HAVING max({n}) > 5",
    "SELECT dept_id, count(*) FROM emp GROUP BY dept_id ORDER BY min({n})",
    "SELECT dept_id FROM emp GROUP BY dept_id, {n}",
    "SELECT id FROM emp GROUP BY id HAVING {n} > 5",
    # Calls, casts and operators, each good for some types alone.
    "SELECT sum({n}) FROM emp",
    "SELECT avg({n}) FROM emp",
    "SELECT max({n}) FROM emp",
    "SELECT count({n}) FROM emp",
    "SELECT count(DISTINCT {n}) FROM emp",
    "SELECT upper({n}) FROM emp",
    "SELECT length({n}) FROM emp",
    "SELECT abs({n}) FROM emp",
    "SELECT {n} + 1 FROM emp",
    "SELECT -{n} FROM emp",
    "SELECT {n} * {n} FROM emp",
    "SELECT CAST({n} AS DATE) FROM emp",
    "SELECT CAST({n} AS DECIMAL) FROM emp",
    "SELECT coalesce({n}, 0) FROM emp",
    "SELECT coalesce({n}, 'x') FROM emp",
    "SELECT nullif({n}, 0) FROM emp",
    "SELECT extract(YEAR FROM {n}) FROM emp",
    "SELECT CASE WHEN {n} > 0 THEN 1 END FROM emp",
    "SELECT CASE {n} WHEN 'x' THEN 1 ELSE 2 END FROM emp",
    "SELECT CASE WHEN id = 1 THEN {n} ELSE 'x' END FROM emp",
    "SELECT concat(name, {n}) FROM emp",
    "SELECT {n} || 'x' FROM emp",
    "SELECT greatest({n}, 1) FROM emp",
    "SELECT json_array_length({n}->'a') FROM emp",
    "SELECT 1 / ({n} - {n}) FROM emp",
    "SELECT row_number() OVER (ORDER BY {n}) FROM emp",
    "SELECT rank() OVER (PARTITION BY {n} ORDER BY id) FROM emp",
    "SELECT sum({n}) OVER () FROM emp",
    "SELECT lag({n}) OVER (ORDER BY id) FROM emp",
    "SELECT sum(id) OVER w FROM emp WINDOW w AS (PARTITION BY {n})",
    # Two mistakes at once: which one is told first must not depend on what is hidden.
    "SELECT sum({n}), zzz FROM emp",
    "SELECT zzz, {n} FROM emp",
    "SELECT {n} FROM emp WHERE zzz = 1",
    "SELECT zzz FROM emp WHERE {n} = 1",
    "SELECT {n} FROM emp GROUP BY zzz",
    "SELECT name, count(*) FROM emp WHERE {n} = 1",
    "SELECT sum(name, {n}) FROM emp",
    "SELECT {n} FROM emp, missing",
    "SELECT {n} FROM emp LIMIT 'x'",
    # Joins.
    "SELECT 1 FROM emp JOIN dept ON emp.{n} = dept.id",
    "SELECT 1 FROM emp JOIN dept ON {n} = 5",
    "SELECT 1 FROM emp e LEFT JOIN emp f ON e.{n} = f.{n}",
    "SELECT 1 FROM emp JOIN (SELECT 5 AS {n}) AS r USING ({n})",
    "SELECT 1 FROM (SELECT 5 AS {n}) AS r JOIN emp USING ({n})",
    "SELECT 1 FROM emp LEFT JOIN (SELECT 5 AS {n}) AS r USING ({n})",
    "SELECT 1 FROM emp RIGHT JOIN (SELECT 'B1' AS {n}) AS r USING ({n})",
    "SELECT emp.id FROM emp JOIN (SELECT 5 AS {n}, 1 AS id) AS r USING (id, {n})",
    "SELECT name FROM emp NATURAL JOIN (SELECT 5000 AS {n}) AS r",
    "SELECT name FROM (SELECT 5000 AS {n}) AS r NATURAL JOIN emp",
    "SELECT name FROM emp NATURAL JOIN (SELECT 'B1' AS {n}) AS r",
    "SELECT name FROM emp NATURAL LEFT JOIN (SELECT 'B1' AS {n}, 7 AS q) AS r",
    "SELECT count(*) FROM emp NATURAL JOIN (SELECT 1 AS id, 4 AS {n}) AS r",
    "SELECT 1 FROM emp e JOIN emp f USING ({n})",
    "SELECT 1 FROM emp e JOIN dept d USING ({n})",
    "WITH r AS (SELECT 5000 AS {n}) SELECT name FROM emp JOIN r USING ({n})",
    "WITH r AS (SELECT 5000 AS {n}) SELECT name FROM emp NATURAL JOIN r",
    "SELECT name FROM emp e JOIN (SELECT 9 AS boss, 5000 AS {n}) AS r USING (boss, {n})",
    "SELECT {n} FROM emp JOIN (SELECT 5 AS {n}) AS r ON 1 = 1",
    "SELECT r.{n} FROM emp JOIN (SELECT 5 AS {n}) AS r ON emp.{n} = r.{n}",
    # What stands outside, or beside, is meant where the name is missing.
    "SELECT (SELECT {n} FROM emp LIMIT 1) FROM (SELECT 5 AS {n}) AS x",
    "SELECT (SELECT max({n}) FROM emp) FROM (SELECT 5 AS {n}) AS x",
    "SELECT x.{n} FROM (SELECT 5 AS {n}) AS x WHERE EXISTS (SELECT 1 FROM emp WHERE {n} = 5)",
    "SELECT x.{n} FROM (SELECT 5 AS {n}) AS x WHERE 5 IN (SELECT {n} FROM emp)",
    "SELECT (SELECT count(*) FROM emp WHERE {n} = 5) FROM (SELECT 5 AS {n}) AS x",
    "SELECT (SELECT count(*) FROM emp GROUP BY {n} LIMIT 1) FROM (SELECT 5 AS {n}) AS x",
    "SELECT (SELECT id FROM emp ORDER BY {n}, id LIMIT 1) FROM (SELECT 5 AS {n}) AS x",
    "SELECT {n} FROM emp, (SELECT 5 AS {n}) AS x",
    "SELECT id, {n} FROM emp CROSS JOIN (SELECT 5 AS {n}) AS x",
    "SELECT count(*) FROM emp, (SELECT 5 AS {n}) AS x WHERE {n} = 5",
    "SELECT sum({n}) FROM emp, (SELECT 'a' AS {n}) AS x",
    "SELECT name AS {n} FROM emp ORDER BY {n}",
    "SELECT id AS {n} FROM emp GROUP BY {n}",
    "SELECT -id AS {n} FROM emp ORDER BY {n}",
    "SELECT dept_id AS {n}, count(*) FROM emp GROUP BY {n} ORDER BY {n}",
    "SELECT id AS {n} FROM emp HAVING {n} > 1",
    "SELECT id AS {n} FROM emp WHERE {n} > 1",
    # Sub-queries, common table expressions and sets.
    "SELECT {n} FROM (SELECT * FROM emp) AS x",
    "SELECT x.{n} FROM (SELECT emp.* FROM emp) AS x",
    "SELECT {n} FROM (SELECT id, name FROM emp) AS x",
    "SELECT 1 FROM (SELECT {n} FROM emp) AS x",
    "SELECT * FROM (SELECT {n} FROM emp UNION ALL SELECT 1) AS x",
    "WITH x AS (SELECT * FROM emp) SELECT {n} FROM x",
    "WITH x AS (SELECT {n} FROM emp) SELECT 1 FROM x",
    "WITH x AS (SELECT * FROM emp WHERE {n} IS NOT NULL) SELECT id FROM x",
    "WITH x ({n}) AS (SELECT id FROM emp) SELECT {n} FROM x, emp ORDER BY 1",
    "WITH RECURSIVE x AS (SELECT id, boss FROM emp UNION ALL SELECT e.id, e.{n} FROM emp e JOIN x ON e.boss = x.id)"
    " SELECT count(*) FROM x",
    "SELECT {n} FROM emp UNION SELECT name FROM emp",
    "SELECT id FROM emp UNION ALL SELECT {n} FROM emp",
    "SELECT id FROM emp UNION SELECT id FROM emp ORDER BY {n}",
    "SELECT id FROM emp WHERE id IN (SELECT {n} FROM emp)",
    "SELECT id FROM emp WHERE ({n}, id) IN (SELECT 1, 2)",
    "SELECT id FROM emp WHERE {n} = (SELECT max({n}) FROM emp)",
    "SELECT id FROM emp e WHERE EXISTS (SELECT 1 FROM dept WHERE dept.id = e.{n})",
    "SELECT (SELECT {n} FROM emp)",
    "SELECT d.id, (SELECT max(e.{n}) FROM emp e WHERE e.dept_id = d.id) FROM dept d",
    # Views, other names of tables, quotes and letters of another case.
    "SELECT {n} FROM wide",
    "SELECT 1 FROM wide JOIN (SELECT 5000 AS {n}) AS r USING ({n})",
    "SELECT name FROM wide NATURAL JOIN (SELECT 5000 AS {n}) AS r",
    'SELECT "{n}" FROM "Team"',
    'SELECT t."{n}" FROM "Team" AS t',
    'SELECT 1 FROM "Team" JOIN (SELECT 5 AS "{n}") AS r USING ("{n}")',
    'SELECT "{n}" FROM emp',
    'SELECT "emp"."{n}" FROM "emp"',
    "SELECT {n} FROM sales.emp",
    "SELECT sales.emp.{n} FROM sales.emp",
    "SELECT e.{n} FROM sales.emp AS e, emp",
    "SELECT 1 FROM sales.emp AS e JOIN emp USING ({n})",
    "SELECT 1 FROM emp AS x (a) WHERE {n} = 1",
    "SELECT x.{n} FROM emp AS x",
    "SELECT dept.{n} FROM emp, dept",
    "SELECT {n}.id FROM emp",
    "SELECT emp.id FROM emp AS {n}",
    "SELECT emp.name.{n} FROM emp",
    "SELECT {n}.* FROM emp",
    "SELECT {n}(emp) FROM emp",
    "SELECT {n} FROM {n}",
)
"""Forms on both kinds of server; `{n}` stands for a name."""

_POSTGRES_NAMING = (
    "SELECT (emp).{n} FROM emp",
    "SELECT (e.*).{n} FROM emp e",
    "SELECT (x.e).{n} FROM (SELECT e FROM emp e) AS x",
    "SELECT {n}::text FROM emp",
    "SELECT {n}::integer FROM emp",
    "SELECT {n}::date FROM emp",
    "SELECT array_agg({n}) FROM emp",
    "SELECT string_agg({n}, ',') FROM emp",
    "SELECT count(*) FILTER (WHERE {n} > 5) FROM emp",
    "SELECT DISTINCT ON ({n}) id FROM emp",
    "SELECT {n} ~ 'a' FROM emp",
    "SELECT {n} -> 'a' FROM emp",
    "SELECT {n}[1] FROM emp",
    "SELECT row_to_json(x) FROM (SELECT {n} FROM emp) AS x",
    "SELECT to_json({n}) FROM emp",
    "SELECT row_to_json(emp) ->> '{n}' FROM emp ORDER BY 1",
    "SELECT to_jsonb(e) -> '{n}' FROM emp e ORDER BY 1",
    "SELECT to_jsonb(e) ? '{n}' FROM emp e ORDER BY 1",
    "SELECT e.id FROM emp e, LATERAL (SELECT e.{n} AS x) AS l",
    "SELECT l.x FROM (SELECT 5 AS {n}) AS o, LATERAL (SELECT {n} AS x FROM emp LIMIT 1) AS l",
    "SELECT 1 FROM emp FULL JOIN (SELECT 5 AS {n}) AS r USING ({n})",
    "SELECT name FROM emp NATURAL FULL JOIN (SELECT 'B1' AS {n}) AS r",
    "SELECT x.{n} FROM emp AS x (a, b, c, d, {n})",
    "SELECT {n} FROM emp AS x (a, b, c, d, e, {n})",
    "SELECT {n} FROM emp AS x (a, b, c, d, e, f, g, {n})",
    "SELECT id FROM emp GROUP BY ROLLUP (id, {n})",
    "SELECT id FROM emp GROUP BY GROUPING SETS ((id), ({n}))",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {n}) FROM emp",
    "SELECT public.emp.{n} FROM emp",
    "SELECT public.emp.{n} FROM public.emp, sales.emp",
    "SELECT e.id, e.name FROM emp e WHERE e.{n} = 1 GROUP BY e.id",
    "SELECT e.id, e.{n} FROM emp e GROUP BY e.id",
    "SELECT id, name FROM emp GROUP BY id ORDER BY {n}",
    'SELECT id FROM emp ORDER BY {n} COLLATE "C"',
    "SELECT {n} AT TIME ZONE 'UTC' FROM emp",
    "SELECT CAST('emp' AS {n})",
    "SELECT NULL::{n}",
    "SELECT 1 FROM generate_series(1, 2) AS {n} JOIN emp ON emp.id = {n} ORDER BY {n}",
    "SELECT id FROM emp TABLESAMPLE BERNOULLI (100) WHERE {n} = 1",
    "SELECT id FROM emp TABLESAMPLE BERNOULLI ({n})",
    "TABLE {n}",
)
_MARIADB_NAMING = (
    "SELECT {n} REGEXP 'a' FROM emp",
    "SELECT group_concat({n}) FROM emp",
    "SELECT group_concat(id ORDER BY {n}) FROM emp",
    "SELECT `EMP`.`{n}` FROM `emp` AS `EMP`",
    "SELECT date_format({n}, '%Y') FROM emp",
    "SELECT if({n} > 5, 1, 0) FROM emp",
    "SELECT ifnull({n}, 0) FROM emp",
    "SELECT json_object('a', {n}) FROM emp",
    "SELECT id FROM emp STRAIGHT_JOIN (SELECT 5000 AS {n}) AS r USING ({n})",
    "SELECT emp.id FROM emp INNER JOIN (SELECT 'B1' AS {n}) AS r USING ({n})",
    "SELECT name FROM emp NATURAL RIGHT JOIN (SELECT 5000 AS {n}) AS r",
    "SELECT count(*) FROM emp e NATURAL JOIN (SELECT id, 5000 AS {n} FROM emp) AS r",
    "SELECT name, (SELECT count(*) FROM emp e JOIN (SELECT 5000 AS {n}) AS r USING ({n})) FROM emp",
    "SELECT name FROM emp WHERE id IN (SELECT e.id FROM emp e NATURAL JOIN (SELECT 5000 AS {n}) AS r)",
    "SELECT id FROM emp USE INDEX ({n})",
    "SELECT id FROM emp FORCE INDEX (emp_{n})",
    "SELECT id FROM emp IGNORE INDEX FOR JOIN (emp_{n})",
    "SELECT id FROM emp PROCEDURE {n}()",
    "SELECT DEFAULT({n}) FROM emp",
    "SELECT MATCH (name) AGAINST ({n}) FROM emp",
    "SELECT id FROM emp GROUP BY {n} WITH ROLLUP",
    "SELECT id FROM emp HAVING {n} > 1 ORDER BY 1",
    "SELECT SQL_NO_CACHE {n} FROM emp",
    "SELECT binary {n} FROM emp",
    "SELECT {n} COLLATE utf8mb4_bin FROM emp",
    "SELECT {n} DIV 2 FROM emp",
    "SELECT {n} <=> NULL FROM emp",
    "SELECT {n} AND 1 FROM emp",
    "SELECT cast({n} AS CHAR) FROM emp",
    "SELECT convert({n}, SIGNED) FROM emp",
)

_COUNTING = (
    # What number, order and types of columns would tell.
    "SELECT * FROM emp ORDER BY id",
    "SELECT emp.* FROM emp ORDER BY id",
    "SELECT e.*, 1 FROM emp e ORDER BY id",
    "SELECT * FROM wide ORDER BY id",
    'SELECT * FROM "Team" ORDER BY 1',
    "SELECT * FROM sales.emp ORDER BY id",
    "SELECT * FROM emp JOIN dept ON dept.id = emp.dept_id ORDER BY 1",
    "SELECT * FROM emp NATURAL JOIN wide ORDER BY id",
    "SELECT * FROM emp e JOIN emp f USING (id) ORDER BY id",
    "SELECT * FROM emp NATURAL JOIN (SELECT 5 AS q) AS r ORDER BY id",
    "SELECT * FROM emp UNION SELECT 1, 'x', 1, 1, NULL ORDER BY 1, 2",
    "SELECT * FROM emp UNION SELECT 1, 'x', 1, 1, NULL, 1, 'x', NULL",
    "SELECT 1, 'x', 1, 1, NULL, 1, 'x', NULL UNION ALL SELECT * FROM emp",
    "SELECT id FROM emp UNION SELECT * FROM emp",
    "SELECT id FROM emp ORDER BY 2",
    "SELECT * FROM emp ORDER BY 6",
    "SELECT * FROM emp ORDER BY 5, 1",
    "SELECT * FROM emp WHERE (SELECT * FROM emp LIMIT 1) = 1",
    "SELECT 1 IN (SELECT * FROM emp)",
    "SELECT (1, 2, 3, 4, 5) IN (SELECT * FROM emp)",
    "SELECT (1, 2, 3, 4, 5, 6, 7, 8) IN (SELECT * FROM emp)",
    "SELECT EXISTS (SELECT * FROM emp)",
    "SELECT count(*) FROM emp",
    "WITH x (a, b, c, d, e) AS (SELECT * FROM emp) SELECT a FROM x ORDER BY 1",
    "WITH x (a, b, c, d, e, f, g, h) AS (SELECT * FROM emp) SELECT a FROM x",
    "WITH x AS (SELECT * FROM emp) SELECT * FROM x ORDER BY 1",
    "SELECT * FROM (SELECT * FROM emp) AS x ORDER BY 1",
    "SELECT DISTINCT * FROM emp ORDER BY 1",
    "SELECT id FROM emp e WHERE e.id = ALL (SELECT * FROM emp)",
    "SELECT id FROM vault",
    "SELECT vault.id FROM emp",
    "SELECT 1 FROM emp JOIN vault USING (id)",
)
_POSTGRES_COUNTING = (
    "SELECT emp FROM emp ORDER BY id",
    "SELECT e FROM emp AS e ORDER BY id",
    "SELECT emp::text FROM emp ORDER BY id",
    "SELECT row_to_json(emp) FROM emp ORDER BY id",
    "SELECT to_jsonb(e) FROM emp e ORDER BY id",
    "SELECT json_agg(e ORDER BY id) FROM emp e",
    "SELECT json_agg(emp.* ORDER BY id) FROM emp",
    "SELECT count(emp) FROM emp",
    "SELECT count(e.*) FROM emp e",
    "SELECT count(DISTINCT e) FROM emp e",
    "SELECT max(e::text) FROM emp e",
    "SELECT count(*) FROM emp e WHERE e IS NOT NULL",
    "SELECT count(*) FROM emp e WHERE e IS NULL",
    "SELECT count(*) FROM emp e, emp f WHERE e = f",
    "SELECT id FROM emp e ORDER BY e",
    "SELECT (emp).name FROM emp ORDER BY 1",
    "SELECT (emp).* FROM emp ORDER BY 1",
    "SELECT (x.e).name FROM (SELECT e FROM emp e) AS x ORDER BY 1",
    "SELECT jsonb_object_keys(to_jsonb(e)) FROM emp e ORDER BY 1",
    "SELECT k FROM emp e, jsonb_each_text(to_jsonb(e)) AS j (k, v) ORDER BY 1",
    "SELECT array_length(array_agg(e), 1) FROM emp e",
    "SELECT concat(e) FROM emp e ORDER BY 1",
    "SELECT coalesce(e, NULL) FROM emp e ORDER BY 1",
    "SELECT string_agg(e::text, ';' ORDER BY id) FROM emp e",
    "SELECT a, e FROM emp AS x (a, b, c, d, e) ORDER BY 1",
    "SELECT a FROM emp AS x (a, b, c, d, e, f) ORDER BY 1",
    "SELECT a FROM emp AS x (a, b, c, d, e, f, g, h, i)",
    "SELECT x FROM emp AS x (a, b) ORDER BY a",
    "SELECT wide FROM wide ORDER BY id",
    "SELECT row_to_json(w) FROM wide w ORDER BY id",
    "SELECT NULL::emp",
    "SELECT NULL::vault",
    "SELECT 'vault'::regclass",
    "SELECT ROW(1, 'x')::emp",
    "SELECT dept FROM dept ORDER BY id",
    "SELECT ROW(e.*) FROM emp e ORDER BY 1",
    "SELECT e.id, e.* FROM emp e ORDER BY id",
    "SELECT name FROM (SELECT emp.* FROM emp) AS x ORDER BY 1",
    "SELECT l FROM dept d, LATERAL (SELECT * FROM emp WHERE dept_id = d.id) AS l ORDER BY l.id",
    "SELECT * FROM emp CROSS JOIN LATERAL (SELECT emp) AS l ORDER BY id",
    "TABLE emp ORDER BY id",
)

_LEGAL = (
    "SELECT id, name FROM emp ORDER BY id",
    "SELECT ID, Name FROM EMP ORDER BY 1",
    "SELECT e.id FROM emp AS e ORDER BY e.id",
    "SELECT emp.id, emp.name FROM emp ORDER BY emp.id",
    'SELECT "emp"."id" FROM "emp" ORDER BY 1',
    "SELECT name AS n FROM emp WHERE dept_id = 1 ORDER BY n",
    "SELECT count(*), count(boss), min(id), max(name) FROM emp",
    "SELECT dept_id, count(*) AS n FROM emp GROUP BY dept_id HAVING count(*) > 1 ORDER BY n, dept_id",
    "SELECT DISTINCT dept_id FROM emp ORDER BY dept_id",
    "SELECT name FROM emp WHERE name LIKE 'a%' OR id BETWEEN 2 AND 3 ORDER BY 1",
    "SELECT upper(name), length(name), coalesce(boss, 0) FROM emp ORDER BY 1",
    "SELECT CASE WHEN boss IS NULL THEN 'top' ELSE 'other' END AS kind, count(*) FROM emp GROUP BY 1 ORDER BY 1",
    "SELECT name FROM emp ORDER BY id DESC LIMIT 2 OFFSET 1",
    "SELECT e.name, d.title FROM emp e JOIN dept d ON d.id = e.dept_id ORDER BY e.id",
    "SELECT e.name, d.title FROM dept d LEFT JOIN emp e ON d.id = e.dept_id ORDER BY d.id, e.id",
    "SELECT e.name, f.name FROM emp e JOIN emp f ON e.boss = f.id ORDER BY e.id",
    "SELECT e.name FROM emp e, dept d WHERE e.dept_id = d.id AND d.title = 'toys' ORDER BY 1",
    "SELECT e.name FROM emp e CROSS JOIN dept d ORDER BY e.id, d.id",
    "SELECT name FROM emp JOIN (SELECT 1 AS dept_id) AS r USING (dept_id) ORDER BY 1",
    "SELECT id, e.name FROM emp e JOIN wide w USING (id, name) ORDER BY 1",
    "SELECT id, name FROM emp NATURAL JOIN wide ORDER BY id",
    "SELECT name FROM emp WHERE dept_id IN (SELECT id FROM dept WHERE title = 'toys') ORDER BY 1",
    "SELECT name FROM emp e WHERE EXISTS (SELECT 1 FROM emp f WHERE f.boss = e.id) ORDER BY 1",
    "SELECT name FROM emp WHERE id = (SELECT max(id) FROM emp)",
    "SELECT title, (SELECT count(*) FROM emp WHERE emp.dept_id = dept.id) FROM dept ORDER BY 1",
    "SELECT x.n FROM (SELECT name AS n FROM emp) AS x ORDER BY 1",
    "WITH x AS (SELECT id, name FROM emp) SELECT name FROM x ORDER BY id",
    "WITH emp AS (SELECT 7 AS salary) SELECT salary FROM emp",
    "WITH x AS (SELECT id FROM emp), y AS (SELECT id FROM x WHERE id > 1) SELECT count(*) FROM y",
    "WITH RECURSIVE x AS (SELECT id, name FROM emp WHERE boss IS NULL UNION ALL"
    " SELECT e.id, e.name FROM emp e JOIN x ON e.boss = x.id) SELECT name FROM x ORDER BY id",
    "SELECT id FROM emp UNION SELECT id FROM dept ORDER BY id",
    "SELECT name FROM emp UNION ALL SELECT title FROM dept ORDER BY 1",
    "SELECT id FROM emp INTERSECT SELECT id FROM dept ORDER BY 1",
    "SELECT id FROM emp EXCEPT SELECT id FROM dept ORDER BY 1",
    "SELECT name, row_number() OVER (ORDER BY id) FROM emp ORDER BY 2",
    "SELECT name, rank() OVER (PARTITION BY dept_id ORDER BY id) AS r FROM emp ORDER BY name",
    "SELECT name, lag(name) OVER (ORDER BY id), sum(id) OVER () FROM emp ORDER BY 1",
    "SELECT sum(id) OVER w FROM emp WINDOW w AS (ORDER BY id) ORDER BY 1",
    "SELECT * FROM (SELECT name, row_number() OVER (PARTITION BY dept_id ORDER BY id) AS r FROM emp) AS x WHERE r = 1"
    " ORDER BY name",
    'SELECT "Id", "Lead" FROM "Team" ORDER BY 1',
    'SELECT "Team"."Lead" FROM "Team" ORDER BY 1',
    'SELECT t."Lead" FROM "Team" AS t JOIN emp ON emp.id = t."Lead" ORDER BY 1',
    "SELECT id, region FROM sales.emp ORDER BY 1",
    "SELECT sales.emp.region FROM sales.emp ORDER BY 1",
    "SELECT emp.region FROM sales.emp ORDER BY 1",
    "SELECT s.region, e.name FROM sales.emp s JOIN emp e ON s.id = e.id ORDER BY 1, 2",
    "SELECT id, name FROM wide ORDER BY 1",
    "SELECT wide.name FROM wide WHERE id > 1 ORDER BY 1",
    "SELECT w.name, e.boss FROM wide w JOIN emp e ON e.id = w.id ORDER BY 1",
    "SELECT id, pay FROM shown ORDER BY id",
    "SELECT name FROM ((SELECT name FROM emp)) AS x ORDER BY 1",
    "SELECT e.name FROM (emp e JOIN dept d ON d.id = e.dept_id) JOIN wide w ON w.id = e.id ORDER BY 1",
    "SELECT extract(YEAR FROM joined) FROM emp ORDER BY 1",
    "SELECT name FROM emp WHERE joined >= '2021-01-01' ORDER BY 1",
    "SELECT count(DISTINCT dept_id), avg(id) FROM emp",
    "SELECT id + 1, id * 2, -id FROM emp ORDER BY 1",
    "SELECT 5 AS salary FROM emp ORDER BY salary",
    "SELECT id FROM dept ORDER BY id",
    "SELECT dept.* FROM dept ORDER BY id",
    "SELECT 1 AS one",
    # Each reference keeps its own name, whatever the others are called.
    "SELECT emp.name, e.name FROM emp JOIN emp AS e ON e.dept_id = emp.dept_id ORDER BY emp.id, e.id",
    "SELECT emp.name FROM emp WHERE id = (SELECT max(id) FROM emp AS e)",
    "SELECT emp.name FROM emp WHERE NOT EXISTS (SELECT 1 FROM emp e WHERE e.dept_id = emp.dept_id AND e.id > emp.id)"
    " ORDER BY emp.id",
    "SELECT name FROM emp UNION ALL SELECT e.name FROM emp e ORDER BY name",
    "SELECT e.name FROM emp e WHERE e.id > (SELECT avg(emp.id) FROM emp WHERE emp.dept_id = e.dept_id) ORDER BY e.id",
    "SELECT d.title, d.id, count(e.id) FROM dept d JOIN emp e ON e.dept_id = d.id GROUP BY d.id, d.title ORDER BY d.id",
)
_POSTGRES_LEGAL = (
    "SELECT d.title, l.name FROM dept d, LATERAL (SELECT name FROM emp e WHERE e.dept_id = d.id ORDER BY id LIMIT 1)"
    " AS l ORDER BY 1",
    "SELECT e.name, l.up FROM emp e CROSS JOIN LATERAL (SELECT upper(e.name) AS up) AS l ORDER BY 1",
    "SELECT e.name, g FROM emp e, generate_series(1, e.id) AS g ORDER BY 1, 2",
    "SELECT DISTINCT ON (dept_id) dept_id, name FROM emp ORDER BY dept_id, id",
    "SELECT count(*) FILTER (WHERE boss IS NULL) FROM emp",
    "SELECT array_agg(name ORDER BY id) FROM emp",
    "SELECT string_agg(name, ',' ORDER BY id) FROM emp",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM emp",
    "SELECT id::text || name FROM emp ORDER BY 1",
    "SELECT public.emp.id FROM public.emp ORDER BY 1",
    "SELECT emp.id FROM public.emp ORDER BY 1",
    "SELECT public.emp.name, sales.emp.region FROM public.emp JOIN sales.emp ON public.emp.id = sales.emp.id"
    " ORDER BY 1",
    "SELECT public.emp.name, sales.emp.region FROM public.emp, sales.emp WHERE sales.emp.id = public.emp.id ORDER BY 1",
    "SELECT e.id, e.name, count(*) FROM emp e LEFT JOIN emp f ON f.boss = e.id GROUP BY e.id ORDER BY e.id",
    "SELECT id, name FROM emp GROUP BY id ORDER BY id",
    "SELECT id, upper(name) AS u FROM emp GROUP BY 1 HAVING boss IS NULL ORDER BY u",
    "SELECT e.id AS k, e.name FROM emp e GROUP BY k ORDER BY 1",
    "SELECT e.*, count(f.id) FROM emp e LEFT JOIN emp f ON f.boss = e.id GROUP BY e.id ORDER BY e.id",
    "SELECT e.name, (SELECT title FROM dept d WHERE d.id = e.dept_id) FROM emp e GROUP BY e.id ORDER BY 1",
    "SELECT emp.name, count(*) FROM public.emp GROUP BY public.emp.id ORDER BY 1",
    "SELECT dept_id, count(*) FROM emp GROUP BY ROLLUP (dept_id) ORDER BY 1",
    "SELECT dept_id, boss, count(*) FROM emp GROUP BY GROUPING SETS ((dept_id), (boss)) ORDER BY 1, 2",
    "SELECT d.title, count(*) FROM dept d JOIN emp e ON e.dept_id = d.id GROUP BY d.id ORDER BY 1",
    "SELECT name FROM emp FULL JOIN dept ON dept.id = emp.dept_id ORDER BY 1",
    "SELECT count(*) FROM emp TABLESAMPLE BERNOULLI (100)",
    "SELECT count(*) FROM emp AS e TABLESAMPLE SYSTEM (100) REPEATABLE (1)",
    "SELECT a, b FROM emp AS x (a, b) ORDER BY a",
    "SELECT x.a, x.dept_id FROM emp AS x (a, b) ORDER BY a",
    "SELECT count(ctid) FROM dept",
    "SELECT count(xmin) FROM dept WHERE tableoid > 0",
)
_MARIADB_LEGAL = (
    "SELECT group_concat(name ORDER BY id SEPARATOR ';') FROM emp",
    "SELECT e.id, e.name, count(*) FROM emp e LEFT JOIN emp f ON f.boss = e.id GROUP BY e.id ORDER BY e.id",
    "SELECT name FROM emp USE INDEX (PRIMARY) ORDER BY 1",
    "SELECT id FROM emp WHERE MATCH (name) AGAINST ('ada') ORDER BY 1",
    "SELECT name FROM emp STRAIGHT_JOIN dept ON dept.id = emp.dept_id ORDER BY 1",
    "SELECT dept_id, count(*) FROM emp GROUP BY dept_id WITH ROLLUP",
    "SELECT date_format(joined, '%Y'), if(boss IS NULL, 1, 0) FROM emp ORDER BY id",
    "SELECT json_arrayagg(id) FROM emp",
    "SELECT `e`.`Name` FROM `emp` AS `e` ORDER BY 1",
    "SELECT name REGEXP '^a' FROM emp ORDER BY id",
)


@dataclass(frozen=True)
class _Place:
    """An open database, its server, and the name that its second schema has there."""

    server: Server
    database: Database
    sales: str

    def written(self, form: str, name: str = "") -> str:
        """Return a form as a statement of this server."""
        sql = form.replace("{n}", name).replace("sales.", f"{self.sales}.")
        return sql.replace('"', "`") if self.server is MARIADB else sql


@dataclass(frozen=True)
class _Guarded:
    """A database with hidden columns, as a login that may not read them, and one that never had them."""

    hidden: _Place
    twin: _Place
    url: str
    address: str
    login: str


_CHANNELS: tuple[Callable[[Database, str], object], ...] = (
    lambda database, sql: (lambda table: (table.columns, table.rows))(database.execute(sql)),
    lambda database, sql: database.compile_check(sql, ()),
    lambda database, sql: database.estimate(sql) and None,
)
"""Ways to the server by which a statement comes: run, compiled alone, and looked at for what it will cost."""


def _outcome(place: _Place, sql: str, channel: Callable[[Database, str], object]) -> str:
    """Return what came back, in words; names of the databases and of what differs by chance aside."""
    try:
        found = channel(place.database, sql)
    except QueryError as error:
        found = error
    told = f"{type(found).__name__} {found.kind} {found}" if isinstance(found, QueryError) else repr(found)
    return told.replace(place.database.name, "main").replace(place.sales, "sales")


@contextmanager
def _counted(monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """Count what is asked of servers."""
    asked: list[str] = []
    with monkeypatch.context() as patch:
        for kind in (PostgresConnection, MySQLConnection):
            for name in ("begin", "query", "compile", "rows", "estimate"):
                original = getattr(kind, name)

                def counting(*given: object, name: str = name, original: Callable[..., object] = original) -> object:
                    asked.append(name)
                    return original(*given)

                patch.setattr(kind, name, counting)
        yield asked


def _tables(server: Server, sales: str, hidden: bool) -> Iterator[str]:
    more = ", salary INTEGER, badge VARCHAR(9), hired DATE" if hidden else ""
    kept = ", salary, badge, hired" if hidden else ""
    yield (
        f"CREATE TABLE emp (id INTEGER PRIMARY KEY, name VARCHAR(20), dept_id INTEGER{more}, boss INTEGER, joined DATE)"
    )
    for number, (name, dept, boss) in enumerate([("ada", 1, "NULL"), ("bo", 1, 1), ("cy", 2, 1), ("di", 2, 2)], 1):
        filled = f", 500{number}, 'B{number}', '2020-01-0{number}'" if hidden else ""
        yield (
            f"INSERT INTO emp (id, name, dept_id, boss, joined{kept})"
            f" VALUES ({number}, '{name}', {dept}, {boss}, '202{number}-02-03'{filled})"
        )
    yield "CREATE TABLE dept (id INTEGER PRIMARY KEY, title VARCHAR(20))"
    yield "INSERT INTO dept VALUES (1, 'toys'), (2, 'tools')"
    team = '"salary" INTEGER, "badge" VARCHAR(9), "hired" DATE, ' if hidden else ""
    yield f'CREATE TABLE "Team" ({team}"Id" INTEGER PRIMARY KEY, "Lead" INTEGER)'
    yield 'INSERT INTO "Team" ("Id", "Lead") VALUES (1, 1), (2, 3)'
    yield f"CREATE TABLE {sales}.emp (id INTEGER PRIMARY KEY, region VARCHAR(9){more})"
    yield f"INSERT INTO {sales}.emp (id, region) VALUES (1, 'north'), (3, 'south')"
    yield f"CREATE VIEW wide AS SELECT id{kept}, name FROM emp"
    yield "CREATE VIEW shown AS SELECT id, dept_id AS pay FROM emp"
    if hidden:
        yield "CREATE TABLE vault (id INTEGER PRIMARY KEY, pin INTEGER)"
    if server is MARIADB:
        yield "CREATE FULLTEXT INDEX words ON emp (name)"
        if hidden:
            yield "CREATE INDEX emp_salary ON emp (salary)"


def _make(server: Server, *, hidden: bool) -> tuple[str, str]:
    """Make a database, and return its address with the name of its second schema."""
    url, sales = server.make_database(f"tt_{uuid4().hex[:12]}"), "sales"
    if server is MARIADB:
        sales = urlsplit(server.make_database(f"tt_{uuid4().hex[:12]}")).path.strip("/")
    else:
        server.run(url, "CREATE SCHEMA sales")
    for statement in _tables(server, sales, hidden):
        server.run(url, statement.replace('"', "`") if server is MARIADB else statement)
    return url, sales


@pytest.fixture(scope="module", params=[POSTGRES, MARIADB], ids=["postgres", "mariadb"])
def guarded(request: pytest.FixtureRequest) -> Iterator[_Guarded]:
    server: Server = request.param
    if server.unavailable():
        pytest.skip(server.unavailable())
    (url, sales), (twin, twin_sales) = _make(server, hidden=True), _make(server, hidden=False)
    login = f"tt_{uuid4().hex[:8]}"
    server.run(url, f"CREATE USER {login} {'PASSWORD' if server is POSTGRES else 'IDENTIFIED BY'} 'x'")
    place = _Place(server, Database.open(twin), sales)  # for its words alone
    place.database.close()
    if server is POSTGRES:
        server.run(url, f"GRANT USAGE ON SCHEMA sales TO {login}")
    for table, columns in _GRANTED.items():
        server.run(url, place.written(f"GRANT SELECT ({columns}) ON {table} TO {login}"))
    for table in ("dept", "shown"):
        server.run(url, f"GRANT SELECT ON {table} TO {login}")
    parts = urlsplit(url)
    schemas = f"schema={parts.path.strip('/')},{sales}" if server is MARIADB else ""
    address = urlunsplit(parts._replace(netloc=f"{login}:x@{parts.hostname}:{parts.port}", query=schemas))
    twin = twin + (f"?schema={urlsplit(twin).path.strip('/')},{twin_sales}" if server is MARIADB else "")
    try:
        with Database.open(address) as hidden, Database.open(twin) as other:
            yield _Guarded(_Place(server, hidden, sales), _Place(server, other, twin_sales), url, address, login)
    finally:
        if server is POSTGRES:
            server.run(url, f"DROP OWNED BY {login}")
        server.run(url, f"DROP USER {login}")


def _forms(guarded: _Guarded, *forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the forms of both kinds of server and of this one."""
    shared, postgres, mariadb = forms
    return shared + (postgres if guarded.hidden.server is POSTGRES else mariadb)


def test_enough_forms() -> None:
    assert min(len(_NAMING) + len(_POSTGRES_NAMING), len(_NAMING) + len(_MARIADB_NAMING)) >= 150
    assert len(_LEGAL) >= 60


@pytest.mark.whole
def test_hidden_columns_are_told_as_missing_ones(guarded: _Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    hidden, twin = guarded.hidden, guarded.twin
    for form in _forms(guarded, _NAMING, _POSTGRES_NAMING, _MARIADB_NAMING):
        for name, missing in _PAIRS:
            outcomes: list[tuple[list[str], list[str]]] = []
            for each in (missing, name):
                with _counted(monkeypatch) as asked:
                    found = [_outcome(hidden, hidden.written(form, each), channel) for channel in _CHANNELS]
                outcomes.append(([outcome.replace(missing, name) for outcome in found], asked))
            if outcomes[0] != outcomes[1]:
                told.append(f"{form} of {name}: {outcomes[1]}, but missing: {outcomes[0]}")
            without = _outcome(twin, twin.written(form, name), _CHANNELS[0])
            kinds = [outcome.split(None, 2)[:2] for outcome in (outcomes[1][0][0], without)]
            # What an index of a hidden column is called is not looked at, so that no name is wrong.
            if " INDEX " not in form and (kinds[0] != kinds[1] if "Query" in without else outcomes[1][0][0] != without):
                told.append(f"{form} of {name}: {outcomes[1]}, but without: {without}")
    assert told == []


def test_number_and_types_of_hidden_columns_are_not_told(guarded: _Guarded) -> None:
    told: list[str] = []
    for form in _forms(guarded, _COUNTING, _POSTGRES_COUNTING, ()):
        for channel in _CHANNELS:
            here, there = (_outcome(place, place.written(form), channel) for place in (guarded.hidden, guarded.twin))
            # MariaDB explains no view to a login that may not read all that it reads.
            if here != there and "lacking privileges for underlying table" not in here:
                told.append(f"{form}: {here}, but without: {there}")
    assert told == []


def test_what_a_login_may_read_is_read_as_ever(guarded: _Guarded) -> None:
    failed: list[str] = []
    for form in _forms(guarded, _LEGAL, _POSTGRES_LEGAL, _MARIADB_LEGAL):
        for channel in _CHANNELS[:2]:
            here, there = (_outcome(place, place.written(form), channel) for place in (guarded.hidden, guarded.twin))
            if here != there or here.startswith("Query"):
                failed.append(f"{form}: {here}, but without: {there}")
    assert failed == []


def test_grants_that_change_are_heeded(guarded: _Guarded) -> None:
    """What is granted later is read by the next query, and what is revoked is missing."""
    place = guarded.hidden
    for change, status in (("GRANT SELECT (hired) ON emp TO", "(("), ("REVOKE SELECT (hired) ON emp FROM", "Query")):
        place.server.run(guarded.url, f"{change} {guarded.login}")
        assert _outcome(place, "SELECT hired FROM emp WHERE id = 1", _CHANNELS[0]).startswith(status)
    for column in ("id", "hired"):  # in the order in which a catalogue that is out of date would be refused
        assert _outcome(place, f"SELECT {column} FROM emp", _CHANNELS[0]).startswith("((") == (column == "id")


def test_a_view_definition_that_names_hidden_columns_is_not_shown(guarded: _Guarded) -> None:
    place = guarded.hidden
    if place.server is MARIADB:
        pytest.skip("it tells no definition to who may not read the tables")
    views = {"seen_all": "*", "seen_some": "id, name"}
    for view, columns in views.items():
        place.server.run(guarded.url, f"CREATE VIEW {view} AS SELECT {columns} FROM emp")
        place.server.run(guarded.url, f"GRANT SELECT ON {view} TO {guarded.login}")
    with Database.open(guarded.address) as database:
        shown = {table.name: bool(table.definition) for table in database.schema().tables if table.name in views}
    for view in views:
        place.server.run(guarded.url, f"DROP VIEW {view}")
    assert shown == {"seen_all": False, "seen_some": True}
