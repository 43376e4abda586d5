"""What a user sees of continuous mode."""
import os
import shutil
import signal
import subprocess
import threading
import time

from faults import judge
from faults.report import Skip, expect

from .box import INTERVAL, KEY, SLACK, Box, Database, seconds, state_of, until

OTHER = bytes(range(101, 133))


def run(report, settings, folder):
    cases = [
        ("every commit is restored by its time, and the last look is before the end", points),
        ("a signal during the hook of another job stores the last commits before the end", interrupted_hook),
        ("a restart without its log is a gap that is recorded, with a snapshot after it", restart),
        ("a database that is not there yet, and not in WAL mode yet, is followed when it is", later),
        ("a database that is removed and recreated is a gap, and is followed again", recreated),
        ("a log that is left beside another database is an error until it is removed", left_log),
        ("it is one while a connection still has the former file open", lambda *box: left_log(*box, is_open=True)),
        ("it is one if there was no file for a while", lambda *box: left_log(*box, is_removed=True)),
        ("a link that is switched to another file is a gap, and that file is followed", switched),
        ("unchanged: skip sees commits in the log of a database behind a link", skipped),
        ("across a rekey and a VACUUM nothing is missed, and each time has its key", rekeyed),
        ("a database that cannot be followed stops no other, and is reported everywhere", isolation),
        ("databases beyond the limit are reported, and the others followed", too_many),
        ("retention drops the segments of snapshots that are gone, and no others", retention),
        ("at its limit a log is released, which is a gap, and followed again", limit),
        ("a transaction larger than the spool is a gap, and the next snapshot has it", large),
        ("two jobs that follow one database into one repository are refused", twice),
        ("run-due takes snapshots only and says so, and the units run what follows", due_and_units),
    ]

    report.cases([(name, lambda index=index, body=body: in_place(folder, f"case-{index}", lambda place: body(settings, place)))
                  for index, (name, body) in enumerate(cases)])


def in_place(folder, name, body):
    """What the body returns, with a directory of its own: that and the boxes in it are gone afterwards."""
    place = os.path.join(folder, name)
    os.mkdir(place)
    try:
        return body(place)
    finally:
        for box in Boxes.of(place):
            box.remove()
        shutil.rmtree(place, ignore_errors=True)


class Boxes:
    """The boxes of a case: whatever fails, their processes end."""
    all = []
    lock = threading.Lock()

    @classmethod
    def make(cls, settings, folder, *arguments, **more):
        box = Box(settings, folder, *arguments, **more)
        with cls.lock:
            cls.all.append((folder, box))
        return box

    @classmethod
    def of(cls, folder):
        with cls.lock:
            return [box for place, box in cls.all if place == folder]


def points(settings, folder):
    box = Boxes.make(settings, folder)
    db = Database(box.path("db/app.db"))
    box.start().following()
    times, labels = [], []
    for number in range(6):
        before, known = time.time(), set(box.looks())
        time.sleep(INTERVAL * 2)
        db.commit()
        # Each commit has a segment before the next one begins, so that the state at each time is exactly one.
        # On a busy machine the look may have begun, and have its time, before the commit did.
        look = min(until("a segment", lambda: set(box.looks()) - known))
        before = min(before, look - 0.001)
        late = look - db.commits[-1][1]
        expect(late <= INTERVAL + SLACK, f"commit {number + 1} was seen {late:.1f} s late")
        time.sleep(0.01)
        times.append((before, time.time()))
        labels.append(look)
        if len(times) == 3:
            db.checkpoint("TRUNCATE")
    # Committed, and at once asked to end.
    known = set(box.looks())
    last = db.commit()
    took = box.stop()
    labels.append(min(set(box.looks()) - known))
    listed = box.snapshots()
    # The job, which is due at once, may have taken one before the follower began.
    expect(len(listed) <= 2 and not any("gap" in one for one in listed) and "log_until" in listed[-1], listed)
    expect(box.restored() == last, "the last commit is missing")
    expect(box.restored("--snapshot", listed[0]["id"]) == 0, "a snapshot by its id has no more than itself")
    for number, (before, after) in enumerate(times, 1):
        # The look with the next commit may have begun before it, too.
        found = box.at(before), box.at(min(after, labels[number] - 0.001))
        expect(found == (number - 1, number), f"{found} commits before and after number {number}")
    status = box.litevault("schedule", "status", box.config)["jobs"][0]
    follow = status["follow"]
    expect(follow["interval"] == INTERVAL and follow["running"] is False, follow)
    one = follow["databases"][0]
    expect(one["state"] == "ended" and one["lost"] == 0 and one["gaps"] == 0 and one["segments"] >= 4, one)
    text = subprocess.run([settings.tool, "schedule", "status", box.config], capture_output=True, text=True,
                          env=box.environment()).stdout
    expect("every 100ms" in text and "NOT RUNNING" in text, text)
    with open(box.path("metrics.prom")) as file:
        metrics = file.read()
    expect('litevault_follower_gaps_total{job="app",database="app.db"} 0' in metrics, metrics)
    db.close()
    return f"ended in {took:.1f} s"


