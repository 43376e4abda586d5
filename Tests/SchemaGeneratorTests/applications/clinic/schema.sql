/* A clinic's records: names that are words of SQL and of Swift,
   keys of several columns, tables without rowid, STRICT tables,
   columns that the engine computes, triggers. -- litevault: nothing in here is a directive */
-- litevault: relations
-- litevault: enum Sex female=f male=m other=x
-- litevault: patient.sex as Sex?
-- litevault: enum Urgency low=1 normal=2 high=3
-- litevault: order.priority as Urgency
-- litevault: record patient
-- litevault: record order
-- litevault: record "group" as CareGroup
-- litevault: record group_member
-- litevault: record data without Codable, Hashable
-- litevault: data.any as StoredValue?
-- litevault: record staff
-- litevault: record appointment
-- litevault: record table
-- litevault: data.payload json [String: String]
-- litevault: version staff.revision
CREATE TABLE "patient" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT,
    "first name" TEXT NOT NULL,
    [last name] TEXT NOT NULL,
    `birth-date` DATE,
    sex TEXT CHECK (sex IN ('f', 'm', 'x')),
    "e-mail" VARCHAR(255) COLLATE NOCASE UNIQUE,
    "full name" TEXT GENERATED ALWAYS AS ("first name" || ' ' || "last name") VIRTUAL,
    "references" INTEGER REFERENCES "patient"("id") ON DELETE SET NULL, -- who recommended us
    "created" TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "self" INTEGER NOT NULL DEFAULT 0,
    "Type" TEXT,
    "class" TEXT NOT NULL DEFAULT 'A''B"C\n',
    "hash_value" BLOB,
    "description" TEXT,
    CONSTRAINT "no;semicolons" CHECK (length("first name") > 0)
);
CREATE TABLE "order" (
    "select" INTEGER NOT NULL, -- the position
    "from" INTEGER NOT NULL REFERENCES patient,
    "where" TEXT,
    "group" TEXT,
    priority INTEGER NOT NULL DEFAULT 2 CHECK (priority BETWEEN 1 AND 3),
    "limit" DECIMAL(10, 2) DEFAULT 0.5,
    "default" BOOLEAN NOT NULL DEFAULT TRUE,
    "init" INT NOT NULL DEFAULT -1,
    "total" REAL AS ("limit" * 2) STORED,
    PRIMARY KEY ("from", "select")
) WITHOUT ROWID;
CREATE TABLE "group" (code TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES "group"(code), label TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE group_member (
    "group" TEXT NOT NULL REFERENCES "group"(code), patient_id INTEGER NOT NULL REFERENCES patient(id),
    since DATE NOT NULL DEFAULT (date('now')), PRIMARY KEY ("group", patient_id));
CREATE TABLE data (id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(id) ON DELETE CASCADE,
    payload TEXT NOT NULL DEFAULT '{}', blob BLOB, "when" TEXT, any ANY, n INT) STRICT
;
CREATE TABLE staff (
    id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL, boss BLOB REFERENCES staff(id), substitute BLOB REFERENCES staff(id),
    salary NUMERIC, hired TEXT, revision INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE appointment (
    id INTEGER PRIMARY KEY, staff_id BLOB NOT NULL REFERENCES staff(id), patient_id INTEGER NOT NULL REFERENCES patient(id),
    starts DATETIME NOT NULL, ends DATETIME, room TEXT, "order_select" INTEGER, order_from INTEGER,
    FOREIGN KEY (order_from, order_select) REFERENCES "order"("from", "select") DEFERRABLE INITIALLY DEFERRED,
    UNIQUE (staff_id, starts));
CREATE TABLE "table" ("string" TEXT, "int64" INTEGER NOT NULL DEFAULT 1, "date" DATE, "data" BLOB, "table" TEXT, "view" TEXT);
CREATE TABLE "date" (day DATE PRIMARY KEY NOT NULL, note TEXT);
CREATE TABLE "string" (value TEXT NOT NULL);
CREATE TABLE "connection" (id INTEGER PRIMARY KEY, "database" TEXT, host TEXT NOT NULL);
CREATE TABLE audit (at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, what TEXT NOT NULL, who INTEGER);
CREATE UNIQUE INDEX "by;name" ON patient("last name" COLLATE NOCASE, "first name") WHERE "Type" IS NOT NULL;
CREATE INDEX appointment_patient ON appointment(patient_id);
CREATE VIEW "free rooms" AS SELECT DISTINCT room, count(*) OVER (PARTITION BY room) AS uses FROM appointment WHERE room IS NOT NULL;
CREATE VIEW patient_age(patient, years) AS
    SELECT id, CAST((julianday('now') - julianday("birth-date")) / 365.25 AS INTEGER) FROM patient;
CREATE TRIGGER "log;it" AFTER INSERT ON patient WHEN new."self" = 0 BEGIN
    INSERT INTO audit (what, who) VALUES ('patient; inserted', new.id); -- a comment; with a semicolon
    SELECT CASE WHEN new."first name" = 'END' THEN RAISE(ABORT, 'END; of names') END;
END;
CREATE TRIGGER patient_age_insert INSTEAD OF INSERT ON patient_age BEGIN
    UPDATE patient SET "Type" = 'aged' WHERE id = new.patient; END;
