"""One case: a copy of a repository, one change, one command, and what has to hold afterwards."""
import hashlib
import json
import os
import random as randomness
import resource
import shutil
import signal
import subprocess
import threading
import time

from . import mutations
from .mutations import Nothing, read
from .s3 import Plan, Server
from .templates import Template, environment

# contracts/cli.md; 1 and 64 are not valid answers to damage.
DOCUMENTED = {0, 65, 66, 69, 73, 74, 75, 77, 78}
SECONDS = 120  # a case takes a second or two; the machine may be busy with other tests
# Kilobytes of memory that a case may take; the databases have some hundred kilobytes.
MEMORY = 700 << 10
ADDRESSES = 64 << 30


class Wrong(Exception):
    """The case did not hold."""


def need(condition, what):
    if not condition:
        raise Wrong(what() if callable(what) else what)


class Case:
    """Everything that it does follows from the seed and its number."""

    def __init__(self, settings, reader, seed, number):
        self.settings, self.reader, self.seed, self.number = settings, reader, seed, number
        self.random = randomness.Random(f"{seed} {number}")
        kinds = ["raw"] * 10 + ["resealed"] * 8 + ["mapped"] * 3 + ["rehashed"] * 2 + ["local"] * 4 + ["s3"] * 5
        self.kind = self.random.choice(kinds)
        self.what = ""
        # The object that was changed; seconds that the command took.
        self.touched = None
        self.seconds = 0

    def run(self, folder, server, templates):
        self.template = self.random.choice(templates)
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        self.template.copy(folder)
        self.repository = os.path.join(folder, "repository")
        self.server = server
        try:
            command = self.change()
            self.judge(command)
        finally:
            server.plan = Plan()
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def name(self):
        return f"{self.template.name} {self.kind}: {self.what}"

    # What is changed.

    def change(self):
        """Changes something; returns the command that meets it."""
        rng, template = self.random, self.template
        while True:
            try:
                return getattr(self, self.kind)(rng, template)
            except Nothing:
                continue

    def raw(self, rng, template):
        names = mutations.files(self.repository)
        self.original = {name: read(os.path.join(self.repository, name)) for name in names}
        # Documents are few beside packs, and say more.
        chosen = names if rng.random() < 0.5 else [name for name in names if not name.startswith(("data/", "tree/"))]
        self.what, self.touched = mutations.raw(rng, self.repository, chosen)
        return self.command()

    def resealed(self, rng, template):
        self.what, self.touched = mutations.resealed(rng, self.repository, mutations.files(self.repository), template.key)
        return self.command()

    def mapped(self, rng, template):
        self.what, self.touched = mutations.mapped(rng, self.reader, self.repository, template)
        # What a map of terabytes would write is not for a test; what it would need is asked first.
        return self.command()

    def rehashed(self, rng, template):
        self.what, self.touched = mutations.rehashed(rng, self.reader, self.repository)
        return self.command()

    def local(self, rng, template):
        """What this machine remembers."""
        names = [os.path.join("state", name) for name in mutations.files(os.path.join(self.folder, "state"))]
        if rng.random() < 0.4:
            self.what, self.touched = mutations.raw(rng, self.folder, names)
        else:
            name = rng.choice(names)
            try:
                value = json.loads(read(os.path.join(self.folder, name)))
            except ValueError:
                raise Nothing from None
            self.what = mutations.changed(rng, value) + f" in {name}"
            mutations.replace(os.path.join(self.folder, name), mutations.dumped(value))
        if rng.random() < 0.5:
            return ["schedule", rng.choice(["status", "status", "run-due"]), "plan.yml"]
        return self.command()

    def s3(self, rng, template):
        objects = {f"r/{name}": read(os.path.join(self.repository, name)) for name in mutations.files(self.repository)}
        command = self.command()
        always = rng.random() < 0.15
        if rng.random() < 0.3:
            # What the cache has is of an earlier run.
            self.server.plan = Plan()
            self.server.objects.load(objects)
            self.execute(self.with_store(rng.choice(template.restores).arguments()))
            shutil.rmtree(os.path.join(self.folder, "out.db"), ignore_errors=True)
            if os.path.exists(os.path.join(self.folder, "out.db")):
                os.unlink(os.path.join(self.folder, "out.db"))
            cached = mutations.files(os.path.join(self.folder, "cache"))
            if cached and rng.random() < 0.7:
                self.what, _ = mutations.raw(rng, os.path.join(self.folder, "cache"), cached)
                self.server.objects.load(objects)
                return command
        self.server.objects.load(objects)
        at = rng.choice([0, 1, 2, 3, rng.randint(0, 12), rng.randint(0, 40)])
        self.server.plan = Plan(randomness.Random(f"{self.seed} {self.number} s3"), at, always)
        self.what = f"answer {at}{' and those after it' if always else ''}"
        return command

    # What is done then.

    def command(self):
        rng, template = self.random, self.template
        touched = self.touched or ""
        choices = [rng.choice(template.restores)] * 9 + [
            ["snapshots", "--json"], ["check", "--json"], ["check", "--read-data"], ["snapshot", "vault.db", "--database", "vault.db"],
            ["forget", "--keep-last", "1", "--dry-run"], ["forget", "--keep-last", "1", "--prune", "--grace", "0s"]]
        if self.settings.repairs:
            choices += [["repair"], ["repair", "--dry-run"]]
        if touched.startswith(("segments/", "snapshots/")):
            choices += [rng.choice([one for one in template.restores if one.kind != "id"])] * 6
        return rng.choice(choices)

    def with_store(self, arguments):
        if arguments[0] == "schedule":
            return arguments
        if self.kind != "s3":
            return [*arguments, *self.template.options()]
        return [*arguments, *self.template.options("s3://bucket/r"), "--s3-endpoint", self.server.endpoint, "--s3-path-style"]

    def execute(self, arguments):
        """Runs the tool; returns its status, what it said, and kilobytes of memory."""
        with open(os.path.join(self.folder, "said"), "w+b") as said:
            child = subprocess.Popen(
                [self.settings.tool, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env=environment(self.folder))
            resource.prlimit(child.pid, resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
            timer = threading.Timer(SECONDS, child.kill)
            timer.start()
            begun = time.monotonic()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read(100_000).decode(errors="replace")
        self.seconds = time.monotonic() - begun
        return child.returncode, text, usage.ru_maxrss

    def judge(self, command):
        restore = command if not isinstance(command, list) else None
        arguments = restore.arguments() if restore else command
        # Compares the content of a directory before and after, not our own messages.
        before = self.fingerprint()
        status, text, memory = self.execute(self.with_store(arguments))
        self.what += f"; {' '.join(arguments)}; exit {status}"
        if self.kind == "s3" and self.server.plan.done:
            self.what += f"; {self.server.plan.done[:4]}"
        end = lambda: text[-300:].replace("\n", " | ")  # noqa: E731
        need(not (status == -signal.SIGKILL and self.seconds >= SECONDS), lambda: f"takes more than {SECONDS} s: {end()}")
        need(status >= 0, lambda: f"signal {-status}: {end()}")
        allowed = DOCUMENTED | ({1} if arguments[0] == "schedule" else set())
        need(status in allowed, lambda: f"exit status {status}: {end()}")
        need(memory <= MEMORY, lambda: f"{memory >> 10} MB of memory")
        for name in ("vault.db", "small.db", "log/log.db"):
            need(read(os.path.join(self.folder, name)) == read(self.template.path(name)), f"{name} was changed")
        out = os.path.join(self.folder, "out.db")
        if restore:
            need((status == 0) == os.path.exists(out), "exit status and destination do not agree")
            if status == 0:
                self.judge_content(restore, out)
        if arguments[0] in ("restore", "snapshots") or "--dry-run" in arguments:
            need(self.fingerprint() == before, "the repository was changed by a command that only reads")
        if self.kind == "raw" and arguments[0] in ("forget", "snapshot", "repair", "check"):
            self.judge_rest(arguments)

    def judge_content(self, restore, path):
        # A forged map may make an image of gigabytes. Reading it would count as memory of each tool that is started meanwhile.
        size = os.path.getsize(path)
        if size == len(restore.content) and read(path) == restore.content:
            return
        # Anyone who has the secret, or without one anybody, can store anything; hashes and codes are right then.
        # SECURITY.md: "What hashes alone do not tell".
        if self.kind in ("resealed", "mapped"):
            return
        if self.kind == "rehashed":
            need(False, "another content than was stored")
        need(False, f"another content than was stored: {size} bytes instead of {len(restore.content)}")

    def judge_rest(self, arguments):
        """With the damaged objects restored, every snapshot that is still listed can be restored by another reader."""
        for name, content in self.original.items():
            path = os.path.join(self.repository, name)
            if os.path.lexists(path) and not os.path.isfile(path) or os.path.islink(path):
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
            if name == self.touched or (not os.path.exists(path) and "swap" not in self.what and self.touched is not None
                                        and os.path.dirname(name) == os.path.dirname(self.touched)):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if name.startswith(("snapshots/", "data/", "tree/", "repository.json")):
                    mutations.replace(path, content)
        if "swap" in self.what:
            return
        repository = self.reader.Repository(self.repository, self.template.secret)
        judged = os.path.join(self.folder, "judged")
        for path in mutations.files(os.path.join(self.repository, "snapshots")):
            name = f"snapshots/{path}"
            if name not in self.original or read(os.path.join(self.repository, name)) != self.original[name]:
                continue
            if arguments[0] == "forget" and name == self.touched:
                # It was restored after objects that only it needed could be deleted.
                continue
            database, sequence = path.split("/")
            try:
                repository.restore(repository.manifest(database, int(sequence)), judged)
            except (self.reader.Damaged, OSError) as error:
                raise Wrong(f"{name} can no longer be restored: {error!r}") from None
            os.unlink(judged)

    def fingerprint(self):
        """The objects of the repository, without other files."""
        found = {}
        for name in mutations.files(self.repository):
            path = os.path.join(self.repository, name)
            status = os.lstat(path)
            found[name] = (status.st_mode, status.st_size)
            if os.path.isfile(path) and not os.path.islink(path) and status.st_size < 1 << 20:
                found[name] += (hashlib.sha256(read(path)).digest(),)
        return found


class Worker:
    """Runs cases one after the other, in one directory, with one server."""

    def __init__(self, settings, folder):
        self.folder = os.path.join(folder, "box")
        os.mkdir(folder)
        self.server = Server()
        self.templates = [
            Template(settings, self.folder, os.path.join(folder, f"kept-{secret}"), secret) for secret in (False, True)]

    def run(self, case):
        case.run(self.folder, self.server, self.templates)