def interrupted_hook(settings, folder):
    # hazard: H-JOB-42
    box = Boxes.make(settings, folder, follow={"interval": "5s"})
    marker = box.path("marker")
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"},
                   {"name": "other", "sources": "other/*.db", "every": "1h", "allow-none": True,
                    "hooks": {"before": f"touch {marker}; exec sleep 600"}}], {"interval": "5s"})
    db = Database(box.path("db/app.db"))
    box.start().ran().following()
    until("the hook", lambda: os.path.exists(marker))
    # Within the interval, unless the follower looks just now.
    last = db.commit()
    took = box.stop()
    expect(took < 60, f"it ended {took:.1f} s after the signal")
    expect(box.restored() == last, "the last commit is missing")
    one = box.known()
    expect(one["state"] == "ended" and one["lost"] == 0, one)
    jobs = box.litevault("schedule", "status", box.config)["jobs"]
    expect(jobs[1]["last_run"] is None, jobs[1])
    db.close()


def restart(settings, folder):
    box = Boxes.make(settings, folder)
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    box.stop(signal.SIGINT, 130)
    before = time.time()
    db.commit()
    db.checkpoint("TRUNCATE")
    time.sleep(0.05)
    box.start().following()
    db.commit()
    box.stop()
    listed = box.snapshots()
    gaps = [snapshot["gap"] for snapshot in listed if "gap" in snapshot]
    expect(len(gaps) == 1 and gaps[0]["reason"].startswith("no follower was running, and the log was reset") and seconds(gaps[0]["since"]) < before, listed)
    expect(box.known()["last_gap_reason"] == gaps[0]["reason"], box.known())
    expect(box.at(before) == 1 and box.restored() == 3, "not what was committed")
    text = subprocess.run([settings.tool, "snapshots", *box.options], capture_output=True, text=True,
                          env=box.environment()).stdout
    expect("after a gap" in text and "every commit to" in text, text)
    db.close()


def later(settings, folder):
    box = Boxes.make(settings, folder).start()
    time.sleep(0.5)
    expect(box.child.poll() is None, lambda: box.tail())
    db = Database(box.path("db/app.db"), wal=False)
    found = until(lambda: box.known(), lambda: box.known()["state"] == "waiting" and box.known())
    expect("write-ahead log" in found["reason"], found)
    db.commit()  # The follower holds nothing that would block it.
    db.connection.execute("PRAGMA journal_mode = WAL").fetchall()
    db.commit()
    box.following()
    db.commit()
    box.stop()
    expect(box.restored() == 3, "not what was committed")
    expect(not any("gap" in snapshot for snapshot in box.snapshots()), box.snapshots())
    db.close()


def recreated(settings, folder):
    box = Boxes.make(settings, folder)
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    time.sleep(INTERVAL * 4)
    until("a segment", lambda: box.restored() == 1)
    before = time.time()
    db.close()
    for name in os.listdir(box.path("db")):
        os.unlink(box.path("db/" + name))
    until(lambda: box.status(), lambda: box.known()["state"] != "following")
    db = Database(box.path("db/app.db"))
    box.following()
    db.commit()
    db.commit()
    box.stop()
    expect(box.at(before) == 1 and box.restored() == 2, "not what was committed")
    gaps = [snapshot["gap"]["reason"] for snapshot in box.snapshots() if "gap" in snapshot]
    expect(len(gaps) >= 1, box.snapshots())
    db.close()
    return f"{gaps[0]}"


