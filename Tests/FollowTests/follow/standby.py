"""`litevault follow-restore`: a copy that is kept current without the key, while readers with the key have it open."""
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from faults import disk, judge, powerloss, tracing
from faults.report import Skip, expect

from .box import KEY, Box, Database, state_of, until
from .kills import Writer

KILLS = 20
STATES = 6  # What a disk may hold after a power failure, for each kill; all of it with LITEVAULT_FAULT_FULL.
INJECTIONS = 10  # Cases, chosen at random; all of them with LITEVAULT_FAULT_FULL.
STAGES = "first restore", "segments", "gap", "replacement"
# How many of each call a thread of the command makes about.
CALLS = {"pwrite64": 34, "fsync": 8, "ftruncate": 2, "renameat": 4, "renameat2": 2}

# Reads until a file appears, and prints what it saw: a sum or a count that is wrong, or a state before one it saw.
READER = """
import os, sys, time
sys.path[:0] = sys.argv[3:]
from faults import judge
path, stop = sys.argv[1:3]
key = bytes(range(1, 33))
db, reads, last, changes, wrong = None, 0, 0, 0, []
while not os.path.exists(stop):
    if not db:
        db = judge.connect(path, key)
        db.execute("PRAGMA busy_timeout = 60000")
    db.execute("BEGIN")
    total = db.execute("SELECT sum(amount), count(*) FROM account").fetchone()
    count, most = db.execute("SELECT count(*), ifnull(max(n), 0) FROM moved").fetchone()
    if reads % 40 == 0:
        time.sleep(0.1)
        if db.execute("SELECT count(*) FROM moved").fetchone()[0] != count: wrong.append("changed within a transaction")
        if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]: wrong.append("integrity_check")
        if db.execute("PRAGMA cipher_integrity_check").fetchall(): wrong.append("cipher_integrity_check")
    db.execute("COMMIT")
    if total != (5000, 50) or count != most: wrong.append((total, count, most))
    if count < last: wrong.append(f"{count} after {last}")
    changes += count != last
    last, reads = count, reads + 1
    if reads % 97 == 0:
        db.close()
        db = None
    time.sleep(0.002)
print(reads, changes, wrong[:3])
"""


class Standby:
    """The command, and readers of what it keeps."""

    def __init__(self, box, name="standby.db"):
        self.box, self.path = box, box.path(name)
        self.child, self.readers = None, []
        self.log = box.path(name + ".log")

    def arguments(self, *more):
        return [self.box.settings.tool, "follow-restore", *self.box.options, "--database", "app.db", "--json", *more, self.path]

    def start(self, *prefix, interval="0.1s"):
        self.child = subprocess.Popen(
            [*prefix, *self.arguments("--interval", interval)], stdin=subprocess.DEVNULL, stdout=open(self.log, "ab"),
            stderr=subprocess.STDOUT, env=self.box.environment())
        return self

    def once(self, status=0, command=()):
        done = subprocess.run([*command, *self.arguments("--once")], stdin=subprocess.DEVNULL, capture_output=True,
                              env=self.box.environment(), timeout=120)
        expect(status is None or done.returncode == status,
               lambda: f"exit {done.returncode} instead of {status}: {done.stderr.decode()[-400:]}")
        return done.returncode, done.stdout.decode() + done.stderr.decode()

    def events(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, "rb") as file:
            return [json.loads(line) for line in file.read().splitlines() if line.startswith(b"{") and line.endswith(b"}")]

    def stop(self, number=signal.SIGTERM):
        if self.child:
            self.child.send_signal(number)
            self.child.wait(120)
            self.child = None

    def started(self, count):
        """Waits for the `count`-th start to have its database."""
        def has_begun():
            expect(self.child.poll() is None, lambda: f"it ended with {self.child.returncode}: {self.events()[-1:]}")
            return sum(event.get("reason") == "started" for event in self.events()) >= count
        until("started", has_begun)

    def count(self):
        """The commits of a reader that neither checkpoints nor closes last, if the standby runs."""
        db = judge.connect(self.path, KEY)
        try:
            db.execute("PRAGMA busy_timeout = 60000")
            return db.execute("SELECT count(*) FROM moved").fetchone()[0]
        finally:
            db.close()

    def reaches(self, number):
        until(lambda: f"{number} commits: {self.count()}, {self.events()[-2:]}", lambda: self.count() == number)

    def read(self, readers=2):
        tests = os.path.join(self.box.settings.root, "Tests")
        for index in range(readers):
            self.readers.append(subprocess.Popen(
                [sys.executable, "-c", READER, self.path, self.box.path("stop"), os.path.join(tests, "FaultTests")],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))

    def judge_readers(self):
        open(self.box.path("stop"), "w").close()
        results = [reader.communicate(timeout=240)[0].decode().strip() for reader in self.readers]
        os.unlink(self.box.path("stop"))
        self.readers = []
        for result in results:
            expect(result.endswith("[]"), lambda: f"a reader: {result[-400:]}")
        return "; ".join(f"{reads} reads of {states} states" for reads, states, _ in (one.split(" ", 2) for one in results))

    def remove(self):
        for process in [self.child, *self.readers]:
            if process:
                process.kill()
                process.wait()


