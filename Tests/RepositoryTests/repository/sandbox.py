"""A database, its repository and what has to hold for both."""
import json
import os
import random
import shutil
import subprocess
import time

import reader
from faults.report import expect

from . import wal

BLOCK = 4096


class Settings:
    def __init__(self, root):
        self.tool = os.path.abspath(os.environ.get("LITEVAULT_TOOL") or os.path.join(root, ".build/debug/litevault"))
        self.engine = os.environ.get("LITEVAULT_ENGINE") or "sqlcipher"
        judges = os.environ.get("LITEVAULT_JUDGES") or os.path.join(root, ".engines/judges/bin/python")
        self.judges = judges if os.access(judges, os.X_OK) else None
        self.seed = int(os.environ.get("LITEVAULT_FAULT_SEED") or time.time_ns() % 1_000_000_007)
        self.full = os.environ.get("LITEVAULT_FAULT_FULL") == "1"
        self.jobs = int(os.environ.get("LITEVAULT_FAULT_JOBS") or os.cpu_count() or 1)

    def random(self, name):
        return random.Random(f"{self.seed} {name}")


class Template:
    """A repository with three snapshots, one forgotten and its packs listed, and a database that changed since.

    The database is random bytes, which is what ciphertext looks like: no key is needed for anything here.
    """

    def __init__(self, settings, folder, blocks):
        self.settings = settings
        self.folder = folder
        os.mkdir(folder)
        self.images = {}
        image = bytearray(os.urandom(blocks * BLOCK))
        for sequence in range(1, 5):
            if sequence > 1:
                start = (sequence * 37 % (blocks - blocks // 8)) * BLOCK
                image[start:start + blocks // 8 * BLOCK] = os.urandom(blocks // 8 * BLOCK)
            with open(os.path.join(folder, "vault.db"), "wb") as file:
                file.write(image)
            self.images[sequence] = bytes(image)
            if sequence < 4:
                self.litevault("snapshot", "vault.db", "--database", "vault.db")
            if sequence == 3:
                self.litevault("forget", "--keep-last", "2", "--prune")

    def litevault(self, *arguments):
        done = subprocess.run(
            command(self.settings, *arguments), cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")


def command(settings, *arguments):
    return [settings.tool, *arguments, "--repository", "repository", "--state-directory", "state", "--cache-directory", "cache"]


# Name, arguments, and which sequences may be listed afterwards: (must, may).
OPERATIONS = [
    ("snapshot", ["snapshot", "vault.db", "--database", "vault.db"], ({2, 3}, {2, 3, 4})),
    ("restore", ["restore", "out.db"], ({2, 3}, {2, 3})),
    ("restore in place", ["restore", "--in-place", "--delta", "--keep-original", "kept.db", "live.db"], ({2, 3}, {2, 3})),
    ("forget", ["forget", "--keep-last", "1", "--prune", "--grace", "0s"], ({3}, {2, 3})),
]

# hazard: H-REP-06
# Puts back the manifest of snapshot 2, and writes the list of those that were forgotten again.
REPAIR = ("repair", ["repair"], ({2, 3}, {2, 3}))


class Sandbox:
    def __init__(self, template, folder, operation):
        self.settings = template.settings
        self.template = template
        self.folder = folder
        self.name, self.arguments, (self.must, self.may) = operation
        shutil.copytree(template.folder, folder)
        if self.name == "repair":
            self.damage()
        if self.name == "restore in place":
            self.make_live()

    def make_live(self):
        """The database that is replaced: an older state, with commits in a log that a crash has left."""
        image = self.template.images[2]
        with open(self.path("live.db"), "wb") as file:
            file.write(image)
        pages = [(number, os.urandom(BLOCK)) for number in (1, 3, 2, 3)]
        wal.write(self.path("live.db-wal"), pages, len(image) // BLOCK, BLOCK)
        self.old = bytearray(image)
        for number, page in pages:
            self.old[(number - 1) * BLOCK:number * BLOCK] = page
        expect(wal.applied(self.path("live.db")) == self.old, "the log is not valid")

    def judge_live(self, done):
        """The old database with its commits or the new one, complete, and the old one where it was to be kept."""
        new = self.template.images[3]
        found = wal.applied(self.path("live.db"))
        expect(found in (self.old, new), "neither the old database nor the new one")
        expect(found == new or not done, "exit 0, but it was not replaced")
        if found == new:
            expect(not os.path.exists(self.path("live.db-wal")), "the log of the old database is beside the new one")
            expect(wal.applied(self.path("kept.db")) == self.old, "the old database was not kept")

    def damage(self):
        """One byte of a manifest, and all of a list."""
        base = self.path("repository/snapshots")
        self.database = os.listdir(base)[0]
        manifest = os.path.join(base, self.database, "0000000002")
        with open(manifest, "r+b") as file:
            file.seek(40)
            byte = file.read(1)[0]
            file.seek(40)
            file.write(bytes([byte ^ 1]))
        with open(manifest, "rb") as file:
            self.damaged = {f"snapshots/{self.database}/0000000002": file.read(), f"forgotten/{self.database}": b"gone"}
        with open(self.path(f"repository/forgotten/{self.database}"), "wb") as file:
            file.write(b"gone")

    def judge_repair(self, done):
        """What is damaged is where it was or aside, and another repair ends what one began."""
        for name, content in self.damaged.items():
            places = [self.path("repository/" + name), self.path("repository/damaged/" + name)]
            found = [open(place, "rb").read() for place in places if os.path.exists(place)]
            expect(content in found, f"{name}: what was damaged is gone")
        again = self.run("repair", "--json")
        expect(again.returncode == 0, lambda: f"another repair: {again.stderr.decode(errors='replace')}")
        expect(not (done and json.loads(again.stdout)["actions"]), "exit 0, but something was left to do")

    def command(self):
        return command(self.settings, *self.arguments)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        return subprocess.run(
            command(self.settings, *arguments), cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=120)

    def listed(self):
        repository = reader.Repository(self.path("repository"))
        return {manifest["sequence"]: manifest for snapshots in repository.names() for manifest in snapshots}

    def judge(self, done):
        """What holds whatever happened; `done`: the operation said that it succeeded."""
        with open(self.path("vault.db"), "rb") as file:
            expect(file.read() == self.template.images[4], "the source was changed")
        if self.name == "repair":
            self.judge_repair(done)
        if self.name == "restore in place":
            self.judge_live(done)
        self.judge_snapshots(done)
        if os.path.exists(self.path("out.db")):
            with open(self.path("out.db"), "rb") as file:
                expect(file.read() == self.template.images[3], "the restored file is not the snapshot")
        else:
            expect(not (done and self.name == "restore"), "exit 0, but nothing was restored")
        after = self.run("snapshot", "vault.db", "--database", "vault.db")
        expect(after.returncode == 0, lambda: f"the next snapshot: {after.stderr.decode(errors='replace')}")
        checked = self.run("check", "--read-data", "--json")
        expect(checked.returncode == 0, lambda: f"check: {checked.stdout.decode()} {checked.stderr.decode()}")
        expect(json.loads(checked.stdout)["intact"], "not intact")
        left = [name for name in os.listdir(self.path("repository/.spool"))]
        expect(not left, lambda: f"left in the spool: {left}")

    def judge_snapshots(self, done):
        listed = self.listed()
        expect(self.must <= set(listed) <= self.may, f"listed: {sorted(listed)}")
        if done and self.name == "snapshot":
            expect(set(listed) == self.may, "exit 0, but there is no snapshot")
        if done and self.name == "forget":
            expect(set(listed) == self.must, "exit 0, but the snapshot is still there")
        for sequence, manifest in listed.items():
            out = self.path(f"judge-{sequence}")
            try:
                reader.Repository(self.path("repository")).restore(manifest, out)
            except (reader.Damaged, FileNotFoundError) as error:
                expect(False, f"snapshot {sequence} cannot be restored: {error!r}")
            with open(out, "rb") as file:
                expect(file.read() == self.template.images[sequence], f"snapshot {sequence} is not what it was")
            os.unlink(out)