def digest(path):
    connection = judge.connect(path, KEY)
    try:
        return (connection.execute("SELECT count(*), ifnull(max(n), 0) FROM moved").fetchall(),
                connection.execute("SELECT id, amount, hex(filler) FROM account ORDER BY id").fetchall())
    finally:
        connection.close()


def copy_over(source, target):
    """In place, by another process: a descriptor that this one closes would drop the locks of its connections."""
    subprocess.run(["cp", source, target], check=True)


# hazard: H-BAK-31, H-BAK-32, H-BAK-33
def left_log(settings, folder, is_open=False, is_removed=False):
    box = Boxes.make(settings, folder, job={"every": "2s", "retry": "1s"})
    db = Database(box.path("db/app.db"))
    db.commit()
    db.checkpoint("TRUNCATE")
    other = box.path("other")
    copy_over(db.path, other)
    box.start().following()
    box.ran()
    db.commit()
    until("a segment", lambda: box.restored() == 2)
    if not is_open:
        db.close()
    if is_removed:
        os.unlink(db.path)
        until(lambda: box.known(), lambda: box.known()["state"] == "unknown")
    os.rename(other, db.path)
    failed = until(lambda: box.known(), lambda: box.known()["state"] == "failed" and box.known())
    expect("is still beside it: remove its -wal and -shm before it is opened" in failed["reason"], failed)
    box.litevault("schedule", "status", box.config, "--check", status=1)
    until("a run that refuses the two", lambda: any(
        failure["step"] == "snapshot" and "is still beside it" in failure["message"] for failure in
        box.litevault("schedule", "status", box.config)["jobs"][0]["failures"]))
    before = len(box.snapshots())
    time.sleep(INTERVAL * 10)
    expect(box.known()["state"] == "failed" and len(box.snapshots()) == before, box.known())
    for ending in ("-wal", "-shm"):
        os.unlink(db.path + ending)
    if is_open:
        db.close()
    until(lambda: box.known(), lambda: box.known()["state"] == "waiting")
    db = judge.connect(db.path, KEY)
    db.execute("PRAGMA busy_timeout = 20000")
    expect(db.execute("SELECT count(*) FROM moved").fetchone() == (1,), "the removed log was applied")
    db.execute("INSERT INTO moved VALUES (2)")
    db.execute("INSERT INTO moved VALUES (3)")
    box.following()
    until("the commits", lambda: box.restored() == 3)
    expect(len(box.snapshots()) > before, box.snapshots())
    box.stop()
    expect(any(line["level"] == "error" and "is still beside it" in line["message"] for line in box.logged()), box.tail)
    db.close()


# hazard: H-WAL-10
def switched(settings, folder):
    box = Boxes.make(settings, folder, job={"sources": "links/app.db"})
    os.mkdir(box.path("links"))
    first = Database(box.path("data/v1.db"))
    os.symlink("../data/v1.db", box.path("links/app.db"))
    box.start().following()
    first.commit()
    until("a segment", lambda: box.restored() == 1)
    first.checkpoint()
    first.close()
    copy_over(box.path("data/v1.db"), box.path("data/v2.db"))
    os.symlink("../data/v2.db", box.path("links/new"))
    os.rename(box.path("links/new"), box.path("links/app.db"))
    second = judge.connect(box.path("links/app.db"), KEY)
    second.execute("PRAGMA busy_timeout = 20000")
    for number in range(2, 6):
        second.execute("INSERT INTO moved VALUES (?)", (number,))
    until("the commits in the other file", lambda: box.known()["gaps"] > 0 and box.restored() == 5)
    box.following()
    second.execute("INSERT INTO moved VALUES (6)")
    until("a segment of the other file", lambda: box.restored() == 6)
    second.close()
    box.stop()
    expect(any("was replaced" in one["gap"]["reason"] for one in box.snapshots() if "gap" in one), box.snapshots())


