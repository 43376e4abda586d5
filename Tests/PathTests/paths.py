"""Names with what SQL, URIs, shells and terminals take for something else: each command of the tool does its work on
such files, and makes no other. The bare engine splices names into SQL, or reads a URI out of them.
"""
# hazard: H-MIG-04 H-SEC-31
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(os.environ["LITEVAULT_TOOL"])
NAMES = ["it's", 'say "so"', "100%41", "what?key=x&mode=ro", "a#b", "file:x", "two  spaces ", "; DROP TABLE t", "line\nbreak", "-", "é😀", "\u0301marked"]
KEY, NEW_KEY = ["--key-file", "../key", "--key-format", "hex"], ["--new-key-file", "../other", "--new-key-format", "hex"]
NO_ENCRYPTION = 69


def litevault(folder, *words):
    return subprocess.run([TOOL, *words], cwd=folder, capture_output=True, text=True)


def plain_database(path):
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE t(a)")
        link.execute("INSERT INTO t VALUES ('kept')")
    link.close()


def rows(path):
    link = sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)
    try:
        return link.execute("SELECT a FROM t").fetchall()
    finally:
        link.close()


def steps(name, encrypts, older):
    """(command, the files that there are when it is done)"""
    # A name that begins with a dash is distinguished from an option by the directory in front.
    plain, vault, copy, back, old = (f"./{name}{suffix}" for suffix in ("", ".vault", ".copy", ".back", ".old"))
    if not encrypts:
        yield ["info", plain], [plain]
        yield ["verify", plain], [plain]
        yield ["vacuum", plain], [plain]
        yield ["backup", plain, copy], [plain, copy]
        return
    yield ["encrypt", plain, vault, *KEY], [plain, vault]
    yield ["info", vault, *KEY], [plain, vault]
    yield ["verify", vault, *KEY], [plain, vault]
    yield ["backup", vault, copy, *KEY], [plain, vault, copy]
    yield ["vacuum", vault, *KEY], [plain, vault, copy]
    yield ["encrypt", plain, old, *KEY, "--to-compatibility", older], [plain, vault, copy, old]
    yield ["migrate", old, *KEY], [plain, vault, copy, old]
    yield ["verify", old, *KEY], [plain, vault, copy, old]
    yield ["rekey", vault, *KEY, *NEW_KEY], [plain, vault, copy, old]
    yield ["decrypt", old, back, *KEY, "--yes"], [plain, vault, copy, old, back]


def problems(folder, name, encrypts, older):
    plain_database(folder / name)
    for words, files in steps(name, encrypts, older):
        done = litevault(folder, *words)
        if done.returncode != 0:
            yield f"{words[0]} ended with status {done.returncode}: {done.stderr}"
            return
        there = {path.name for path in folder.iterdir()}
        if there != {os.path.basename(file) for file in files}:
            yield f"{words[0]} left {sorted(there)}"
            return
    for copy in folder.glob("*.back" if encrypts else "*.copy"):
        if rows(copy) != [("kept",)]:
            yield f"{copy.name} holds {rows(copy)}"


def repairs(folder, encrypts):
    """A name that is not UTF-8 is refused, whatever it is of, and the file of the repaired name is left alone."""
    raw, repaired = folder / os.fsdecode(b"q\xff.db"), folder / "q\ufffd.db"
    plain_database(raw)
    shutil.copy(raw, repaired)
    plain_database(folder / "p.db")
    (folder / os.fsdecode(b"w\xff")).mkdir()
    before = {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}

    def refused(words, place=folder, **variables):
        done = subprocess.run(
            [TOOL, *words], cwd=place, capture_output=True, text=True, env=os.environ | variables)
        if done.returncode != 64 or "not UTF-8" not in done.stderr:
            yield f"{words} ended with status {done.returncode}: {done.stderr}"
        if {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()} != before:
            yield f"{words} changed something"

    yield from refused(["info", raw.name])
    yield from refused(["backup", "p.db", os.fsdecode(b"b\xff.db")])
    yield from refused(["snapshot", "p.db", "--repository", os.fsdecode(b"r\xff"), "--allow-plaintext"])
    yield from refused(["info", "../p.db"], folder / os.fsdecode(b"w\xff"))
    yield from refused(["info", "p.db"], HOME=os.fsdecode(b"/home/\xff"))
    if encrypts:
        yield from refused(["encrypt", raw.name, "--in-place", *KEY])
        yield from refused(["rekey", "--glob", "q*.db", *KEY, *NEW_KEY])
    # A link is followed by its own name, and not to another file.
    (folder / "link.db").symlink_to(raw.name)
    before = {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}
    for words in [["vacuum", "link.db"]] + [["encrypt", "link.db", "--in-place", *KEY]] * encrypts:
        done = litevault(folder, *words)
        if done.returncode == 0 or {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()} != before:
            yield f"{words} of a link ended with status {done.returncode}: {done.stderr}"


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="litevault-paths-") as place:
        root = pathlib.Path(place)
        for file, byte in (("key", "17"), ("other", "71")):
            (root / file).write_text(byte * 32)
            (root / file).chmod(0o600)
        probe = root / "probe"
        probe.mkdir()
        plain_database(probe / "p")
        encrypts = litevault(probe, "encrypt", "p", "v", *KEY).returncode != NO_ENCRYPTION
        # What `migrate` has something to do for: 3 where the engine writes format 4, otherwise 2.
        older = "3" if litevault(probe, "encrypt", "p", "w", *KEY, "--to-compatibility", "4").returncode == 0 else "2"
        for number, name in enumerate(NAMES):
            folder = root / str(number)
            folder.mkdir()
            found = " ".join("; ".join(problems(folder, name, encrypts, older)).split())
            outcome = "failed" if found else "passed"
            counts[outcome] += 1
            print(f"{outcome}  a file called {ascii(name)}{': ' + found if found else ''}", flush=True)
        folder = root / "raw"
        folder.mkdir()
        found = " ".join("; ".join(repairs(folder, encrypts)).split())
        outcome = "failed" if found else "passed"
        counts[outcome] += 1
        print(f"{outcome}  names that are not UTF-8{': ' + ascii(found) if found else ''}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else 0


sys.exit(main())
