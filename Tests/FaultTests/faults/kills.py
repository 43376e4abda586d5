"""Larger runs, ended at random moments: killed, and interrupted by the signals that people and services send."""
import itertools
import os
import signal
import statistics
import subprocess
import time

from .injection import sweep
from .operations import Sandbox, Templates
from .report import expect

KILLS = 50
ELSEWHERE = 15  # On engines other than the default one, unless everything is asked for: `injection` kills at every call on each.
INTERRUPTS = 5  # Of each signal.
MEGABYTES = 3


def run(report, settings, engine, operations, directory):
    templates = Templates(directory, MEGABYTES)
    numbers = itertools.count()
    kills = KILLS if engine.compatibility == 4 or settings.full else ELSEWHERE

    def sandbox(operation):
        return Sandbox(os.path.join(directory, f"kill-{next(numbers)}"), operation, templates)

    for operation in operations:
        if operation.wal:
            continue  # Killed at every call by the other suite.
        idle = measure(report, settings, operation, sandbox)
        if idle is None:
            continue
        cases = []
        plan = [(signal.SIGKILL, kills), (signal.SIGINT, INTERRUPTS), (signal.SIGTERM, INTERRUPTS)]
        for number, count in plan:
            for turn in range(count):
                name = f"{operation}: {number.name} at a random moment, {turn + 1} of {count}"
                after = settings.random(name).uniform(0, idle * 1.1)
                cases.append((name, lambda o=operation, n=number, a=after: end(settings, sandbox(o), n, a)))
        report.cases(cases)


def measure(report, settings, operation, sandbox):
    """How long a run takes when as many run side by side as later."""
    times = []

    def undisturbed():
        box = sandbox(operation)
        try:
            started = time.monotonic()
            done = subprocess.run([settings.tool] + box.arguments(), capture_output=True, timeout=300)
            times.append(time.monotonic() - started)
            expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
            expect(box.check(temporaries_allowed=False) == "new", "nothing was done")
        finally:
            box.remove()

    report.cases([(f"{operation}: {MEGABYTES} MB undisturbed, {n + 1} of 2", undisturbed) for n in range(2)])
    return statistics.median(times) if times else None


def end(settings, box, number, after):
    try:
        process = subprocess.Popen(
            [settings.tool] + box.arguments(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        sent = time.monotonic()
        _, errors = process.communicate(timeout=120)
        took = time.monotonic() - sent
        killed = number == signal.SIGKILL
        state = box.check(temporaries_allowed=killed and process.returncode != 0)
        where = f"{state} state, {after * 1000:.0f} ms"
        if process.returncode == 0:
            expect(state == "new", "exit 0, but nothing was done")
            return "finished first"
        if killed:
            expect(process.returncode == -9, f"exit {process.returncode}: {errors.decode(errors='replace')}")
            sweep(settings, box)
            return where
        # Before the tool has its handlers, in its first milliseconds, the signal itself ends it.
        status = {signal.SIGINT: (130, -2), signal.SIGTERM: (143, -15)}[number]
        expect(process.returncode in status, f"exit {process.returncode}: {errors.decode(errors='replace')}")
        expect(took < 60, f"ended only after {took:.1f} s")
        return where
    finally:
        box.remove()
