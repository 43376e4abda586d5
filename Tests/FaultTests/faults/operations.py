"""The tool's commands that write databases, and what has to hold whatever happens to them."""
import hashlib
import os
import re
import shutil
import threading

from . import judge
from .report import Failure, expect

KEY = bytes(range(1, 33))
OTHER = bytes(range(101, 133))
TEMPORARY = re.compile(r"^\..+\.litevault-[0-9a-f]+(-[0-9a-f]+){4}\.tmp(-wal|-journal|-shm)?$")

# The owner of files that are replaced. Root can show that it stays; others at least that it does not change.
OWNER = (12345, 23456) if os.geteuid() == 0 else (os.geteuid(), os.getegid())


class Operation:
    """One command line. `source` and `result` are (key, compatibility); `replaces`: the source is the destination.

    `wal`: the source is in WAL mode, which SQLite may checkpoint: not its bytes but its content has to stay.
    `keeps`: {dest} is a copy of the source as it was.
    """

    def __init__(self, name, arguments, source, result, replaces=False, wal=False, keeps=False):
        self.name = name
        self.arguments = arguments
        self.source = source
        self.result = result
        self.replaces = replaces
        self.wal = wal
        self.keeps = keeps

    def __repr__(self):
        return self.name


def operations(engine):
    current = engine.compatibility
    plain, vault = (None, 4), (KEY, current)
    key = ["--key-file", "{keys}/key", "--key-format", "hex"]
    found = []

    def add(name, arguments, source, result, **rest):
        found.append(Operation(name, arguments, source, result, **rest))

    if current is None:
        add("backup of a plain database", ["backup", "{source}", "{dest}"], plain, plain)
        add("vacuum of a plain database", ["vacuum", "{source}"], plain, plain, replaces=True)
        add("vacuum of a plain WAL database", ["vacuum", "{source}"], plain, plain, replaces=True, wal=True)
        return found
    add("encrypt", ["encrypt", "{source}", "{dest}"] + key, plain, vault)
    add("encrypt --in-place", ["encrypt", "--in-place", "{source}"] + key, plain, vault, replaces=True)
    add("decrypt", ["decrypt", "{source}", "{dest}", "--yes"] + key, vault, plain)
    new = ["--new-key-file", "{keys}/other", "--new-key-format", "hex"]
    add("rekey", ["rekey", "{source}"] + key + new, vault, (OTHER, current), replaces=True)
    to = ["--to-key-file", "{keys}/other", "--to-key-format", "hex"]
    add("export", ["export", "{source}", "{dest}"] + key + to, vault, (OTHER, current))
    add("migrate", ["migrate", "{source}"] + key, (KEY, engine.older), vault, replaces=True)
    add("backup", ["backup", "{source}", "{dest}"] + key, vault, vault)
    add("vacuum", ["vacuum", "{source}"] + key, vault, vault, replaces=True)
    add("vacuum --into", ["vacuum", "{source}", "--into", "{dest}"] + key, vault, vault)
    add("backup of a WAL database", ["backup", "{source}", "{dest}"] + key, vault, vault, wal=True)
    add("encrypt --in-place of a WAL database", ["encrypt", "--in-place", "{source}"] + key, plain, vault,
        replaces=True, wal=True)
    add("encrypt --in-place --keep-original of a WAL database",
        ["encrypt", "--in-place", "{source}", "--keep-original", "{dest}"] + key, plain, vault, replaces=True, wal=True, keeps=True)
    add("rekey of a WAL database", ["rekey", "{source}"] + key + new, vault, (OTHER, current), replaces=True, wal=True)
    return found


class Templates:
    """One source file per format, made once, copied for every case."""

    def __init__(self, directory, megabytes):
        self.directory = directory
        self.megabytes = megabytes
        self.made = {}
        self.lock = threading.Lock()

    def get(self, operation):
        key, compatibility = operation.source
        wanted = (key, compatibility if key else None, operation.wal)
        with self.lock:
            if wanted not in self.made:
                path = os.path.join(self.directory, f"template-{len(self.made)}-{self.megabytes}.db")
                judge.make(path, key, compatibility, self.megabytes, operation.wal)
                self.made[wanted] = (path, judge.content(path, key, compatibility))
            return self.made[wanted]


