"""Every write, sync, link and rename of a small run is killed, finds the disk full, and fails."""
import itertools
import os

from faults import tracing
from faults.report import expect

from .sandbox import OPERATIONS, Sandbox, Template

CALLS = tracing.CALLS + ["unlink", "mkdir", "utimensat"]
MOST = 6  # Injection points per system call and operation, unless LITEVAULT_FAULT_FULL is set.
FAULTS = [("SIGKILL", "signal=SIGKILL"), ("ENOSPC", "error=ENOSPC"), ("EIO", "error=EIO")]


def run(report, settings, folder):
    tracing.require_strace()
    template = Template(settings, os.path.join(folder, "injection"), blocks=40)
    numbers = itertools.count()

    def sandbox(operation):
        return Sandbox(template, os.path.join(folder, f"injection-{next(numbers)}"), operation)

    cases = []
    for operation in OPERATIONS:
        for call, number in points(report, settings, operation, sandbox):
            for fault, inject in FAULTS:
                name = f"{operation[0]}: {fault} at {call} {number}"
                cases.append((name, lambda o=operation, c=call, n=number, f=fault, i=inject: one(
                    settings, sandbox(o), c, n, f, i)))
    report.cases(cases)


def traced(box, calls, inject=None):
    return tracing.trace(box.command(), os.path.join(box.folder, "log"), calls, inject, cwd=box.folder)


def points(report, settings, operation, sandbox):
    """strace counts each thread's calls for itself and injects into the N-th of each: which N there are."""
    box = sandbox(operation)
    done = traced(box, CALLS)
    most = {}
    counts = {}
    for call in tracing.read(os.path.join(box.folder, "log")):
        key = call.pid, call.name
        counts[key] = counts.get(key, 0) + 1
        if call.touches_files:
            most.setdefault(call.name, set()).add(counts[key])

    def undisturbed():
        expect(done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        expect(most.get("fsync") and any("rename" in name or "link" in name for name in most), f"not traced: {most}")
        box.judge(True)

    report.case(f"{operation[0]}: undisturbed", undisturbed)
    box.remove()
    for name in sorted(most):
        numbers = sorted(most[name])
        if len(numbers) > MOST and not settings.full:
            numbers = sorted({numbers[round(i * (len(numbers) - 1) / (MOST - 1))] for i in range(MOST)})
        for number in numbers:
            yield name, number


def one(settings, box, call, number, fault, inject):
    try:
        done = traced(box, [call], f"{call}:{inject}:when={number}")
        output = done.stderr.decode(errors="replace").strip()
        if fault == "SIGKILL":
            expect(done.returncode in (0, -9, 137), f"exit {done.returncode}: {output}")
        else:
            expect(done.returncode in (0, 74), f"exit {done.returncode}: {output}")
            expect(done.returncode == 0 or output, "no message")
        box.judge(done.returncode == 0)
        return "ended first" if done.returncode == 0 else ""
    finally:
        box.remove()
