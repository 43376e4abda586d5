"""Segments are joined and removed while the tool is killed, the disk is full or the store fails.

Whatever happens: the newest state has every commit that was stored, any other state is that of a commit, and the next run ends it.
"""
import glob
import itertools
import os
import shutil
import signal
import subprocess
import threading
import time

from faults import tracing
from faults.report import expect

from .box import Box, Database, until
from .kills import Writer
from .stores import s3_box, with_server

SECONDS = 24  # Of commits: two windows of ten seconds at least.
KILLS = 6, 20  # Of `litevault compact` that joins, and as many of one that removes; with LITEVAULT_FAULT_FULL.
TURNS = 2, 6  # Kills of a follower that is joining, in each box.
CALLS = tracing.CALLS + ["unlink", "unlinkat", "mkdir"]
MOST = 6  # Injections, chosen at random; all of them with LITEVAULT_FAULT_FULL.
FAULTS = [("SIGKILL", "signal=SIGKILL"), ("ENOSPC", "error=ENOSPC"), ("EIO", "error=EIO")]
REMOVE = ["--fine", "0s", "--grace", "0s"]
STORE = {
    "errors": [{"method": "PUT", "path": "joined", "fault": "500", "times": 3}, {"method": "GET", "path": "segments", "fault": "503", "times": 4},
               {"method": "DELETE", "path": "segments", "fault": "500", "times": 3}],
    "lost acknowledgements": [{"method": "PUT", "path": "joined", "fault": "lose", "times": 3},
                              {"method": "DELETE", "path": "segments", "fault": "lose", "times": 3}],
    "truncated answers": [{"method": "GET", "path": ".", "fault": "truncate", "times": 6}],
}


class Followed:
    """A repository with segments that nobody has joined; each case gets a copy."""

    def __init__(self, settings, folder):
        self.settings, self.folder = settings, folder
        self.box = Box(settings, folder, name="joining", follow={"interval": "50ms", "compact": False})
        self.db = Database(self.box.path("db/app.db"))
        self.box.start().following()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.db.commit()
            time.sleep(0.03)
        self.box.stop()
        self.count = len(self.db.commits)

    def copy(self, name):
        box = Box(self.settings, self.folder, name=f"joining-{name}")
        shutil.copytree(self.box.repository, box.repository)
        box.pauses = list(self.box.pauses)
        return box

    def expect_newest(self, box):
        found = box.restored()
        expect(found == self.count, lambda: f"{found} of {self.count} commits")

    def expect_some(self, box, random):
        """A moment of which only an earlier commit may be left."""
        point = random.uniform(self.db.commits[0][1] + 2, self.db.commits[-1][1])
        found = box.at(point)
        most = sum(begin <= point + 0.002 for begin, _ in self.db.commits)
        expect(found <= most, f"{found} commits of {most} by then")


def run(report, settings, folder):
    prepared, lock = [], threading.Lock()

    def followed():
        # The first case that needs it makes it.
        with lock:
            if not prepared:
                prepared.append(Followed(settings, folder))
        return prepared[0]

    cases = [("compact, killed at random while it joins: every commit is restored", lambda: killed(followed(), [])),
             ("compact, killed at random while it removes: the newest state has all, and others are those of commits",
              lambda: killed(followed(), REMOVE))]
    cases += [(f"compact into a store with {name}: it ends, and nothing is lost",
               lambda n=name, f=faults: with_server(settings, lambda port, plan: in_bucket(followed(), port, plan, n, f)))
              for name, faults in STORE.items()]
    cases.append(("a store that takes no joined segments, or removes none, keeps what it has",
                  lambda: with_server(settings, lambda port, plan: refused(followed(), port, plan))))
    report.cases(cases)
    injections(report, settings, followed)
    report.cases([(f"a follower, killed while it joins, {index + 1} of 2: every commit that it had stored is restored",
                   lambda i=index: following(settings, folder, i)) for index in range(2)])


# The command

