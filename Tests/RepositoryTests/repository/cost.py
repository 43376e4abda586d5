"""What a snapshot stores follows what changed, and no operation needs more memory for a larger database."""
import json
import os
import random
import shutil
import subprocess

from faults.report import Skip, expect

from .sandbox import BLOCK, command


def run(report, settings, folder):
    place = os.path.join(folder, "cost")
    os.mkdir(place)

    def take():
        done = subprocess.run(
            command(settings, "snapshot", "vault.db", "--json"), cwd=place, capture_output=True, check=True)
        return json.loads(done.stdout)["snapshot"]

    def stored():
        """Bytes of all packs and manifests."""
        total = 0
        for top in ["data", "tree", "snapshots"]:
            for base, _, names in os.walk(os.path.join(place, "repository", top)):
                total += sum(os.path.getsize(os.path.join(base, name)) for name in names)
        return total

    def follows():
        blocks = 10_000
        with open(os.path.join(place, "vault.db"), "wb") as file:
            file.write(os.urandom(blocks * BLOCK))
        first = take()
        expect(first["stored"] < blocks * BLOCK * 1.02, f"{first['stored']} bytes for {blocks} blocks")
        before = stored()
        changed = random.Random(settings.seed).sample(range(blocks), 43)
        with open(os.path.join(place, "vault.db"), "r+b") as file:
            for block in changed:
                file.seek(block * BLOCK)
                file.write(os.urandom(BLOCK))
        second = take()
        bytes_changed = len(changed) * BLOCK
        expect(second["changed"] == bytes_changed, f"changed: {second['changed']}")
        added = stored() - before
        expect(added <= 1.05 * bytes_changed + bytes_changed, f"{added} bytes for {bytes_changed} that changed")
        before = stored()
        third = take()
        expect(third["changed"] == third["stored"] == 0, f"{third}")
        expect(stored() - before < 4096, f"{stored() - before} bytes for nothing")
        return f"{added} bytes for {bytes_changed} that changed"

    report.case("the second snapshot stores what changed, and at most as much metadata", follows)
    if settings.engine != "sqlcipher":
        return  # What follows takes its time and does not depend on the engine of the tool.
    large = os.path.join(folder, "large")
    os.mkdir(large)
    report.case(
        "20 random rows of an encrypted database of 300 MB cost their blocks, and at most as much metadata",
        lambda: rows(settings, large))
    memory = os.path.join(folder, "memory")
    os.mkdir(memory)
    report.case("a database of ten times the size takes no more memory", lambda: flat(settings, memory))


# Run by a Python with an independent engine: what this process has loaded must not matter.
WRITE = """
import os, random, sys
import sqlcipher3
path, step, seed = sys.argv[1:]
db = sqlcipher3.connect(path, isolation_level=None)
db.execute("PRAGMA key = \\"x'%s'\\"" % ("2d" * 32))
if step == "make":
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 2000")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body BLOB)")
    for start in range(0, 95000, 5000):
        db.execute("BEGIN")
        db.executemany("INSERT INTO t(name, body) VALUES (?, randomblob(3000))", [(str(i),) for i in range(start, start + 5000)])
        db.execute("COMMIT")
else:
    random.seed(int(seed))
    for row in random.sample(range(1, 95001), 20):
        db.execute("UPDATE t SET body = randomblob(3000) WHERE id = ?", (row,))
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
"""


def rows(settings, folder):
    path = os.path.join(folder, "vault.db")

    def write(step):
        subprocess.run([settings.judges, "-c", WRITE, path, step, str(settings.seed)], check=True, capture_output=True)

    def take():
        done = subprocess.run(
            command(settings, "snapshot", "vault.db", "--json"), cwd=folder, capture_output=True, check=True)
        return json.loads(done.stdout)["snapshot"]

    def stored(*tops):
        return sum(os.path.getsize(os.path.join(base, name)) for top in tops
                   for base, _, names in os.walk(os.path.join(folder, "repository", top)) for name in names)

    if not settings.judges or subprocess.run([settings.judges, "-c", "import sqlcipher3"], capture_output=True).returncode:
        raise Skip("no Python with sqlcipher3 (ci/setup judges)")
    write("make")
    size = os.path.getsize(path)
    expect(size > 300_000_000, f"only {size} bytes")
    take()
    data, all_of_it = stored("data"), stored("data", "tree", "snapshots")
    with open(path, "rb") as file:
        before = [hash(block) for block in iter(lambda: file.read(BLOCK), b"")]
    write("update")
    with open(path, "rb") as file:
        after = [hash(block) for block in iter(lambda: file.read(BLOCK), b"")]
    changed = sum(one != other for one, other in zip(before, after)) + abs(len(after) - len(before))
    second = take()
    expect(second["changed"] == changed * BLOCK, f"{second['changed']} bytes, but {changed} blocks changed")
    expect(20 <= changed < 100, f"{changed} blocks changed")
    data, all_of_it = stored("data") - data, stored("data", "tree", "snapshots") - all_of_it
    expect(data <= 1.05 * changed * BLOCK, f"{data} bytes of data for {changed} blocks")
    expect(all_of_it - data <= changed * BLOCK, f"{all_of_it - data} bytes of metadata for {changed} blocks")
    shutil.rmtree(folder)
    return f"{changed} blocks: {data} bytes of data, {all_of_it - data} of metadata"


def peak(arguments, folder):
    """The most memory that a run takes, in bytes."""
    with open(os.path.join(folder, "errors"), "w+b") as errors:
        process = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        expect(process.returncode == 0, f"{arguments[1]}: exit {process.returncode}: {errors.read().decode(errors='replace')}")
    return usage.ru_maxrss * 1024


def image(path, megabytes):
    """A file that looks like ciphertext; the same megabyte again and again, as no store of packs makes use of that."""
    piece = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(piece)


def flat(settings, folder, sizes=(24, 240)):
    peaks = {}
    for megabytes in sizes:
        place = os.path.join(folder, str(megabytes))
        os.mkdir(place)
        image(os.path.join(place, "vault.db"), megabytes)
        steps = [["snapshot", "vault.db"], ["snapshot", "vault.db"], ["restore", "out.db"], ["check", "--read-data"],
                 ["forget", "--keep-last", "1", "--prune"]]
        for number, step in enumerate(steps):
            peaks.setdefault(f"{number + 1}. {step[0]}", []).append(peak(command(settings, *step), place))
        expect(os.path.getsize(os.path.join(place, "out.db")) == megabytes << 20, "restored to another length")
        shutil.rmtree(place)
    # Windows of a restore and of a check are of tens of megabytes; what is smaller than one fills none.
    for step, (small, large) in peaks.items():
        expect(large - small < 64 << 20, f"{step}: {small >> 20} MiB for {sizes[0]} MiB, {large >> 20} for {sizes[1]}")
    return ", ".join(f"{step} {small >> 20} -> {large >> 20} MiB" for step, (small, large) in peaks.items())
