-- name: patient(id:) :optional
SELECT * FROM patient WHERE id = :id;

-- name: patients(ids:) :many
-- Patients by their numbers.
-- Several; in the order of their names.
SELECT "id", "full name", [last name], `birth-date` FROM "patient" WHERE id IN (:ids)
ORDER BY "last name" COLLATE NOCASE, "first name";

-- name: patients(named pattern:sex:) :many
SELECT id, "full name" AS name, sex FROM patient
WHERE ("first name" LIKE :pattern ESCAPE '\' OR "last name" LIKE :pattern ESCAPE '\') AND (:sex IS NULL OR sex = :sex);

-- name: add(first:last:born:sex:mail:) :one
INSERT INTO patient ("first name", "last name", "birth-date", sex, "e-mail") VALUES (:first, :last, :born, :sex, :mail)
ON CONFLICT ("e-mail") DO UPDATE SET "first name" = excluded."first name", "birth-date" = coalesce(excluded."birth-date", "birth-date")
RETURNING id, "full name", "created" AS createdAt;

-- name: rename(id:first:last:) :count
UPDATE patient SET ("first name", "last name") = (:first, :last) WHERE id = :id;

-- name: recommendations(root:) :many
WITH RECURSIVE chain(id, name, depth) AS (
    SELECT id, "full name", 0 FROM patient WHERE id = :root
    UNION ALL
    SELECT p.id, p."full name", chain.depth + 1 FROM patient p JOIN chain ON p."references" = chain.id WHERE depth < 10
)
SELECT id, name, depth FROM chain ORDER BY depth, name;

-- name: ages :many
SELECT p."full name" AS name, a.years FROM patient_age a JOIN patient p ON p.id = a.patient;

-- name: deletePatient(id:) :exec
DELETE FROM patient WHERE id = :id;

-- name: removed(before day:) :many
DELETE FROM patient WHERE created < :day AND NOT EXISTS (SELECT 1 FROM appointment a WHERE a.patient_id = patient.id)
RETURNING id, "full name" AS name;

-- name: reserved(class:) :many
SELECT "self", "Type", "class", "hash_value", "description", "references" FROM patient WHERE "class" = :class;

-- name: mails :many
SELECT DISTINCT lower("e-mail") AS mail FROM patient WHERE "e-mail" IS NOT NULL;

-- name: duplicates :many
SELECT min(id) AS kept, max(id) AS other, count(*) AS number, group_concat("first name", '; ') AS names FROM patient
GROUP BY "last name" COLLATE NOCASE HAVING count(*) > 1;

-- name: firstPatient :optional
SELECT "full name" FROM patient ORDER BY created ASC NULLS LAST LIMIT 1;

-- name: audit(limit:) :many
SELECT at, what, who FROM audit ORDER BY rowid DESC LIMIT :limit;
