"""A database with something of everything that a copy can lose, and everything that is in a database, to compare."""

USER_VERSION, APPLICATION_ID = 7, 1196444487

# Nothing that SQLite 3.15.2 (SQLCipher 3.4.1) cannot read.
SCHEMA = """
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, data BLOB);
CREATE TABLE implicit(a, b TEXT COLLATE NOCASE);
CREATE TABLE counted(n INTEGER PRIMARY KEY AUTOINCREMENT, x REAL);
CREATE TABLE keyed(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE "odd "" name"("from" INTEGER, 'a b' BLOB);
CREATE TABLE log(line TEXT);
CREATE INDEX t_name ON t(name);
CREATE UNIQUE INDEX implicit_ab ON implicit(a, b) WHERE a IS NOT NULL;
CREATE INDEX t_length ON t(length(name));
CREATE VIEW v AS SELECT id, upper(name) AS name FROM t;
CREATE TRIGGER tr AFTER INSERT ON counted BEGIN INSERT INTO log VALUES ('counted ' || new.n); END;
"""

ROWS = [
    ("INSERT INTO t VALUES (?, ?, ?)", [
        (1, "alpha", b"\x00\xff"), (2, "b\u00e9ta", None), (3, "gamma \U0001f600", bytes(10)),
        (-9223372036854775808, "", b""), (9223372036854775807, "a\x00b", bytes(range(256)) * 40),
    ]),
    ("INSERT INTO implicit(rowid, a, b) VALUES (?, ?, ?)", [
        (5, 1, "five"), (9, None, "nine"), (1000, 2.5, "thousand"), (4294967296, -0.0, "far"), (7000, b"x", None),
    ]),
    ("INSERT INTO counted(x) VALUES (?)", [(0.1,), (1e308,), (-5e-324,), (None,)]),
    ("INSERT INTO keyed VALUES (?, ?)", [("z", 1), ("a", "one"), ("\u00df", b"\x01"), ("", None)]),
    ('INSERT INTO "odd "" name" VALUES (?, ?)', [(2**40, b"'"), (-1, "text in a blob column")]),
]


def make(link, encoding="UTF-8", auto_vacuum=0):
    """Fills a new database. `link` has `execute(sql, parameters)`; a key, if any, was given before."""
    link.execute(f"PRAGMA encoding = '{encoding}'")
    if auto_vacuum:
        link.execute(f"PRAGMA auto_vacuum = {auto_vacuum}")
    link.execute("BEGIN")
    for sql in split(SCHEMA):
        link.execute(sql)
    for sql, rows in ROWS:
        for row in rows:
            link.execute(sql, row)
    # More than a page of everything, also with pages of 64 KiB, and pages in the free list.
    link.execute("INSERT INTO log WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 400)"
                 " SELECT 'a line of text that is the same but for its number ' || i || hex(zeroblob(100)) FROM c")
    link.execute("DELETE FROM log WHERE rowid % 5 = 0")
    link.execute("DELETE FROM counted WHERE n = 4")
    link.execute(f"PRAGMA user_version = {USER_VERSION}")
    link.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    link.execute("COMMIT")


def split(script):
    """The statements of SCHEMA: only the trigger has semicolons inside."""
    statement = ""
    for line in script.strip().splitlines():
        statement += line + "\n"
        if line.endswith("END;") or (line.endswith(";") and "BEGIN" not in statement):
            yield statement
            statement = ""


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def everything(link):
    """All that is in a database, as text, a line for each thing; equal lists mean equal databases."""
    def rows(sql):
        return link.execute(sql).fetchall()

    lines = [f"{name} = {rows(f'PRAGMA {name}')[0][0]}" for name in
             ("user_version", "application_id", "auto_vacuum", "encoding")]
    schema = rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    lines += [repr(tuple(row)) for row in schema]
    for kind, name, _, sql in schema:
        if kind not in ("table", "view"):
            continue
        has_rowid = kind == "table" and "WITHOUT ROWID" not in sql
        columns = "rowid, *" if has_rowid else "*"
        # typeof tells 1 from 1.0 after any driver; hex(CAST(…)) shows text beyond a NUL.
        lines += [f"{name}: {tuple(row)!r}" for row in
                  rows(f"SELECT {columns} FROM {quoted(name)} ORDER BY {'rowid' if has_rowid else 1}")]
    return lines


def integrity(link):
    return [row[0] for row in link.execute("PRAGMA integrity_check").fetchall()]
