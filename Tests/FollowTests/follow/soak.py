"""Three writer processes with checkpoints of every kind, a job that takes snapshots, and a follower: no gap, every time right."""
import os
import subprocess
import sys
import time

from faults import judge
from faults.report import expect

from .box import KEY, SLACK, Box, seconds, stamp

SECONDS = 15
INTERVAL = 0.2
POINTS = 12
COMMITS = 100


def run(report, settings, folder):
    box = Box(settings, folder, job={"every": "3s", "retention": {"last": 100}}, follow={"interval": "200ms"})

    def body():
        try:
            return soak(settings, box)
        finally:
            box.remove()
    report.case("random points in time agree with the writers' logs of commits, and there is no gap", body)


def soak(settings, box):
    random = settings.random("soak")
    path = box.path("db/app.db")
    os.makedirs(os.path.dirname(path))
    db = judge.connect(path, KEY)
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, filler BLOB)")
    db.execute("CREATE TABLE counter (writer INTEGER PRIMARY KEY, n INTEGER)")
    db.execute("CREATE TABLE extra (v BLOB)")
    db.execute("BEGIN")
    for _ in range(400):
        db.execute("INSERT INTO account (amount, filler) VALUES (100, randomblob(1500))")
    db.executemany("INSERT INTO counter VALUES (?, 0)", [(writer,) for writer in range(3)])
    db.execute("COMMIT")
    box.start().following()
    writers = [subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "writer.py"),
                                 path, KEY.hex(), str(writer), str(settings.seed), box.folder]) for writer in range(3)]
    largest = 0
    try:
        end, limit = time.monotonic() + SECONDS, time.monotonic() + 300
        # Until enough was written, and stored by the job, on a slow machine too.
        while time.monotonic() < end or (len(commits(box)) < COMMITS or len(box.snapshots()) < 3) and time.monotonic() < limit:
            time.sleep(0.1)
            largest = max(largest, os.path.getsize(path + "-wal"))
    finally:
        with open(box.path("stop"), "w"):
            pass
        codes = [writer.wait(240) for writer in writers]
    expect(codes == [0, 0, 0], f"the writers ended with {codes}")
    took = box.stop()
    log = commits(box)
    known = box.known()
    expect(known["gaps"] == 0 and known["lost"] == 0, known)
    expect(len(log) >= COMMITS, f"only {len(log)} commits")
    listed = box.snapshots()
    expect(len(listed) >= 3 and not any("gap" in snapshot for snapshot in listed), listed)
    # Of the first snapshot of the run (the job may have taken one just before): its segments reach to the end, so the run was
    # never broken.
    first = next(snapshot for snapshot in listed[:2] if "log_until" in snapshot)
    begin, reach = seconds(first["time"]), seconds(first["log_until"])
    last = max(end for _, _, _, end in log)
    expect(all(abs(seconds(snapshot["log_until"]) - reach) < 0.002 for snapshot in listed if "log_until" in snapshot), listed)
    live = read(path)
    expect(restore(box) == live, "the newest state is not that of the database")
    looks = box.looks()
    for _ in range(POINTS):
        point = random.uniform(begin + 0.01, last / 1000 + 0.5)
        found = restore(box, "--at", stamp(point))
        milliseconds = int(point * 1000)
        # What had ended when the follower looked last before it; that was not long before it, either.
        latest = max([begin, point - INTERVAL - SLACK, *(look for look in looks if look < point - 0.002)]) - 0.002
        for writer in range(3):
            mine = [(begun, ended) for who, _, begun, ended in log if who == writer]
            least = sum(ended <= latest * 1000 for _, ended in mine)
            most = sum(begun <= milliseconds + 2 for begun, _ in mine)
            expect(least <= found[writer] <= most,
                   f"at {stamp(point)} writer {writer} has {found[writer]} commits, not {least} to {most}")
    checked = box.litevault("check", *box.options, "--read-data")
    expect(checked["intact"], checked)
    db.close()
    return (f"{len(log)} commits, {known['segments']} segments, {len(listed)} snapshots, largest log {largest >> 10} KiB, "
            f"ended in {took:.1f} s")


def commits(box):
    found = []
    for writer in range(3):
        try:
            with open(box.path(f"commits-{writer}")) as file:
                lines = file.read().split("\n")[:-1]  # The last may be half written.
        except FileNotFoundError:
            continue
        found += [(writer, *map(int, line.split())) for line in lines]
    return found


def restore(box, *selection):
    out = box.path(f"restored-{time.monotonic_ns()}.db")
    box.litevault("restore", *box.options, *selection, out)
    try:
        return read(out)
    finally:
        os.unlink(out)


def read(path):
    """The writers' counters; the database has to be whole."""
    db = judge.connect(path, KEY)
    try:
        broken = db.execute("PRAGMA cipher_integrity_check").fetchall()
        expect(not broken, lambda: f"pages do not authenticate: {broken[:2]}")
        found = db.execute("PRAGMA integrity_check").fetchall()
        expect(found == [("ok",)], lambda: f"integrity_check: {found[:2]}")
        total = db.execute("SELECT sum(amount) FROM account").fetchone()[0]
        expect(total == 400 * 100, lambda: f"the sum of all amounts is {total}")
        return [n for _, n in db.execute("SELECT writer, n FROM counter ORDER BY writer")]
    finally:
        db.close()
