"""The secrets of a repository, killed at every write, sync, rename and link of a change."""
import itertools
import os
import shutil
import subprocess

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
        return [self.settings.tool, *arguments, "--repository", "repository", "--state-folder", "state", "--cache-folder",
                "cache", "--repository-secret-file", secret, *formats]

    def run(self, *arguments, secret="a"):
        return subprocess.run(
            self.words(arguments, secret), cwd=self.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

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


def disturbed(box, words, after, opener, call, number, fault, inject):
    try:
        done = tracing.trace(
            box.words(words, opener), os.path.join(box.path, "log"), [call], f"{call}:{inject}:when={number}", cwd=box.path)
        allowed = (0, -9, 137) if fault == "SIGKILL" else (0, 74)
        expect(done.returncode in allowed, lambda: f"exit {done.returncode}: {done.stderr}")
        found = box.opening()
        expect(found == after or (found == BEFORE and done.returncode != 0), f"exit {done.returncode}, opened by {found}")
        again = box.run(*words, secret=opener)
        # It has that secret already, or no longer has that slot.
        expect(again.returncode == 0 or (found == after and again.returncode in (64, 66)),
               lambda: f"again: exit {again.returncode}: {again.stderr}")
        expect(box.opening() == after, lambda: f"again: opened by {box.opening()}")
        # And by the tool; opened by another state than it remembers, it would say that it was rolled back.
        listed = box.run("snapshots", secret=opener)
        expect(listed.returncode == 0, lambda: f"snapshots: {listed.stderr}")
        return "after" if found == after else "before"
    finally:
        shutil.rmtree(box.path, ignore_errors=True)
