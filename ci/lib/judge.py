#!/usr/bin/env python3
"""judge.py COMMAND DATABASE KEY-FILE …: looks at encrypted databases, and writes to them, by an engine that is not ours.

Run by the Python in .engines/judges, whose sqlcipher3 module brings a SQLCipher of its own.

  check DATABASE KEY-FILE SOURCE   opens it, runs integrity_check, counts every table's rows and those of plain SOURCE
  write DATABASE KEY-FILE WAL      commits into a table of its own, in WAL mode, until standard input ends; prints
                                   "writing" once it does and the number of commits at the end; leaves a copy of the
                                   database's WAL at WAL
  last DATABASE KEY-FILE           prints the last number that `write` committed; fails when an earlier one is missing
  journal DATABASE KEY-FILE COPY   changes every table inside a transaction that is rolled back; leaves a copy of the
                                   rollback journal at COPY
"""
import pathlib
import select
import shutil
import sqlite3
import sys
import time

import sqlcipher3

TABLE = "quickstart_writes"


def quoted(name, mark='"'):
    return mark + name.replace(mark, mark * 2) + mark


def opened(path, key_file):
    key = pathlib.Path(key_file).read_text().removesuffix("\n")
    link = sqlcipher3.connect(path, isolation_level=None, timeout=10)
    link.execute(f"PRAGMA key = {quoted(key, chr(39))}")
    link.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return link


def tables(link):
    rows = link.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row[0] for row in rows]


def counts(link):
    return {name: link.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0] for name in tables(link)}


def check(path, key_file, source):
    link, plain = opened(path, key_file), sqlite3.connect(f"{pathlib.Path(source).resolve().as_uri()}?mode=ro", uri=True)
    version = link.execute("PRAGMA cipher_version").fetchone()[0]
    verdict = link.execute("PRAGMA integrity_check").fetchall()
    if verdict != [("ok",)]:
        sys.exit(f"judge: integrity_check of {path}: {verdict[:3]}")
    theirs, ours = counts(plain), counts(link)
    if theirs != ours:
        differing = [name for name in sorted(set(theirs) | set(ours)) if theirs.get(name) != ours.get(name)]
        sys.exit(f"judge: other row counts in {differing[:5]}")
    print(f"SQLCipher {version} in Python: integrity_check ok, {len(ours)} tables, {sum(ours.values())} rows, as in the source")


def write(path, key_file, wal_copy):
    link = opened(path, key_file)
    # Text of the database itself: were it written in plaintext, the search for plaintext would find it.
    texts = [row[0] for row in link.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")] or ["text"]
    link.execute("PRAGMA journal_mode = WAL")
    link.execute(f"CREATE TABLE {TABLE}(n INTEGER PRIMARY KEY, text TEXT)")
    number, longest = 0, 0.0
    while not select.select([sys.stdin], [], [], 0.004)[0]:
        number += 1
        began = time.monotonic()
        link.execute(f"INSERT INTO {TABLE} VALUES (?, ?)", (number, texts[number % len(texts)]))
        longest = max(longest, time.monotonic() - began)
        if number == 20:
            print("writing", flush=True)
    shutil.copyfile(path + "-wal", wal_copy)
    link.close()
    print(f"{number} commits, the longest took {longest * 1000:.0f} ms")


def last(path, key_file):
    link = opened(path, key_file)
    count, highest = link.execute(f"SELECT count(*), max(n) FROM {TABLE}").fetchone()
    link.close()
    if count != highest:
        sys.exit(f"judge: {path} holds {count} of {highest} commits: not a state that ever was")
    print(highest)


def journal(path, key_file, copy):
    link = opened(path, key_file)
    link.execute("PRAGMA journal_mode = DELETE")
    link.execute("PRAGMA cache_size = 10")  # the journal reaches the disk only when pages have to leave the cache
    link.execute("BEGIN IMMEDIATE")
    for name in tables(link):
        column = link.execute(f"PRAGMA table_info({quoted(name)})").fetchone()[1]
        if not name.startswith("sqlite_"):
            link.execute(f"UPDATE {quoted(name)} SET {quoted(column)} = {quoted(column)}")
    link.execute(f"CREATE TABLE {TABLE}_spill AS SELECT * FROM {TABLE}, (SELECT 1 FROM {TABLE} LIMIT 5)")
    shutil.copyfile(path + "-journal", copy)
    link.execute("ROLLBACK")
    link.close()


{"check": check, "write": write, "last": last, "journal": journal}[sys.argv[1]](*sys.argv[2:])