def run(report, settings, folder):
    def case(name, body):
        def one():
            box = Box(settings, folder, name=name.split(" ")[0] + f"-{next(numbers)}", follow={"interval": "50ms"})
            standby = Standby(box)
            try:
                return body(settings, box, standby)
            finally:
                standby.remove()
                box.remove()
        cases.append((name, one))
    numbers, cases = itertools.count(), []
    case("readers see commits only, through kills and restarts that restore nothing", kills)
    case("a checkpoint by the last reader is gone on from", checkpoints)
    case("what else has written to the copy is refused, and cannot while it is kept", writers)
    case("after a gap readers see the newer state as one commit", gaps)
    case("a look behind a gap takes the snapshot that no segment leads to", behind)
    case("a damaged segment ends it, at the last commit before", damage)
    case("joined segments are applied", joined)
    case("a database that is not in WAL mode is replaced when nobody has it open", snapshots)
    case("H-BAK-19 what a standby that was killed has not synced is durable before another one records it", unsynced)
    case("lag", lag)
    report.cases(cases)
    injected(report, settings, folder)


def followed(box, path="db/app.db"):
    db = Database(box.path(path))
    box.start().following()
    return db


def kills(settings, box, standby):
    random = settings.random("standby kills")
    writer = Writer(box.path("db/app.db"))
    try:
        box.start().following()
        standby.start().started(1)
        standby.read()
        until("25 commits of it", lambda: sum(event["state"] == "applied" for event in standby.events()) >= 25)
        for turn in range(KILLS):
            time.sleep(random.uniform(0.02, 0.9))
            if standby.child.poll() is None:
                standby.stop(signal.SIGKILL)
            if turn % 5 == 4:
                # Nobody keeps it: what readers see is a commit, also by a connection that recovers and checkpoints.
                state_of(standby.path)
            # Counted before the start, which may have been told when it is looked at.
            before = sum(event.get("reason") == "started" for event in standby.events())
            standby.start()
            if turn % 4 == 0:
                standby.started(before + 1)
        time.sleep(1)
    finally:
        writer.stop()
    commits = len(writer.db.commits)
    standby.reaches(commits)
    told = standby.judge_readers()
    restored = [event for event in standby.events() if event["state"] == "restored" and event["reason"] != "started"]
    expect(not restored, lambda: f"restored again: {restored[:2]}")
    applied = sum(event.get("segments") or 0 for event in standby.events())
    standby.stop()
    expect(state_of(standby.path) == commits, "not what was committed")
    return f"{commits} commits, {applied} segments told, {KILLS} kills; {told}"


