"""The follower is ended and started again, many times, while the application keeps its connection: nothing is missed."""
import os
import signal
import subprocess
import sys
import time

import reader
from faults import judge
from faults.report import expect

from .box import INTERVAL, Box, Database, state_of

RESTARTS = int(os.environ.get("LITEVAULT_RESTARTS") or 40)
# Seconds between two commits: the log is never checkpointed, and has to stay below its limit.
PAUSE = 0.01 * max(1, RESTARTS / 100)


def run(report, settings, folder):
    def bound(name, body):
        def case():
            box = Box(settings, folder, name=name, follow={"interval": "50ms"})
            try:
                return body(settings, box)
            finally:
                box.remove()
        return case
    report.cases([
        (f"{RESTARTS} restarts at random, by SIGTERM and SIGKILL: one snapshot, no gap, and each state is exact",
         bound("many", many)),
        ("a restart while nothing is committed stores nothing", bound("idle", idle)),
        ("a checkpoint and a reset of the log while nobody follows are a gap that says why", bound("reset", reset)),
        ("an application that was killed and recovered its log meanwhile is followed without a gap", bound("crash", crash)),
    ])


def objects(box):
    """What the repository has that a store would charge for."""
    return sorted(os.path.join(place, name) for part in ("segments", "snapshots", "data", "tree")
                  for place, _, names in os.walk(os.path.join(box.repository, part)) for name in names if name[0] != ".")


def many(settings, box):
    random = settings.random("restarts")
    db = Database(box.path("db/app.db"))
    db.connection.execute("PRAGMA wal_autocheckpoint = 0")
    begun = time.monotonic()
    box.start().following()
    # On a slow machine most would be ended before they follow.
    slower = max(1, (time.monotonic() - begun) / 0.6)
    box.ran()
    for turn in range(RESTARTS):
        end = time.monotonic() + random.uniform(0, 0.6 * slower)
        while time.monotonic() < end:
            db.commit()
            time.sleep(PAUSE * slower)
        if turn % 2:
            box.stop(signal.SIGKILL, -9)
        else:
            box.stop(may_be_starting=True)
        for _ in range(random.randrange(4)):
            db.commit()
        box.start()
        if turn % 5 == 0:
            box.following()
    box.following()
    db.commit()
    box.stop()
    listed = box.snapshots()
    # The job's own, which is due at once, and the one that following began with.
    expect(len(listed) <= 2, f"{len(listed)} snapshots")
    expect(not any("gap" in one for one in listed), listed)
    expect(box.restored() == len(db.commits), "the last commit is missing")
    expect(state_of(box.path("db/app.db")) == len(db.commits), "the source was changed")
    for _ in range(8):
        # Times are those at which commits were seen: after a pause, all at once.
        moment = random.uniform(db.commits[2][1] + INTERVAL, db.commits[-1][1])
        found = box.at(moment)
        most = sum(begin <= moment + 0.002 for begin, _ in db.commits)
        expect(0 <= found <= most, f"{found} commits, not {most} at most")
    checked = box.litevault("check", *box.options, "--read-data")
    expect(checked["intact"], lambda: f"check: {checked}")
    # The same by the page on the format: one run, without a hole.
    repository = reader.Repository(box.repository)
    segments = list(repository.log(repository.database("app.db")))
    expect(len({one["run"] for one in segments}) == 1 and segments[0]["place"] == 0, "more than one run")
    expect(all("end" in one for one in segments) and len(segments) >= RESTARTS // 2, f"{len(segments)} segments")
    db.close()
    return f"{RESTARTS} restarts, {len(db.commits)} commits, {len(listed)} snapshots, 0 gaps"


def idle(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    time.sleep(0.3)
    box.ran().stop()
    before = objects(box)
    for _ in range(3):
        box.start().following()
        box.stop()
    expect(objects(box) == before, lambda: f"stored: {set(objects(box)) - set(before)}")
    db.close()


def reset(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    time.sleep(0.3)
    box.stop()
    db.commit()
    db.checkpoint("RESTART")
    db.commit()
    box.start().following()
    db.commit()
    box.stop()
    gaps = [one["gap"]["reason"] for one in box.snapshots() if "gap" in one]
    expect(len(gaps) == 1 and "reset" in gaps[0], gaps)
    expect(box.restored() == len(db.commits), "the last commit is missing")
    db.close()
    return gaps[0]


def crash(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    time.sleep(0.3)
    # The follower keeps the log.
    db.close()
    number = len(db.commits)
    dies(db, lambda: box.stop(signal.SIGKILL, -9) if box.child else None)
    # The next one recovers the log, and dies as well.
    dies(db, lambda: None)
    db.connection = judge.connect(db.path, db.key)
    db.commit()
    box.start().following()
    db.commit()
    box.stop()
    expect(len(db.commits) == number + 6, f"{len(db.commits)} commits")
    expect(not any("gap" in one for one in box.snapshots()), box.snapshots())
    expect(box.restored() == len(db.commits), "the last commit is missing")
    db.close()


# Not a fork: another case's thread may hold a lock of the engine just then, which nobody releases in the child.
DIES = """
import os, signal, sys
path, key, commits, rows, *places = sys.argv[1:]
sys.path[:0] = places
from faults import judge
from follow.box import Database
db = Database.__new__(Database)
db.connection, db.rows, db.commits = judge.connect(path, bytes.fromhex(key)), int(rows), [None] * int(commits)
db.commit()
print("committed", flush=True)
sys.stdin.readline()
db.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


def dies(db, between):
    """A process that commits twice, and dies with its connection open; `between` is called between the commits."""
    with subprocess.Popen([sys.executable, "-c", DIES, db.path, db.key.hex(), str(len(db.commits)), str(db.rows), *sys.path],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        expect(child.stdout.readline() == b"committed\n", "it did not commit")
        between()
        child.stdin.write(b"\n")
    expect(child.returncode == -signal.SIGKILL, lambda: f"exit {child.returncode}")
    now = time.time()
    db.commits += [(now, now)] * 2
