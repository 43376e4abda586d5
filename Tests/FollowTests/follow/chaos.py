"""Everything at once, and everything fails: writers, a follower that joins, `compact`, `copy`, restores in place and a standby are killed and stopped
at random, while the network or the disk fails. Each state that is restored is one of the database's, and what the follower reports as stored is there."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from faults import judge
from faults.report import Failure, Skip, expect

from . import soak
from .actors import Actor, Disturbed
from .box import KEY, Box, seconds, stamp, until
from .stores import s3_box, with_server

SECONDS = int(os.environ.get("LITEVAULT_CHAOS_SECONDS") or 20)
INTERVAL = 0.1
SLACK = 1.5  # Before a time that a restore says it reached, which no stall changes.
WRITERS = 3
PAUSE = "0.3"
# Of the disk that becomes full. What is not needed any more is removed after hours only.
MEGABYTES = 300 + 3 * SECONDS
FOLLOW = {"interval": "100ms", "fine": "1m", "minutes": "1h"}
JOB = {"name": "app", "sources": "db/*.db", "every": "10s", "retention": {"last": 12}}
NETWORK = ("500", "503", "refuse", "lose", "truncate", "slow")
# Temporary failures: a store or a disk that refuses, somebody else at work, an end by a signal.
TEMPORARY = {0, 69, 74, 75, 143, -signal.SIGTERM, -signal.SIGKILL}

READER = """
import sys, time
sys.path[:0] = sys.argv[2:]
from faults import judge
path, end = sys.argv[1], time.monotonic() + 4
db, reads, last, wrong = None, 0, [0] * 3, []
while time.monotonic() < end:
    try:
        if not db:
            db = judge.connect(path, bytes(range(1, 33)))
            db.execute("PRAGMA busy_timeout = 10000")
        db.execute("BEGIN")
        total = db.execute("SELECT sum(amount) FROM account").fetchone()[0]
        found = [n for _, n in db.execute("SELECT writer, n FROM counter ORDER BY writer")]
        whole = reads % 40 or db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.execute("COMMIT")
    except Exception as error:
        # Others hold its locks, or are stopped with them; the disk may be full.
        text = str(error)
        if not any(known in text for known in ("locked", "disk I/O error", "disk is full", "unable to open")):
            wrong.append(text)
        if db: db.close()
        db = None
        time.sleep(0.1)
        continue
    if total != 40000 or not whole: wrong.append((total, whole))
    if any(now < before for now, before in zip(found, last)): wrong.append(f"{found} after {last}")
    last, reads = found, reads + 1
    if reads % 97 == 0:
        db.close()
        db = None
    time.sleep(0.01)
