"""Databases of the shapes that make copies expensive, for Benchmarks/whole-file --shapes: each of a few hundred megabytes."""
import os
import sqlite3

LETTERS = "hex(randomblob({}))"


def small_tables(db):
    for number in range(3000):
        db.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT, at INT)")
        db.execute(f"CREATE INDEX i{number} ON t{number} (name)")
        db.execute(f"INSERT INTO t{number} (name, at) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
                   f"WHERE x < 200) SELECT {LETTERS.format(12)}, x FROM n")


def long_blobs(db):
    db.execute("CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, data BLOB)")
    db.execute("CREATE INDEX file_name ON file (name)")
    for number in range(3):
        db.execute("INSERT INTO file (name, data) VALUES (?, ?)", (f"file {number}", os.urandom(100_000_000)))


def without_rowid(db):
    db.execute("CREATE TABLE word (word TEXT PRIMARY KEY, more TEXT, count INT) WITHOUT ROWID")
    db.execute("CREATE INDEX word_count ON word (count, more)")
    db.execute(f"INSERT INTO word WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1200000) "
               f"SELECT {LETTERS.format(16)}, {LETTERS.format(30)}, x % 1000 FROM n")


def full_text(db):
    db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
    db.execute("CREATE VIRTUAL TABLE found USING fts5(body, content='note', content_rowid='id')")
    words = " || ' ' || ".join(LETTERS.format(3) for _ in range(40))
    db.execute(f"INSERT INTO note (body) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 250000) "
               f"SELECT {words} FROM n")
    db.execute("INSERT INTO found (found) VALUES ('rebuild')")


def many_indexes(db):
    columns = ", ".join(f"c{number} INT" for number in range(300))
    db.execute(f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns})")
    values = ", ".join("abs(random()) % 100000" for _ in range(300))
    db.execute(f"INSERT INTO wide SELECT x, {values} FROM (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
               f"WHERE x < 60000) SELECT x FROM n)")
    for number in range(300):
        db.execute(f"CREATE INDEX wide_{number} ON wide (c{number})")


SHAPES = {
    "3,000 tables with an index": small_tables,
    "blobs of 100 MB": long_blobs,
    "WITHOUT ROWID": without_rowid,
    "FTS5, external content": full_text,
    "300 indexes": many_indexes,
}


def make(path, shape):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN")
    SHAPES[shape](db)
    db.execute("COMMIT")
    db.close()
