"""Whatever gets a name gets it durably before success is reported: links, renames and new directories, also on a second try."""
import os
import re
import shutil
import subprocess
import types

from . import crashed, judge, tracing
from .operations import KEY, Sandbox, Templates
from .report import expect

NAMES = ["rename", "renameat", "renameat2", "link", "linkat", "mkdir", "mkdirat"]
# Packs have random names: a second run uses none of the first one's, nor needs the directories of those.
PACK = re.compile(r"/(data|tree)/[0-9a-f]{2}(/[0-9a-f]{32})?$")
# What need not survive: spools, work directories, the clock and the lock of a repository.
PASSING = re.compile(r"/\.spool(/|$)|/litevault-\d+(/|$)|\.litevault-|/\.clock$|/\.lock$")


class Named:
    """A call that gave something a name: its path, and the directory that has to be synced for it."""

    def __init__(self, call, cwd):
        words = re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"', call.arguments)
        place, name = words[-1]
        self.path = os.path.normpath(os.path.join(place or cwd, name))
        self.directory = os.path.dirname(self.path)
        self.call = call.name


def unsynced(calls, cwd):
    """The names that a run gave without a sync of their directory afterwards."""
    open_names = []
    for call in calls:
        if call.name in NAMES and call.result == "0":
            named = Named(call, cwd)
            if not PASSING.search(named.path):
                open_names.append(named)
        elif call.name in ("fsync", "fdatasync") and call.result == "0":
            open_names = [n for n in open_names if n.directory != call.path]
    return open_names


class Place:
    """A directory with a database and a repository, for runs of the tool with a home of their own."""

    def __init__(self, settings, directory, engine):
        self.settings = settings
        self.path = os.path.realpath(directory)
        self.engine = engine
        os.makedirs(self.path, exist_ok=True)
        self.log = self.path + ".log"
        self.variables = {
            "PATH": os.environ["PATH"], "HOME": self.path + "/home", "TMPDIR": self.path + "/tmp", "TZ": "UTC"}
        if "LD_LIBRARY_PATH" in os.environ:
            self.variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]

    def fill(self):
        for name in ("home", "tmp"):
            os.makedirs(os.path.join(self.path, name))
        self.key = None if self.engine.compatibility is None else KEY
        judge.make(self.file("vault.db"), self.key, self.engine.compatibility or 4, 0, False)
        return self

    def file(self, name):
        return os.path.join(self.path, name)

    def run(self, *words, status=0):
        done = subprocess.run(
            [self.settings.tool, *words], cwd=self.path, env=self.variables, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=120)
        expect(status is None or done.returncode == status, lambda: f"{words}: exit {done.returncode} {done.stderr}")
        return done

    def trace(self, *words, inject=None, status=0, calls=()):
        done = tracing.trace(
            [self.settings.tool, *words], self.log, tracing.CALLS + ["mkdir", "mkdirat"] + list(calls), inject,
            cwd=self.path, env=self.variables)
        expect(status is None or done.returncode == status, lambda: f"{words}: exit {done.returncode} {done.stderr}")
        return tracing.read(self.log)

    def copied(self, directory):
        shutil.copytree(self.path, directory, symlinks=True)
        other = Place(self.settings, directory, self.engine)
        other.key = self.key
        return other


def snapshot(engine, repository):
    return ("snapshot", "vault.db", "--repository", repository, *([] if engine.compatibility else ["--allow-plaintext"]))


def commands(engine):
    """(name, what is done before, the command)."""
    first = snapshot(engine, "r")
    return [
        ("snapshot into a new repository", [], snapshot(engine, "deep/down/r")),
        ("a second snapshot", [first], first),
        ("restore", [first], ("restore", "--repository", "r", "new.db")),
        ("restore --in-place", [first], ("restore", "--repository", "r", "--in-place", "vault.db")),
        ("restore --keep-original", [first],
         ("restore", "--repository", "r", "--in-place", "--keep-original", "old.db", "vault.db")),
        ("copy", [first], ("copy", "r", "other/r")),
        ("check --read-data", [first], ("check", "--repository", "r", "--read-data")),
        ("forget", [first, first], ("forget", "--repository", "r", "--keep-last", "1", "--prune")),
        ("repair", [first], ("repair", "--repository", "r")),
    ]


