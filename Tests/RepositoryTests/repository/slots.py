"""The secrets of a repository, killed at every write, sync, rename and link of a change."""
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import time

import reader
from faults import tracing
from faults.report import expect

from .injection import CALLS, FAULTS, MOST

# The words of a change, and the secrets that open the repository before and after it.
BEFORE = {"a", "b"}
CHANGES = {
    "add": (["secret", "add", "--new-repository-secret-file", "c"], {"a", "b", "c"}),
    "remove": (["secret", "remove", "2"], {"a"}),
    "remove the first": (["secret", "remove", "1"], {"b"}),
    "rotate": (["secret", "rotate", "--yes"], {"a"}),
    "change": (["secret", "change", "2", "--new-repository-secret-file", "c"], {"a", "c"}),
}


class Box:
    def __init__(self, settings, path):
        self.settings, self.path = settings, path

    def words(self, arguments, secret="a"):
        # Random bytes: opening takes no time, and each case opens often.
        formats = ["--repository-secret-format", "raw"]
        if "--new-repository-secret-file" in arguments:
            formats += ["--new-repository-secret-format", "raw"]
        return [self.settings.tool, *arguments, "--repository", "repository", "--state-directory", "state", "--cache-directory",
                "cache", "--repository-secret-file", secret, *formats]

    def run(self, *arguments, secret="a"):
        return subprocess.run(
            self.words(arguments, secret), cwd=self.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

    def result(self, *arguments):
        done = self.run(*arguments, "--json")
        expect(done.returncode == 0, lambda: f"{arguments}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def noticed(self):
        """Whether a change of the key is unfinished; everything that lists says the same, and fails for nothing."""
        with open(os.path.join(self.path, "repository/repository.json")) as file:
            unfinished = "previous" in json.loads(file.readline())
        for words in (["secret", "list"], ["snapshots"], ["check", "--read-only"]):
            done = self.run(*words, "--json")
            expect(done.returncode == 0, lambda: f"{words}: exit {done.returncode}: {done.stderr}")
            found = json.loads(done.stdout)
            expect(found["rotation_unfinished"] == unfinished, lambda: f"{words}: {found}")
            told = [one for one in found["warnings"] if "litevault secret rotate" in one["remedy"]]
            expect([one["severity"] for one in told] == ["notice"] * unfinished, lambda: f"{words}: {found['warnings']}")
            expect((b"litevault secret rotate" in done.stderr) == unfinished, lambda: f"{words}: {done.stderr}")
        return unfinished

    def opening(self):
        """The secrets that open the repository, by the reader that is not ours; each of them reads the snapshot."""
        found = set()
        for name in "abc":
            try:
                repository = reader.Repository(os.path.join(self.path, "repository"), self.secret(name))
            except reader.Damaged:
                continue
            expect([[one["sequence"] for one in all] for all in repository.names()] == [[1]], "the snapshot")
            found.add(name)
        return found

    def secret(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()


def run(report, settings, folder):
    tracing.require_strace()
    template, numbers = Box(settings, os.path.join(folder, "slots")), itertools.count()
    os.mkdir(template.path)
    for name in "abc":
        with open(os.path.join(template.path, name), "wb") as file:
            file.write(os.urandom(32))
        os.chmod(file.name, 0o600)
    with open(os.path.join(template.path, "vault.db"), "wb") as file:
        file.write(os.urandom(40 * 4096))
    for words in (["snapshot", "vault.db"], ["secret", "add", "--new-repository-secret-file", "b"]):
        done = template.run(*words)
        expect(done.returncode == 0, lambda: f"{words}: {done.stderr}")

    def copy():
        box = Box(settings, os.path.join(folder, f"slots-{next(numbers)}"))
        shutil.copytree(template.path, box.path)
        return box

    cases = []
    for name, (words, after) in CHANGES.items():
        opener = "b" if "1" in words else "a"
        box = copy()
        log = os.path.join(folder, "log " + name)
        done = tracing.trace(box.words(words, opener), log, CALLS, cwd=box.path)

        def undisturbed(box=box, done=done, after=after):
            expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
            expect(box.opening() == after, lambda: f"opened by {box.opening()}")

        report.case(f"secret {name}: undisturbed", undisturbed)
        counts, points = {}, {}
        for call in tracing.read(log):
            counts[call.pid, call.name] = counts.get((call.pid, call.name), 0) + 1
            if call.touches_files:
                points.setdefault(call.name, set()).add(counts[call.pid, call.name])
        for call, found in sorted(points.items()):
            found = sorted(found)
            if len(found) > MOST and not settings.full:
                found = sorted({found[round(i * (len(found) - 1) / (MOST - 1))] for i in range(MOST)})
            for number in found:
                for fault, inject in FAULTS:
                    cases.append((
                        f"secret {name}: {fault} at {call} {number}",
                        lambda w=words, a=after, o=opener, c=call, n=number, f=fault, i=inject: disturbed(
                            copy(), w, a, o, c, n, f, i)))
    report.cases(cases)
    # hazard: H-REP-40, H-REP-41
    for words in (["secret", "rotate", "--yes"], ["upgrade"]):
        report.case(f"a repair on a machine that has not seen '{' '.join(words[:2])}'", lambda w=words: elsewhere(copy(), w))
    followed(report, settings, os.path.join(folder, "slots-followed"))


def elsewhere(box, words):
    """It sets nothing aside, with the machine's own older `repository.json` or without any; the other machine's repair ends well."""
    place = os.path.join(box.path, "repository")
    document = os.path.join(place, "repository.json")

    def far(*arguments):
        command = box.words(arguments)
        command[command.index("state")] = "far"
        return subprocess.run(command, cwd=box.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

    def refused(*arguments):
        done = far("repair", *arguments, "--json")
        expect(done.returncode == 65, lambda: f"repair {arguments}: exit {done.returncode}: {done.stdout} {done.stderr}")
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        expect("on the machine that changed its secrets" in error["remedy"], lambda: f"{error}")
        expect(not os.path.exists(os.path.join(place, "damaged")), "something was set aside")

    done = far("snapshots")
    expect(done.returncode == 0, lambda: f"{done.stderr}")
    with open(document, "rb") as file:
        older = file.read()
    box.result(*words)
    # The slot of the secret that the other machine has.
    number = str(box.result("secret", "list")["opened"])
    box.result("secret", "change", number, "--new-repository-secret-file", "c")
    os.unlink(document)
    refused("--dry-run")
    refused()
    expect(not os.path.exists(document), "an older one was restored")
    with open(document, "wb") as file:
        file.write(older)
    refused("--dry-run")
    refused()
    os.unlink(document)
    for arguments in (["repair"], ["snapshots"], ["check", "--read-data"]):
        done = box.run(*arguments, secret="c")
        expect(done.returncode == 0, lambda: f"{arguments}: exit {done.returncode}: {done.stderr}")
    expect(far("snapshots").returncode == 77, "the secret that was replaced")


def disturbed(box, words, after, opener, call, number, fault, inject):
    try:
        done = tracing.trace(
            box.words(words, opener), os.path.join(box.path, "log"), [call], f"{call}:{inject}:when={number}", cwd=box.path)
        allowed = (0, -9, 137) if fault == "SIGKILL" else (0, 74)
        expect(done.returncode in allowed, lambda: f"exit {done.returncode}: {done.stderr}")
        found = box.opening()
        expect(found == after or (found == BEFORE and done.returncode != 0), f"exit {done.returncode}, opened by {found}")
        unfinished = words[1] == "rotate" and done.returncode != 0 and box.noticed()
        again = box.run(*words, secret=opener)
        # It has that secret already, or no longer has that slot.
        expect(again.returncode == 0 or (found == after and again.returncode in (64, 66)),
               lambda: f"again: exit {again.returncode}: {again.stderr}")
        expect(box.opening() == after, lambda: f"again: opened by {box.opening()}")
        # And by the tool; opened by another state than it remembers, it would say that it was rolled back.
        listed = box.run("snapshots", secret=opener)
        expect(listed.returncode == 0, lambda: f"snapshots: {listed.stderr}")
        expect(not unfinished or not box.noticed(), "noticed after it was completed")
        return ("after" if found == after else "before") + (", unfinished" if unfinished else "")
    finally:
        shutil.rmtree(box.path, ignore_errors=True)


# A followed log, in joined segments

class Log(Box):
    """The box of a repository with joined segments, whose fine ones are removed."""

    def times(self):
        """The commits that the ends of objects have, by times in milliseconds, from the reader that is not ours."""
        repository = reader.Repository(os.path.join(self.path, "repository"), self.secret("a"))
        database = repository.database("app.db")
        joined = list(repository.joined(database))
        ends = [one["seen"] for one in [*joined, *list(repository.log(database))[-1:]]]
        manifests = next(repository.names())
        found = {}
        for end in sorted(set(ends)):
            image = os.path.join(self.path, "image.db")
            # The job's own snapshot may be older than that with which the follower began.
            for manifest in manifests:
                repository.restore(manifest, image)
                if repository.roll(manifest, image, end)[0]:
                    break
                if manifest is not manifests[-1]:
                    os.unlink(image)
            link = sqlite3.connect(image)
            found[end] = link.execute("SELECT count(*) FROM moved").fetchone()[0]
            expect(link.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "a restored database is damaged")
            link.close()
            os.unlink(image)
        return found

    def follow(self):
        """Commits until segments were joined, by a follower, and removes those that a joined one has."""
        with open(os.path.join(self.path, "backup.yml"), "w") as file:
            file.write("repository: repository\nrepository-secret-file: a\nrepository-secret-format: raw\n"
                       "state-directory: state\njobs:\n  - {name: app, sources: app.db, every: 1h, allow-plaintext: true, "
                       "follow: {interval: 1s}}\n")
        link = sqlite3.connect(os.path.join(self.path, "app.db"), isolation_level=None)
        link.execute("PRAGMA journal_mode = WAL")
        link.execute("CREATE TABLE moved(n)")
        log = open(os.path.join(self.path, "log"), "wb")
        child = subprocess.Popen(
            [self.settings.tool, "schedule", "run", "backup.yml"], cwd=self.path, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, env=dict(os.environ, XDG_CACHE_HOME=os.path.join(self.path, "cache")))
        try:
            # Two windows of ten seconds that are over.
            end = time.monotonic() + 120
            while len(self.objects("joined")) < 2:
                expect(child.poll() is None and time.monotonic() < end, "no segments were joined")
                link.execute("INSERT INTO moved VALUES (1)")
                time.sleep(0.2)
        finally:
            child.terminate()
            child.wait(60)
            link.close()
            log.close()
        # As a compaction does a day later.
        covered = {number for path in self.objects("joined")
                   for number in range(*(int(part) + i for i, part in enumerate(os.path.basename(path).split(".")[:2])))}
        for path in self.objects("fine"):
            if int(os.path.basename(path).split(".")[0]) in covered:
                os.unlink(path)

    def objects(self, part):
        return [os.path.join(where, name) for where, _, names in os.walk(os.path.join(self.path, "repository/segments"))
                for name in names
                if (os.path.basename(where) == "joined") == (part == "joined") and not name.startswith(".")]


def followed(report, settings, folder):
    template, numbers = Log(settings, folder), itertools.count()
    os.mkdir(template.path)
    with open(os.path.join(template.path, "a"), "wb") as file:
        file.write(os.urandom(32))
    os.chmod(file.name, 0o600)
    words, times = ["secret", "rotate", "--yes"], {}

    def copy():
        box = Log(settings, f"{folder}-{next(numbers)}")
        shutil.copytree(template.path, box.path)
        return box

    def undisturbed():
        template.follow()
        times.update(template.times())
        expect(len(template.objects("joined")) >= 2 and len(set(times.values())) >= 3, f"{times}")
        box = copy()
        found = box.result(*words)
        expect(found["documents"] > len(template.objects("joined")), f"{found}")
        expect(box.times() == times and box.result("check", "--read-data")["intact"], "after the change")
        return f"{len(template.objects('joined'))} joined segments, {len(template.objects('fine'))} fine ones"

    def damaged():
        """A document that is damaged keeps the old key, until a repair and the same command have run."""
        box = copy()
        box.result("check")
        verified = os.path.join(box.path, "repository/verified")
        path = os.path.join(verified, os.listdir(verified)[0])
        with open(path, "r+b") as file:
            content = file.read(11)
            file.seek(10)
            file.write(bytes([content[10] ^ 1]))
        done = box.run(*words, "--json")
        expect(done.returncode == 65, lambda: f"exit {done.returncode}: {done.stderr}")
        found = json.loads(done.stdout)
        expect([one["path"].split("/")[0] for one in found["warnings"]] == ["verified"], lambda: f"{found['warnings']}")
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        expect("still accepts the old one" in error["message"], lambda: f"{error}")
        expect("litevault repair --read-data" in error["remedy"], lambda: f"{error}")
        expect(box.times() == times, "beside the old key")
        box.run("repair", "--read-data")
        found = box.result(*words)
        expect(found["continued"] and found["warnings"] == [], lambda: f"{found}")
        expect(box.times() == times and not box.noticed(), "after it was completed")

    def killed(call, number):
        box = copy()
        try:
            done = tracing.trace(
                box.words(words), os.path.join(box.path, "log"), [call], f"{call}:signal=SIGKILL:when={number}", cwd=box.path)
            expect(done.returncode in (0, -9, 137), lambda: f"exit {done.returncode}: {done.stderr}")
            expect(box.times() == times, "after the kill")
            unfinished = box.noticed()
            found = box.result(*words)
            expect(found["continued"] == unfinished and found["warnings"] == [], lambda: f"{found}")
            expect(box.times() == times and not box.noticed(), "after it was completed")
            expect(box.result("check", "--read-data")["intact"], "check")
            return "unfinished" if unfinished else "before or after"
        finally:
            shutil.rmtree(box.path, ignore_errors=True)

    report.case("secret rotate with joined segments: undisturbed", undisturbed)
    if not times:
        return
    report.case("secret rotate with a damaged document: completed after a repair", damaged)
    box = copy()
    tracing.trace(box.words(words), os.path.join(box.path, "log"), CALLS, cwd=box.path)
    counts, points = {}, {}
    for call in tracing.read(os.path.join(box.path, "log")):
        counts[call.pid, call.name] = counts.get((call.pid, call.name), 0) + 1
        if call.touches_files:
            points.setdefault(call.name, set()).add(counts[call.pid, call.name])
    cases = []
    for call, found in sorted(points.items()):
        found = sorted(found)
        if len(found) > 3 and not settings.full:
            found = [found[0], found[len(found) // 2], found[-2]]
        cases += [(f"secret rotate with joined segments: SIGKILL at {call} {number}", lambda c=call, n=number: killed(c, n))
                  for number in found]
    report.cases(cases)
