-- name: chart :many
WITH RECURSIVE tree (id, number, name, depth, path) AS (
  SELECT id, number, name, 0, number FROM accounts WHERE parent_id IS NULL
  UNION ALL SELECT a.id, a.number, a.name, tree.depth + 1, tree.path || '.' || a.number FROM accounts a JOIN tree ON a.parent_id = tree.id ORDER BY 5)
SELECT tree.*, (SELECT count(*) FROM accounts c WHERE c.parent_id = tree.id) AS children FROM tree;
-- name: balance(account:asOf:) :one
SELECT a.opening + coalesce(sum(p.cents), 0) / 100.0 AS balance FROM accounts a LEFT JOIN postings p ON p.account_id = a.id AND p.entry_id IN (SELECT id FROM journal_entries WHERE booked_on <= :asOf) WHERE a.id = :account;
-- name: trialBalance :many
SELECT type, sum(cents) AS cents, sum(abs(cents)) AS volume, total(cents) / 100 AS amount, group_concat(name, '; ') AS names FROM balances GROUP BY type ORDER BY instr('ALEIX', type);
-- name: profitAndLoss(from:to:) :many
SELECT strftime('%Y', e.booked_on) || '-Q' || ((CAST(strftime('%m', e.booked_on) AS INTEGER) + 2) / 3) AS quarter,
  -sum(CASE WHEN a.type = 'I' THEN p.cents ELSE 0 END) AS income, sum(CASE a.type WHEN 'X' THEN p.cents END) AS expense, sum(iif(a.type = 'X', p.cents, 0)) AS cost
FROM postings p JOIN journal_entries e ON e.id = p.entry_id JOIN accounts a ON a.id = p.account_id WHERE e.booked_on BETWEEN :from AND :to GROUP BY quarter;
-- name: statement(account:) :many
SELECT e.id, e.booked_on, e."text", p.cents, p.debit, p.credit, sum(p.cents) OVER (ORDER BY e.booked_on, e.id ROWS UNBOUNDED PRECEDING) AS running, first_value(e.booked_on) OVER w AS opened,
  p.cents - lag(p.cents, 1, 0) OVER w AS change FROM postings p JOIN journal_entries e ON e.id = p.entry_id WHERE p.account_id = :account WINDOW w AS (ORDER BY e.booked_on, e.id);
