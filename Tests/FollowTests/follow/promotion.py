"""`litevault follow-restore --promote`: a standby becomes the database, and nothing that the old one stores afterwards counts."""
import itertools
import json
import os
import shutil
import subprocess
import sys
import time

from faults import judge, tracing
from faults.report import Skip, expect

from .box import KEY, Database, Box, state_of, until
from .kills import Writer
from .standby import Standby, segments
from .stores import s3_box, with_server

INJECTIONS = 8  # Cases, chosen at random; all of them with LITEVAULT_FAULT_FULL.
# How many of each call a thread of the command makes about.
CALLS = {"pwrite64": 24, "fsync": 22, "ftruncate": 3, "renameat2": 8, "renameat": 8, "linkat": 6, "unlink": 16, "flock": 4}
LIMIT = 5  # Seconds that a promotion may take.
PATIENCE = 900
READER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "RepositoryReader/reader.py")


class Promoted(Standby):
    """A standby that is promoted, and what is left of it."""

    def promote(self, *more, status=0, command=()):
        begun = time.monotonic()
        done = subprocess.run([*command, *self.arguments("--promote", *more)], stdin=subprocess.DEVNULL, capture_output=True,
                              env=self.box.environment(), timeout=PATIENCE)
        self.took = time.monotonic() - begun
        told = done.stdout.decode() + done.stderr.decode()
        expect(status is None or done.returncode == status, lambda: f"exit {done.returncode} instead of {status}: {told[-500:]}")
        self.status = done.returncode
        return told

    def is_ordinary(self):
        left = sorted(name for name in os.listdir(self.box.folder) if name.startswith(os.path.basename(self.path) + "."))
        left = [name for name in left if not name.endswith(".log")]
        expect(left == [os.path.basename(self.path) + ".promoted"], lambda: f"left: {left}")
        db = judge.connect(self.path, KEY)
        try:
            db.execute("PRAGMA busy_timeout = 10000")
            count = db.execute("SELECT count(*) FROM moved").fetchone()[0]
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            expect(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0, "it cannot be checkpointed")
            return count
        finally:
            db.close()

    def commit(self):
        """Commits to the promoted database as its application does."""
        db = judge.connect(self.path, KEY)
        try:
            db.execute("PRAGMA busy_timeout = 10000")
            number = db.execute("SELECT ifnull(max(n), 0) + 1 FROM moved").fetchone()[0]
            db.execute("INSERT INTO moved VALUES (?)", (number,))
            return number
        finally:
            db.close()

    def follow(self):
        """A box that follows the promoted database into the same repository, as another machine."""
        box = Box(self.box.settings, self.box.folder, name="second", follow={"interval": "50ms"})
        box.repository = self.box.repository
        box.options = ["--repository", box.repository, "--state-directory", box.path("state")]
        box.configure([{"name": "app", "sources": self.path, "every": "1h", "database": "app.db"}], {"interval": "50ms"})
        return box


def run(report, settings, folder):
    numbers, cases = itertools.count(), []

    def case(name, body):
        def one():
            box = Box(settings, folder, name=f"promotion-{next(numbers)}", follow={"interval": "50ms"})
            standby = Promoted(box)
            try:
                return body(settings, box, standby)
            finally:
                standby.remove()
                box.remove()
        cases.append((name, one))
    case("the old primary writes during the promotion: it is stopped, and nothing that it stores later counts", beside_the_old)
    if settings.full:
        # It takes the 200 seconds between two renewals of a lease.
        case("a follower that only waits finds out that it was promoted", idle)
    case("the promoted database is followed, and restores choose between both lines", goes_on)
    case("readers with the key see commits only, and may write afterwards", readers)
    case("of two standbys one is promoted, and the other says so", two)
    case("a store that does not respond: refused, and forced with a fence later", unreachable)
    case("a clock that is wrong", clocks)
    case("a damaged segment: refused, and forced", damaged)
    case("what is not a standby is refused, and what is promoted is not a standby", refused)
    case("a snapshot that the old primary is about to publish is not published", fenced)
    report.cases(cases)
    report.case("in object storage", lambda: in_object_storage(settings, folder))
    injected(report, settings, folder)