def compacting(box, *options):
    return subprocess.Popen([box.settings.tool, "compact", *box.options, *options, "--json"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=box.environment())


def finished(followed, box):
    """The next run ends what was begun."""
    box.litevault("compact", *box.options, *REMOVE)
    followed.expect_newest(box)
    checked = box.litevault("check", *box.options, "--read-data")
    expect(checked["intact"], lambda: f"check: {checked}")
    # Of ten seconds that are over only a segment is left that is alone in them.
    windows = {}
    for name in segments(box):
        windows.setdefault(int(name.rsplit(".", 1)[1]) // 10_000, []).append(name)
    expect(windows and all(len(windows[one]) == 1 for one in sorted(windows)[:-1]), lambda: f"left: {windows}")


def segments(box):
    return [name for name in glob.glob(box.repository + "/segments/*/*") if os.path.isfile(name)]


def killed(followed, options):
    random = followed.settings.random(f"joining {options}")
    name = "remove" if options else "join"
    box = followed.copy(name + "-whole")
    begun = time.monotonic()
    box.litevault("compact", *box.options, *options)
    whole = time.monotonic() - begun
    box.remove()
    hit, is_done, kills = 0, False, KILLS[followed.settings.full]
    box = followed.copy(name)
    try:
        # On a machine that was slow when the first one was timed, others end before they are killed.
        for turn in range(10 * kills):
            if hit >= kills:
                break
            is_whole = is_done or turn == 0
            if is_done:
                box.remove()
                box = followed.copy(f"{name}-{turn}")
            child, begun = compacting(box, *options), time.monotonic()
            try:
                # Each run has to do what the killed ones before it have left.
                child.communicate(timeout=random.uniform(0.02, whole))
                is_done = True
                # Not if a killed one has left little to do: the next ones would be killed while they start.
                whole = min(whole, time.monotonic() - begun) if is_whole else whole
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                hit, is_done = hit + 1, False
            followed.expect_newest(box)
            if options:
                followed.expect_some(box, random)
            elif turn % 3 == 2:
                box.judge_all(followed.db, random, points=2)
        expect(hit >= kills, f"only {hit} of {turn + 1} were killed")
        finished(followed, box)
        return f"{hit} killed; undisturbed it takes {whole:.1f} s"
    finally:
        box.remove()


def injections(report, settings, followed):
    numbers = itertools.count()
    seen = {}

    def traced(box, inject=()):
        command = ["strace", "-f", "-y", "-q", "-o", box.path("trace"), "-e", "trace=" + ",".join(CALLS), *inject]
        if not any("signal" in one for one in inject):
            command.append("--seccomp-bpf")
        return subprocess.run([*command, settings.tool, "compact", *box.options, *REMOVE, "--json"], capture_output=True,
                              stdin=subprocess.DEVNULL, env=box.environment(), timeout=300)

    def undisturbed():
        tracing.require_strace()
        box = followed().copy("undisturbed")
        try:
            done = traced(box)
            expect(done.returncode == 0, lambda: done.stderr.decode()[-400:])
            for call in tracing.read(box.path("trace")):
                if call.touches_files:
                    seen[call.pid, call.name] = seen.get((call.pid, call.name), 0) + 1
            finished(followed(), box)
        finally:
            box.remove()
    report.case("compact, undisturbed", undisturbed)
    most = {}
    for (_, name), count in seen.items():
        most[name] = max(most.get(name, 0), count)
    random = settings.random("joining injections")
    # Of a call that is made hundreds of times not only the first ones.
    points = [(name, number, *fault) for name, count in sorted(most.items())
              for number in sorted(random.sample(range(1, count + 1), min(count, 40))) for fault in FAULTS]
    if len(points) > MOST and not settings.full:
        random.shuffle(points)
        taken = {}
        points.sort(key=lambda point: taken.setdefault((point[0], point[2]), itertools.count()).__next__())
        report.note(f"sampled {MOST} of {len(points)} injections")
        points = points[:MOST]

    def one(call, number, fault, inject):
        box = followed().copy(f"injection-{next(numbers)}")
        try:
            done = traced(box, ["-e", f"inject={call}:{inject}:when={number}"])
            allowed = (-9, 137, 0) if fault == "SIGKILL" else (0, 1, 65, 73, 74, 75)
            expect(done.returncode in allowed, lambda: f"exit {done.returncode}: {done.stderr.decode()[-400:]}")
            followed().expect_newest(box)
            followed().expect_some(box, settings.random(f"{call} {number} {fault}"))
            finished(followed(), box)
            return f"exit {done.returncode}"
        finally:
            box.remove()
    report.cases([(f"compact, {fault} at {call} {number} of each thread", lambda p=(call, number, fault, inject): one(*p))
                  for call, number, fault, inject in points])


# A bucket

def bucket(followed, port, name):
    """A copy of the repository in a bucket."""
    box = s3_box(followed.settings, followed.folder, port, "joining-" + name)
    box.litevault("copy", followed.box.repository, box.repository, "--s3-endpoint", f"http://127.0.0.1:{port}", "--s3-path-style",
                  "--state-directory", box.path("state"))
    return box


def in_bucket(followed, port, plan, name, faults):
    plan([])
    box = bucket(followed, port, name.split()[0])
    try:
        plan(faults)
        done = box.litevault("compact", *box.options, *REMOVE)
        plan([])
        expect(done["joined"] > 0 and done["removed"] > 1, lambda: f"{done}")
        again = box.litevault("compact", *box.options, *REMOVE)
        expect(again["joined"] == 0 and again["removed"] == 0, lambda: f"{again}")
        followed.expect_newest(box)
        followed.expect_some(box, followed.settings.random(name))
        expect(box.litevault("check", *box.options, "--read-data")["intact"], "check")
        return f"{done['joined']} joined, {done['removed']} removed"
    finally:
        box.remove()


def refused(followed, port, plan):
    plan([])
    box = bucket(followed, port, "refused")
    try:
        for method, path in (("PUT", "joined"), ("DELETE", "segments")):
            plan([{"method": method, "path": path, "fault": "403", "times": 100_000}])
            done = box.litevault("compact", *box.options, *REMOVE, status=69 if method == "DELETE" else 74)
            expect("error" in done, lambda: f"{done}")
            followed.expect_newest(box)
        plan([])
        done = box.litevault("compact", *box.options, *REMOVE)
        expect(done["removed"] > 1, lambda: f"{done}")
        followed.expect_newest(box)
        expect(box.litevault("check", *box.options, "--read-data")["intact"], "check")
    finally:
        box.remove()


# The follower

def following(settings, folder, index):
    box = Box(settings, folder, name=f"joining-kills-{index}", follow={"interval": "50ms", "fine": "60s"})
    random = settings.random(f"joining kills {index}")
    writer = Writer(box.path("db/app.db"))
    hit, turns = 0, TURNS[settings.full]
    try:
        for _ in range(turns):
            box.start().following()
            # It joins every ten seconds; what it reads lies in a directory meanwhile.
            hit += appears(box.repository + "/.spool/.segments.litevault-*", 65)
            time.sleep(random.uniform(0, 0.4))
            box.stop(signal.SIGKILL, -9)
        expect(hit >= turns - 1, f"it was joining {hit} of {turns} times only")
        box.judge_all(writer.db, random, points=3, snapshots=1)
        box.start().following()
        until("joined segments", lambda: glob.glob(box.repository + "/segments/*/joined/*"))
        time.sleep(0.5)
    finally:
        writer.stop()
    box.stop()
    try:
        listed, ranges = box.judge_all(writer.db, random, points=4)
        expect(box.restored() == len(writer.db.commits), "the newest state is not there")
        joined = glob.glob(box.repository + "/segments/*/joined/*")
        return f"{len(writer.db.commits)} commits, {len(listed)} snapshots, {len(ranges)} rows of points in time, {len(joined)} joined segments"
    finally:
        box.remove()


def appears(pattern, limit):
    """Whether files of that name come to be; left ones do not count."""
    before = set(glob.glob(pattern))
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if set(glob.glob(pattern)) - before:
            return True
        time.sleep(0.005)
    return False
