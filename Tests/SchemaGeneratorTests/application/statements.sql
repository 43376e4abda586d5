-- name: notesInFolder(folder:) :many
-- expects: folder: Int64 -> id: Int64, title: String, body: String?, written_at: Date?, pinned: Bool
SELECT id, title, body, written_at, pinned FROM note WHERE folder_id = :folder ORDER BY written_at DESC;

-- name: notesContaining(text:) :many
-- expects: text: String -> id: Int64, title: String
SELECT id, title FROM note WHERE title LIKE '%' || :text || '%';

-- name: notesByIds(ids:) :many
-- expects: ids: [Int64] -> id: Int64, title: String
SELECT id, title FROM note WHERE id IN (:ids);

-- name: noteWithFolder(id:) :optional
-- expects: id: Int64 -> id: Int64, title: String, folder: String?
SELECT note.id, note.title, folder.name AS folder FROM note LEFT JOIN folder ON folder.id = note.folder_id WHERE note.id = :id;

-- name: filteredNotes(folder:pinned:) :many
-- expects: folder: Int64?, pinned: Bool? -> id: Int64, folder_id: Int64?
SELECT id, folder_id FROM note WHERE (:folder IS NULL OR folder_id = :folder) AND (:pinned IS NULL OR pinned = :pinned);

-- name: notesInFolders :many
-- expects: -> id: Int64, folder_id: Int64
SELECT id, folder_id FROM note WHERE folder_id IS NOT NULL;

-- name: foldersAndNotes :many
-- expects: -> folder: String, note: String
SELECT f.name AS folder, n.title AS note FROM folder f JOIN note n ON n.folder_id = f.id;

-- name: everyFolderWithNotes :many
-- expects: -> folder: String, id: Int64?, title: String?, pinned: Bool?
SELECT f.name AS folder, n.id, n.title, n.pinned FROM folder f LEFT JOIN note n ON n.folder_id = f.id;

-- name: tagsOfNote(note:) :many
-- expects: note: Int64 -> name: String, colour: String?
SELECT tag.* FROM note_tag JOIN tag ON tag.name = note_tag.tag WHERE note_tag.note_id = :note;

-- name: tagCounts :many
-- expects: -> name: String, notes: Int64
SELECT t.name, count(nt.note_id) AS notes FROM tag t LEFT JOIN note_tag nt ON nt.tag = t.name GROUP BY t.name;

-- name: notesWithTagNames :many
-- expects: -> id: Int64, tags: String?
SELECT n.id, group_concat(nt.tag, ', ') AS tags FROM note n LEFT JOIN note_tag nt ON nt.note_id = n.id GROUP BY n.id;

-- name: untaggedNotes :many
-- expects: -> id: Int64, title: String
SELECT id, title FROM note WHERE NOT EXISTS (SELECT 1 FROM note_tag WHERE note_id = note.id);

-- name: notesWithAllTags(tags:count:) :many
-- expects: tags: [String], count: Int64 -> note_id: Int64
SELECT note_id FROM note_tag WHERE tag IN (:tags) GROUP BY note_id HAVING count(*) = :count;

-- name: noteStatistics :one
-- expects: -> notes: Int64, bodies: Int64, latest: Date?, length: Int64?, average: Double?
SELECT count(*) AS notes, count(body) AS bodies, max(written_at) AS latest, sum(length(title)) AS length,
    avg(length(body)) AS average
FROM note;

-- name: attachmentSizes :many
-- expects: -> note_id: Int64, files: Int64, bytes: Int64?, total: Double, largest: Int64?
SELECT note_id, count(*) AS files, sum(size) AS bytes, total(size) AS total, max(size) AS largest
FROM attachment GROUP BY note_id;

-- name: titleOrBody :many
-- expects: -> id: Int64, text: String, shown: String, body: String?
SELECT id, coalesce(body, title) AS text, ifnull(body, '') AS shown, nullif(body, '') AS body FROM note;

-- name: noteKinds :many
-- expects: -> id: Int64, kind: String, rank: Int64?, day: Date?
SELECT id, CASE WHEN pinned THEN 'pinned' WHEN body IS NULL THEN 'empty' ELSE 'plain' END AS kind,
    CASE state WHEN 1 THEN 1 WHEN 2 THEN 2 END AS rank, coalesce(written_at, (SELECT max(placed_at) FROM purchase)) AS day
FROM note;

-- name: bodiesOrTitles :many
-- expects: -> id: Int64, text: String
SELECT id, CASE WHEN body IS NOT NULL THEN body ELSE title END AS text FROM note;

