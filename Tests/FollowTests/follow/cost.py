"""What following costs depends on what is written, not on the size of the database."""
import json
import os
import time
import urllib.request

from faults.report import Skip, expect

from .box import Box, Database, until
from .stores import s3_box, with_server

COMMITS = 15


def run(report, settings, folder):
    found = {}
    for megabytes in (1, 40):
        def body(megabytes=megabytes):
            found[megabytes] = measure(settings, folder, megabytes)
            read, written = found[megabytes]
            return f"{read} bytes read, {written} written for {COMMITS} commits"
        report.case(f"{COMMITS} commits to a database of {megabytes} MB are followed", body)

    def compare():
        if len(found) < 2:
            raise Skip("not measured")
        (read, written), (more_read, more_written) = found[1], found[40]
        # A page or two of the tree above the rows may be another; 40 MB are not.
        for what, small, large in (("read", read, more_read), ("written", written, more_written)):
            expect(abs(large - small) <= 0.1 * small + 65536, f"{what}: {small} bytes at 1 MB, {large} at 40 MB")
        return f"{more_read / read:.2f} times as much read, {more_written / written:.2f} times as much written"
    report.case("bytes read and written do not depend on the size of the database", compare)
    report.case("a bucket is asked for nothing while nobody commits, and a look that finds commits is one PUT",
                lambda: with_server(settings, lambda port, plan: requests(settings, folder, port, plan)))


def requests(settings, folder, port, plan):
    def log():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/__log") as answer:
            return [(method, path) for method, path, *_ in json.load(answer)]

    plan([])
    box = s3_box(settings, folder, port, "requests")
    try:
        db = Database(box.path("db/app.db"))
        plan([])  # Which empties the log.
        box.start().following()
        # Ten seconds after its start it lists all segments, once, to find what can be joined.
        until("the first look at all segments", lambda: any("joined" in path for _, path in log()))
        before = box.known()["segments"]
        time.sleep(1)
        for _ in range(3):
            plan([])
            time.sleep(11)
            idle = [one for one in log() if "/leases/" not in one[1]]
            # That first look may not have ended when the window began.
            if not idle:
                break
        expect(not idle, lambda: f"{idle}")
        for _ in range(COMMITS):
            db.commit()
            time.sleep(0.2)
        box.stop()
        stored = box.known()["segments"] - before
        made = [one for one in log() if "/leases/" not in one[1]]
        puts = [path for method, path in made if method == "PUT" and "/segments/" in path and "/joined/" not in path]
        expect(0 < len(puts) == stored <= COMMITS, lambda: f"{len(puts)} PUTs for {stored} segments")
        # The window of ten seconds may have ended meanwhile: its segments are read, and stored as one.
        others = [one for one in made if one[1] not in puts and not (one[0] == "GET" and "list-type" not in one[1])]
        expect(len([one for one in others if "/segments/" in one[1]]) <= 2, lambda: f"{others}")
        expect(box.restored() == len(db.commits), "not what was committed")
        db.close()
        return f"{stored} segments"
    finally:
        box.remove()


def measure(settings, folder, megabytes):
    rows = megabytes * 1000
    # On a slow machine segments would be joined meanwhile.
    box = Box(settings, folder, name=f"cost-{megabytes}", follow={"compact": False})
    try:
        db = Database(box.path("db/app.db"), rows=rows)
        db.checkpoint("TRUNCATE")
        # The job's own snapshot reads all of the database.
        box.start().ran().following()
        # The first segment, and what is written down about the beginning.
        db.commit()
        until("a segment", lambda: segments(box) == 1)
        time.sleep(1.5)
        before = counters(box.child.pid)
        for number in range(COMMITS):
            db.commit()
            until("a segment", lambda: segments(box) == number + 2)
        time.sleep(1.5)
        after = counters(box.child.pid)
        expect(box.child.poll() is None, box.tail)
        box.stop()
        db.close()
        return tuple(now - then for now, then in zip(after, before))
    finally:
        box.remove()


def segments(box):
    return sum(not name.startswith(".") for _, _, files in os.walk(box.repository + "/segments") for name in files)


def counters(process):
    """Bytes that its system calls read and wrote, whether the cache had them or not."""
    try:
        with open(f"/proc/{process}/io") as file:
            values = dict(line.split(": ") for line in file.read().splitlines())
    except (FileNotFoundError, PermissionError) as error:
        raise Skip(f"this machine does not count: {error}") from None
    return int(values["rchar"]), int(values["wchar"])
