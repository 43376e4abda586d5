"""Runs named cases, some at a time, and counts."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor


class Failure(Exception):
    """A case did not hold; the text says what was seen."""


class Skip(Exception):
    """A case cannot be run here; the text says why."""


def expect(condition, message):
    if not condition:
        raise Failure(message() if callable(message) else message)


class Report:
    def __init__(self, only, jobs):
        self.only = only
        self.jobs = jobs
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.lock = threading.Lock()

    def note(self, text):
        with self.lock:
            print(f"  {text}", flush=True)

    def case(self, name, body):
        if self.only and self.only not in name:
            return
        try:
            detail = body()
            kind, detail = "passed", detail or ""
        except Skip as skip:
            kind, detail = "skipped", str(skip)
        except Failure as failure:
            kind, detail = "failed", str(failure)
        except Exception as error:  # A broken check is a failed one, with its place.
            import traceback
            kind, detail = "failed", f"{error!r} at {traceback.format_tb(error.__traceback__)[-1].strip()}"
        detail = " ".join(detail.split())  # One line per case.
        with self.lock:
            setattr(self, kind, getattr(self, kind) + 1)
            if kind == "failed":
                self.failures.append(f"{name}: {detail}")
            print(f"{kind.rjust(7)}  {name}{': ' + detail if detail else ''}", flush=True)

    def cases(self, pairs):
        """Runs (name, body) pairs, as many at a time as there are jobs."""
        with ThreadPoolExecutor(self.jobs) as pool:
            for future in [pool.submit(self.case, name, body) for name, body in pairs]:
                future.result()

    def finish(self, started):
        if self.failures:
            print("\nfailed:")
            for failure in self.failures:
                print(f"  {failure}")
        print(f"\n{time.time() - started:.0f} s")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0
