-- litevault: relations
-- litevault: record accounts
-- litevault: record journal_entries as Entry
-- litevault: record postings
-- litevault: record "order item" as OrderItem
-- litevault: record currencies
-- litevault: record people
-- litevault: record exchange_rates
-- litevault: record budgets
-- litevault: enum AccountType asset=A liability=L equity=E income=I expense=X
-- litevault: accounts.type as AccountType
CREATE TABLE currencies (code CHARACTER(3) PRIMARY KEY NOT NULL, name TEXT NOT NULL, digits INT NOT NULL DEFAULT 2, symbol TEXT);
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES accounts(id), number TEXT NOT NULL UNIQUE, name TEXT NOT NULL, type TEXT NOT NULL CHECK (type IN ('A', 'L', 'E', 'I', 'X')),
  currency CHARACTER(3) NOT NULL DEFAULT 'EUR' REFERENCES currencies(code), closed_on DATE, opening DECIMAL(12,2) NOT NULL DEFAULT 0, "default" BOOLEAN NOT NULL DEFAULT FALSE, "class" TEXT, "self" INTEGER REFERENCES accounts(id)
);
CREATE TABLE people (id INTEGER PRIMARY KEY, "first name" TEXT NOT NULL, "last name" TEXT, vat_id TEXT, "in" INTEGER, "let" TEXT, "func" REAL, "Any" TEXT);
CREATE TABLE journal_entries (
  id INTEGER PRIMARY KEY, booked_on DATE NOT NULL, "text" TEXT NOT NULL, person_id INTEGER REFERENCES people(id), reverses INTEGER UNIQUE REFERENCES journal_entries(id), locked BOOLEAN NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL DEFAULT (datetime('now')), tags TEXT, amount_hint NUMERIC(10, 2), document BLOB
);
CREATE TABLE postings (
  entry_id INTEGER NOT NULL REFERENCES journal_entries ON DELETE CASCADE, line INTEGER NOT NULL, account_id INTEGER NOT NULL REFERENCES accounts, cents INTEGER NOT NULL CHECK (cents <> 0), tax_code TEXT, memo TEXT,
  debit INTEGER AS (max(cents, 0)), credit INTEGER AS (max(-cents, 0)), PRIMARY KEY (entry_id, line)
);
CREATE TABLE "order item" (
  "order" INTEGER NOT NULL REFERENCES "sales order"("order no"), "item no" INTEGER NOT NULL, "group" TEXT, "select" TEXT NOT NULL, quantity REAL NOT NULL, "unit price" REAL NOT NULL, discount REAL,
  PRIMARY KEY ("order", "item no")
);
CREATE TABLE "sales order" ("order no" INTEGER PRIMARY KEY, person INTEGER REFERENCES people, date TEXT NOT NULL, "values" TEXT, entry_id INTEGER REFERENCES journal_entries(id));
CREATE TABLE exchange_rates (base TEXT NOT NULL REFERENCES currencies(code), quote TEXT NOT NULL REFERENCES currencies(code), day DATE NOT NULL, rate REAL NOT NULL CHECK (rate > 0), PRIMARY KEY (base, quote, day)) WITHOUT ROWID;
CREATE TABLE budgets (account_id INTEGER NOT NULL REFERENCES accounts(id), month TEXT NOT NULL CHECK (month GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]'), cents INTEGER, PRIMARY KEY (account_id, month));
CREATE TABLE audit_log (at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "table" TEXT NOT NULL, "row" INTEGER, "old" JSON, "new" JSON);
CREATE INDEX postings_account ON postings(account_id, entry_id);
CREATE INDEX entries_month ON journal_entries (strftime('%Y-%m', booked_on));
CREATE INDEX entries_open ON journal_entries (booked_on) WHERE NOT locked;
CREATE TEMP VIEW recent AS SELECT * FROM journal_entries WHERE booked_on > date('now', '-30 days');
CREATE VIEW balances AS
  SELECT a.id, a.number, a.name, a.type, a.opening, COALESCE(SUM(p.cents), 0) AS cents, COUNT(p.line) AS lines, MAX(e.booked_on) AS last_booked
  FROM accounts a LEFT JOIN postings p ON p.account_id = a.id LEFT JOIN journal_entries e ON e.id = p.entry_id GROUP BY a.id;
CREATE VIEW monthly (month, account, income, expense) AS
  SELECT strftime('%Y-%m', e.booked_on), p.account_id, TOTAL(p.cents) FILTER (WHERE p.cents < 0), TOTAL(p.cents) FILTER (WHERE p.cents > 0)
  FROM postings p JOIN journal_entries e ON e.id = p.entry_id GROUP BY 1, 2;
CREATE TRIGGER entry_locked BEFORE UPDATE ON journal_entries WHEN old.locked AND new.locked BEGIN SELECT RAISE(ABORT, 'entry is locked'); END;
CREATE TRIGGER posting_audit AFTER UPDATE OF cents ON postings BEGIN
  INSERT INTO audit_log ("table", "row", "old", "new") VALUES ('postings', new.entry_id, json_object('cents', old.cents), json_object('cents', new.cents));
END;
