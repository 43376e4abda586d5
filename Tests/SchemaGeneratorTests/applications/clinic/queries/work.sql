/* Orders, groups and
   -- name: notAStatement :many
   staff. */

-- name: orders(patient:) :many
SELECT o."select", o."from", o."where", o."group", o.priority, o."limit", o."default", o."init", o.total
FROM "order" o WHERE o."from" = :patient;

-- name: allOrders :many
SELECT * FROM "order";

-- name: place(select:from:where:priority:limit:) :exec
INSERT OR REPLACE INTO "order" ("select", "from", "where", priority, "limit") VALUES (:select, :from, :where, :priority, :limit);

-- name: nextPosition(patient:) :one
SELECT coalesce(max("select"), 0) + 1 AS next FROM "order" WHERE "from" = :patient;

-- name: running :many
SELECT o."from" AS patient, o."select" AS position, sum(o."limit") OVER w AS running, rank() OVER w AS rank,
    lag(o."where", 1, '-') OVER w AS before, first_value(o.priority) OVER w AS first, ntile(4) OVER w AS quarter,
    percent_rank() OVER w AS share
FROM "order" o WINDOW w AS (PARTITION BY o."from" ORDER BY o."select" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- name: urgencies :many
SELECT priority, count(*) AS orders, count(*) FILTER (WHERE "default") AS defaults, avg("limit") AS average, total("limit") AS total
FROM "order" GROUP BY priority;

-- name: groupTree :many
WITH RECURSIVE tree AS (
    SELECT code, label, NULL AS above, 0 AS level, '/' || code AS path FROM "group" WHERE parent IS NULL
    UNION ALL
    SELECT g.code, g.label, tree.label, level + 1, path || '/' || g.code FROM "group" g, tree WHERE g.parent = tree.code
) SELECT code, label, above, level, path FROM tree ORDER BY path;

-- name: members(group:) :many
SELECT m."group", m.since, p.* FROM group_member m INNER JOIN patient AS p ON p.id = m.patient_id WHERE m."group" = :group;

-- name: join(group:patient:) :exec
INSERT INTO group_member ("group", patient_id) VALUES (:group, :patient) ON CONFLICT DO NOTHING;

-- name: groupsWithout(patient:) :many
SELECT code FROM "group" EXCEPT SELECT "group" FROM group_member WHERE patient_id = :patient;

-- name: payloads(patient:) :many
-- column name: String?
SELECT id, payload, json_extract(payload, '$.name') AS name, json_valid(payload) AS isValid, json_array_length(payload) AS length
FROM data WHERE patient_id = :patient;

-- name: keys(of id:) :many
-- column key: String
SELECT each.key, each.type, each.atom IS NULL AS isContainer FROM data, json_each(data.payload) AS each WHERE data.id = :id;

-- name: store(patient:payload:blob:when:) :rowid
INSERT INTO data (patient_id, payload, blob, "when") VALUES (:patient, json(:payload), :blob, :when);

-- name: sizes :one
SELECT count(blob) AS blobs, sum(length(blob)) AS bytes, max("when") AS latest, min(length(payload)) AS shortest FROM data;

-- name: chart :many
SELECT s.name, b.name AS boss, t.name AS substitute, s.salary, s.hired
FROM staff s LEFT JOIN staff b ON b.id = s.boss LEFT JOIN staff t ON t.id = s.substitute;

-- name: raise(percent:ids:) :count
UPDATE staff SET salary = salary * (1 + :percent / 100.0), revision = revision + 1 WHERE id IN (:ids);

-- name: wellPaid :many
SELECT name, salary FROM staff WHERE salary > (SELECT avg(salary) FROM staff) AND salary IS NOT NULL;

-- name: appointments(staff:from:to:) :many
SELECT a.id, a.starts, a.ends, a.room, p."full name" AS patient, o.priority, o."where"
FROM appointment a JOIN patient p ON p.id = a.patient_id
LEFT JOIN "order" o ON o."from" = a.order_from AND o."select" = a.order_select
WHERE a.staff_id = :staff AND a.starts BETWEEN :from AND :to ORDER BY a.starts;

-- name: overlapping :many
SELECT a.id AS first, b.id AS second FROM appointment a JOIN appointment b
    ON a.id < b.id AND a.room = b.room AND a.starts < b.ends AND b.starts < a.ends;

-- name: rooms :many
SELECT room, uses FROM "free rooms";

-- name: perDay :many
SELECT date(starts) AS day, strftime('%H', min(starts)) AS hour, count(DISTINCT staff_id) AS staff FROM appointment GROUP BY date(starts);

-- name: cancel(ids:) :many
DELETE FROM appointment WHERE id IN (:ids) RETURNING *;

-- name: words :many
SELECT "string", "int64", "date", "data", "table", "view" FROM "table";

-- name: days(note:) :many
SELECT day, note FROM "date" WHERE note IS :note;

-- name: strings :many
SELECT value FROM "string" UNION SELECT "string" FROM "table" WHERE "string" IS NOT NULL;

-- name: connections(host:) :many
SELECT id, "database", host FROM "connection" WHERE host GLOB :host;