print(reads, wrong[:3])
"""


def run(report, settings, folder):
    report.cases([
        (f"{SECONDS} s in a bucket, with network faults", lambda: with_server(
            settings, lambda port, plan: Chaos(settings, s3_box(settings, folder, port, "chaos-bucket"), plan=plan).run())),
        (f"{SECONDS} s on a disk that becomes full", lambda: on_small_disk(settings, folder)),
    ])


def on_small_disk(settings, folder):
    if os.geteuid() != 0:
        raise Skip("only root may mount a small file system")
    box = Box(settings, folder, name="chaos-disk")
    disk = box.path("disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "none", disk], capture_output=True).returncode:
        raise Skip("mounting is not permitted here")
    try:
        box.repository = os.path.join(disk, "repository")
        box.options = ["--repository", box.repository, "--state-directory", box.path("state")]
        return Chaos(settings, box, disk=disk).run()
    finally:
        subprocess.run(["umount", "--lazy", disk], capture_output=True)
        box.remove()


class Chaos:
    """One repository with all that works on it. `plan`: faults of the network; `disk`: a small file system, on which the repositories,
    the state and the copies of the database are, but not the database."""

    def __init__(self, settings, box, plan=None, disk=None):
        self.settings, self.box, self.plan, self.disk = settings, box, plan, disk
        self.random = settings.random("chaos " + box.folder.rsplit("/", 1)[1])
        self.path = box.path("db/app.db")
        self.place = disk or box.path("copies")
        os.makedirs(self.place, exist_ok=True)
        server = box.options[4:]
        self.copied = os.path.join(self.place, "second")
        self.sides = {"repository": box.options, "copy": ["--repository", self.copied, *box.options[2:4]]}
        self.server = server
        self.in_place, self.original = os.path.join(self.place, "in-place.db"), os.path.join(self.place, "original.db")
        self.standby = os.path.join(self.place, "standby.db")
        box.configure([JOB], FOLLOW, head=[f"s3: {{endpoint: '{server[1]}', path-style: true}}"] if server else [])
        self.ended, self.is_over = threading.Event(), False
        # What the follower reported as stored: a time, and how many commits of each writer had ended a while before it.
        self.told = {}
        self.counts = {}
        self.lock = threading.Lock()

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    # The whole

    def run(self):
        try:
            self.begin()
            actors = self.actors()
            for actor in actors:
                actor.start()
            end = time.monotonic() + SECONDS
            while time.monotonic() < end and not any(actor.failure for actor in actors):
                time.sleep(0.2)
            self.ended.set()
            for actor in actors:
                actor.join()
            self.heal()
            for actor in actors:
                expect(actor.failure is None, lambda: f"{actor.name}: {actor.failure}")
            return self.judge_all()
        finally:
            self.ended.set()
            self.box.remove()

    def begin(self):
        os.makedirs(os.path.dirname(self.path))
        db = judge.connect(self.path, KEY)
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, filler BLOB)")
        db.execute("CREATE TABLE counter (writer INTEGER PRIMARY KEY, n INTEGER)")
        db.execute("CREATE TABLE extra (v BLOB)")
        db.execute("BEGIN")
        for _ in range(400):
            db.execute("INSERT INTO account (amount, filler) VALUES (100, randomblob(1500))")
        db.executemany("INSERT INTO counter VALUES (?, 0)", [(writer,) for writer in range(WRITERS)])
        db.execute("COMMIT")
        self.box.start().following()
        self.box.stop()
        db.close()
        for arguments in (["copy", self.box.repository, self.copied, *self.box.options[2:]],
                          ["restore", *self.box.options, self.in_place],
                          ["follow-restore", *self.box.options, "--once", self.standby]):
            self.box.litevault(*arguments)

    def actors(self):
        here = os.path.dirname(os.path.abspath(__file__))
        tests = os.path.dirname(os.path.dirname(here))
        tool, options = self.settings.tool, self.box.options
        more = dict(chaos=self, allowed=TEMPORARY)
        self.writers = [Disturbed(f"writer {number}", [sys.executable, os.path.join(here, "writer.py"), self.path, KEY.hex(), str(number),
                                                       str(self.settings.seed), self.box.folder, PAUSE], lasts=(2, 12), chaos=self, allowed=())
                        for number in range(WRITERS)]
        found = [
            *self.writers,
            Disturbed("follower", [tool, "schedule", "run", self.box.config, "--json"], lasts=(1, 10), **more),
            Disturbed("standby", [tool, "follow-restore", *options, "--database", "app.db", "--interval", "0.1s", "--json", self.standby],
                      lasts=(0.5, 8), **more),
            Disturbed("compact", [tool, "compact", *options, "--fine", "1m", "--minutes", "1h", "--json"], lasts=(0.02, 0.8), pause=2, **more),
            Disturbed("copy", [tool, "copy", self.box.repository, self.copied, *options[2:], "--json"], lasts=(0.02, 1.5), pause=0.5, **more),
            Disturbed("restore in place", self.restore_in_place, lasts=(0.02, 0.8), pause=0.3, after=self.judge_in_place, **more),
            Disturbed("reader", [sys.executable, "-c", READER, self.standby, os.path.join(tests, "FaultTests")], lasts=(0.1, 8), chaos=self,
                      allowed={0}, after=self.judge_reader),
            Actor("status", self, self.note),
            Actor("times", self, self.judge_time),
        ]
        if self.plan:
            found.append(Actor("network", self, self.disturb_network))
        if self.disk:
            found.append(Actor("disk", self, self.fill_disk))
        return found

    # What fails

    def disturb_network(self, random):
        if random.random() < 0.3:
            fault = random.choice(("503", "refuse", "slow"))
            self.plan([{"method": method, "path": ".", "fault": fault, "times": 100_000, "seconds": 2}
                       for method in ("PUT", "GET", "HEAD", "POST", "DELETE")])
            self.count("outages")
            self.pause(random.uniform(0.3, 4))
        else:
            self.plan([{"method": random.choice(("PUT", "PUT", "GET", "GET", "HEAD", "POST", "DELETE")), "path": ".",
                        "fault": random.choice(NETWORK), "times": random.randint(1, 12), "seconds": random.uniform(0.1, 3)}
                       for _ in range(random.randint(1, 6))])
            self.count("plans of faults")
            self.pause(random.uniform(0.2, 2))
        self.plan([])
        self.pause(random.uniform(0, 2))

    def fill_disk(self, random):
        ballast = os.path.join(self.disk, "ballast")
        left = random.choice((0, random.randrange(4096), random.randrange(1 << 20), random.randrange(8 << 20)))
        # Others may have filled it already.
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
            while file.write(bytes(1 << 16)):
                pass
        with contextlib.suppress(OSError):
            os.truncate(ballast, max(0, os.path.getsize(ballast) - left))
        self.count("full disks")
        self.pause(random.uniform(0.1, 3))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(ballast)
        self.pause(random.uniform(0.5, 4))

    def pause(self, length):
        self.ended.wait(length)

    def heal(self):
        if self.plan:
            self.plan([])
        if self.disk:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.disk, "ballast"))
        # Those whose line a kill has prevented write it; they end at once.
        with open(self.box.path("stop"), "w"):
            pass
        for writer in self.writers:
            done = subprocess.run(writer.command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
            expect(done.returncode == 0, lambda: f"a writer: {done.stderr.decode()[-400:]}")
        self.is_over = True

    # What is looked at meanwhile

    def note(self, _):
        """What the follower tells about what is stored."""
        done = subprocess.run([self.settings.tool, "schedule", "status", self.box.config, "--json"], capture_output=True,
                              env=self.box.environment(), timeout=120)
        if done.returncode == 0:
            known = [one for job in json.loads(done.stdout)["jobs"] for one in job["follow"]["databases"] if one["database"] == "app.db"]
            if known and known[0]["state"] == "following" and known[0]["last_segment"]:
                moment = seconds(known[0]["last_segment"])
                if moment not in self.told:
                    self.told[moment] = self.least(moment)
        self.pause(0.4)

    def read(self, path):
        """As a copy, where there is room for its log."""
        copy = self.box.path(f"judged-{time.monotonic_ns()}.db")
        try:
            shutil.copyfile(path, copy)
            return soak.read(copy)
        finally:
            for ending in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(copy + ending)

    def commits(self):
        found = [[] for _ in range(WRITERS)]
        for writer, _, begun, ended in soak.commits(self.box):
            found[writer].append((begun / 1000, ended / 1000))
        return found

    def least(self, moment):
        return [sum(ended <= moment for _, ended in mine) for mine in self.commits()]

    def restore(self, side, *selection):
        """The state that is restored, and its time; nil if the repository could not be read."""
        out = os.path.join(self.place, f"restored-{time.monotonic_ns()}.db")
        try:
            done = subprocess.run([self.settings.tool, "restore", *self.sides[side], "--database", "app.db", *selection, "--json", out],
                                  capture_output=True, env=self.box.environment(), timeout=300, stdin=subprocess.DEVNULL)
            # Retention may have removed the snapshot before a moment.
            allowed = TEMPORARY | ({66} if "--at" in selection else set())
            expect(done.returncode in allowed,
                   lambda: f"restore {selection} from the {side}: exit {done.returncode}: {done.stderr.decode()[-400:]}")
            return (self.read(out), seconds(json.loads(done.stdout)["reached"])) if done.returncode == 0 else None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(out)

    def judge_time(self, random):
        """A moment that was reported as stored, or the newest state of one of the repositories."""
        told = sorted(self.told)[-8:]
        if random.random() < 0.3:
            known = self.told[told[-1]] if told else [0] * WRITERS
            found = self.restore("repository")
            if found:
                self.expect_between(known, found[0], time.time(), "the newest state")
        elif random.random() < 0.3:
            found = self.restore("copy")
            if found:
                self.expect_between([0] * WRITERS, found[0], time.time(), "the newest state of the copy")
        elif told:
            self.judge_point("repository", random.choice(told))
        self.count("restores judged")
        self.pause(0.3)

    def judge_point(self, side, moment):
        """The state at a moment that was reported as stored has what had ended then, by the moments that are kept, and nothing that began later."""
        found = self.restore(side, "--at", stamp(moment))
        if found:
            state, reached = found
            self.expect_between(self.least(min(moment, reached) - INTERVAL - SLACK), state, moment, f"{stamp(moment)}, reached {stamp(reached)}")
        return found

    def expect_between(self, least, found, moment, what):
        # A commit is in the log of its writer only after it has ended.
        most = [sum(begun <= moment + 0.002 for begun, _ in mine) + (not self.is_over) for mine in self.commits()]
        expect(all(low <= is_there <= high for low, is_there, high in zip(least, found, most)),
               lambda: f"{what}: {found}, not from {least} to {most}")

    def restore_in_place(self, random):
        with contextlib.suppress(OSError):
            os.unlink(self.original)
        self.known = self.told[max(self.told)] if self.told else [0] * WRITERS
        self.before = self.read(self.in_place)
        return [self.settings.tool, "restore", *self.box.options, "--database", "app.db", "--in-place", *random.choice(([], ["--delta"])),
                *random.choice(([], ["--keep-original", self.original])), self.in_place]

    def judge_in_place(self, code, _):
        found = self.read(self.in_place)
        self.expect_between(self.known if code == 0 else [0] * WRITERS, found, time.time(), f"restored in place, exit {code}")
        expect(code == 0 or found == self.before or code < 0 or code == 143, lambda: f"exit {code}, and it changed from {self.before} to {found}")
        if os.path.exists(self.original):
            kept = self.read(self.original)
            expect(kept == self.before, lambda: f"the original has {kept}, not {self.before}")

    def judge_reader(self, code, out):
        if code == 0:
            expect(out.strip().endswith("[]"), lambda: f"a reader: {out[-400:]}")
            self.count("reads", int(out.split()[0]))

    def room(self):
        """What there is of each kind, in megabytes: what processes that were killed have left would grow with the kills."""
        sizes = {}
        for place, _, names in os.walk(self.place):
            kind = "/".join(os.path.relpath(place, self.place).split("/")[:2])
            for name in names:
                with contextlib.suppress(OSError):
                    sizes[kind] = sizes.get(kind, 0) + os.path.getsize(os.path.join(place, name)) / 1e6
        return ", ".join(f"{kind} {size:.1f}" for kind, size in sorted(sizes.items(), key=lambda one: -one[1])[:8]) + " MB"

    # What has to hold in the end

    def judge_all(self):
        live = soak.read(self.path)
        mine = self.commits()
        expect([len(one) for one in mine] == live, lambda: f"the writers know of {[len(one) for one in mine]} commits, the database has {live}")
        # The last writer has closed the log. It is one more commit, which changes no count.
        db = judge.connect(self.path, KEY)
        db.execute("PRAGMA user_version = 1")
        try:
            self.box.start().following(limit=240)
        except Failure as failure:
            raise Failure(f"{self.room()}; {failure}") from None
        self.box.stop()
        for side in self.sides:
            if side == "copy":
                self.box.litevault("copy", self.box.repository, self.copied, *self.box.options[2:])
            else:
                self.box.litevault("compact", *self.box.options, "--fine", "1m", "--minutes", "1h")
            checked = self.box.litevault("check", *self.sides[side], "--read-data")
            expect(checked["intact"], lambda: f"check of the {side}: {checked}")
            found = self.restore(side)
            expect(found and found[0] == live, lambda: f"the newest state of the {side} is {found}, not {live}")
            self.judge_snapshots(side)
        told = self.box.litevault("follow-restore", *self.box.options, "--once", self.standby)
        self.box.litevault("restore", *self.box.options, "--in-place", "--delta", self.in_place)
        db.close()
        content = judge.content(self.path, KEY)
        for path in (self.standby, self.in_place):
            found = soak.read(path)
            expect(found == live, lambda: f"{path} has {found}, the database {live}: {told}")
            expect(judge.content(path, KEY) == content, lambda: f"{path} has the counts of the database, and another content: {told}")
        done = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        return f"{sum(live)} commits, {len(self.told)} times reported as stored; {done}; {self.room()}"

    def judge_snapshots(self, side):
        listed = [one for one in self.box.litevault("snapshots", *self.sides[side])["snapshots"] if one["database"] == "app.db"]
        for snapshot in listed if len(listed) < 12 else self.random.sample(listed, 12):
            found = self.restore(side, "--snapshot", snapshot["id"])
            moment = seconds(snapshot["time"])
            expect(found, f"snapshot {snapshot['sequence']} of the {side}")
            self.expect_between(self.least(moment - 0.002), found[0], time.time(), f"snapshot {snapshot['sequence']} of the {side}")
        first = min(seconds(one["time"]) for one in listed)
        told = [moment for moment in self.told if moment > first]
        for moment in told if len(told) < 25 else self.random.sample(told, 25):
            expect(self.judge_point(side, moment), f"{stamp(moment)} of the {side}")