-- name: folderTree(root:) :many
-- expects: root: Int64 -> id: Int64, name: String, depth: Int64, path: String
WITH RECURSIVE tree(id, name, depth, path) AS (
    SELECT id, name, 0, name FROM folder WHERE id = :root
    UNION ALL
    SELECT f.id, f.name, tree.depth + 1, tree.path || '/' || f.name FROM folder f JOIN tree ON f.parent_id = tree.id
    WHERE depth < 6
)
SELECT id, name, depth, path FROM tree ORDER BY path;

-- name: ancestors(id:) :many
-- expects: id: Int64 -> id: Int64, parent_id: Int64?
WITH RECURSIVE up AS (
    SELECT id, parent_id FROM folder WHERE id = :id
    UNION
    SELECT f.id, f.parent_id FROM folder f, up WHERE f.id = up.parent_id
)
SELECT * FROM up;

-- name: numbers(last:) :many
-- expects: last: Int64 -> n: Int64
WITH RECURSIVE counter(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < :last) SELECT n FROM counter;

-- name: chainOfCommand(id:) :many
-- expects: id: Int64 -> id: Int64?, name: String?, level: Int64
WITH RECURSIVE chain(id, name, level) AS (
    SELECT id, name, 0 FROM employee WHERE id = :id
    UNION ALL
    SELECT m.id, m.name, chain.level + 1 FROM chain JOIN employee e ON e.id = chain.id
        LEFT JOIN employee m ON m.id = e.manager_id
    WHERE chain.level < 5
)
SELECT id, name, level FROM chain;

-- name: insertNote(title:body:folder:) :rowid
-- expects: title: String, body: String?, folder: Int64? ->
INSERT INTO note (title, body, folder_id) VALUES (:title, :body, :folder);

-- name: addTag(note:tag:) :exec
-- expects: note: Int64, tag: String ->
INSERT OR IGNORE INTO note_tag (note_id, tag) VALUES (:note, :tag);

