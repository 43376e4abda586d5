"""Dumps and differences: what SQLite's own shells make of the SQL text that the tool prints."""
# hazard: H-DUMP-11
# hazard: H-TXT-11
import functools
import shutil
import subprocess

from . import judges
from .tool import Failure

# Half of a character of UTF-16, a byte order mark, characters that the engine replaces, and NUL; of UTF-8, a stray byte.
TEXTS = {
    "UTF-8": ["80", "c3a9", "65cc81", "610062", "efbbbf61", "efbfbe", "0d0a", ""],
    "UTF-16le": ["00d8", "01d8", "00d86100", "fffe6100", "feff6100", "ffff", "610000006200", "3dd811dd", "0d000a00", ""],
    "UTF-16be": ["d800", "d801", "d8000061", "feff0061", "fffe6100", "ffff", "006100000062", "d83ddd11", "000d000a", ""],
}


def make(path, sql):
    link = judges.PLAIN.open(path)
    link.executescript(sql)
    link.close()


def rows(path, sql):
    link = judges.PLAIN.open(path)
    try:
        return link.execute(sql).fetchall()
    finally:
        link.close()


def load(shell, path, text):
    """Runs SQL text in a shell of SQLite."""
    run = subprocess.run([shell, "-batch", "-bail", path], input=text.encode(), capture_output=True, timeout=60)
    if run.returncode != 0 or run.stderr:
        raise Failure(f"{shell}: {run.returncode}: {run.stderr.decode(errors='replace')[:300]}")


def table(encoding, value):
    values = ", ".join(f"(CAST(x'{text}' AS TEXT), {value})" for text in TEXTS[encoding])
    return (f"PRAGMA encoding = '{encoding}'; CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
            f" INSERT INTO w VALUES {values}; CREATE TABLE t (a, b); INSERT INTO t SELECT * FROM w;")


def texts(shell, encoding, tool, folder):
    """Each text keeps its bytes through a dump, and is found by the text of a difference."""
    first, second, copy = (folder / name for name in ("a.db", "b.db", "copy.db"))
    make(first, table(encoding, 1))
    make(second, table(encoding, 2))
    sql = "SELECT hex(CAST(k AS BLOB)), typeof(k), v FROM w UNION ALL SELECT hex(CAST(a AS BLOB)), typeof(a), b FROM t"
    load(shell, copy, tool.run("dump", first).expect(0).output)
    if sorted(rows(copy, sql)) != sorted(rows(first, sql)):
        raise Failure(f"the dump: {rows(copy, sql)} instead of {rows(first, sql)}")
    load(shell, copy, tool.run("diff", copy, second, "--sql").expect(1).output)
    if sorted(rows(copy, sql)) != sorted(rows(second, sql)):
        raise Failure(f"the difference: {rows(copy, sql)} instead of {rows(second, sql)}")
    tool.run("diff", copy, second).expect(0)


def sequence(shell, tool, folder):
    """A table with AUTOINCREMENT was dropped, and `sqlite_sequence` stayed."""
    path, copy = folder / "a.db", folder / "copy.db"
    make(path, "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE u(x); INSERT INTO u VALUES(5); DROP TABLE t;")
    load(shell, copy, tool.run("dump", path).expect(0).output)
    if rows(copy, "SELECT x FROM u") != [(5,)]:
        raise Failure("the row is lost")
    tool.run("diff", path, copy).expect(0)


def checks(tool):
    for shell in ("sqlite3", "sqlcipher"):
        if not shutil.which(shell):
            continue
        for encoding in TEXTS:
            yield f"{shell} runs dump and diff --sql: {encoding}", functools.partial(texts, shell, encoding)
        yield f"{shell} runs a dump: sqlite_sequence alone", functools.partial(sequence, shell)
