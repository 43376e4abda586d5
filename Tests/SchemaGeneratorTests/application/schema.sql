-- The schema of several applications: notes, a shop, an organisation, measurements.
CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent_id INTEGER REFERENCES folder(id));
CREATE TABLE note (
    id INTEGER PRIMARY KEY, folder_id INTEGER REFERENCES folder(id), title TEXT NOT NULL, body TEXT, written_at DATETIME,
    pinned BOOLEAN NOT NULL DEFAULT 0, state INTEGER NOT NULL DEFAULT 0, meta JSON);
CREATE INDEX note_folder ON note(folder_id);
CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY, colour TEXT);
CREATE TABLE note_tag (
    note_id INTEGER NOT NULL REFERENCES note(id), tag TEXT NOT NULL REFERENCES tag(name), PRIMARY KEY (note_id, tag)
) WITHOUT ROWID;
CREATE TABLE attachment (
    id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, file_name TEXT NOT NULL, bytes BLOB, size INTEGER);
CREATE TABLE customer (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT, city TEXT, joined DATE NOT NULL, credit REAL);
CREATE TABLE product (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, title TEXT NOT NULL, price REAL NOT NULL, stock INTEGER, category TEXT);
CREATE TABLE purchase (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer(id), placed_at DATETIME NOT NULL,
    paid_at DATETIME, status TEXT NOT NULL DEFAULT 'open', discount REAL);
CREATE TABLE line (
    purchase_id INTEGER NOT NULL, product_id INTEGER NOT NULL, quantity INTEGER NOT NULL, unit_price REAL NOT NULL,
    remark TEXT, PRIMARY KEY (purchase_id, product_id));
CREATE TABLE employee (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, manager_id INTEGER, department TEXT, salary INTEGER, hired DATE);
CREATE TABLE reading (sensor TEXT NOT NULL, at INTEGER NOT NULL, value REAL, PRIMARY KEY (sensor, at)) WITHOUT ROWID;
CREATE TABLE setting (key TEXT NOT NULL PRIMARY KEY, value TEXT);
CREATE VIEW open_purchase AS
    SELECT p.id, p.customer_id, c.email, c.name, p.placed_at FROM purchase p JOIN customer c ON c.id = p.customer_id
    WHERE p.paid_at IS NULL;
CREATE VIEW folder_size AS
    SELECT f.id, f.name, count(n.id) AS notes, max(n.written_at) AS latest
    FROM folder f LEFT JOIN note n ON n.folder_id = f.id GROUP BY f.id;