def followed(box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    return db


def stored(box, count):
    """Waits until the repository has that many commits."""
    until(lambda: f"{count} commits in the repository: {box.tail()}", lambda: box.restored() == count, PATIENCE)


def ended(box, code="promoted", status=73):
    """Waits until the old follower has ended, and says why."""
    until("the old follower's end", lambda: box.child.poll() is not None, PATIENCE)
    found, box.child = box.child.returncode, None
    box.log.close()
    expect(found == status, lambda: f"exit {found} instead of {status}: {box.tail()}")
    expect(f'"code": "{code}"' in box.tail(), box.tail)


def finds_out(box):
    """Restarts the old follower, which then ends. It may have before, when it renewed its lease."""
    box.stop(may_have_ended=73)
    box.start()
    ended(box)


def beside_the_old(settings, box, standby):
    writer = Writer(box.path("db/app.db"))
    try:
        box.start().following()
        standby.start().started(1)
        until("10 commits of it", lambda: sum(event["state"] == "applied" for event in standby.events()) >= 10)
        told = json.loads(standby.promote())
        until("the end of the standby's process", lambda: standby.child.poll() is not None, PATIENCE)
        expect(standby.child.returncode == 0 and standby.events()[-1]["state"] == "handed-over", lambda: f"{standby.events()[-1:]}")
        count = standby.is_ordinary()
        commits = len(writer.db.commits)
        expect(0 < count <= commits, lambda: f"{count} of {commits} commits")
        # What the old follower stores until it finds out does not count.
        until("commits beyond it", lambda: len(writer.db.commits) > commits + 10, PATIENCE)
        time.sleep(1)
        expect(box.restored() == count, lambda: "the old follower's segments were restored")
        expect(read_by_another(box) == count, lambda: "the format's description restores the old follower's segments")
        taken = box.litevault("snapshot", box.path("db/app.db"), *box.options, "--database", "app.db", status=73)
        expect(taken["error"]["code"] == "promoted" and standby.path in taken["error"]["message"], lambda: f"{taken}")
    finally:
        writer.stop()
    # By itself, with the next segment, though its lease is not due.
    ended(box)
    status = box.known()
    expect(status["state"] == "promoted" and "promoted" in status["reason"], lambda: f"{status}")
    expect(json.loads(standby.promote())["promoted_before"], "a second promotion did something")
    expect(box.restored() == count and box.litevault("check", *box.options, "--read-data")["intact"], "not intact")
    expect(standby.took < LIMIT * 10, f"{standby.took} s")
    return f"{count} of {commits} commits, {told['seconds']:.2f} s"


def read_by_another(box):
    """The newest state of the line that ended, by the reader that was written from the description of the format."""
    path = box.path("by-another.db")
    done = subprocess.run([sys.executable, READER, box.repository, "roll", "app.db", "latest", path], capture_output=True)
    expect(done.returncode == 0, lambda: done.stderr.decode()[-500:])
    try:
        return state_of(path)
    finally:
        os.remove(path)


def idle(settings, box, standby):
    db = followed(box)
    db.commit()
    standby.once()
    standby.promote()
    begun = time.monotonic()
    ended(box)
    db.commit()
    return f"after {time.monotonic() - begun:.0f} s"


def goes_on(settings, box, standby):
    db = followed(box)
    for _ in range(3):
        db.commit()
        time.sleep(0.2)
    standby.start().started(1)
    standby.reaches(3)
    standby.promote()
    moment = time.time()
    for _ in range(4):
        db.commit()
        time.sleep(0.2)
    second = standby.follow()
    app = judge.connect(standby.path, KEY)
    app.execute("PRAGMA busy_timeout = 60000")
    third = Standby(box, "third.db")
    try:
        app.execute("INSERT INTO moved VALUES (4)")
        second.start().following()
        # The old follower is there as well, until it finds out.
        for number in range(5, 9):
            app.execute("INSERT INTO moved VALUES (?)", (number,))
            time.sleep(0.2)
        until(lambda: second.tail(), lambda: second.restored() == 8, PATIENCE)
        expect(box.at(moment + 0.5) == 3, "not the state of the promotion")
        expect(box.at(time.time()) == 8, "not the newest state")
        gaps = [one["gap"]["reason"] for one in second.snapshots() if "gap" in one]
        expect(any("promoted" in gap for gap in gaps), lambda: f"gaps: {gaps}")
        third.once()
        expect(state_of(third.path) == 8, "a standby of the promoted one")
        # The new follower restarts.
        second.stop()
        app.execute("INSERT INTO moved VALUES (9)")
        second.start().following()
        until(lambda: second.tail(), lambda: second.restored() == 9, PATIENCE)
        expect(second.litevault("check", *second.options, "--read-data")["intact"], "not intact")
    finally:
        app.close()
        third.remove()
        second.remove()
    db.close()


def readers(settings, box, standby):
    db = followed(box)
    db.commit()
    standby.start().started(1)
    standby.read()
    reader = judge.connect(standby.path, KEY)
    reader.execute("BEGIN")
    before = reader.execute("SELECT count(*) FROM moved").fetchone()
    for _ in range(5):
        db.commit("UPDATE account SET filler = randomblob(30000)")
        time.sleep(0.2)
    box.stop()
    standby.promote()
    expect(reader.execute("SELECT count(*) FROM moved").fetchone() == before, "the reader's state changed")
    reader.execute("COMMIT")
    count = reader.execute("SELECT count(*) FROM moved").fetchone()[0]
    expect(count == 6, lambda: f"{count} commits")
    # The reader may write now, as may others.
    reader.execute("INSERT INTO moved VALUES (7)")
    expect(standby.commit() == 8, "another connection")
    told = standby.judge_readers()
    reader.close()
    expect(state_of(standby.path) == 8, "another state")
    return told


def two(settings, box, standby):
    db = followed(box)
    others = [Promoted(box, f"standby-{index}.db") for index in range(3)]
    try:
        for _ in range(3):
            db.commit()
        stored(box, 3)
        for one in others:
            one.once()
        children = [subprocess.Popen(one.arguments("--promote"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, env=box.environment()) for one in others]
        told = [child.communicate(timeout=PATIENCE)[0].decode() for child in children]
        states = [child.returncode for child in children]
        # One that lost its leases to another may be tried again.
        for index, one in enumerate(others):
            if states[index] == 75:
                told[index] = one.promote(status=None)
                states[index] = one.status
        expect(sorted(states) == [0, 73, 73], lambda: f"{states}: {told}")
        for index, one in enumerate(others):
            if states[index]:
                expect('"promoted"' in told[index], lambda: told[index])
                expect(not os.path.exists(one.path + ".promoted") and os.path.exists(one.path + ".standby"), "not a standby any more")
                one.once()
        winner = others[states.index(0)]
        expect(winner.is_ordinary() == 3, "another state")
        # By another machine with the same name and path it would be refused as well: the file beside it counts.
        os.rename(winner.path + ".promoted", box.path("kept"))
        refused = box.litevault("snapshot", winner.path, *box.options, "--database", "app.db", status=73)
        expect(refused["error"]["code"] == "promoted", lambda: f"{refused}")
        os.rename(box.path("kept"), winner.path + ".promoted")
        winner.commit()
        box.litevault("snapshot", winner.path, *box.options, "--database", "app.db")
        # The others follow it now.
        for one in others:
            if one is not winner:
                one.once()
                expect(state_of(one.path) == 4, lambda: f"{state_of(one.path)} commits of the promoted one")
    finally:
        for one in others:
            one.remove()


def unreachable(settings, box, standby):
    db = followed(box)
    db.commit()
    stored(box, 1)
    standby.once()
    os.rename(box.repository, box.repository + "-away")
    standby.promote(status=None)
    expect(standby.status != 0 and os.path.exists(standby.path + ".standby"), lambda: f"status {standby.status}")
    told = standby.promote("--force")
    expect('"fenced": false' in told.replace(":false", ": false") and "does not know" in told, lambda: told)
    os.rename(box.repository + "-away", box.repository)
    db.commit()
    stored(box, 2)
    expect(standby.is_ordinary() == 1, "another state")
    refused = box.litevault("snapshot", standby.path, *box.options, "--database", "app.db", status=75)
    expect("--promote" in refused["error"]["remedy"], lambda: f"{refused}")
    standby.commit()
    standby.promote()
    expect(box.restored() == 1, "the line of the old one continues")
    box.litevault("snapshot", standby.path, *box.options, "--database", "app.db")
    expect(box.restored() == 2, "not what the promoted one has")
    finds_out(box)


SHIFTED = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += atol(getenv("SHIFT"));
    return result;
}
int gettimeofday(struct timeval *time, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


def clocks(settings, box, standby):
    """The machine of the standby has another time; what decides are numbers."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        raise Skip("there is no C compiler to shift the clock with")
    with open(box.path("shift.c"), "w") as file:
        file.write(SHIFTED)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", box.path("shift.so"), box.path("shift.c")], check=True)
    db = followed(box)
    db.commit()
    stored(box, 1)
    for days in (-3, 3):
        box.more = {"LD_PRELOAD": box.path("shift.so"), "SHIFT": str(days * 86400)}
        copy = Promoted(box, f"standby{days}.db")
        before = box.restored()
        copy.promote()
        expect(copy.is_ordinary() == before, "another state")
        copy.commit()
        box.litevault("snapshot", copy.path, *box.options, "--database", "app.db")
        box.more = {}
        expect(box.restored() == before + 1, "the newest snapshot is not the promoted one's")
        refused = box.litevault("snapshot", db.path, *box.options, "--database", "app.db", status=73)
        expect(refused["error"]["code"] == "promoted", lambda: f"{refused}")


def damaged(settings, box, standby):
    # A joined segment would be read in place of the damaged one.
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], {"interval": "50ms", "compact": False})
    db = followed(box)
    db.commit()
    stored(box, 1)
    standby.once()
    before = set(segments(box))
    db.commit()
    first = until("stored", lambda: sorted(set(segments(box)) - before))[0]
    box.stop()
    with open(first, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)
        file.seek(-100, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    told = standby.promote(status=65)
    expect(os.path.basename(first) in told and os.path.exists(standby.path + ".standby"), lambda: told)
    told = standby.promote("--force")
    expect("not all that is stored" in told, lambda: told)
    expect(standby.is_ordinary() == 1 and box.restored() == 1, "another state")


def refused(settings, box, standby):
    db = followed(box)
    db.commit()
    stored(box, 1)
    standby.once()
    told = box.litevault("follow-restore", *box.options, "--promote", box.path("db/app.db"), status=73)
    expect("not a standby" in told["error"]["message"], lambda: f"{told}")
    expect(not [name for name in os.listdir(box.path("db")) if "standby" in name and "lock" not in name], "left beside it")
    other = judge.connect(standby.path, KEY)
    other.execute("INSERT INTO moved VALUES (9)")
    other.close()
    told = standby.promote(status=73)
    expect("was changed by something other" in told, lambda: told)
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(standby.path + ending):
            os.unlink(standby.path + ending)
    # Restored, and promoted at once.
    standby.promote()
    expect(standby.is_ordinary() == 1, "another state")
    told = standby.once(status=73)[1]
    expect("was promoted" in told, lambda: told)
    told = box.litevault("follow-restore", *box.options, "--force", standby.path, status=64)
    expect("--promote" in told["error"]["message"], lambda: f"{told}")


def fenced(settings, box, standby):
    tracing.require_strace()
    db = followed(box)
    db.commit()
    standby.once()
    box.stop()
    db.commit("UPDATE account SET filler = randomblob(40000)")
    # Stopped after it has promised its number, in front of the first pack.
    snapshot = subprocess.Popen(
        ["strace", "-f", "-q", "-o", box.path("trace"), "-e", "trace=linkat,renameat2,renameat", "-e",
         "inject=linkat,renameat2,renameat:delay_enter=4000000:when=2+",
         settings.tool, "snapshot", db.path, *box.options, "--database", "app.db", "--json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=box.environment())
    time.sleep(3)
    standby.promote()
    told = snapshot.communicate(timeout=PATIENCE)[0].decode()
    # It was stored before the promotion, or it was not at all.
    if snapshot.returncode == 0:
        expect(state_of(standby.path) == 2, lambda: f"stored before, and not in the promoted one: {told}")
    else:
        expect(snapshot.returncode in (73, 75), lambda: f"exit {snapshot.returncode}: {told}")
        expect(box.restored() == standby.is_ordinary(), "another state is restored than the promoted one")
    return f"the snapshot's exit: {snapshot.returncode}"


def in_object_storage(settings, folder):
    def body(port, plan):
        plan([])
        box = s3_box(settings, folder, port, "promotion-s3")
        standby = Promoted(box)
        try:
            db = followed(box)
            # 60 MB, which a snapshot has, and segments behind it.
            db.connection.execute("CREATE TABLE large(id INTEGER PRIMARY KEY, value BLOB)")
            db.connection.execute("BEGIN")
            for number in range(60):
                db.connection.execute("INSERT INTO large VALUES (?, randomblob(1000000))", (number,))
            db.connection.execute("COMMIT")
            for turn in range(3):
                db.commit()
                db.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            standby.start().started(1)
            standby.reaches(3)
            # A checkpoint that a reader of the primary lets come half way only.
            reader = judge.connect(db.path, KEY)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM large").fetchone()
            for _ in range(3):
                db.commit("UPDATE account SET filler = randomblob(9000)")
                db.checkpoint()
            reader.execute("COMMIT")
            reader.close()
            for _ in range(3):
                db.commit("UPDATE account SET filler = randomblob(9000)")
                db.checkpoint()
            standby.reaches(9)
            # A gap, after which the copy is brought to a newer snapshot.
            box.stop()
            db.commit("UPDATE large SET value = randomblob(1000000) WHERE id < 5")
            db.checkpoint("TRUNCATE")
            db.commit()
            db.checkpoint("TRUNCATE")
            box.start().following()
            db.commit()
            standby.reaches(12)
            size = os.path.getsize(db.path)
            plan([{"method": "PUT", "path": "snapshots", "fault": "lose", "times": 1}])
            told = json.loads(standby.promote())
            expect(standby.is_ordinary() == 12 and box.restored() == 12, "another state")
            standby.commit()
            box.litevault("snapshot", standby.path, *box.options, "--database", "app.db")
            expect(box.restored() == 13, "not the promoted one's")
            db.close()
            return f"{size / 1e6:.0f} MB, promoted in {told['seconds']:.2f} s"
        finally:
            standby.remove()
            box.remove()
    return with_server(settings, body)


def injected(report, settings, folder):
    """A promotion is killed at any system call, or finds the disk full: a standby or promoted, and repeated it is promoted."""
    random = settings.random("promotion injection")
    points = [(call, number, fault) for call, most in CALLS.items() for number in range(1, most + 1)
              for fault in ("signal=SIGKILL", "error=ENOSPC", "error=EIO")]
    numbers = itertools.count()

    def one(call, number, fault):
        tracing.require_strace()
        box = Box(settings, folder, name=f"promoted-{next(numbers)}", follow={"interval": "50ms"})
        standby = Promoted(box)
        try:
            db = followed(box)
            db.commit()
            standby.once()
            for _ in range(3):
                db.commit("UPDATE account SET filler = randomblob(20000)")
                time.sleep(0.15)
            box.stop()
            trace = ["strace", "-f", "-q", "-o", box.path("trace"), "-e", "trace=" + ",".join(CALLS), "-e", f"inject={call}:{fault}:when={number}"]
            standby.promote(status=None, command=trace)
            first = standby.status
            if os.path.exists(standby.path + ".promoted"):
                # It may be used by then.
                expect(standby.commit() == 5, "not all commits")
                commits = 5
            else:
                commits = 4
            if first == 0 and commits == 4:
                expect(False, "said to be promoted, and is not")
            told = standby.promote()
            expect(standby.is_ordinary() == commits, lambda: f"{standby.is_ordinary()} of {commits} commits: {told}")
            refused = box.litevault("snapshot", db.path, *box.options, "--database", "app.db", status=73)
            expect(refused["error"]["code"] == "promoted", lambda: f"{refused}")
            box.litevault("snapshot", standby.path, *box.options, "--database", "app.db")
            expect(box.restored() == commits, "another state is restored")
            return f"exit {first}"
        finally:
            standby.remove()
            box.remove()

    chosen = points if settings.full else random.sample(points, INJECTIONS)
    report.cases([(f"promotion: {fault} at {call} {number} of each thread", lambda p=(call, number, fault): one(*p))
                  for call, number, fault in chosen])
