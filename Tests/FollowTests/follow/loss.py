"""Segments of a followed log that somebody removed are noticed; a killed follower and retention do not count as loss."""
# hazard: H-LOG-01 H-LOG-02 H-LOG-03 H-LOG-05
import glob
import hashlib
import json
import os
import shutil
import signal
import time

from faults.report import expect

from .box import Box, Database, seconds, until

KILLS = 12


def run(report, settings, folder):
    def bound(name, body, *arguments):
        def case():
            # Where segments are removed, a joined one would have what they had. It is made ten seconds after a start.
            follow = None if body is kills else {"compact": False}
            box = Box(settings, folder, name=name, job={"retention": {"last": 6, "prune": False}}, follow=follow,
                      head=["repository-secret-file: secret"] if arguments and arguments[0] else [])
            if arguments and arguments[0]:
                secret(box)
            try:
                return body(settings, box)
            finally:
                box.remove()
        return case
    cases = []
    for how, has in (("with a secret", True), ("without a secret", False)):
        cases.append((f"{how}: the end, all, the middle and the start of a log are missed, and reported",
                      bound(f"cut-{has}", cut, has)))
        cases.append((f"{how}: a record that is removed, replayed or made up hides nothing from a machine that remembers",
                      bound(f"record-{has}", record, has)))
    cases.append(("a repository of a version that kept no record raises no alarm", bound("old", old)))
    cases.append((f"{KILLS} kills of the follower, with retention in between, lose nothing", bound("kills", kills)))
    report.cases(cases)


def secret(box):
    with open(box.path("secret"), "w") as file:
        file.write("correct horse battery staple\n")
    os.chmod(box.path("secret"), 0o600)
    box.options += ["--repository-secret-file", box.path("secret")]


def followed(box, commits=6):
    """A database with a segment for each of `commits` commits, and when each had been stored."""
    db = Database(box.path("db/app.db"))
    box.start().following()
    # Its snapshot is not to be one of a later commit.
    box.ran()
    times = []
    for _ in range(commits):
        before = len(segments(box))
        db.commit()
        until("a segment more", lambda: len(segments(box)) > before)
        times.append(seconds_of(segments(box)[-1]))
        time.sleep(0.02)
    box.stop()
    expect(len(segments(box)) == commits, f"{len(segments(box))} segments")
    return db, times


def segments(box):
    return sorted(path for path in glob.glob(box.repository + "/segments/*/*") if "/." not in path)


def snapshots(box):
    return sorted(path for path in glob.glob(box.repository + "/snapshots/*/*") if "/." not in path)


def seconds_of(path):
    return int(path.rsplit(".", 1)[1]) / 1000


def lease(box):
    return next(path for path in glob.glob(box.repository + "/leases/follow-*"))


def elsewhere(box, name):
    """The options of a machine that never saw the repository."""
    options = list(box.options)
    options[options.index("--state-directory") + 1] = box.path(name)
    return options


def restore(box, options, *selection, status=0):
    out = box.path(f"out-{time.monotonic_ns()}.db")
    told = box.litevault("restore", *options, "--database", "app.db", *selection, out, status=status)
    if status:
        expect(not os.path.exists(out), "a restore that failed has left a file")
        return told["error"]
    os.unlink(out)
    return told


def moment(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(at))) + f".{round(at % 1 * 1000):03}Z"


def cut(settings, box):
    db, times = followed(box)
    names = segments(box)
    shutil.copytree(box.repository, box.path("whole"))
    machines = [box.options, elsewhere(box, "second")]
    for options in machines:
        whole = restore(box, options)
        expect(whole["wanted"] == "latest" and abs(seconds(whole["reached"]) - times[-1]) < 0.002, whole)
        late = restore(box, options, "--at", "2101-01-01T00:00:00Z")
        expect(late["wanted"].startswith("2101") and late["reached"] == whole["reached"], late)
    for what, gone, kept in [("the end", [4, 5], 4), ("all", range(6), 0), ("the middle", [2], 2), ("the start", [0], 0)]:
        for index in gone:
            os.unlink(names[index])
        for options in machines:
            checked = box.litevault("check", *options, status=65)
            expect(len(checked["problems"]) == 1 and "missing" in checked["problems"][0]["message"], f"{what}: {checked}")
            listed = box.litevault("snapshots", *options, status=65)
            expect(any("missing" in one["message"] for one in listed["warnings"]), f"{what}: {listed}")
            for selection in ((), ("--at", moment(times[5])), ("--at", moment(times[5] + 1000))):
                failed = restore(box, options, *selection, status=65)
                expect(failed["code"] == "damaged" and "wanted" in failed, f"{what}: {failed}")
                if kept:
                    expect(abs(seconds(failed["reachable"]) - times[kept - 1]) < 0.002, f"{what}: {failed}")
            best = restore(box, options, "--at", "latest-reachable")
            expect(best["wanted"] == "latest-reachable" and best["reached"] == failed["reachable"], f"{what}: {best}")
            expect(restore(box, options, "--at", failed["reachable"])["reached"] == failed["reachable"], what)
            one = listed["snapshots"][0]
            expect(restore(box, options, "--snapshot", one["id"])["reached"] == one["time"], what)
        shutil.rmtree(box.repository)
        shutil.copytree(box.path("whole"), box.repository)
    for options in machines:
        expect(box.litevault("check", *options, "--read-data")["intact"], "it is whole again")
    db.close()


