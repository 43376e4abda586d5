"""One flipped byte in every page but the first, in turn: `verify` tells it, and whatever would replace or copy the
database refuses to and changes nothing. The bare engine keeps writing to such a file.
"""
# hazard: H-VER-06
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(os.environ["LITEVAULT_TOOL"])
KEY, OTHER_KEY = ["--key-file", "key", "--key-format", "hex"], ["--new-key-file", "other", "--new-key-format", "hex"]
DAMAGED, NO_ENCRYPTION = 65, 69


def litevault(folder, *words):
    return subprocess.run([TOOL, *words], cwd=folder, capture_output=True, text=True).returncode


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make(folder):
    """A plain database, and its encrypted copy where the engine has encryption: that is what is damaged."""
    for name, byte in (("key", "17"), ("other", "71")):
        (folder / name).write_text(byte * 32)
        (folder / name).chmod(0o600)
    with sqlite3.connect(folder / "plain.db") as link:
        link.execute("PRAGMA page_size = 1024")
        link.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)")
        link.executemany("INSERT INTO t(b) VALUES (?)", [(os.urandom(700),) for _ in range(30)])
    link.close()
    status = litevault(folder, "encrypt", "plain.db", "vault.db", *KEY)
    if status not in (0, NO_ENCRYPTION):
        raise SystemExit(f"damage tests: a plain `encrypt` ends with status {status}")
    return status == 0


def encrypted(folder, page, size):
    """Problems, after one byte of that page was flipped. `verify` and everything that replaces the file look at it."""
    path = folder / "vault.db"
    whole = path.read_bytes()
    at = page * size + size // 2
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    before = contents(folder)
    commands = {
        "verify": ["verify", "vault.db", *KEY],
        "rekey": ["rekey", "vault.db", *KEY, *OTHER_KEY],
        "vacuum": ["vacuum", "vault.db", *KEY],
        "decrypt": ["decrypt", "vault.db", "result.db", "--yes", *KEY],
        "backup": ["backup", "vault.db", "result.db", *KEY],
    }
    for name, words in commands.items():
        status = litevault(folder, *words)
        if status != DAMAGED:
            yield f"{name} ended with status {status}"
        if contents(folder) != before:
            yield f"{name} left other files than before"
    path.write_bytes(whole)


def plain(folder, page, size):
    path = folder / "plain.db"
    whole = path.read_bytes()
    path.write_bytes(whole[: page * size] + b"\xff" * 16 + whole[page * size + 16 :])
    before = contents(folder)
    status = litevault(folder, "verify", "plain.db")
    if status != DAMAGED:
        yield f"verify ended with status {status}"
    if contents(folder) != before:
        yield "verify left other files than before"
    path.write_bytes(whole)


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="litevault-damage-") as name:
        folder = pathlib.Path(name)
        encrypts = make(folder)
        # SQLCipher 3 writes pages of 1024 bytes, 4 of 4096: the larger step meets a page of either.
        pages = (folder / "vault.db").stat().st_size // 4096 if encrypts else 3
        for page in range(1, pages):
            problems = list(encrypted(folder, page, 4096) if encrypts else plain(folder, page, 1024))
            outcome = "failed" if problems else "passed"
            counts[outcome] += 1
            place = f"{'an encrypted' if encrypts else 'a plain'} database, damaged {page} steps from the start"
            print(f"{outcome}  {place}{': ' + '; '.join(problems) if problems else ''}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


sys.exit(main())
