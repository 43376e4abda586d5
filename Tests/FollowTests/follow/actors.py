"""Threads that do something again and again until all of it ends: among them processes that are killed and stopped at random."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from faults.report import Failure, expect

PATIENCE = 240


class Actor(threading.Thread):
    """Calls `turn` with its own random choices until the others end, or it fails."""

    def __init__(self, name, chaos, turn):
        super().__init__(name=name, daemon=True)
        self.chaos, self.turn, self.failure = chaos, turn, None
        self.random = chaos.settings.random(f"{chaos.box.folder.rsplit('/', 1)[1]} {name}")

    def run(self):
        try:
            while not self.chaos.ended.is_set():
                self.turn(self.random)
        except Failure as failure:
            self.failure = str(failure)
        except Exception as error:  # noqa: BLE001 - told by the case
            self.failure = f"{error!r} at {traceback.format_tb(error.__traceback__)[-1].strip()}"


class Disturbed(Actor):
    """A process that is run, and killed, stopped for a while or asked to end within `lasts` seconds.

    `command` may be a function that makes it. Exit statuses that are not in `allowed` are failures; where it is empty, only SIGKILL may end it.
    `after` is called with the status and the output of each run.
    """

    def __init__(self, name, command, chaos, lasts, allowed, pause=0.0, after=None):
        super().__init__(name, chaos, self.once)
        self.command, self.lasts, self.longest, self.after = command, lasts, pause, after
        self.allowed = set(allowed) | {-signal.SIGKILL}
        self.is_killed_only = not allowed

    def once(self, random):
        command = self.command(random) if callable(self.command) else self.command
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=self.environment(command))
            try:
                self.disturb(child, random)
            finally:
                if child.poll() is None:
                    child.kill()
                    child.wait()
            out.seek(0)
            told = out.read().decode(errors="replace")
        expect(child.returncode in self.allowed, lambda: f"exit {child.returncode}: {told[-600:]}")
        self.chaos.count(f"runs of {self.name.rstrip(' 0123456789')}")
        if self.after:
            self.after(child.returncode, told)
        self.chaos.pause(random.uniform(0, self.longest) if self.longest else 0.05)

    def environment(self, command):
        # Python's own processes find their modules as this one does.
        return dict(os.environ) if command[0] == sys.executable else self.chaos.box.environment()

    def disturb(self, child, random):
        """Waits for the process; kills it, stops it, or lets it end, as chance has it."""
        kind = random.choices(("none", "kill", "stop", "end"), (3, 4, 3, 1))[0]
        if not self.waits(child, random.uniform(*self.lasts)):
            return
        if kind == "stop":
            child.send_signal(signal.SIGSTOP)
            self.chaos.count("stops")
            # Not by the end of all: a process that is stopped holds what it holds.
            time.sleep(random.choice((0.05, 0.5, 3)) * random.random())
            child.send_signal(signal.SIGCONT)
            if not self.waits(child, random.uniform(*self.lasts)):
                return
            kind = random.choice(("kill", "none"))
        if kind == "none" and self.lasts[0] < 0.5:
            return self.completes(child)
        if kind == "end" and not self.is_killed_only:
            child.terminate()
            try:
                child.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                expect(False, f"it did not end within {PATIENCE} s of SIGTERM")
            self.allowed |= {-signal.SIGTERM}
        else:
            child.kill()
            child.wait()
            self.chaos.count("kills")

    def completes(self, child):
        """Waits for the end of a process that ends by itself. Faults may hold it up as long as there are any."""
        end = None
        while child.poll() is None:
            if self.chaos.ended.is_set():
                end = end or time.monotonic() + PATIENCE
                expect(time.monotonic() < end, f"it did not end within {PATIENCE} s of the last fault")
            time.sleep(0.02)

    def waits(self, child, length):
        """Waits as long as that, or until the process or all of it ends; whether the process still runs."""
        end = time.monotonic() + length
        while time.monotonic() < end and not self.chaos.ended.is_set():
            if child.poll() is not None:
                return False
            time.sleep(min(0.02, length / 4))
        return child.poll() is None