def run(report, settings, engine, operations, directory):
    tracing.require_strace()
    template = Place(settings, os.path.join(directory, "template"), engine).fill()
    number = iter(range(1_000_000))

    def place():
        return template.copied(os.path.join(directory, str(next(number))))

    def everything(before, words):
        own = place()
        for earlier in before:
            own.run(*earlier)
        left = unsynced(own.trace(*words), own.path)
        expect(not left, lambda: "not synced: " + ", ".join(f"{n.call} {os.path.relpath(n.path, own.path)}" for n in left))

    cases = [(f"{name}: every name is durable before success is reported", lambda b=before, w=words: everything(b, w))
             for name, before, words in commands(engine)]

    # hazard: H-BAK-13
    def failed_sync(words):
        """The N-th sync of a directory fails; what the second run finds there it has to sync itself."""
        own = place()
        own.trace(*words)
        syncs = [c for c in tracing.read(own.log) if c.name == "fsync"]
        directories = [i + 1 for i, c in enumerate(syncs) if os.path.isdir(c.path)]
        expect(directories, "no directory was synced")
        tried = 0
        for count in directories:
            again = place()
            seen = again.trace(*words, inject=f"fsync:error=EIO:when={count}", status=None)
            # Objects that the failed run has stored under their names.
            left = [n for n in unsynced(seen, again.path) if os.path.lexists(n.path) and not PACK.search(n.path)]
            calls = again.trace(*words)
            synced = {c.path for c in calls if c.name in ("fsync", "fdatasync") and c.result == "0"}
            missed = [n for n in left if n.directory not in synced]
            expect(not missed, lambda: f"sync {count} failed; the second run did not sync the parent of "
                   + ", ".join(os.path.relpath(n.path, again.path) for n in missed))
            tried += 1
            shutil.rmtree(again.path)
        return f"{tried} directory syncs failed once"

    cases += [
        (f"H-BAK-13 {words[0]}: after a directory could not be synced, the next run syncs it",
         lambda w=words: failed_sync(w))
        for words in [snapshot(engine, "deep/down/r")]
    ]

    # hazard: H-BAK-20
    def remembered(words):
        """What a command remembers of a repository is durable there first: a snapshot whose process was killed before its sync."""
        own = place()
        first = snapshot(engine, "r")
        own.run(*first)
        manifests = os.path.join(own.path, "r/snapshots", os.listdir(own.file("r/snapshots"))[0])
        killed = tracing.trace(
            [settings.tool, *first], own.log, ["fsync"], "fsync:signal=SIGKILL:when=1", extra=["-P", manifests],
            cwd=own.path, env=own.variables)
        expect(killed.returncode in (-9, 137), f"not killed: exit {killed.returncode}")
        expect(len(os.listdir(manifests)) == 2, lambda: f"stored: {os.listdir(manifests)}")
        memory = os.path.basename(manifests) + ".json"
        calls = own.trace(*words)
        noted = [i for i, c in enumerate(calls) if c.name in NAMES and c.result == "0" and c.quoted()
                 and c.quoted()[-1].endswith(memory)]
        synced = [i for i, c in enumerate(calls) if c.name == "fsync" and c.path == manifests and c.result == "0"]
        expect(noted, "nothing was remembered")
        expect(synced and synced[0] < noted[0], f"synced at {synced}, remembered at {noted}")

    cases += [
        (f"H-BAK-20 {words[0]}: a snapshot is remembered only once its name is durable", lambda w=words: remembered(w))
        for words in [("snapshots", "--repository", "r"), ("check", "--repository", "r")]
    ]

    # hazard: H-BAK-16
    def removed_first(operation, ending):
        """What SQLite removes beside a database is gone for good before another file gets the name."""
        box = Sandbox(os.path.join(directory, str(next(number))), operation, templates)
        crashed.crash(box, *operation.source, ending)
        log = box.directory + ".log"
        done = tracing.trace([settings.tool] + box.arguments(), log, tracing.CALLS + ["unlink", "unlinkat"])
        expect(done.returncode == 0, lambda: done.stderr.decode(errors="replace"))
        calls = tracing.read(log)
        def index(names, path, last=True):
            found = [i for i, c in enumerate(calls) if c.name in names and c.result == "0" and c.quoted()
                     and os.path.basename(c.quoted()[-1]) == path]
            return found[-1] if found else None
        removed, renamed = index(("unlink", "unlinkat"), "source.db" + ending), index(NAMES, "source.db")
        expect(removed is not None and renamed is not None and removed < renamed, f"unlink {removed}, rename {renamed}")
        synced = [c for c in calls[removed:renamed] if c.name == "fsync" and c.path == os.path.realpath(box.files)]
        expect(synced, f"no sync of the directory between the removal of the {ending} and the rename")
        box.remove()

    # hazard: H-BAK-18
    def synced_first(ending):
        """What a crash has left beside a database is durable there before its pages are copied into the file."""
        own = place()
        own.run(*snapshot(engine, "r"))
        path, work = own.file("vault.db"), own.path + ".crash"
        os.mkdir(work)
        source = types.SimpleNamespace(
            directory=work, source=path, fingerprint=Sandbox.fingerprint, before=Sandbox.fingerprint(path))
        crashed.crash(source, own.key, engine.compatibility or 4, ending)
        calls = own.trace("restore", "--repository", "r", "--in-place", "vault.db")
        written = [i for i, c in enumerate(calls) if c.name in ("pwrite64", "write", "ftruncate") and c.path == path]
        expect(written, "nothing was copied into the file")
        synced = {c.path for c in calls[:written[0]] if c.name in ("fsync", "fdatasync") and c.result == "0"}
        missed = {path + ending, own.path} - synced
        expect(not missed, lambda: f"written to before a sync of {sorted(missed)}")
        shutil.rmtree(own.path)

    cases += [(f"H-BAK-18 restore --in-place: a {ending} of a crash is synced before it is copied into the file",
               lambda e=ending: synced_first(e)) for ending in ("-journal", "-wal")]

    templates = Templates(directory, megabytes=0)
    cases += [
        (f"H-BAK-16 {operation}: a {ending} of a crash is gone for good before the file is replaced",
         lambda o=operation, e=ending: removed_first(o, e))
        for operation in operations if operation.replaces and not operation.wal for ending in ("-journal", "-wal")
    ]
    report.cases(cases)
