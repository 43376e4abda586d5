"""Every write, sync and rename of a small run is killed, finds the disk full, and fails."""
import collections
import itertools
import os
import subprocess

from . import tracing
from .operations import Sandbox, Templates
from .report import expect

MOST = 16  # Injection points per system call and operation, unless LITEVAULT_FAULT_FULL is set.
FAULTS = [("SIGKILL", "signal=SIGKILL"), ("ENOSPC", "error=ENOSPC"), ("EIO", "error=EIO")]
RENAMES = {"rename", "renameat", "renameat2", "link", "linkat"}


def run(report, settings, engine, operations, directory):
    tracing.require_strace()
    templates = Templates(directory, megabytes=0)
    numbers = itertools.count()

    def sandbox(operation):
        return Sandbox(os.path.join(directory, f"injection-{next(numbers)}"), operation, templates)

    cases = []
    for operation in operations:
        for call, number, total, needed in points_of(report, settings, operation, sandbox):
            for fault, inject in FAULTS:
                name = f"{operation}: {fault} at {call} {number} of {total}"
                cases.append((name, lambda o=operation, c=call, n=number, m=needed, f=fault, i=inject: inject_one(
                    settings, sandbox(o), c, n, m, f, i)))
    report.cases(cases)


def points_of(report, settings, operation, sandbox):
    """The calls of an undisturbed run to disturb: (name, which, of how many, whether the result depends on it)."""
    box = sandbox(operation)
    log = os.path.join(box.directory, "log")
    done = tracing.trace([settings.tool] + box.arguments(), log)
    seen = {}

    def undisturbed():
        expect(done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        expect(box.check(temporaries_allowed=False) == "new", "nothing was done")

    report.case(f"{operation}: undisturbed", undisturbed)
    # strace counts each thread's calls for itself, and injects into the N-th of each. Calls on pipes and terminals
    # count, but are not disturbed.
    counters = collections.Counter()
    renamed = False
    for call in tracing.read(log):
        counters[call.pid, call.name] += 1
        if call.touches_files:
            numbers = seen.setdefault(call.name, {})
            number = counters[call.pid, call.name]
            numbers[number] = numbers.get(number, False) or is_needed(call, renamed)
        renamed = renamed or (call.name in RENAMES and call.result == "0")
    box.remove()
    for name in tracing.CALLS:
        points = sorted(seen.get(name, []))
        total = len(points)
        if total > MOST and not settings.full:
            # Evenly, with the first and the last.
            points = sorted({points[round(i * (total - 1) / (MOST - 1))] for i in range(MOST)})
            report.note(f"{operation}: {name} sampled at {len(points)} of {total} calls")
        for point in points:
            yield name, point, max(points), seen[name][point]


def is_needed(call, renamed):
    """Whether the run must fail if the call does. Not for what SQLite does to journals, nor for its syncs of their
    directory: it may continue without, and the result is judged all the same."""
    if call.name in RENAMES:
        return True
    if os.path.isdir(call.path):
        return renamed
    if call.is_deleted:
        return False  # The old file is being erased. The new one is in place by then.
    return call.name != "ftruncate" and not call.path.endswith(("-wal", "-journal", "-shm"))


def inject_one(settings, box, call, number, needed, fault, inject):
    try:
        log = os.path.join(box.directory, "log")
        done = tracing.trace([settings.tool] + box.arguments(), log, [call], f"{call}:{inject}:when={number}")
        output = done.stderr.decode(errors="replace").strip()
        killed = fault == "SIGKILL"
        state = box.check(temporaries_allowed=killed)
        if killed:
            expect(done.returncode in (-9, 137), f"not killed: exit {done.returncode} {output}")
            sweep(settings, box)
            # hazard: H-EXP-13
            if box.operation.keeps and state == "old":
                again = subprocess.run([settings.tool] + box.arguments(), capture_output=True, timeout=60)
                expect(again.returncode == 0, lambda: f"cannot be repeated: {again.stderr.decode(errors='replace')}")
            return f"{state} state"
        if done.returncode == 0:
            expect(not needed, "exit 0 though a call failed")
            expect(state == "new", "exit 0, but nothing was done")
            return "done all the same"
        expect(done.returncode == 74, f"exit {done.returncode}: {output}")
        expect(output, "no message")
        if box.operation.keeps and state == "new":
            expect(os.path.basename(box.dest) in output, f"the copy is not named: {output}")
        if box.operation.wal and box.operation.replaces and state == "old" and "journal mode" not in output:
            expect(box.journal_mode() == "wal", lambda: f"journal mode {box.journal_mode()}: {output}")
        return f"{state} state"
    finally:
        box.remove()


def sweep(settings, box):
    """What a killed run left goes with the next run in the directory."""
    if not box.temporaries():
        return
    expect(next_run(settings, box) == 0, "the next run failed")
    expect(not box.temporaries(), lambda: f"not swept: {box.temporaries()}")


def next_run(settings, box):
    """Any run that writes into the directory: a backup of the current state, whichever that is."""
    from . import judge
    tiny = os.path.join(box.directory, "tiny.db")
    judge.make(tiny)
    done = subprocess.run(
        [settings.tool, "backup", tiny, os.path.join(box.files, "next.db")], capture_output=True, timeout=60)
    return done.returncode
