"""The clock of the tool is set while it follows a database: everything that it has stored is restored, in its order."""
# hazard: H-CLOCK-03
# hazard: H-CLOCK-04
# hazard: H-CLOCK-05
# hazard: H-CLOCK-06
# hazard: H-CLOCK-17
# hazard: H-CLOCK-18
# hazard: H-CLOCK-20
import json
import mmap
import os
import shutil
import struct
import subprocess
import threading
import time

from faults.report import Skip, expect

from .behaviour import Boxes, in_place
from .box import Database, seconds, stamp, until

HOUR = 3600
DAY = 24 * HOUR
YEAR = 365 * DAY


def run(report, settings, folder):
    cases = [
        ("H-CLOCK-03 after a clock that was set back by a second the newest commit is restored", back),
        ("H-CLOCK-04 after a clock that was two hours ahead and was set right the newest commit is restored", ahead),
        ("H-CLOCK-05 so it is where the follower was stopped and the log reset in between", reset),
        ("H-CLOCK-06 so it is where rows were deleted and the database was vacuumed in between", vacuumed),
        ("H-CLOCK-17 and 16, retention removes the same snapshots whatever the clock says", ruled),
        ("H-CLOCK-18 one snapshot dated ahead spoils no rule, and restore and doctor report it", dated),
    ]
    library = os.path.join(folder, "clocks.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clocks.c")

    lock = threading.Lock()

    def built():
        with lock:
            build()

    def build():
        if shutil.which("gcc") is None:
            raise Skip("there is no gcc, which ci/setup installs")
        if not os.path.exists(library):
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library + ".new", source, "-ldl"], check=True)
            os.rename(library + ".new", library)

    def case(index, body):
        built()
        return in_place(folder, f"clocks-{index}", lambda place: body(Clock(settings, place, library)))
    report.cases([(name, lambda index=index, body=body: case(index, body)) for index, (name, body) in enumerate(cases)])


class Clock:
    """A box whose tool has a clock of its own."""

    def __init__(self, settings, place, library):
        path = os.path.join(place, "shift")
        with open(path, "wb") as file:
            file.write(bytes(8))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 8)
        self.box = Boxes.make(settings, place)
        self.box.more = {"LD_PRELOAD": library, "CLOCK_SHIFT": path}
        self.db = Database(self.box.path("db/app.db"))
        # What has been seen: the label of a segment, and the number of commits that it has.
        self.points = []
        self.box.start().following()
        self.box.ran()

    def set(self, shift):
        self.map[:8] = struct.pack("<q", int(shift * 1_000_000_000))

    def commit(self, count, statement=None):
        """Commits, each in a segment of its own; after a pause for the follower the labels name them."""
        for _ in range(count):
            known = set(self.looks())
            number = self.db.commit(statement)
            labels = until("a segment", lambda: set(self.looks()) - known)
            self.points.append((max(labels), number))

    def looks(self):
        names = [name.split(".") for name in os.listdir(self.box.repository + "/segments/" + self.directory()) if name[0] != "."] \
            if self.directory() else []
        return [int(parts[2]) for parts in names if len(parts) == 3]

    def directory(self):
        try:
            return os.listdir(self.box.repository + "/segments")[0]
        except (FileNotFoundError, IndexError):
            return None

    def judge(self):
        last = len(self.db.commits)
        found = self.box.restored()
        expect(found == last, f"the newest state has {found} commits instead of {last}")
        found = self.box.restored("--at", stamp(time.time()))
        expect(found == last or self.ahead(), f"the state of now has {found} commits instead of {last}")
        for label, number in self.points:
            found = self.box.restored("--at", stamp(label / 1000 + 0.0001))
            expect(found == number, f"at {stamp(label / 1000 + 0.0001)}: {found} commits instead of {number}")
            expect(abs(self.box.reached * 1000 - label) < 1, f"reached {self.box.reached}, not {label}")
        checked = self.box.litevault("check", *self.box.options, "--read-data")
        expect(checked["intact"], checked)
        listed = self.box.snapshots()
        ends = [seconds(one["log_until"]) for one in listed if "log_until" in one]
        expect(ends and max(ends) * 1000 >= self.points[-1][0] - 1, f"{listed} do not know of {self.points[-1]}")

    def ahead(self):
        """Whether labels are ahead of the clock, so that the commits of now have later ones."""
        return self.points[-1][0] / 1000 > time.time()