def checkpoints(settings, box, standby):
    db = followed(box)
    for _ in range(5):
        db.commit()
    standby.start().started(1)
    standby.reaches(5)
    for turn in range(3):
        standby.stop(signal.SIGKILL if turn else signal.SIGTERM)
        expect(state_of(standby.path) == len(db.commits), "another state")
        expect(not os.path.exists(standby.path + "-wal"), "the last reader left a log")
        db.commit()
        standby.start()
        standby.reaches(len(db.commits))
    # A log that grows is copied into the file, beside a reader that keeps its state.
    reader = judge.connect(standby.path, KEY)
    reader.execute("BEGIN")
    before = reader.execute("SELECT count(*) FROM moved").fetchone()
    for _ in range(3):
        db.commit("UPDATE account SET filler = randomblob(60000)")
        standby.reaches(len(db.commits))
    expect(reader.execute("SELECT count(*) FROM moved").fetchone() == before, "the reader's state changed")
    reader.execute("COMMIT")
    sizes = []
    # A reader that has the log open at that moment, as `reaches` does again and again, puts it off to a later round.
    while len(sizes) < 40 and (len(sizes) < 2 or sizes[-1] != sizes[-2]):
        db.commit("UPDATE account SET filler = randomblob(60000)")
        standby.reaches(len(db.commits))
        sizes.append(os.path.getsize(standby.path + "-wal"))
    expect(sizes[-1] == sizes[-2], lambda: f"its log was not begun again: {sizes}")
    db.commit("UPDATE account SET filler = randomblob(100)")
    db.connection.execute("VACUUM")
    db.commit()
    standby.reaches(len(db.commits))
    reader.close()
    standby.stop()
    expect(state_of(standby.path) == len(db.commits), "another state")
    restored = [event for event in standby.events() if event["state"] == "restored" and event["reason"] != "started"]
    expect(not restored, lambda: f"restored again: {restored}")


def writers(settings, box, standby):
    db = followed(box)
    db.commit()
    standby.start().started(1)
    db.commit()
    standby.reaches(2)
    other = judge.connect(standby.path, KEY)
    try:
        other.execute("INSERT INTO moved VALUES (99)")
        expect(False, "it could be written to")
    except Exception as error:  # noqa: BLE001 - two engines have two classes
        expect("locked" in str(error), lambda: f"{error!r}")
    second = standby.once(status=75)[1]
    expect("standby" in second, lambda: second)
    standby.stop()
    for leaves_log in (True, False):
        other.execute("INSERT INTO account VALUES (?, 0, NULL)", (1000 + leaves_log,))
        if not leaves_log:
            other.close()
        told = standby.once(status=73)[1]
        expect("was changed by something other than its standby" in told, lambda: told)
    expect(os.path.exists(standby.path), "it was removed")
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(standby.path + ending):
            os.unlink(standby.path + ending)
    standby.once()
    expect(state_of(standby.path) == 2, "another state")
    os.unlink(standby.path + ".standby")
    told = standby.once(status=73)[1]
    expect("not a standby's" in told, lambda: told)


def gaps(settings, box, standby):
    db = followed(box)
    # A start would repeat a first run that was interrupted, and its snapshot would be another newer state.
    box.ran()
    db.commit()
    standby.start().started(1)
    db.commit()
    standby.reaches(2)
    standby.read()
    for _ in range(2):
        box.stop()
        db.commit("UPDATE account SET filler = randomblob(1500)")
        db.checkpoint("TRUNCATE")
        db.commit()
        db.checkpoint("TRUNCATE")
        db.commit()
        box.start().following()
        db.commit()
        standby.reaches(len(db.commits))
    told = standby.judge_readers()
    restored = [event for event in standby.events() if event["state"] == "restored" and event["reason"] != "started"]
    expect(len(restored) == 2, lambda: f"{standby.events()}")
    return told


def behind(settings, box, standby):
    db = followed(box)
    db.commit()
    until("stored", lambda: box.restored() == 1)
    standby.once()
    for turn in range(2):
        box.stop()
        db.checkpoint("TRUNCATE")
        db.commit()
        db.checkpoint("TRUNCATE")
        db.commit()
        # Nobody commits any more: the snapshot after the gap is all that has the last two.
        box.start().following()
        standby.once()
        expect(state_of(standby.path) == len(db.commits), lambda: f"{state_of(standby.path)} commits, not {len(db.commits)}")


