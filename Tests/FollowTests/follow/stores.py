"""A repository in object storage that fails: no commit is missed, or a gap is recorded."""
import json
import os
import subprocess
import time
import urllib.request

from faults.report import expect

from .box import INTERVAL, Box, Database, until

FAULTS = {
    "500": [{"method": "PUT", "path": "segments", "fault": "500", "times": 4},
            {"method": "PUT", "path": "leases", "fault": "500", "times": 3}],
    "503 and no answer": [{"method": "PUT", "path": ".", "fault": "503", "times": 3},
                          {"method": "PUT", "path": "segments", "fault": "refuse", "times": 3}],
    "lost acknowledgements": [{"method": "PUT", "path": "segments", "fault": "lose", "times": 4},
                              {"method": "PUT", "path": "leases", "fault": "lose", "times": 2}],
    "truncated answers": [{"method": "GET", "path": ".", "fault": "truncate", "times": 4},
                          {"method": "PUT", "path": "segments", "fault": "lose", "times": 1}],
}


def run(report, settings, folder):
    cases = [(f"{name}: every commit is stored all the same",
              lambda i=index, f=faults: with_server(settings, lambda port, plan: survives(settings, folder, port, plan, i, f)))
             for index, (name, faults) in enumerate(FAULTS.items())]
    cases.append(("a store that is away for long makes a gap when the spool is full, and following continues after it",
                  lambda: with_server(settings, lambda port, plan: away(settings, folder, port, plan))))
    report.cases(cases)


def with_server(settings, body):
    """A server and a proxy of the case's own: the proxy fails for all who use it."""
    servers = os.path.join(settings.root, "Tests", "ObjectStoreTests")
    children = []

    def server(name, *arguments):
        child = subprocess.Popen([settings.judge, os.path.join(servers, name), *arguments], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        children.append(child)
        return int(child.stdout.readline())

    try:
        port = server("fault-proxy", str(server("s3-server", "bucket")))

        def plan(faults):
            body = json.dumps([dict({"path": ".", "times": 1, "seconds": 0}, **fault) for fault in faults]).encode()
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/__faults", data=body)).read()

        return body(port, plan)
    finally:
        for child in children:
            child.stdin.close()
        for child in children:
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()


def s3_box(settings, folder, port, name, follow=None):
    box = Box(settings, folder, name=name, follow=follow)
    box.repository = f"s3://bucket/{name}"
    box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], follow,
                  head=[f"s3: {{endpoint: 'http://127.0.0.1:{port}', path-style: true}}"])
    box.options = ["--repository", box.repository, "--state-directory", box.path("state"), "--s3-endpoint",
                   f"http://127.0.0.1:{port}", "--s3-path-style"]
    box.more = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
    return box


def survives(settings, folder, port, plan, index, faults):
    plan([])
    box = s3_box(settings, folder, port, f"faults-{index}")
    try:
        db = Database(box.path("db/app.db"))
        box.start().following()
        db.commit()
        plan(faults)
        for _ in range(8):
            db.commit()
            time.sleep(INTERVAL * 1.5)
        plan([])
        moment = time.time()
        time.sleep(1.1)  # The status tells whole seconds.
        db.commit()
        until(lambda: f"{box.known()} {box.tail()}", lambda: (box.known()["last_segment"] or "")[:19] > iso(moment))
        took = box.stop()
        known = box.known()
        expect(known["gaps"] == 0 and known["lost"] == 0, lambda: f"{known} {box.tail()}")
        found, _ = box.judge_all(db, settings.random(f"stores {index}"), points=2)
        expect(not any("gap" in one for one in found) and box.restored() == len(db.commits), "not what was committed")
        db.close()
        return f"{known['segments']} segments, ended in {took:.1f} s"
    finally:
        box.remove()


def away(settings, folder, port, plan):
    plan([])
    box = s3_box(settings, folder, port, "away", follow={"spool-limit": "1MiB"})
    try:
        db = Database(box.path("db/app.db"))
        box.start().following()
        db.commit()
        until("the first segment", lambda: box.restored() == 1)
        plan([{"method": method, "path": ".", "fault": "503", "times": 10_000} for method in ("PUT", "GET", "HEAD")])
        end = time.monotonic() + 120
        while not any(line["message"] == "gap" for line in box.logged()):
            expect(time.monotonic() < end, lambda: f"no gap: {box.tail()}")
            db.commit("UPDATE account SET filler = randomblob(900)")
            time.sleep(INTERVAL)
        plan([])
        # The log is first to tell.
        until(lambda: box.known(), lambda: box.known()["gaps"] > 0)
        box.following()
        db.commit()
        box.stop()
        expect(box.restored() == len(db.commits), "not what was committed")
        gaps = [one["gap"]["reason"] for one in box.snapshots() if "gap" in one]
        expect(any("wait to be stored" in gap for gap in gaps), box.snapshots())
        db.close()
    finally:
        box.remove()


def iso(moment):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
