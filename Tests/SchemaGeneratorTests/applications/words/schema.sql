-- litevault: engine 3.39
-- litevault: relations
-- litevault: record Type
-- litevault: record "self"
-- litevault: record children
-- litevault: record "Übersicht" as Overview
-- litevault: record settings
-- litevault: record "2024"
-- litevault: record error
-- litevault: record result
-- litevault: record task
-- litevault: enum Level low=1 default=2 self=3 init=4
-- litevault: task.level as Level
-- litevault: settings.value as StoredValue?
CREATE TABLE Type (id INTEGER PRIMARY KEY, "Type" TEXT, "Protocol" TEXT, "init" TEXT NOT NULL DEFAULT '', inout INTEGER, "throws" BOOLEAN, "protocol name" TEXT, "$price" REAL, "a.b" TEXT, "100%" REAL, "_hidden" INT, "été" TEXT);
CREATE TABLE "self" ("self" INTEGER PRIMARY KEY, "Sub" TEXT, "super" INTEGER REFERENCES "self", "children" INTEGER REFERENCES children(id));
CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES children(id), mother INTEGER REFERENCES Type(id), father INTEGER REFERENCES Type(id), table_id INTEGER REFERENCES "self"("self"), "ident" TEXT, is_required BOOLEAN, "count" INTEGER, "exists" TEXT, "delete" TEXT, "insert" TEXT);
CREATE TABLE "Übersicht" ("Größe" DECIMAL(8,2) NOT NULL, "名前" TEXT NOT NULL PRIMARY KEY, "tag:value" TEXT);
CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value, updated TIMESTAMP WITH TIME ZONE) WITHOUT ROWID;
CREATE TABLE "2024" ("1st" INTEGER, "2nd" TEXT);
CREATE TABLE error (code INTEGER PRIMARY KEY, message TEXT NOT NULL, description TEXT, "hashValue" INTEGER, "debugDescription" TEXT, "primaryKey" TEXT, "columns" TEXT, "row" TEXT, "value" TEXT);
CREATE TABLE result (id TEXT NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))), success BOOLEAN NOT NULL DEFAULT TRUE, payload BLOB NOT NULL DEFAULT x'00', ratio REAL NOT NULL DEFAULT 1e3, n INTEGER NOT NULL DEFAULT 0x10, m INTEGER NOT NULL DEFAULT -5, big INTEGER NOT NULL DEFAULT 9223372036854775807, u UUID, link URL, t TEXT NOT NULL DEFAULT "double", day DATE NOT NULL DEFAULT CURRENT_DATE, e TEXT NOT NULL DEFAULT 'a
b\(x)');
CREATE TABLE task (id INTEGER PRIMARY KEY, level INTEGER NOT NULL DEFAULT 2, operator TEXT, "async" TEXT, "await" TEXT, "actor" TEXT, "some" TEXT, "any" TEXT, "nil" TEXT, "true" INTEGER, "get" TEXT, "set" TEXT, "id2" INTEGER, "where" TEXT, "is" TEXT) STRICT;