def damage(settings, box, standby):
    # A joined segment would be read in place of the damaged one.
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], {"interval": "50ms", "compact": False})
    db = followed(box)
    db.commit()
    until("stored", lambda: segments(box))
    standby.once()
    expect(state_of(standby.path) == 1, lambda: f"{state_of(standby.path)} commits at first")
    stored = set(segments(box))
    for count in range(2):
        db.commit()
        until("stored", lambda: len(set(segments(box)) - stored) > count)
    first, second = sorted(set(segments(box)) - stored)[:2]
    with open(second, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)
        file.seek(-100, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    for _ in range(2):
        told = standby.once(status=65)[1]
        expect(os.path.basename(second) in told, lambda: told)
        expect(state_of(standby.path) == 2, lambda: f"{state_of(standby.path)} commits")


def segments(box):
    found = []
    for folder, _, names in os.walk(os.path.join(box.repository, "segments")):
        found += [os.path.join(folder, name) for name in names if name.count(".") == 2]
    return sorted(found)


def joined(settings, box, standby):
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], {"interval": "50ms", "compact": False})
    db = followed(box)
    db.commit()
    standby.once()
    end = time.monotonic() + 22  # Two windows of ten seconds at least.
    while time.monotonic() < end:
        db.commit()
        time.sleep(0.3)
    box.stop()
    before = segments(box)
    for _ in range(2):
        box.litevault("compact", *box.options, "--fine", "0s", "--grace", "0s")
    left = segments(box)
    expect(len(left) < len(before) - 10, lambda: f"{len(left)} of {len(before)} are left")
    told = standby.once()[1]
    expect(state_of(standby.path) == len(db.commits), lambda: f"{state_of(standby.path)} commits: {told}")
    return f"{len(left)} of {len(before)} segments left"


def snapshots(settings, box, standby):
    db = Database(box.path("db/app.db"), wal=False)
    take = ["snapshot", box.path("db/app.db"), *box.options, "--database", "app.db"]
    db.commit()
    box.litevault(*take)
    standby.once()
    expect(state_of(standby.path) == 1, "another state")
    db.commit()
    box.litevault(*take)
    reader = judge.connect(standby.path, KEY)
    reader.execute("SELECT count(*) FROM moved").fetchone()
    told = standby.once()[1]
    expect('"waiting"' in told and "nobody" in told, lambda: told)
    expect(reader.execute("SELECT count(*) FROM moved").fetchone() == (1,), "the reader's database changed")
    reader.close()
    standby.once()
    expect(state_of(standby.path) == 2, "another state")


# hazard: H-BAK-19
def unsynced(settings, box, standby):
    """Killed at syncs of its log and writes to it; then another one continues from there, and the power fails at any moment of that."""
    tracing.require_strace()
    folder, kept = box.path("copy"), box.path("kept")
    os.mkdir(folder)
    standby.path = os.path.join(folder, "standby.db")
    log = standby.path + "-wal"

    def content():
        if not os.path.exists(log):
            return b""
        with open(log, "rb") as file:
            return file.read()

    db = followed(box)
    db.commit()
    until("stored", lambda: box.restored() == 1)
    standby.once()
    for _ in range(3):
        db.commit("UPDATE account SET filler = randomblob(40000) WHERE id = 1")
        time.sleep(0.15)
    box.stop()
    shutil.copytree(folder, kept)
    judged = lost = kills = 0
    # strace counts the calls of each thread: which one syncs the frames is not known, so it is killed while they are written, too.
    for calls, number in [*(("fsync,fdatasync", number) for number in range(1, 9)), *(("pwrite64", number) for number in range(2, 6))]:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        before = content()
        status = standby.once(status=None, command=[
            "strace", "-f", "-q", "-o", box.path("trace"), "-P", log, "-e", f"trace={calls}",
            "-e", f"inject={calls}:signal=SIGKILL:when={number}"])[0]
        if status == 0:
            continue
        expect(status in (-9, 137), lambda: f"exit {status}")
        kills += 1
        model = disk.Disk(folder)
        node = model.top.now.get("standby.db-wal")
        # Its header was synced before there was a frame.
        synced = max(32, len(os.path.commonprefix([before, bytes(node.now)]))) if node else 0
        if node and synced < len(node.now):
            node.synced, node.pending = bytes(node.now[:synced]), [(synced, bytes(node.now[synced:]))]
            lost += 1
        powerloss.recorded(standby.arguments("--once"), box.path("trace"), env=box.environment())
        found, _ = powerloss.states(settings, f"unsynced {calls} {number}", model, box.path("trace"), os.getcwd(), STATES)
        for place, (tree, _) in enumerate(found):
            other = Standby(box, f"lost-{kills}-{place}/standby.db")
            disk.store(tree, os.path.dirname(other.path))
            other.once()
            expect(state_of(other.path) == len(db.commits), lambda: f"{state_of(other.path)} of {len(db.commits)} commits")
            shutil.rmtree(os.path.dirname(other.path))
            judged += 1
    expect(lost, "it was never killed with frames in its log")
    return f"{kills} kills, {judged} states"


