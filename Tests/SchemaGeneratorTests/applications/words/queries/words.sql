-- name: default :many
SELECT * FROM Type;
-- name: all :many
SELECT id, "Type", "init", "$price", "a.b", "100%", "_hidden", "été" FROM Type;
-- name: first(id:) :optional
SELECT * FROM "self" WHERE "self" = :id;
-- name: run(self:init:sql:row:statement:connection:) :exec
UPDATE Type SET "Type" = :self, "init" = :init, inout = :row, "protocol name" = :sql, "Protocol" = :statement || :connection;
-- name: read(in:inout:for:) :count
UPDATE Type SET "_hidden" = :in WHERE id = :inout AND "$price" > :for;
-- name: init(_ id:) :one
SELECT message FROM error WHERE code = :id;
-- name: repeat(with var:let:) :many
SELECT id, "async", "await", "actor", "some", "any", "nil", "true", "get", "set", "where", "is" FROM task WHERE id = :var OR id2 = :let;
-- name: prepare :many
SELECT * FROM error;
-- name: close(error:) :rowid
INSERT INTO error (message) VALUES (:error);
-- name: setting(key:) :optional
SELECT * FROM settings WHERE key = :key;
-- name: settingValue(key:) :optional
SELECT key, value FROM settings WHERE key = @key;
-- name: put(key:value:) :exec
INSERT INTO settings (key, value) VALUES ($key, $value) ON CONFLICT DO UPDATE SET value = excluded.value;
-- name: sizes :many
SELECT "Größe", "名前", "tag:value" FROM "Übersicht";
-- name: selfs :many
SELECT s.*, p."Sub" AS parent FROM "self" s LEFT JOIN "self" p ON p."self" = s."super";
-- name: results(level:) :many
SELECT level, count(*) FROM task WHERE level >= :level GROUP BY level;
-- name: uuid(u:) :optional
SELECT id, u, link, day FROM result WHERE u = :u;
-- name: years :many
SELECT "1st", "2nd" FROM "2024";
-- name: many(ids:levels:a:b:c:d:e:f:g:h:i:j:k:l:m:) :many
SELECT id FROM task WHERE id IN (:ids) AND level NOT IN (:levels) AND id NOT IN (:a,:b,:c,:d,:e,:f,:g,:h,:i,:j,:k,:l,:m);
-- name: plan(id:) :many
SELECT t.id, t.level, (SELECT json_group_array(json_object('id', c.id, 'p', c.parent)) FROM children c WHERE c.mother = t.id) AS children,
  (SELECT group_concat(DISTINCT c.id) FROM children c WHERE c.father = t.id) AS ids,
  EXISTS (SELECT 1 FROM children c WHERE c.mother = t.id) OR t.id > 5 AS isParent,
  CASE WHEN t.level BETWEEN 1 AND 2 THEN t.level END AS small, CAST(t.id AS REAL) AS real, CAST(t.operator AS INTEGER) AS number,
  t.id || '' AS text, -t.id AS negative, ~t.id AS bits, t.id & 3 AS masked, t.id << 2 AS shifted, t.id % 3 AS rest, t.id / 2 AS half, t.id / 2.0 AS exact,
  t.operator IS NOT NULL AS has, t.operator = 'x' AS same, NOT t.id AS inverse, likely(t.id) AS l, typeof(t.id) AS kind, zeroblob(3) AS zeros, hex(randomblob(2)) AS random,
  quote(t.operator) AS quoted, instr(t.operator, 'x') AS place, abs(t.id) AS absolute, max(t.id, t.id2, 3) AS greatest, min(1.5, t.id) AS least, unicode(t.operator) AS code, char(65, 66) AS letters,
  printf('%d/%s', t.id, t.operator) AS label, format('%,d', t.id) AS commas, ltrim(t.operator, '0') AS trimmed, replace(t.operator, 'a', 'b') AS replaced, round(t.id, 1) AS rounded, sign(t.id) AS sign,
  iif(t.id > 1, 'a', NULL) AS maybe, nullif(t.id, 0) AS notZero, ifnull(t.id2, -1) AS number2, total_changes() AS changes, x'0102' AS blob, TRUE AS yes, CURRENT_DATE AS today