# hazard: H-JOB-40
def skipped(settings, folder):
    box = Boxes.make(settings, folder)
    box.configure([{"name": "app", "sources": "links/*.db", "every": "1s", "unchanged": "skip", "follow": False}])
    os.mkdir(box.path("links"))
    db = Database(box.path("data/app-v1.db"))
    db.commit()
    db.checkpoint("TRUNCATE")
    db.close()
    os.symlink("../data/app-v1.db", box.path("links/app.db"))

    def due():
        time.sleep(3.2)
        return box.litevault("schedule", "run-due", box.config)
    due()
    expect(box.restored() == 1, "not stored")
    db = judge.connect(box.path("links/app.db"), KEY)
    db.execute("PRAGMA busy_timeout = 20000")
    db.execute("INSERT INTO moved VALUES (2)")
    due()
    expect(box.restored() == 2, "the commit in the log was not stored")
    db.close()


def rekeyed(settings, folder):
    box = Boxes.make(settings, folder)
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit()
    until("a segment", lambda: box.restored() == 1)
    before = time.time()
    time.sleep(INTERVAL * 2)
    db.connection.execute(f"PRAGMA rekey = \"x'{OTHER.hex()}'\"").fetchall()
    db.commit()
    time.sleep(INTERVAL * 3)
    db.connection.execute("VACUUM")
    db.commit()
    box.stop()
    expect(box.at(before) == 1, "not what was committed before")
    expect(box.restored(key=OTHER) == 3, "not what was committed after")
    expect(box.known()["gaps"] == 0 and not any("gap" in one for one in box.snapshots()), box.known())
    db.close()


def isolation(settings, folder):
    box = Boxes.make(settings, folder, job={"every": "2s", "retry": "1s"})
    db = Database(box.path("db/app.db"))
    plain = Database(box.path("db/plain.db"), key=None)
    with open(box.path("db/broken.db"), "w") as file:
        file.write("no database\n" * 500)
    box.start().following()
    failed = until(lambda: box.status(), lambda: box.known("plain.db")["state"] == "failed" and box.known("plain.db"))
    expect(failed["code"] == "wrong-kind" and "not encrypted" in failed["reason"], failed)
    # Each database has a follower of its own: one may fail before the other.
    until(lambda: box.status(), lambda: box.known("broken.db")["state"] == "failed")
    db.commit()
    plain.commit()
    error = box.litevault("schedule", "status", box.config, "--check", status=1)
    expect(error["jobs"][0]["follow"]["well"] is False, error)
    until("a run of the job that tells it", lambda: any(
        failure["step"] == "follow" for failure in
        box.litevault("schedule", "status", box.config)["jobs"][0]["failures"]))

    def metrics():
        with open(box.path("metrics.prom")) as file:
            return file.read()
    # They are written after the state.
    until(metrics, lambda: 'litevault_follower_up{job="app",database="plain.db"} 0' in metrics())
    until(metrics, lambda: 'litevault_follower_up{job="app",database="app.db"} 1' in metrics())
    box.stop()
    expect(any(line["level"] == "error" and line.get("step") == "follow" and line["database"] == "plain.db"
               for line in box.logged()), box.tail)
    expect(box.restored() == 1, "not what was committed")
    expect([one["database"] for one in box.litevault("snapshots", *box.options)["snapshots"]].count("plain.db") == 0,
           "what everybody can read is in the repository")
    stored = sum(len(files) for _, _, files in os.walk(box.repository + "/segments"))
    mine = len({one for one in os.listdir(box.repository + "/segments")})
    expect(stored and mine == 1, "segments of a database that everybody can read are in the repository")
    db.close()
    plain.close()


def too_many(settings, folder):
    box = Boxes.make(settings, folder, follow={"most": 2})
    dbs = [Database(box.path(f"db/{name}.db")) for name in "abc"]
    box.start().following("a.db")
    box.following("b.db")
    status = until(lambda: box.status(), lambda: box.status() if "problem" in box.status() else None)
    expect("3 databases" in status["problem"]["message"] and "most" in status["problem"]["remedy"], status)
    expect(len(status["databases"]) == 2 and not status["well"], status)
    box.stop()
    for db in dbs:
        db.close()


