"""The follower is killed at random moments, again and again, while a writer continues."""
import contextlib
import os
import signal
import subprocess
import threading
import time

from faults.report import expect

from .box import Box, Database, state_of, until

KILLS = 50
BOXES = 2
COPIES = 12


def run(report, settings, folder):
    def one(index):
        box = Box(settings, folder, job={"every": "2s", "retention": {"last": 6, "prune": False}}, name=f"kills-{index}",
                  follow={"interval": "50ms"})
        try:
            return kill(settings, box, settings.random(f"kills {index}"), KILLS // BOXES)
        finally:
            box.remove()
    report.cases([(f"{KILLS // BOXES} kills, {index + 1} of {BOXES}: all that is listed is restored, and the next run continues",
                   lambda i=index: one(i)) for index in range(BOXES)])
    report.case(f"of a copy that is killed {COPIES} times the newest state is restored at any time", lambda: copies(settings, folder))


class Writer:
    """Commits in a thread of its own until it is stopped."""

    def __init__(self, path):
        self.ready, self.stops = threading.Event(), threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.work, args=(path,))
        self.thread.start()
        self.ready.wait(240)

    def work(self, path):
        try:
            self.db = Database(path)
            self.ready.set()
            while not self.stops.is_set():
                number = self.db.commit()
                if number % 40 == 0:
                    self.db.checkpoint(("PASSIVE", "TRUNCATE", "RESTART", "FULL")[number // 40 % 4])
                time.sleep(0.02)
            self.db.close()
        except Exception as error:  # noqa: BLE001 - told by the case
            self.failure = error
            self.ready.set()

    def stop(self):
        self.stops.set()
        self.thread.join(240)
        expect(not self.thread.is_alive(), "the writer did not end")
        expect(self.failure is None, lambda: f"the writer failed: {self.failure!r}")


def copies(settings, folder):
    random = settings.random("kills copies")
    box = Box(settings, folder, name="kills-copies", follow={"interval": "20ms", "compact": False})
    copied = box.path("copied")
    command = [settings.tool, "copy", box.repository, copied, *box.options[2:]]
    try:
        db = Database(box.path("db/app.db"))
        box.start().following()
        db.commit()
        until("the first segment", lambda: box.restored() == 1)
        box.litevault(*command[1:])
        states, killed, whole = [], 0, None
        # The first copy shows how long one takes. On a machine that was slow just then, others end before they are killed.
        for _ in range(1 + 10 * COPIES):
            if killed >= COPIES:
                break
            for _ in range(40):
                db.commit()
                time.sleep(0.025)
            before = segments(copied)
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env=box.environment())
            # From the first new segment on, as late as chance has it.
            until("a segment", lambda: segments(copied) > before or child.poll() is not None, pause=0.0005)
            began = time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(random.uniform(0, whole) if whole else 60)
            if child.poll() is None:
                killed += 1
            else:
                whole = min(whole or 60, time.monotonic() - began)
            child.kill()
            child.wait()
            box.options[1] = copied
            states.append(box.restored())
            box.options[1] = box.repository
        expect(killed >= COPIES, f"only {killed} of {len(states)} were killed")
        expect(states == sorted(states), lambda: f"{states}")
        box.stop()
        box.litevault(*command[1:])
        box.options[1] = copied
        expect(box.restored() == len(db.commits), "the newest state is not in the copy")
        db.close()
        return f"{killed} of {len(states)} killed"
    finally:
        box.remove()


def segments(repository):
    return sum(len(names) for _, _, names in os.walk(os.path.join(repository, "segments")))


def kill(settings, box, random, kills):
    writer = Writer(box.path("db/app.db"))
    early = judged = 0
    try:
        for turn in range(kills):
            box.start()
            time.sleep(random.uniform(0.02, 1.2))
            box.stop(signal.SIGKILL, -9)
            if not os.path.exists(box.repository + "/snapshots"):
                early += 1
            elif turn % 6 == 5:
                judged += 1
                box.judge_all(writer.db, random, points=2, snapshots=2)
        box.start().following()
        time.sleep(0.5)
    finally:
        writer.stop()
    box.stop()
    listed, ranges = box.judge_all(writer.db, random, points=4)
    expect(box.restored() == len(writer.db.commits), "the newest state is not there")
    expect(state_of(box.path("db/app.db")) == len(writer.db.commits), "the source was changed")
    left = os.listdir(box.repository + "/.spool")
    expect(not left, lambda: f"left in the spool: {left}")
    return f"{len(listed)} snapshots, {len(ranges)} rows of points in time, {len(writer.db.commits)} commits"
