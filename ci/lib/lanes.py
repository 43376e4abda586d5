"""Runs parts that need one another, as many at a time as the machine has room for, the longest way to the end first.

Each part is a command with a log of its own. What it found is printed when it ends, a failure with the command that repeats it alone.
"""
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time


@dataclasses.dataclass
class Outcome:
    """What a part found. Failures are lines of text."""
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)
    skipped: int = 0


@dataclasses.dataclass
class Part:
    name: str
    command: list
    needs: list = dataclasses.field(default_factory=list)  # names of parts that have to succeed before
    after: list = dataclasses.field(default_factory=list)  # names of parts that have to end before, however they end
    weight: int = 1  # how much of the machine it uses, of 2 for each core
    build: tuple = None  # (which build `.build` has to be while it runs, whether it changes that build)
    seconds: float = 30  # how long it takes, if no earlier run says
    environment: dict = dataclasses.field(default_factory=dict)
    judge: object = None  # (log, status) -> Outcome; the status alone decides if there is none
    again: str = None  # what repeats it alone
    timeout: float = 1800  # a part that hangs must not take the others' time


class Lanes:
    def __init__(self, parts, home, select_build):
        self.parts = {part.name: part for part in parts}
        self.home, self.select_build = pathlib.Path(home), select_build
        self.capacity = 2 * (os.cpu_count() or 1)
        self.changed = threading.Condition()
        self.running, self.started, self.done, self.times, self.processes = {}, {}, {}, {}, {}
        self.began = time.monotonic()
        self.known = self.earlier_times()
        self.ways = {}

    # How long parts took, in the last run on this machine.
    @property
    def times_file(self):
        return self.home / "times.json"

    def earlier_times(self):
        try:
            return json.loads(self.times_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def expected(self, part):
        return self.known.get(part.name, part.seconds)

    def way(self, name):
        """The seconds from the beginning of a part to the end of the last one that needs it."""
        if name not in self.ways:
            after = [self.way(other.name) for other in self.parts.values() if name in [*other.needs, *other.after]]
            self.ways[name] = self.expected(self.parts[name]) + max(after, default=0)
        return self.ways[name]

    def log(self, part):
        return self.home / (part.name.replace(": ", ".").replace("/", "-").replace(" ", "-") + ".log")

    def run(self):
        """Runs all parts, and returns their outcomes by name."""
        waiting = sorted(self.parts.values(), key=lambda part: -self.way(part.name))
        with self.changed:
            while waiting or self.running:
                room = None  # when the part that is next in line will have room; None if it has
                for part in list(waiting):
                    lost = [name for name in part.needs if name in self.done and self.done[name].failures]
                    if lost:
                        waiting.remove(part)
                        self.finish(part, Outcome(failures=[f"did not run: {lost[0]} failed"]), None)
                    elif not all(name in self.done for name in [*part.needs, *part.after] if name in self.parts) or not self.has_build(part):
                        continue
                    elif not self.has_room(part):
                        room = self.seconds_to_room(part) if room is None else room
                    elif room is None or self.expected(part) < room + 45:  # others do not keep it waiting for long
                        waiting.remove(part)
                        self.running[part.name], self.started[part.name] = part, time.monotonic()
                        if part.build:
                            self.select_build(part.build[0])
                        threading.Thread(target=self.work, args=[part], daemon=True).start()
                if waiting or self.running:
                    self.changed.wait()
        return self.done

    def has_room(self, part):
        return not self.running or sum(other.weight for other in self.running.values()) + part.weight <= self.capacity

    def seconds_to_room(self, part):
        """When enough of the running parts will have ended for this one to fit."""
        needed = sum(other.weight for other in self.running.values()) + part.weight - self.capacity
        ends = [(self.started[name] + self.expected(other) - time.monotonic(), other.weight) for name, other in self.running.items()]
        for seconds, weight in sorted(ends):
            needed -= weight
            if needed <= 0:
                return max(0, seconds)
        return 0

    def has_build(self, part):
        holders = [other.build for other in self.running.values() if other.build and part.build]
        return all(other[0] == part.build[0] and not other[1] and not part.build[1] for other in holders)

    def work(self, part):
        started, cpu = time.monotonic(), 0
        try:
            status, cpu = self.command(part)
            if part.judge:
                outcome = part.judge(self.log(part), status)
            else:
                outcome = Outcome(passed=1) if status == 0 else Outcome(failures=[f"status {status}", *tail(self.log(part))])
        except Exception as error:  # whatever it is, the others must not wait for this part
            outcome = Outcome(failures=[f"{type(error).__name__}: {error}"])
        with self.changed:
            del self.running[part.name]
            self.processes.pop(part.name, None)
            self.finish(part, outcome, (time.monotonic() - started, cpu))
            self.changed.notify()

    def command(self, part):
        """Runs the part's command, and returns its exit status and the seconds of CPU that it used."""
        with open(self.log(part), "wb") as output:
            process = subprocess.Popen(
                [str(word) for word in part.command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env={**os.environ, **part.environment}, start_new_session=True)
            self.processes[part.name] = process
            late = threading.Timer(part.timeout, lambda: os.killpg(process.pid, signal.SIGKILL))
            late.start()
            _, status, usage = os.wait4(process.pid, 0)
            late.cancel()
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime

    def finish(self, part, outcome, times):
        self.done[part.name] = outcome
        if times:
            self.times[part.name] = times
            self.known[part.name] = round(times[0], 1)
            self.times_file.write_text(json.dumps(self.known, indent=1, sort_keys=True), encoding="utf-8")
        count = len(str(len(self.parts)))
        what = "FAILED" if outcome.failures else "passed"
        detail = f"{outcome.passed} passed" + (f", {outcome.skipped} skipped" if outcome.skipped else "")
        took = f"{times[0]:5.0f} s" if times else "      -"
        print(f"[{len(self.done):{count}}/{len(self.parts)}] {what}  {took}  {part.name} ({detail}){self.left()}", flush=True)
        for failure in outcome.failures[:40]:
            print(f"    FAILED: {part.name}: {failure}", flush=True)
        if outcome.failures:
            print(f"    log: {self.log(part)}\n    again: {part.again or ' '.join(map(str, part.command))}", flush=True)

    def left(self):
        """How long the rest takes: the longest way to the end, or the work that is left if that is more."""
        rest = [part for part in self.parts.values() if part.name not in self.done]
        if not rest:
            return ""
        work = sum(self.expected(part) * part.weight for part in rest) / self.capacity
        seconds = max(work, max(self.way(part.name) for part in rest))
        minutes, gone = divmod(int(time.monotonic() - self.began), 60)
        return f"; {minutes:02}:{gone:02} gone, about {seconds / 60:.0f} min left"

    def end(self):
        """Ends what is running: its whole process groups."""
        for process in list(self.processes.values()):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass

    def table(self):
        """The parts by the time they took: (name, seconds, seconds of CPU)."""
        return sorted(((name, *times) for name, times in self.times.items()), key=lambda row: -row[1])


def tail(log, lines=25):
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    wrong = [line for line in text if "error:" in line or "FAILED" in line]
    return (wrong or text)[-lines:]


def busy(count):
    """Processes that compute until they are killed."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