-- name: setSetting(key:value:) :exec
-- expects: key: String, value: String? ->
INSERT INTO setting (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: bump(key:step:) :one
-- expects: key: String, step: String -> key: String, value: String?
INSERT INTO setting VALUES (:key, '1') ON CONFLICT (key) DO UPDATE SET value = setting.value || :step RETURNING key, value;

-- name: newNote(title:) :one
-- expects: title: String -> id: Int64, pinned: Bool, written_at: Date?
INSERT INTO note (title) VALUES (:title) RETURNING id, pinned, written_at;

-- name: rename(id:title:) :count
-- expects: id: Int64, title: String ->
UPDATE note SET title = :title WHERE id = :id;

-- name: move(ids:folder:) :count
-- expects: ids: [Int64], folder: Int64? ->
UPDATE note SET folder_id = :folder WHERE id IN (:ids);

-- name: touch(id:at:) :optional
-- expects: id: Int64, at: Date? -> id: Int64, title: String, written_at: Date?
UPDATE note SET written_at = :at, state = state + 1 WHERE id = :id RETURNING id, title, written_at;

-- name: takeNames :count
-- expects: ->
UPDATE purchase SET status = c.city FROM customer AS c WHERE c.id = purchase.customer_id AND c.city IS NOT NULL;

-- name: deleteEmpty :many
-- expects: -> id: Int64, body: String?
DELETE FROM note WHERE body IS NULL OR body = '' RETURNING id, body;

-- name: deleteTag(name:) :exec
-- expects: name: String ->
DELETE FROM tag WHERE name = :name;

-- name: copyNotes(from:to:) :count
-- expects: from: Int64, to: Int64? ->
INSERT INTO note (title, body, folder_id) SELECT title, body, :to FROM note WHERE folder_id = :from;

-- name: ordersOfCustomer(email:) :many
-- expects: email: String -> id: Int64, placed_at: Date, paid_at: Date?, total: Double?, lines: Int64
SELECT p.id, p.placed_at, p.paid_at, sum(l.quantity * l.unit_price) AS total, count(l.product_id) AS lines
FROM customer c JOIN purchase p ON p.customer_id = c.id LEFT JOIN line l ON l.purchase_id = p.id
WHERE c.email = :email GROUP BY p.id ORDER BY p.placed_at DESC;

-- name: lineTotals :many
-- expects: -> purchase_id: Int64, total: Double, items: Int64, dearest: Double
SELECT purchase_id, sum(quantity * unit_price) AS total, sum(quantity) AS items, max(unit_price) AS dearest
FROM line GROUP BY purchase_id;

-- name: revenueByMonth(since:) :many
-- expects: since: Date -> month: String?, revenue: Double, orders: Int64
SELECT strftime('%Y-%m', p.placed_at) AS month, sum(l.quantity * l.unit_price * (1 - coalesce(p.discount, 0))) AS revenue,
    count(DISTINCT p.id) AS orders
FROM purchase p JOIN line l ON l.purchase_id = p.id WHERE p.placed_at >= :since GROUP BY 1 ORDER BY 1;

-- name: bestSellers(limit:) :many
-- expects: limit: Int -> title: String, sold: Int64
SELECT product.title, sum(line.quantity) AS sold FROM line JOIN product ON product.id = line.product_id
GROUP BY product.id ORDER BY sold DESC LIMIT :limit;

-- name: neverSold :many
-- expects: -> id: Int64, title: String, stock: Int64?
SELECT id, title, stock FROM product WHERE id NOT IN (SELECT product_id FROM line);

-- name: customersWithoutPurchase :many
-- expects: -> email: String, purchase: Int64?
SELECT c.email, p.id AS purchase FROM customer c LEFT JOIN purchase p ON p.customer_id = c.id WHERE p.id IS NULL;

-- name: pricesBetween(low:high:) :many
-- expects: low: Double, high: Double -> title: String, price: Double, category: String
SELECT title, price, category FROM product WHERE price BETWEEN :low AND :high AND category = category;

-- name: stockValue :one
-- expects: -> value: Double?, products: Int64, empty: Int64?
SELECT sum(price * stock) AS value, count(*) AS products, sum(stock IS NULL) AS empty FROM product;

-- name: categories :many
-- expects: -> value: String
SELECT DISTINCT category FROM product WHERE category IS NOT NULL ORDER BY category;

-- name: cheapest :many
-- expects: -> id: Int64, title: String, price: Double
SELECT id, title, price FROM product AS p WHERE price = (SELECT min(price) FROM product WHERE category IS p.category);

-- name: latestPurchase(customer:) :optional
-- expects: customer: Int64 -> id: Int64, at: Date
SELECT id, placed_at AS at FROM purchase WHERE customer_id = :customer ORDER BY placed_at DESC LIMIT 1;

-- name: customerSummary :many
-- expects: -> email: String, purchases: Int64, last: Date?, city: String, credit: Double
SELECT email, (SELECT count(*) FROM purchase WHERE customer_id = customer.id) AS purchases,
    (SELECT max(placed_at) FROM purchase WHERE customer_id = customer.id) AS last, coalesce(city, 'unknown') AS city,
    coalesce(credit, 0) AS credit
FROM customer;

-- name: search(text:limit:offset:) :many
-- expects: text: String, limit: Int, offset: Int -> kind: String, id: Int64, title: String?
SELECT 'note' AS kind, id, title FROM note WHERE title LIKE :text
UNION ALL SELECT 'customer', id, name FROM customer WHERE email LIKE :text
ORDER BY 3 LIMIT :limit OFFSET :offset;

-- name: openPurchases :many
-- expects: -> id: Int64, customer_id: Int64, email: String, name: String?, placed_at: Date
SELECT * FROM open_purchase;

-- name: folderSizes :many
-- expects: -> id: Int64, name: String, notes: Int64, latest: Date?
SELECT * FROM folder_size WHERE notes >= 0;

-- name: salaryRanks :many
-- expects: -> name: String, department: String?, place: Int64, average: Double?, top: Int64?, before: Int64?, shares: Double
SELECT name, department, rank() OVER w AS place, avg(salary) OVER (PARTITION BY department) AS average,
    first_value(salary) OVER w AS top, lag(salary) OVER w AS before, cume_dist() OVER w AS shares
FROM employee WINDOW w AS (PARTITION BY department ORDER BY salary DESC);

-- name: runningTotals :many
-- expects: -> sensor: String, at: Int64, number: Int64, total: Int64, last: Int64?, next: Int64
SELECT sensor, at, row_number() OVER (PARTITION BY sensor ORDER BY at) AS number,
    sum(at) OVER (PARTITION BY sensor ORDER BY at) AS total,
    max(at) OVER (ORDER BY at ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS last, lead(at, 1, 0) OVER (ORDER BY at) AS next
FROM reading;

-- name: movingAverage(sensor:) :many
-- expects: sensor: String -> at: Int64, average: Double?
SELECT at, avg(value) OVER (ORDER BY at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS average FROM reading WHERE sensor = :sensor;

-- name: topPerDepartment(count:) :many
-- expects: count: Int64 -> name: String, department: String?
SELECT name, department FROM (
    SELECT name, department, row_number() OVER (PARTITION BY department ORDER BY salary DESC) AS place FROM employee)
WHERE place <= :count;

-- name: departmentsWithHighPay(least:) :many
-- expects: least: Double -> department: String?, people: Int64
SELECT department, count(*) AS people FROM employee GROUP BY department HAVING avg(salary) > :least;

-- name: colleagues :many
-- expects: -> name: String, manager: String?, sameDepartment: Bool?
SELECT e.name, m.name AS manager, e.department = m.department AS sameDepartment
FROM employee e LEFT JOIN employee m ON m.id = e.manager_id;

-- name: hasNotes(folder:) :one
-- expects: folder: Int64 -> value: Bool
SELECT EXISTS (SELECT 1 FROM note WHERE folder_id = :folder);

-- name: countAll :one
-- expects: -> value: Int64
SELECT (SELECT count(*) FROM note) + (SELECT count(*) FROM tag);

-- name: arithmetic :many
-- expects: -> half: Int64, ratio: Double?, rest: Int64, sum: Int64, negative: Double, text: String?, flag: Bool
SELECT quantity / 2 AS half, quantity / unit_price AS ratio, quantity % 3 AS rest, quantity + 1 AS sum, -unit_price AS negative,
    remark || '!' AS text, quantity > 1 AS flag
FROM line;

-- name: casts(text:) :one
-- expects: text: String -> number: Int64, real: Double, text: String, length: Int64, upper: String, kind: String
SELECT CAST(:text AS INTEGER) AS number, CAST('1.5' AS REAL) AS real, CAST(7 AS TEXT) AS text, length(:text) AS length,
    upper(:text) AS upper, typeof(:text) AS kind;

-- name: usingJoin :many
-- expects: -> customer_id: Int64, status: String, city: String?
SELECT customer_id, status, city FROM purchase JOIN (SELECT id AS customer_id, city FROM customer) USING (customer_id);

-- name: readingsAfter(sensor:at:) :many
-- expects: sensor: String, at: Int64 -> sensor: String, at: Int64, value: Double?
SELECT * FROM reading WHERE (sensor, at) > (:sensor, :at);

-- name: peaks :many
-- expects: -> sensor: String, peak: Double, at: Int64
WITH best AS (SELECT sensor, max(value) AS peak FROM reading GROUP BY sensor)
SELECT r.sensor, best.peak, r.at FROM reading r JOIN best ON best.sensor = r.sensor AND best.peak = r.value;

-- name: jsonParts :many
-- column author: String?
-- expects: -> id: Int64, author: String?, kind: String?, size: Int64?
SELECT id, json_extract(meta, '$.author') AS author, json_type(meta, '$.tags') AS kind, json_array_length(meta, '$.tags') AS size FROM note
WHERE meta IS NULL OR json_valid(meta);

-- name: jsonTags(id:) :many
-- column tag: String
-- expects: id: Int64 -> id: Int64, tag: String, path: String
SELECT note.id, each.value AS tag, each.fullkey AS path FROM note, json_each(note.meta, '$.tags') AS each WHERE note.id = :id;

-- name: asJSON :many
-- expects: -> object: String, all: String
SELECT json_object('id', folder_id, 'titles', count(*)) AS object, json_group_array(title) AS "all" FROM note GROUP BY folder_id;

-- name: outerBoth :many
-- expects: -> folder: String?, title: String?
SELECT f.name AS folder, n.title FROM folder f FULL JOIN note n ON n.folder_id = f.id;

-- name: rightSide :many
-- expects: -> folder: String?, title: String
SELECT f.name AS folder, n.title FROM folder f RIGHT JOIN note n ON n.folder_id = f.id;

-- name: filteredCounts :one
-- expects: -> pinned: Int64, longest: Int64?, dates: String
SELECT count(*) FILTER (WHERE pinned) AS pinned, max(length(body)) FILTER (WHERE pinned) AS longest,
    json_group_array(written_at) FILTER (WHERE written_at IS NOT NULL) AS dates
FROM note;

-- name: wholeNote(id:) :optional
-- expects: id: Int64 -> id: Int64, folder_id: Int64?, title: String, body: String?, written_at: Date?, pinned: Bool, state: Int64, meta: String?
SELECT * FROM note WHERE id = :id;

-- name: nullsLast :many
-- expects: -> title: String, body: String?
SELECT title, body FROM note ORDER BY body NULLS LAST;

-- name: peopleWithPaidManagers(least:) :many
-- expects: least: Int64 -> name: String, manager: String, department: String?, top: Int64?
SELECT e.name, m.name AS manager, m.department, top.id AS top
FROM employee e LEFT JOIN employee m ON m.id = e.manager_id LEFT JOIN employee top ON top.id = m.manager_id
WHERE m.salary >= :least;

-- name: today :one
-- expects: -> day: String, year: String, later: String?, stamp: String
SELECT date('now') AS day, strftime('%Y', 'now') AS year, date('now', 'x') AS later, CURRENT_TIMESTAMP AS stamp;

-- name: settingsByJSON(names:) :many
-- expects: names: String -> key: String, value: String?
SELECT key, value FROM setting WHERE key IN (SELECT value FROM json_each(:names));

-- name: sorted(order:) :many
-- expects: order: String -> id: Int64
SELECT id FROM note ORDER BY CASE :order WHEN 'title' THEN title WHEN 'body' THEN body END COLLATE NOCASE DESC, id;

-- name: swap(a:b:) :count
-- expects: a: Int64, b: Int64 ->
UPDATE line SET (quantity, unit_price) = (SELECT quantity, unit_price FROM line WHERE purchase_id = :b LIMIT 1)
WHERE purchase_id = :a AND EXISTS (SELECT 1 FROM line WHERE purchase_id = :b);

-- name: bothSides :many
-- expects: -> id: Int64, title: String?, file: String?
SELECT id, title, file_name AS file FROM note FULL JOIN (SELECT note_id + 4 AS id, file_name FROM attachment) USING (id) WHERE id > 0;

-- name: otherwise :many
-- expects: -> id: Int64, text: String?, shown: String, rest: String?
SELECT id, CASE WHEN body LIKE 'a%' THEN title ELSE body END AS text,
    CASE WHEN body IS NULL OR body = '' THEN title ELSE body END AS shown,
    CASE WHEN pinned THEN title WHEN NOT (body IS NOT NULL) THEN 'none' WHEN body > 'b' THEN body END AS rest
FROM note;

-- name: notUnlike :many
-- expects: -> body: String, written_at: Date
SELECT body, written_at FROM note WHERE NOT (body = 'x' OR written_at < '2026-01-01') AND NOT NOT pinned;

-- name: formatted :many
-- expects: -> label: String, plain: String, year: String, changed: String?, whole: String?, date: String?
SELECT printf('%d: %s', id, body) AS label, printf('no. %d', state) AS plain, strftime('%Y-%m', 'now') AS year,
    json_set(meta, '$.author', title) AS changed, json_set('{}', '$', meta) AS whole, strftime('%Y', written_at) AS date
FROM note;

-- name: notesBefore(at:id:) :many
-- expects: at: Date, id: Int64 -> id: Int64, written_at: Date
SELECT id, written_at FROM note WHERE (written_at, id) < (:at, :id) ORDER BY written_at DESC, id DESC;

-- name: likeNote(folder:body:) :many
-- expects: folder: Int64, body: String -> id: Int64, folder_id: Int64, body: String, written_at: Date?
SELECT id, folder_id, body, written_at FROM note WHERE (folder_id, body) = (:folder, :body);

-- name: unlikeNote(folder:body:) :many
-- expects: folder: Int64, body: String -> folder_id: Int64?, body: String?
SELECT folder_id, body FROM note WHERE (folder_id, body) <> (:folder, :body);

-- name: withValues :many
-- expects: -> body: String, written_at: Date, folder_id: Int64, meta: String?
SELECT body, written_at, folder_id, meta FROM note
WHERE length(trim(body)) >= 0 AND julianday(written_at) > 0 AND -folder_id * 2 <= 0 AND coalesce(meta, '{}') <> '';

-- name: between(from:to:) :many
-- expects: from: Date?, to: Date? -> id: Int64, written_at: Date
SELECT id, written_at FROM note WHERE written_at >= coalesce(:from, '0000') AND (:to IS NULL OR written_at < :to);

-- name: weekBefore(day:) :many
-- expects: day: Date -> id: Int64
SELECT id FROM note WHERE date(written_at) < date(:day) AND written_at > date(:day, '-1 year') AND written_at <> :day;
