"""The follower is killed at random moments, again and again, while a writer continues."""
import os
import signal
import threading
import time

from faults.report import expect

from .box import Box, Database, state_of, until

KILLS = 50
BOXES = 2


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


class Writer:
    """Commits in a thread of its own until it is stopped."""

    def __init__(self, path):
        self.ready, self.stops = threading.Event(), threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.work, args=(path,))
        self.thread.start()
        self.ready.wait(30)

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
        self.thread.join(60)
        expect(self.failure is None, lambda: f"the writer failed: {self.failure!r}")


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