-- name: book(on:text:person:tags:) :rowid
INSERT INTO journal_entries (booked_on, "text", person_id, tags) VALUES (:on, :text, :person, :tags);
-- name: post(entry:account:cents:memo:) :one
INSERT INTO postings (entry_id, line, account_id, cents, memo) SELECT :entry, ifnull(max(line), 0) + 1, :account, :cents, :memo FROM postings WHERE entry_id = :entry RETURNING line, debit, credit;
-- name: reverse(entry:on:) :one
INSERT INTO journal_entries (booked_on, "text", person_id, reverses) SELECT :on, 'Reversal: ' || "text", person_id, id FROM journal_entries WHERE id = :entry AND NOT EXISTS (SELECT 1 FROM journal_entries r WHERE r.reverses = :entry) RETURNING id, reverses, created_at;
-- name: reversePostings(from:to:) :count
INSERT INTO postings (entry_id, line, account_id, cents, tax_code) SELECT :to, line, account_id, -cents, tax_code FROM postings WHERE entry_id = :from;
-- name: unbalanced :many
SELECT entry_id, sum(cents) AS difference FROM postings GROUP BY entry_id HAVING sum(cents) <> 0;
-- name: lock(until:) :count
UPDATE journal_entries SET locked = TRUE WHERE booked_on <= :until AND locked IS FALSE;
-- name: entries(ids:text:person:from:to:limit:offset:) :many
SELECT e.*, (SELECT sum(debit) FROM postings WHERE entry_id = e.id) AS volume FROM journal_entries e WHERE e.id IN (:ids) AND (:text IS NULL OR e."text" LIKE '%' || :text || '%' ESCAPE '!') AND (:person IS NULL OR e.person_id IS :person)
AND e.booked_on >= coalesce(:from, '0000-01-01') AND e.booked_on < ifnull(:to, '9999-12-31') ORDER BY 2 DESC, 1 LIMIT :limit OFFSET :offset;
-- name: recentEntries :many
SELECT * FROM recent ORDER BY booked_on DESC;
-- name: wholeEntries(month:) :many :indexed
SELECT * FROM journal_entries WHERE strftime('%Y-%m', booked_on) = :month;
-- name: setBudget(account:month:cents:) :one
INSERT INTO budgets VALUES (:account, :month, :cents) ON CONFLICT (account_id, month) DO UPDATE SET cents = excluded.cents RETURNING *;
-- name: budgetUse(month:) :many
SELECT b.account_id, a.name, b.cents AS planned, m.expense AS spent, m.expense / nullif(b.cents, 0) AS ratio, CASE WHEN b.cents IS NULL THEN 'none' WHEN m.expense > b.cents THEN 'over' ELSE 'ok' END AS verdict
FROM budgets b JOIN accounts a ON a.id = b.account_id LEFT JOIN monthly m ON m.account = b.account_id AND m.month = b.month WHERE b.month = :month;
-- name: copyBudgets(from:to:factor:) :exec
INSERT OR REPLACE INTO budgets (account_id, month, cents) SELECT account_id, :to, CAST(round(cents * :factor) AS INTEGER) FROM budgets WHERE month = :from AND cents IS NOT NULL;
-- name: rate(base:quote:on:) :optional
SELECT rate FROM exchange_rates WHERE (base, quote) = (:base, :quote) AND day <= :on ORDER BY day DESC LIMIT 1;
-- name: rates(pairs day:) :many
SELECT base, quote, rate, 1 / rate AS inverse FROM exchange_rates WHERE (base, quote) IN (VALUES ('EUR', 'USD'), ('EUR', 'CHF')) AND day = :day;
-- name: latestRates :many
SELECT base, quote, rate, max(day) AS day, (rate - min(rate)) / min(rate) * 100 AS gain FROM exchange_rates GROUP BY base, quote;
-- name: applyRates(day:) :count
UPDATE accounts SET opening = opening * r.rate FROM exchange_rates AS r WHERE r.base = accounts.currency AND r.quote = 'EUR' AND r.day = :day;
-- name: closeAccounts(on:) :many
UPDATE accounts SET closed_on = :on WHERE closed_on IS NULL AND NOT EXISTS (SELECT * FROM postings p WHERE p.account_id = accounts.id) RETURNING id, closed_on, upper(name) AS name;
-- name: orderItems(order:) :many
SELECT oi."item no", oi."group", oi."select", oi.quantity * oi."unit price" * (1 - ifnull(oi.discount, 0)) AS amount, oi."order" FROM "order item" oi WHERE oi."order" = :order;
-- name: orderTotals :many
SELECT o."order no", o.date, p."first name" || ifnull(' ' || p."last name", '') AS customer, total(i.quantity * i."unit price") AS total, max(i.discount) AS discount, count(*) AS items
FROM "sales order" o LEFT JOIN people p ON p.id = o.person LEFT JOIN "order item" i ON i."order" = o."order no" GROUP BY o."order no";
-- name: removeItems(order:group:) :many
DELETE FROM "order item" WHERE "order" = :order AND "group" IS :group RETURNING *;
-- name: addItem(order:item:select:quantity:price:) :exec
INSERT INTO "order item" ("order", "item no", "select", quantity, "unit price") VALUES (:order, :item, :select, :quantity, :price);
-- name: people(in list:class:) :many
SELECT id, "first name", "last name", "in", "let", "func", "Any" FROM people WHERE id IN (:list) AND ("let" GLOB :class OR "let" IS NULL);
-- name: openItems :many
SELECT p.id, p."last name" AS name, sum(x.cents) AS cents, CAST(julianday('now') - julianday(min(e.booked_on)) AS INTEGER) AS days, CASE WHEN julianday('now') - julianday(min(e.booked_on)) > 90 THEN 3 WHEN sum(x.cents) > 100000 THEN 2 ELSE 1 END AS level
FROM people p JOIN journal_entries e ON e.person_id = p.id JOIN postings x ON x.entry_id = e.id GROUP BY p.id HAVING sum(x.cents) <> 0 ORDER BY level DESC, cents DESC;
-- name: everything(text:) :many
SELECT 'account' AS kind, id, name AS title, NULL AS day FROM accounts WHERE name LIKE :text UNION ALL SELECT 'entry', id, "text", booked_on FROM journal_entries WHERE "text" LIKE :text
UNION ALL SELECT 'person', id, "last name", NULL FROM people WHERE "last name" LIKE :text ORDER BY 3;
-- name: months(count:) :many
WITH RECURSIVE m(n, month) AS (SELECT 0, strftime('%Y-%m', 'now') UNION ALL SELECT n + 1, strftime('%Y-%m', 'now', '-' || (n + 1) || ' months') FROM m LIMIT :count)
SELECT m.month, count(e.id) AS entries, ifnull(sum(p.cents), 0) AS cents FROM m LEFT JOIN journal_entries e ON strftime('%Y-%m', e.booked_on) = m.month LEFT JOIN postings p ON p.entry_id = e.id AND p.cents > 0 GROUP BY m.month;
-- name: neverUsed :many
SELECT id, name FROM accounts EXCEPT SELECT account_id, a.name FROM postings JOIN accounts a ON a.id = account_id;
-- name: biggest(count:) :many
SELECT * FROM (SELECT a.type, p.entry_id, p.cents, row_number() OVER (PARTITION BY a.type ORDER BY abs(p.cents) DESC) AS place, cume_dist() OVER (PARTITION BY a.type ORDER BY p.cents) AS share FROM postings p, accounts a WHERE a.id = p.account_id) WHERE place <= :count;
-- name: medianCents :one
SELECT avg(cents) AS median FROM (SELECT cents FROM postings ORDER BY cents LIMIT 2 - (SELECT count(*) FROM postings) % 2 OFFSET (SELECT (count(*) - 1) / 2 FROM postings));
-- name: pivot(year:) :many
SELECT a.name, sum(p.cents) FILTER (WHERE strftime('%m', e.booked_on) = '01') AS jan, total(p.cents) FILTER (WHERE strftime('%m', e.booked_on) = '02') AS feb, coalesce(sum(p.cents) FILTER (WHERE strftime('%m', e.booked_on) IN ('03', '04')), 0) AS spring
FROM accounts a JOIN postings p ON p.account_id = a.id JOIN journal_entries e ON e.id = p.entry_id WHERE strftime('%Y', e.booked_on) = CAST(:year AS TEXT) GROUP BY a.id;
-- name: duplicateEntries :many
SELECT a.id AS first, b.id AS second, a."text" FROM journal_entries a JOIN journal_entries b ON a.id < b.id AND a.booked_on = b.booked_on AND a."text" = b."text" AND a.person_id IS NOT DISTINCT FROM b.person_id;
-- name: audit(table:since:) :many
-- column before: Int64?
SELECT at, "row", "old" ->> 'cents' AS before, json_extract("new", '$.cents') IS NOT NULL AS has, "new" -> 'cents' AS after FROM audit_log WHERE "table" = :table AND at >= :since;
-- name: subtree(root:) :one
WITH RECURSIVE sub(id) AS (SELECT :root UNION SELECT a.id FROM accounts a, sub WHERE a.parent_id = sub.id)
SELECT total(p.cents) AS cents, count(DISTINCT p.entry_id) AS entries, min(p.cents) AS lowest, exists(SELECT 1 FROM sub s JOIN accounts a USING (id) WHERE a.closed_on IS NOT NULL) AS hasClosed FROM postings p WHERE p.account_id IN sub;
-- name: accountRow(id:) :one
SELECT * FROM accounts WHERE id = :id;
-- name: values :many
VALUES (1, 'one', NULL), (2, 'two', 2.5);
-- name: mergePeople(from:into:) :exec
UPDATE OR IGNORE journal_entries SET person_id = :into WHERE person_id = :from;
-- name: tagged(tag:) :many
-- column tag: String
SELECT e.id, t.value AS tag FROM journal_entries e, json_each('["' || replace(e.tags, ',', '","') || '"]') t WHERE e.tags <> '' AND lower(trim(t.value)) = lower(:tag);
-- name: yearToDate(on:) :many
SELECT a.name, sum(p.cents) AS cents FROM accounts a INNER JOIN postings p ON p.account_id = a.id INNER JOIN journal_entries e ON e.id = p.entry_id AND e.booked_on BETWEEN date(:on, 'start of year') AND :on GROUP BY a.name COLLATE NOCASE ORDER BY sum(p.cents) DESC;