def retention(settings, folder):
    box = Boxes.make(settings, folder, job={"every": "1s", "retention": {"last": 2, "prune": False}})
    db = Database(box.path("db/app.db"))
    box.start().following()
    first = seconds(box.snapshots()[0]["time"])

    def manifests():
        return {name for _, _, names in os.walk(box.repository + "/snapshots") for name in names if name[0] != "."}
    at_first = manifests()
    end, limit = time.monotonic() + 6, time.monotonic() + 120
    # On a slow machine a run of the job takes longer than its interval.
    while time.monotonic() < end or at_first & manifests() and time.monotonic() < limit:
        db.commit()
        time.sleep(0.08)
    # The newest snapshots have all commits before it, if the job was quicker: none would have a log behind it.
    db.commit()
    box.stop()
    listed, ranges = box.judge_all(db, settings.random("retention"), points=4)
    # The newest, that before it, and one that is verified, if any.
    expect(2 <= len(listed) <= 3 and ranges, listed)
    oldest = seconds(listed[0]["time"])
    expect(oldest > first, "nothing was forgotten")
    looks = box.looks()
    early = [look for look in looks if look < oldest - 1.1]
    expect(looks and not early, f"{len(early)} of {len(looks)} segments are of snapshots that are gone")
    expect(box.restored() == len(db.commits), "the newest state is not there")
    db.close()


def limit(settings, folder):
    box = Boxes.make(settings, folder, follow={"log-limit": "1MiB"})
    db = Database(box.path("db/app.db"))
    reader = judge.connect(db.path, KEY)
    box.start().following()
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM moved").fetchall()
    end = time.monotonic() + 120
    while box.known()["gaps"] == 0:
        expect(time.monotonic() < end, "no gap")
        for _ in range(10):
            db.commit("UPDATE account SET filler = randomblob(900)")
    gap = box.known()
    expect(gap["state"] in ("waiting", "attached", "following") and "limit" in gap["last_gap_reason"], gap)
    reader.execute("COMMIT")
    reader.close()
    db.checkpoint("TRUNCATE")
    db.commit()
    box.following()
    db.commit()
    box.stop()
    expect(box.restored() == len(db.commits), "not what was committed")
    expect(any("limit" in snapshot["gap"]["reason"] for snapshot in box.snapshots() if "gap" in snapshot), box.snapshots())
    box.judge_all(db, settings.random("limit"), points=3)
    db.close()


def large(settings, folder):
    box = Boxes.make(settings, folder, follow={"spool-limit": "1MiB"})
    db = Database(box.path("db/app.db"))
    box.start().following()
    db.commit("CREATE TABLE big AS SELECT randomblob(1000) FROM account a, account b")
    until(lambda: box.known(), lambda: box.known()["gaps"] > 0)
    box.following()
    db.commit()
    box.stop()
    expect(box.restored() == 2, "not what was committed")
    expect(any("wait to be stored" in one["gap"]["reason"] for one in box.snapshots() if "gap" in one), box.snapshots())
    db.close()


def twice(settings, folder):
    jobs = [{"name": name, "sources": "db/*.db", "every": "1h"} for name in ("one", "two")]
    box = Boxes.make(settings, folder, jobs=jobs)
    Database(box.path("db/app.db")).close()
    for command in ("run", "run-due", "status"):
        error = box.litevault("schedule", command, box.config, status=78)["error"]
        expect(error["code"] == "config" and "'two' and 'one' both follow" in error["message"], f"{command}: {error}")
    expect(not os.path.exists(box.repository), "something was stored")


def due_and_units(settings, folder):
    box = Boxes.make(settings, folder)
    db = Database(box.path("db/app.db"))
    done = subprocess.run([settings.tool, "schedule", "run-due", box.config], capture_output=True, text=True,
                          env=box.environment(), timeout=60)
    expect(done.returncode == 0 and "only 'schedule run' follows" in done.stderr, done.stderr)
    expect(len(box.snapshots()) == 1, box.snapshots())
    error = box.litevault("schedule", "status", box.config, "--check", status=1)
    expect(error["jobs"][0]["follow"]["running"] is False, error)
    printed = box.litevault("schedule", "print-units", box.config, "--tool", settings.tool)
    expect("schedule run /" in printed["service"] and "Type=exec" in printed["service"], printed["service"])
    expect(printed["timer"] is None and printed["cron"].startswith("@reboot ") and "run-due" not in printed["cron"], printed)
    db.close()
    if not shutil.which("systemd-analyze"):
        return "this machine has no systemd-analyze to read the unit"
    with open(box.path("follow.service"), "w") as file:
        file.write(printed["service"])
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", file.name], capture_output=True, text=True)
    expect(checked.returncode == 0 and "follow.service" not in checked.stderr, checked.stderr)
