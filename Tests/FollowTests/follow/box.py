"""A directory with a database, a configuration that follows it, and what has to hold for its repository."""
import datetime
import json
import os
import random
import shutil
import signal
import subprocess
import time

from faults import judge
from faults.report import expect

KEY = bytes(range(1, 33))
INTERVAL = 0.1
# What a machine that stands still may make of an interval. That no commit is missing is judged by the times of segments, without it.
SLACK = 10


class Settings:
    def __init__(self, root):
        self.root = root
        self.tool = os.path.abspath(os.environ.get("LITEVAULT_TOOL") or os.path.join(root, ".build/debug/litevault"))
        self.engine = os.environ.get("LITEVAULT_ENGINE") or "sqlcipher"
        self.judge = os.environ.get("LITEVAULT_JUDGES")
        self.seed = int(os.environ.get("LITEVAULT_FAULT_SEED") or time.time_ns() % 1_000_000_007)
        self.full = os.environ.get("LITEVAULT_FAULT_FULL") == "1"
        self.jobs = int(os.environ.get("LITEVAULT_FAULT_JOBS") or os.cpu_count() or 1)

    def random(self, name):
        return random.Random(f"{self.seed} {name}")


def stamp(seconds):
    """A time as the tool reads it, truncated to the millisecond."""
    return datetime.datetime.fromtimestamp(int(seconds * 1000) / 1000, datetime.timezone.utc).isoformat(
        timespec="milliseconds").replace("+00:00", "Z")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def until(what, condition, limit=120, pause=0.03):
    """Waits until `condition` gives something, and gives it back; asks every `pause` seconds."""
    end = time.monotonic() + limit
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < end, lambda: f"not within {limit} s: {what() if callable(what) else what}")
        time.sleep(pause)


class Database:
    """A live database; each commit adds a row and moves an amount, so that any state tells which commits it has."""

    def __init__(self, path, key=KEY, wal=True, rows=50):
        self.path = path
        self.key = key
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.connection = judge.connect(path, key)
        self.connection.execute("PRAGMA busy_timeout = 20000")
        if wal:
            self.connection.execute("PRAGMA journal_mode = WAL").fetchall()
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE TABLE moved(n INTEGER PRIMARY KEY)")
        self.connection.execute("CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER, filler BLOB)")
        self.connection.execute("BEGIN")
        for number in range(rows):
            self.connection.execute("INSERT INTO account VALUES (?, 100, ?)", (number, os.urandom(900)))
        self.connection.execute("COMMIT")
        self.rows = rows
        # When each commit began and had ended.
        self.commits = []

    def commit(self, statement=None):
        begun = time.time()
        number = len(self.commits) + 1
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute("INSERT INTO moved VALUES (?)", (number,))
        self.connection.execute("UPDATE account SET amount = amount - 1 WHERE id = ?", (number % self.rows,))
        self.connection.execute("UPDATE account SET amount = amount + 1 WHERE id = ?", ((number + 7) % self.rows,))
        if statement:
            self.connection.execute(statement)
        self.connection.execute("COMMIT")
        self.commits.append((begun, time.time()))
        return number

    def checkpoint(self, kind="PASSIVE"):
        return self.connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()

    def close(self):
        self.connection.close()


def state_of(path, key=KEY, rows=50):
    """How many commits a database has; it has to be whole."""
    connection = judge.connect(path, key)
    try:
        connection.execute("PRAGMA busy_timeout = 60000")
        broken = connection.execute("PRAGMA cipher_integrity_check").fetchall() if key else []
        expect(not broken, lambda: f"pages do not authenticate: {broken[:2]}")
        found = connection.execute("PRAGMA integrity_check").fetchall()
        expect(found == [("ok",)], lambda: f"integrity_check: {found[:2]}")
        total = connection.execute("SELECT sum(amount) FROM account").fetchone()[0]
        expect(total == rows * 100, lambda: f"the sum of all amounts is {total}")
        count, most = connection.execute("SELECT count(*), ifnull(max(n), 0) FROM moved").fetchone()
        expect(count == most, f"{count} commits, the last of them number {most}")
        return count
    finally:
        connection.close()