def back(clock):
    clock.commit(3)
    clock.set(-1)
    clock.commit(20)
    clock.box.stop()
    clock.judge()
    expect(not any("gap" in one for one in clock.box.snapshots()), clock.box.snapshots())
    clock.db.close()


def ahead(clock):
    clock.set(2 * HOUR)
    clock.commit(4)
    clock.set(0)
    clock.commit(5)
    clock.box.stop()
    clock.judge()
    clock.db.close()


def reset(clock):
    clock.set(2 * HOUR)
    clock.commit(4)
    clock.box.stop()
    clock.set(0)
    for _ in range(5):
        clock.db.commit()
        clock.db.checkpoint("TRUNCATE")
    clock.box.start().following()
    clock.commit(5)
    clock.judge()
    # Another snapshot, and its segments.
    clock.box.litevault("snapshot", clock.db.path, *clock.box.options, "--database", "app.db")
    clock.commit(2)
    clock.box.stop()
    clock.judge()
    clock.db.close()


def vacuumed(clock):
    clock.commit(2, "INSERT INTO account SELECT NULL, 0, randomblob(900) FROM account")
    clock.set(2 * HOUR)
    clock.commit(3)
    clock.box.stop()
    clock.set(0)
    clock.db.commit("DELETE FROM account WHERE amount = 0")
    clock.db.connection.execute("VACUUM")
    clock.db.checkpoint("TRUNCATE")
    clock.box.start().following()
    clock.commit(3)
    clock.db.connection.execute("VACUUM")
    clock.commit(10)
    clock.box.stop()
    clock.judge()
    clock.db.close()


class Other:
    """Another database, of which the tool takes snapshots alone."""

    def __init__(self, clock):
        self.box = clock.box
        self.box.stop()
        clock.db.close()
        self.db = Database(self.box.path("other/b.db"))

    def snapshot(self):
        self.db.commit()
        self.box.litevault("snapshot", self.db.path, *self.box.options, "--database", "other")

    def kept(self, *rules):
        told = self.box.litevault("forget", *self.box.options, "--database", "other", *rules, "--dry-run")
        return told["kept"]


def ruled(clock):
    other = Other(clock)
    for day in range(-10, 1):
        clock.set(day * DAY)
        other.snapshot()
    for shift in (-50 * YEAR, -3 * DAY, 0, 70 * YEAR):
        clock.set(shift)
        found = other.kept("--keep-daily", "7"), other.kept("--keep-within", "30d")
        expect(found == (7, 11), f"with the clock at {shift}: {found}")
    # A snapshot, too.
    for shift in (70 * YEAR, -50 * YEAR):
        clock.set(shift)
        other.snapshot()
        found = other.kept("--keep-within", "30d")
        expect(found >= 12, f"after a snapshot at {shift}: {found}")
    other.db.close()


def dated(clock):
    other = Other(clock)
    other.snapshot()
    first = other.box.litevault("snapshots", *other.box.options, "--database", "other")["snapshots"][0]
    for shift in (74 * YEAR, *(day * DAY for day in range(1, 7))):
        clock.set(shift)
        other.snapshot()
    expect(other.kept("--keep-daily", "3") == 3, "the last three days")
    told = other.box.litevault("restore", *other.box.options, "--database", "other", "--at", stamp(time.time() + 3.5 * DAY),
                               "--dry-run")
    expect(told["snapshot"] == first["id"], told)
    expect(any("the clock had been ahead" in one["message"] for one in told["warnings"]), told)
    clock.set(95 * DAY)
    done = subprocess.run([other.box.settings.tool, "doctor", *other.box.options, "--database", "other", "--json"],
                          capture_output=True, timeout=120, env=other.box.environment())
    findings = json.loads(done.stdout)["findings"]
    expect(any(one["severity"] == "warning" and one["check"] == "clock" and "set right" in one["message"] for one in findings), findings)
    ages = [one["message"] for one in findings if one["check"] == "snapshot" and one["severity"] == "ok"]
    expect(len(ages) == 1 and " 0.00 s " not in ages[0], ages)
    other.db.close()
