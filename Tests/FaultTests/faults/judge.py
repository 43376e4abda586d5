"""An engine that is not ours looks at files: Python's sqlcipher3 for encrypted ones, sqlite3 for plain ones.

Files are judged as copies, with the files beside them, so that reading changes nothing.
"""
import hashlib
import os
import shutil
import sqlite3
import tempfile

import sqlcipher3


class NotReadable(Exception):
    pass


def connect(path, key=None, compatibility=4):
    """`key`: 32 bytes, or None for a plain database."""
    if key is None:
        return sqlite3.connect(path, isolation_level=None)
    connection = sqlcipher3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA key = \"x'{key.hex()}'\"")
    connection.execute("PRAGMA cipher_log_level = NONE")  # A key that does not fit is an answer here, not an error.
    if compatibility != 4:
        connection.execute(f"PRAGMA cipher_compatibility = {compatibility}")
    return connection


def content(path, key=None, compatibility=4):
    """A digest of everything a database holds: schema, rows with their rowids, header fields."""
    with tempfile.TemporaryDirectory(prefix="judge-") as directory:
        copy = os.path.join(directory, "copy.db")
        for ending in ["", "-wal", "-journal"]:
            if os.path.exists(path + ending):
                shutil.copyfile(path + ending, copy + ending)
        try:
            connection = connect(copy, key, compatibility)
            try:
                return _content(connection, key, compatibility)
            finally:
                connection.close()
        except (sqlite3.DatabaseError, sqlcipher3.DatabaseError) as error:
            raise NotReadable(f"{os.path.basename(path)}: {error}") from None


def journal_mode(path, key=None, compatibility=4):
    """What the header says."""
    with tempfile.TemporaryDirectory(prefix="judge-") as directory:
        copy = os.path.join(directory, "copy.db")
        shutil.copyfile(path, copy)
        connection = connect(copy, key, compatibility)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
            return connection.execute("PRAGMA journal_mode").fetchone()[0]
        finally:
            connection.close()


def _content(connection, key, compatibility):
    def all(sql):
        return connection.execute(sql).fetchall()

    objects = all("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    problems = all("PRAGMA integrity_check")
    if problems != [("ok",)]:
        raise NotReadable(f"integrity_check: {problems[:3]}")
    if key is not None and compatibility >= 2:
        broken = all("PRAGMA cipher_integrity_check")
        if broken:
            raise NotReadable(f"cipher_integrity_check: {broken[:3]}")
    digest = hashlib.sha256(repr(objects).encode())
    for pragma in ["user_version", "application_id", "encoding"]:
        digest.update(repr(all(f"PRAGMA {pragma}")).encode())
    for kind, name, _, sql in objects:
        if kind != "table":
            continue
        rowid = "rowid AS r, " if "WITHOUT ROWID" not in (sql or "").upper() else ""
        order = "1, 2" if rowid else "1"
        for row in connection.execute(f'SELECT {rowid}* FROM "{name}" ORDER BY {order}'):
            digest.update(repr(row).encode())
    return digest.hexdigest()


SCHEMA = """
CREATE TABLE account(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, balance REAL DEFAULT 0);
CREATE TABLE note(body TEXT, data BLOB);
CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE INDEX account_name ON account(name);
CREATE VIEW rich AS SELECT name FROM account WHERE balance > 100;
CREATE TRIGGER account_log AFTER DELETE ON account BEGIN INSERT INTO note(body) VALUES ('gone: ' || old.name); END;
"""


def make(path, key=None, compatibility=4, megabytes=0, wal=False):
    """A database with a bit of everything; `megabytes` of random blobs on top."""
    connection = connect(path, key, compatibility)
    connection.executescript(SCHEMA)
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO account(name, balance) VALUES (?, ?)", [(f"account {i} äöü", i * 1.5) for i in range(150)])
    connection.execute("DELETE FROM account WHERE id % 7 = 0")
    connection.executemany("INSERT INTO setting VALUES (?, ?)", [(f"s{i}", i if i % 2 else None) for i in range(40)])
    digest = hashlib.sha256(b"blob").digest()
    block = bytearray()
    while len(block) < 8000:
        digest = hashlib.sha256(digest).digest()
        block += digest
    for number in range(megabytes * 125):
        block[:8] = number.to_bytes(8, "big")
        connection.execute("INSERT INTO note(body, data) VALUES (?, ?)", (f"n{number}", bytes(block)))
    connection.execute("DELETE FROM note WHERE rowid % 50 = 1")
    connection.execute("COMMIT")
    connection.execute("PRAGMA user_version = 42")
    connection.execute("PRAGMA application_id = 1279673940")
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