FROM task t WHERE t.id = :id;
-- name: stats :one
SELECT count(*) AS n, count(DISTINCT level) AS levels, min(operator) AS first, max(id) AS last, avg(id) AS average, sum(id) AS sum, total(id) AS total, sum(id * 1.0) AS realSum, group_concat(operator) AS names, sum(level = 2) AS defaults, max(level) AS highest, json_group_array(id) AS ids, json_group_object(id, operator) AS map, count(*) > 0 AS any FROM task;
-- name: windows :many
SELECT id, first_value(operator) OVER w AS a, last_value(id) OVER w AS b, nth_value(id, 2) OVER w AS c, lag(level) OVER w AS d, lead(id, 1, -1) OVER w AS e, ntile(3) OVER w AS f, percent_rank() OVER w AS g, cume_dist() OVER w AS h, sum(id) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS i, avg(id) OVER (PARTITION BY level) AS j, count(*) FILTER (WHERE id > 2) OVER w AS k, max(id) FILTER (WHERE id > 2) OVER w AS l, group_concat(operator) OVER w AS m
FROM task WINDOW w AS (PARTITION BY level ORDER BY id);
-- name: joins :many
SELECT a.id AS a, b.id AS b, c.id AS c, d.message FROM task a RIGHT JOIN children b ON b.id = a.id FULL JOIN children c ON c.id = b.id CROSS JOIN error d;
-- name: usingJoin :many
SELECT id, a.level, b.parent FROM task a LEFT JOIN children b USING (id);
-- name: natural :many
SELECT * FROM task NATURAL LEFT JOIN (SELECT id, count(*) AS n FROM children GROUP BY id);
-- name: compound(n:) :many
SELECT id, operator FROM task UNION SELECT code, message FROM error UNION ALL SELECT :n, NULL INTERSECT SELECT id, "Type" FROM Type EXCEPT SELECT 1, 'x' ORDER BY 1 LIMIT 5 OFFSET 2;
-- name: cte :many
WITH a(x, y) AS MATERIALIZED (SELECT id, level FROM task), b AS NOT MATERIALIZED (SELECT x, max(y) AS y FROM a GROUP BY x) SELECT b.*, a.y AS other FROM b LEFT JOIN a ON a.x = b.y;
-- name: fibonacci(n:) :many
WITH RECURSIVE fib(n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM fib WHERE n < :n) SELECT n, a FROM fib;
-- name: calendar(from:to:) :many
WITH RECURSIVE d(day) AS (SELECT date(:from) UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < date(:to)) SELECT day, strftime('%w', day) AS weekday FROM d;
-- name: sudoku(s:) :many
WITH RECURSIVE digits(z, lp) AS (VALUES ('1', 1) UNION ALL SELECT CAST(lp + 1 AS TEXT), lp + 1 FROM digits WHERE lp < 9), x(s, ind) AS (SELECT :s, instr(:s, '.') UNION ALL SELECT substr(s, 1, ind - 1) || z || substr(s, ind + 1), instr(substr(s, 1, ind - 1) || z || substr(s, ind + 1), '.') FROM x, digits AS z WHERE ind > 0) SELECT s FROM x WHERE ind = 0;
-- name: split(text:) :many
WITH RECURSIVE s(word, rest) AS (SELECT '', :text || ',' UNION ALL SELECT substr(rest, 1, instr(rest, ',') - 1), substr(rest, instr(rest, ',') + 1) FROM s WHERE rest <> '') SELECT trim(word) AS word FROM s WHERE word <> '';
-- name: updateFrom(factor:) :many
WITH w AS (SELECT parent, count(*) AS n FROM children GROUP BY parent) UPDATE task SET id2 = w.n * :factor, (operator, "async") = (SELECT message, description FROM error WHERE code = task.id) FROM w WHERE w.parent = task.id RETURNING id, id2, operator AS op, level = 2 AS isDefault;
-- name: upsertTwo(id:level:) :one
INSERT INTO task (id, level) VALUES (:id, :level) ON CONFLICT (id) WHERE id > 0 DO UPDATE SET level = max(excluded.level, level), (operator, "get") = (excluded.operator, 'x') WHERE excluded.level <> level ON CONFLICT DO NOTHING RETURNING *;
-- name: insertMany :count
INSERT INTO task (id, level) VALUES (1, 1), (2, 2), (NULL, 3);
-- name: insertDefault :rowid
INSERT INTO result DEFAULT VALUES;
-- name: replaceInto(key:value:) :exec
INSERT OR REPLACE INTO settings (key, value) SELECT :key, :value WHERE NOT EXISTS (SELECT 1 FROM settings WHERE key = :key);
-- name: isDistinct(a:b:) :many
SELECT id FROM task WHERE operator IS NOT DISTINCT FROM :a AND id2 IS DISTINCT FROM :b;
-- name: nulls(optional:) :many
-- column none: String?
SELECT id, NULL AS none, coalesce(NULL, NULL, id2) AS x FROM task WHERE (:optional IS NOT NULL AND operator = :optional) OR (:optional IS NULL AND operator IS NULL);
-- name: deep :many
SELECT x.n, (SELECT y.m + x.n FROM (SELECT count(*) AS m FROM children WHERE parent = x.n) y) AS both FROM (SELECT id AS n FROM task WHERE id IN (SELECT mother FROM children WHERE father IN (SELECT id FROM Type))) x ORDER BY n COLLATE BINARY NULLS LAST;
-- name: limits(n:m:) :many
SELECT id FROM task ORDER BY random() LIMIT max(:n, 1) OFFSET coalesce(:m, 0);
-- name: pairs(a:b:) :many
SELECT id FROM task WHERE (id, level) IN (VALUES (1, 2), (3, 4)) OR (id, id2) = (:a, :b) OR (id, level) > (:a, 1);
-- name: strings :many
SELECT 'it''s' AS "it's", "operator", [id], `level`, 0x1F AS hex, 1e3 AS sci, .5 AS half FROM task /* comment ; */ WHERE operator <> ';' -- end;
;