def record(settings, box):
    db, times = followed(box, 2)
    with open(lease(box), "rb") as file:
        early = file.read()
    # The first run may have taken more than one: that of the job, and the one that a follower starts from.
    before = len(snapshots(box))
    db.checkpoint("TRUNCATE")  # A run of its own.
    box.start().following()
    # What the run before has left in the status does not count: a commit before the snapshot would be in it.
    until(lambda: f"the second run's snapshot: {before} before it, {snapshots(box)} now", lambda: len(snapshots(box)) > before)
    time.sleep(0.3)
    db.commit()
    until("a segment more", lambda: len(segments(box)) == 3)
    box.stop()
    with open(lease(box), "rb") as file:
        late = json.loads(file.read())
    names = segments(box)
    # The snapshot that began the second run names the second segment.
    shutil.copytree(box.repository, box.path("whole"))
    os.unlink(names[2])
    made_up = dict(late, note=late["note"].replace('"sequence":3', '"sequence":2'))
    expect(made_up != late, late)
    for content in (early, None, json.dumps(made_up).encode()):
        if content is None:
            os.unlink(lease(box))
        else:
            with open(lease(box), "wb") as file:
                file.write(content)
        checked = box.litevault("check", *box.options, status=65)
        expect(any("missing" in one["message"] for one in checked["problems"]), checked)
        restore(box, box.options, status=65)
        # Nothing tells a machine that never saw it, and it restores what there is.
        restore(box, elsewhere(box, f"new-{len(content or b'')}"))
        expect(box.litevault("check", *elsewhere(box, "newer"), status=65 if content and content != early else 0), "")
        if content is None:
            shutil.copy(box.path("whole/leases/") + os.path.basename(lease_of(box)), lease_of(box))
    # What a manifest names is missed by everybody.
    os.unlink(lease(box))
    os.unlink(names[1])
    checked = box.litevault("check", *elsewhere(box, "another"), status=65)
    expect(any("missing" in one["message"] for one in checked["problems"]), checked)
    db.close()


def lease_of(box):
    return box.repository + "/leases/" + next(
        name for name in os.listdir(box.path("whole/leases")) if name.startswith("follow-"))


def resealed(path, change):
    """Changes the document at the start of an object that no secret guards; gives its hash."""
    with open(path, "rb") as file:
        line, _, rest = file.read().split(b"\n", 2)
    value = json.loads(line)
    change(value)
    line = json.dumps(value, separators=(",", ":"), sort_keys=True).encode() + b"\n"
    digest = hashlib.sha256(line).hexdigest()
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(line + f"sha256 {digest}\n".encode() + rest)
    return digest


def old(settings, box):
    db, times = followed(box)
    previous = []

    def before(value):
        value.pop("noted_from", None)
        if previous:
            value["predecessor"] = previous[-1]
    for path in segments(box):
        previous.append(resealed(path, before))
    for path in sorted(glob.glob(box.repository + "/snapshots/*/*")):
        resealed(path, lambda value: value.pop("newest_segment", None))
    with open(lease(box)) as file:
        value = json.load(file)
    del value["note"]
    with open(lease(box), "w") as file:
        json.dump(value, file)
    options = elsewhere(box, "fresh")
    expect(box.litevault("check", *options, "--read-data")["intact"], "an old repository")
    # Those before the first snapshot were removed by an older version's retention, which noted nothing.
    os.unlink(segments(box)[0])
    expect(box.litevault("check", *elsewhere(box, "fresher"))["intact"], "what an older version removed")
    db.close()


def kills(settings, box):
    random = settings.random("loss kills")
    db = Database(box.path("db/app.db"))
    for turn in range(KILLS):
        box.start()
        if turn == 0:
            box.following()
        end = time.monotonic() + random.uniform(0.3, 1.5)
        while time.monotonic() < end:
            db.commit()
            time.sleep(random.uniform(0.005, 0.05))
        box.stop(signal.SIGKILL, -9)
        if turn % 3 == 2:
            box.litevault("forget", *box.options, "--keep-last", "2", "--prune", "--grace", "0s")
        for options in (box.options, elsewhere(box, f"machine-{turn}")):
            checked = box.litevault("check", *options)
            expect(checked["intact"], lambda: f"after kill {turn + 1}: {checked['problems']}")
            expect(not box.litevault("snapshots", *options)["warnings"], "warnings")
            restore(box, options)
    box.start().following()
    db.commit()
    time.sleep(0.5)
    box.stop()
    expect(box.restored() == len(db.commits), "the newest state is not there")
    db.close()