class Sandbox:
    """A directory with a source for one run of one operation, and the checks of what the run left."""

    def __init__(self, directory, operation, templates):
        self.operation = operation
        self.directory = directory
        self.files = os.path.join(directory, "files")
        self.keys = os.path.join(directory, "keys")
        os.makedirs(self.files)
        os.makedirs(self.keys)
        self.source = os.path.join(self.files, "source.db")
        self.dest = os.path.join(self.files, "dest.db")
        template, self.content = templates.get(operation)
        shutil.copyfile(template, self.source)
        os.chmod(self.source, 0o640)
        os.chown(self.source, *OWNER)
        self.before = self.fingerprint(self.source)
        self.inode = os.stat(self.source).st_ino
        for name, key in [("key", KEY), ("other", OTHER)]:
            with open(os.path.join(self.keys, name), "w") as file:
                file.write(key.hex() + "\n")
            os.chmod(file.name, 0o600)

    def arguments(self):
        return [
            a.format(source=self.source, dest=self.dest, keys=self.keys) for a in self.operation.arguments]

    @staticmethod
    def fingerprint(path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def temporaries(self):
        return sorted(n for n in os.listdir(self.files) if TEMPORARY.match(n))

    def check(self, temporaries_allowed):
        """Nothing lost, nothing half-written. Returns "old" or "new": which state the run left."""
        names = set(os.listdir(self.files)) - {"source.db", "dest.db"}
        if self.operation.wal:
            names -= {"source.db-journal", "source.db-wal", "source.db-shm"}
        temporaries = set(self.temporaries())
        expect(not names - temporaries, lambda: f"unexpected files: {sorted(names - temporaries)}")
        expect(temporaries_allowed or not temporaries, lambda: f"temporary files remain: {sorted(temporaries)}")
        status = os.stat(self.source)
        expect((status.st_uid, status.st_gid) == OWNER, lambda: f"owner is {status.st_uid}:{status.st_gid}")
        expect(status.st_mode & 0o7777 == 0o640, lambda: f"mode is {status.st_mode & 0o7777:o}")
        unchanged = self.is_unchanged()
        if self.operation.replaces:
            self.check_kept(unchanged, temporaries_allowed)
            if unchanged:
                return "old"
            self.expect_result(self.source)
            return "new"
        expect(unchanged, "the source changed")
        if not os.path.lexists(self.dest):
            return "old"
        self.expect_result(self.dest)
        return "new"

    def check_kept(self, unchanged, killed):
        """The copy of the source is there once that is replaced. Before, only a kill may leave it."""
        if not self.operation.keeps or unchanged and not killed:
            expect(not os.path.exists(self.dest), "a destination appeared")
        elif os.path.exists(self.dest):
            expect(judge.content(self.dest, *self.operation.source) == self.content, "the copy has another content than the source")
        else:
            expect(unchanged, "replaced, and the original is not kept")

    def journal_mode(self):
        """That of the source, which no run has replaced."""
        return judge.journal_mode(self.source, *self.operation.source)

    def is_unchanged(self):
        if self.fingerprint(self.source) == self.before:
            return True
        # A checkpoint changes the bytes, not the content.
        if not self.operation.wal:
            return False
        # A vacuum leaves the content as it was, in another file.
        if self.operation.replaces and self.operation.source == self.operation.result and os.stat(self.source).st_ino != self.inode:
            return False
        try:
            return judge.content(self.source, *self.operation.source) == self.content
        except judge.NotReadable:
            return False

    def expect_result(self, path):
        try:
            content = judge.content(path, *self.operation.result)
        except judge.NotReadable as error:
            raise Failure(f"not whole: {error}") from None
        expect(content == self.content, f"{os.path.basename(path)}: another content than the source's")

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)
