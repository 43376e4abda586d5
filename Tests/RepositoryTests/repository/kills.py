"""Larger runs, killed at random moments."""
import itertools
import os
import signal
import statistics
import subprocess
import time

from faults.report import expect

from .sandbox import OPERATIONS, REPAIR, Sandbox, Template

KILLS = 50


def run(report, settings, folder):
    template = Template(settings, os.path.join(folder, "kills"), blocks=1500)
    numbers = itertools.count()

    def sandbox(operation):
        return Sandbox(template, os.path.join(folder, f"kill-{next(numbers)}"), operation)

    for operation in [*OPERATIONS, REPAIR]:
        times = []

        def undisturbed():
            box = sandbox(operation)
            started = time.monotonic()
            done = subprocess.run(box.command(), cwd=box.folder, capture_output=True, timeout=300)
            times.append(time.monotonic() - started)
            expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
            box.judge(True)
            box.remove()

        report.cases([(f"{operation[0]}: undisturbed, {turn} of 2", undisturbed) for turn in (1, 2)])
        if not times:
            continue
        cases = []
        for turn in range(1, KILLS + 1):
            name = f"{operation[0]}: killed at a random moment, {turn} of {KILLS}"
            after = settings.random(name).uniform(0, statistics.median(times) * 1.1)
            cases.append((name, lambda o=operation, a=after: one(sandbox(o), a)))
        report.cases(cases)


def one(box, after):
    try:
        process = subprocess.Popen(
            box.command(), cwd=box.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
        expect(process.returncode in (0, -9), f"exit {process.returncode}: {errors.decode(errors='replace')}")
        box.judge(process.returncode == 0)
        return f"{'ended first' if process.returncode == 0 else 'killed'}, {after * 1000:.0f} ms"
    finally:
        box.remove()