class Box:
    """`more`: keys of the job; `head`: lines of the configuration."""

    def __init__(self, settings, folder, job=None, follow=None, head=(), name="box", jobs=None):
        self.settings = settings
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.config = self.path("backup.yml")
        self.repository = self.path("repository")
        self.options = ["--repository", self.repository, "--state-directory", self.path("state")]
        self.more = {}
        self.child = None
        # When a follower ended, and when the next one was started.
        self.pauses = []
        self.reached, self.joined = None, False
        self.configure(jobs or [dict({"name": "app", "sources": "db/*.db", "every": "1h", "allow-none": True},
                                     **(job or {}))], follow, head)

    def configure(self, jobs, follow=None, head=()):
        follow = dict({"interval": f"{int(INTERVAL * 1000)}ms"}, **(follow or {}))
        lines = [f"repository: {self.repository}", "state-directory: state", "metrics-file: metrics.prom", *head, "jobs:"]
        lines += [f"  - {json.dumps(dict({'follow': follow}, **job))}" for job in jobs]  # JSON is YAML.
        with open(self.config, "w") as file:
            file.write("\n".join(lines) + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self):
        return dict({"PATH": os.environ["PATH"], "HOME": self.folder, "XDG_CACHE_HOME": self.path("cache")}, **self.more)

    def litevault(self, *arguments, status=0):
        done = subprocess.run([self.settings.tool, *arguments, "--json"], capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=self.environment())
        expect(done.returncode == status,
               lambda: f"{arguments[0]}: exit {done.returncode} instead of {status}: {done.stderr.decode()[-400:]}")
        return json.loads(done.stdout) if done.stdout else json.loads(done.stderr.splitlines()[-1])

    # The follower

    def start(self, *prefix):
        if self.pauses and self.pauses[-1][1] is None:
            self.pauses[-1][1] = time.time()
        self.log = open(self.path("log"), "ab")
        self.child = subprocess.Popen([*prefix, self.settings.tool, "schedule", "run", self.config, "--json"],
                                      stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment())
        return self

    def logged(self):
        with open(self.path("log"), "rb") as file:
            # The last line may be half written.
            lines = [json.loads(line) for line in file.read().split(b"\n")[:-1] if line.startswith(b"{")]
        return [line["log"] for line in lines if "log" in line]

    def status(self):
        return self.litevault("schedule", "status", self.config)["jobs"][0]["follow"]

    def known(self, name="app.db"):
        """The status of one database."""
        found = [one for one in self.status()["databases"] if one["database"] == name]
        return found[0] if found else {"state": "unknown"}

    def following(self, name="app.db", limit=120):
        """Waits until every commit of the database is stored from now on."""
        seen = {}

        def is_following():
            expect(self.child.poll() is None, lambda: f"it ended with {self.child.returncode}: {self.tail()}")
            status = self.status()
            seen.clear()
            seen.update(next((one for one in status["databases"] if one["database"] == name), {}))
            # What a run that was killed has left does not count.
            return status["running"] and seen.get("state") == "following" and seen
        return until(lambda: f"following {name}: {seen} {self.tail()}", is_following, limit)

    def ran(self):
        """Waits for the first run of the job, which is due at once: if it is interrupted, the next start repeats it."""
        until("a run of the job", lambda: self.litevault("schedule", "status", self.config)["jobs"][0]["last_success"])
        return self

    def tail(self):
        with open(self.path("log"), "rb") as file:
            return file.read()[-600:].decode(errors="replace")

    def stop(self, number=signal.SIGTERM, status=143, limit=120, may_be_starting=False, may_have_ended=None):
        """`may_have_ended`: the exit status of a follower that has found a reason to end before it is asked to."""
        allowed = [status] if may_have_ended is None else [status, may_have_ended]
        # The loader, which comes before the tool, leaves signals to the system.
        allowed += [-number] if may_be_starting else []
        if self.child is None:
            return
        begun = time.monotonic()
        self.pauses.append([time.time(), None])
        self.child.send_signal(number)
        try:
            self.child.wait(limit)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            expect(False, f"it did not end within {limit} s: {self.tail()}")
        code, self.child = self.child.returncode, None
        self.log.close()
        expect(status is None or code in allowed, lambda: f"exit {code} instead of {status}: {self.tail()}")
        return time.monotonic() - begun

    def remove(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # What is in the repository

    def snapshots(self, name="app.db"):
        listed = self.litevault("snapshots", *self.options)["snapshots"]
        return [snapshot for snapshot in listed if snapshot["database"] == name]

    def restored(self, *selection, key=KEY, name="app.db", rows=50):
        out = self.path(f"restored-{time.monotonic_ns()}.db")
        told = self.litevault("restore", *self.options, "--database", name, *selection, out)
        self.reached, self.joined = seconds(told["reached"]), "joined_seconds" in told
        try:
            return state_of(out, key, rows)
        finally:
            os.unlink(out)

    def looks(self):
        """When the follower looked at the log and found commits: the times of all segments that are in the repository."""
        names = [name.split(".") for _, _, files in os.walk(self.repository + "/segments") for name in files if name[0] != "."]
        return sorted(int(parts[2] if len(parts) == 3 else parts[4]) / 1000 for parts in names)

    def looked(self, point):
        """The last of those not after a point in time that has just been restored.

        That is what the restore says it reached, where only joined segments are left of it, or nothing can be listed.
        """
        if self.joined or not os.path.isdir(self.repository + "/segments") or len(os.listdir(self.repository + "/segments")) != 1:
            return self.reached
        return max([self.reached, *(look for look in self.looks() if look < point - 0.002)])

    def at(self, time, **rest):
        return self.restored("--at", stamp(time), **rest)

    def judge_point(self, database, point, reached, **rest):
        """A point in time has what had been committed when the follower looked last before it, and nothing that began after it.

        That look was not long before it, either. What was committed while no follower ran was seen, and has its time, when the next one began.
        """
        found = self.at(point, **rest)
        latest = min(point, reached) - INTERVAL - SLACK
        for stopped, started in self.pauses:
            if stopped - SLACK <= latest + INTERVAL + SLACK and latest <= (started or stopped) + SLACK:
                latest = min(latest, self.reached - 0.002)
        # A look is timed before it reads: on however slow a machine, what had ended by then is in its segment.
        latest = max(latest, self.looked(point) - 0.002)
        least = sum(end <= latest for _, end in database.commits)
        most = sum(begin <= point + 0.002 for begin, _ in database.commits)
        expect(least <= found <= most, f"at {stamp(point)}: {found} commits, not from {least} to {most}")

    def judge_all(self, database, random, points=6, snapshots=None, **rest):
        """Every snapshot that is listed, and random points in time of those that are."""
        listed = self.snapshots()
        chosen = listed if snapshots is None or len(listed) <= snapshots else random.sample(listed, snapshots)
        for snapshot in chosen:
            found = self.restored("--snapshot", snapshot["id"], **rest)
            moment = seconds(snapshot["time"])
            least = sum(end < moment - 0.002 for _, end in database.commits)
            expect(found >= least, f"snapshot {snapshot['sequence']}: {found} commits, not {least}")
        ranges = []
        for snapshot, after in zip(listed, listed[1:] + [None]):
            if "log_until" in snapshot:
                # The last snapshot before a time is what it is restored from.
                last = seconds(snapshot["log_until"])
                last = min(last, seconds(after["time"]) - 0.002) if after else last
                if last >= seconds(snapshot["time"]):
                    ranges.append((seconds(snapshot["time"]) + 0.001, last))
        for _ in range(points if ranges else 0):
            begin, end = random.choices(ranges, [end - begin + 0.01 for begin, end in ranges])[0]
            self.judge_point(database, random.uniform(begin, max(begin, end)), end, **rest)
        checked = self.litevault("check", *self.options, "--read-data")
        expect(checked["intact"], lambda: f"check: {checked}")
        return listed, ranges