def lag(settings, box, standby):
    """Measured, not judged: it depends on the machine."""
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], {"interval": "1s"})
    db = followed(box)
    standby.start(interval="1s").started(1)
    reader = judge.connect(standby.path, KEY)
    waiting, lags, end = [], [], time.time() + 12
    while time.time() < end or waiting:
        expect(time.time() < end + 240, "it does not get there")
        if time.time() < end and (not db.commits or time.time() - db.commits[-1][1] > 0.13):
            waiting.append((db.commit(), db.commits[-1][1]))
        found = reader.execute("SELECT count(*) FROM moved").fetchone()[0]
        lags += [time.time() - moment for number, moment in waiting if number <= found]
        waiting = [one for one in waiting if one[0] > found]
        time.sleep(0.01)
    reader.close()
    lags.sort()
    return f"interval 1 s, {len(lags)} commits: median {lags[len(lags) // 2]:.2f} s, 99 % {lags[int(len(lags) * 0.99)]:.2f} s"


def injected(report, settings, folder):
    """Every write, sync and rename of the command is killed, or finds the disk full."""
    random = settings.random("standby injection")
    points = [(call, number, fault) for call, most in CALLS.items() for number in range(1, most + 1)
              for fault in ("signal=SIGKILL", "error=ENOSPC", "error=EIO")]
    numbers = itertools.count()

    def one(stage, call, number, fault):
        tracing.require_strace()
        box = Box(settings, folder, name=f"injected-{next(numbers)}", follow={"interval": "50ms"})
        standby = Standby(box)
        try:
            commits = prepare(box, standby, stage)
            trace = ["strace", "-f", "-q", "-o", box.path("trace"), "-e", "trace=" + ",".join(CALLS), "-e", f"inject={call}:{fault}:when={number}"]
            status = standby.once(status=None, command=trace)[0]
            expect(status in (0, -9, 137, 74), lambda: f"exit {status}")
            if random.random() < 0.5 and os.path.exists(standby.path):
                expect(state_of(standby.path) <= commits, "another state")
            standby.once()
            expect(state_of(standby.path) == commits, lambda: f"{state_of(standby.path)} of {commits} commits")
            left = [name for name in os.listdir(box.folder) if "standby-new" in name or "litevault-" in name]
            expect(not left, lambda: f"left: {left}")
            return f"exit {status}"
        finally:
            standby.remove()
            box.remove()

    chosen = points if settings.full else random.sample(points, INJECTIONS)
    stages = itertools.cycle(STAGES)
    report.cases([(f"standby, {stage}: {fault} at {call} {number} of each thread", lambda p=(stage, call, number, fault): one(*p))
                  for stage, (call, number, fault) in zip(stages, chosen)])


def prepare(box, standby, stage):
    """What the command is then to apply; the number of commits."""
    if stage == "replacement":
        db = Database(box.path("db/app.db"), wal=False)
        for turn in range(2):
            db.commit("UPDATE account SET filler = randomblob(4000)")
            box.litevault("snapshot", box.path("db/app.db"), *box.options, "--database", "app.db")
            if turn == 0:
                standby.once()
        return len(db.commits)
    db = followed(box)
    db.commit()
    if stage != "first restore":
        standby.once()
    if stage == "gap":
        box.stop()
        for _ in range(2):
            db.commit("UPDATE account SET filler = randomblob(9000)")
            db.checkpoint("TRUNCATE")
        box.start().following()
    for _ in range(3):
        db.commit("UPDATE account SET filler = randomblob(40000)")
        time.sleep(0.15)
    box.stop()
    return len(db.commits)
