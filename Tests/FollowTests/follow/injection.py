"""Every write, sync, link and rename of a run that follows is killed, finds the disk full, and fails."""
import itertools
import os
import re
import signal
import subprocess
import time

from faults import tracing
from faults.report import expect

from .box import Box, Database, state_of, until

CALLS = tracing.CALLS + ["unlink", "unlinkat", "mkdir", "utimensat"]
MOST = 18  # Cases, chosen at random; all of them with LITEVAULT_FAULT_FULL.
FAULTS = [("SIGKILL", "signal=SIGKILL"), ("ENOSPC", "error=ENOSPC"), ("EIO", "error=EIO")]


def run(report, settings, folder):
    tracing.require_strace()
    numbers = itertools.count()
    seen = {}

    def undisturbed():
        box = Box(settings, folder, name="undisturbed")
        try:
            scenario(box, [])
            for call in tracing.read(box.path("trace")):
                if call.touches_files:
                    seen[call.pid, call.name] = seen.get((call.pid, call.name), 0) + 1
            expect(any(name == "fsync" for _, name in seen) and any("rename" in name for _, name in seen), f"{seen}")
        finally:
            box.remove()
    report.case("undisturbed", undisturbed)
    # strace counts each thread's calls for itself, and disturbs the N-th of each.
    most = {}
    for (_, name), count in seen.items():
        most[name] = max(most.get(name, 0), count)
    points = [(name, number, *fault) for name in sorted(most) for number in range(1, min(most[name], 40) + 1)
              for fault in FAULTS]
    total = len(points)
    if total > MOST and not settings.full:
        # Each kind of call with each fault before any a second time.
        random = settings.random("injection")
        random.shuffle(points)
        taken = {}
        points.sort(key=lambda point: taken.setdefault((point[0], point[2]), itertools.count()).__next__())
        points = points[:MOST]
        report.note(f"sampled {len(points)} of {total} injections")

    def one(call, number, fault, inject):
        box = Box(settings, folder, name=f"injection-{next(numbers)}")
        try:
            return disturbed(box, settings, call, number, fault, inject)
        finally:
            box.remove()
    report.cases([(f"{fault} at {call} {number} of each thread", lambda p=(call, number, fault, inject): one(*p))
                  for call, number, fault, inject in points])


def scenario(box, inject, patient=True):
    """Some commits while it follows; ended after that. Returns the database and the exit status."""
    db = Database(box.path("db/app.db"))
    strace = ["strace", "-f", "-y", "-q", "-o", box.path("trace"), "-e", "trace=" + ",".join(CALLS), *inject]
    if not any("signal" in one for one in inject):
        strace.append("--seccomp-bpf")
    box.start(*strace)
    # Before that a signal is the system's, and its exit status another.
    until(lambda: f"the tool's start: {box.tail()}", lambda: box.child.poll() is not None or has_started(box))
    end = time.monotonic() + (120 if patient else 1.5)
    while time.monotonic() < end and box.child.poll() is None:
        if os.path.exists(box.path("state")) and is_following(box):
            break
        time.sleep(0.05)
    for number in range(4):
        db.commit()
        time.sleep(0.15)
        if number == 1:
            db.checkpoint("TRUNCATE" if patient else "PASSIVE")
    status = box.child.poll()
    if status is None:
        tool = children(box.child.pid)
        for process in tool:
            try:
                os.kill(process, signal.SIGTERM)
            except ProcessLookupError:
                pass
        try:
            status = box.child.wait(120)
        except subprocess.TimeoutExpired:
            expect(False, lambda: f"it did not end: {box.tail()}")
    box.child = None
    box.log.close()
    if patient:
        expect(status == 143, lambda: f"exit {status}: {box.tail()}")
        expect(box.restored() == len(db.commits), "not what was committed")
        db.close()
    return db, status


def is_following(box):
    try:
        return box.known()["state"] == "following"
    except Exception:  # noqa: BLE001 - whatever was disturbed, the case continues
        return False


def has_started(box):
    """Whether the tool, under strace, waits for signals: it blocks them for that."""
    for process in children(box.child.pid):
        try:
            if os.readlink(f"/proc/{process}/exe") != os.path.realpath(box.settings.tool):
                continue
            with open(f"/proc/{process}/status") as file:
                blocked = int(re.search(r"^SigBlk:\s*(\w+)$", file.read(), re.M)[1], 16)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if blocked >> (signal.SIGTERM - 1) & 1:
            return True
    return False


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(one) for one in file.read().split()]


def disturbed(box, settings, call, number, fault, inject):
    db, status = scenario(box, ["-e", f"inject={call}:{inject}:when={number}"], patient=False)
    # A program that cannot store the state of its jobs exits; a signal ends it in any case.
    allowed = (-9, 137, 143) if fault == "SIGKILL" else (143, 74, 1)
    expect(status in allowed, lambda: f"exit {status}: {box.tail()}")
    expect(state_of(db.path) == len(db.commits), "the source was changed")
    told = box.log and box.tail()
    listed = []
    if os.path.exists(box.repository + "/repository.json"):
        listed, _ = box.judge_all(db, settings.random(f"{call} {number} {fault}"), points=2)
    # The next run continues.
    box.start().following()
    db.commit()
    box.stop()
    expect(box.restored() == len(db.commits), lambda: f"the next run did not continue: {told}")
    left = [name for name in os.listdir(box.repository + "/.spool")]
    expect(not left, lambda: f"left in the spool: {left}")
    db.close()
    return f"exit {status}, {len(listed)} snapshots"
