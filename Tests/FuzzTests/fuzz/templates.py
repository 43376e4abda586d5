"""Small repositories that are made once by the tool itself, and copied for each case."""
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

BLOCK = 4096
SECRET = bytes(range(32))


class Settings:
    def __init__(self, root):
        self.tool = os.path.abspath(os.environ.get("LITEVAULT_TOOL") or os.path.join(root, ".build/debug/litevault"))
        self.engine = os.environ.get("LITEVAULT_ENGINE") or "sqlcipher"
        self.jobs = int(os.environ.get("LITEVAULT_FAULT_JOBS") or os.cpu_count() or 1)

    def has(self, command):
        done = subprocess.run([self.tool, command, "--help"], capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode == 0 and f"litevault {command}".encode() in done.stdout


class Restore:
    """A restore, and the bytes that it has to give; `at` is a time, `latest` the newest state."""

    def __init__(self, database, kind, value=None):
        self.database, self.kind, self.value = database, kind, value
        self.content = None

    def arguments(self):
        which = {"id": ["--snapshot", self.value], "at": ["--at", self.value], "latest": []}[self.kind]
        return ["restore", "--database", self.database, *which, "out.db"]


class Template:
    """A directory with databases, their repository with snapshots and segments, and what this machine remembers of it.

    The databases are random bytes, which is what ciphertext looks like, but for the one that is followed. It is made where
    the cases have their copies, as what a machine remembers belongs to a place, and kept elsewhere.
    """

    def __init__(self, settings, box, kept, secret):
        self.settings, self.folder = settings, box
        self.secret = SECRET if secret else None
        self.name = "sealed" if secret else "open"
        os.makedirs(os.path.join(box, "log"))
        if secret:
            with open(self.path("secret"), "wb") as file:
                file.write(SECRET)
            os.chmod(self.path("secret"), 0o600)
        self.restores = []
        self.make()
        self.config = self.document("repository.json")
        self.key = None
        if secret:
            how = self.config["secret"]
            self.key = hashlib.pbkdf2_hmac("sha256", SECRET, bytes.fromhex(how["salt"]), how["iterations"], 32)
        self.refer()
        os.rename(box, kept)
        self.folder = kept

    def path(self, name):
        return os.path.join(self.folder, name)

    def document(self, name):
        with open(os.path.join(self.folder, "repository", name), "rb") as file:
            return json.loads(file.readline())

    def options(self, place="repository"):
        secret = ["--repository-secret-file", "secret", "--repository-secret-format", "raw"] if self.secret else []
        return ["--repository", place, "--state-directory", "state", "--cache-directory", "cache", *secret]

    def run(self, *arguments, folder=None):
        done = subprocess.run(
            [self.settings.tool, *arguments, *self.options()], cwd=folder or self.folder, capture_output=True,
            stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def make(self):
        # Two levels of nodes, and a last block that is not whole.
        vault, small = bytearray(os.urandom(70 * BLOCK)), os.urandom(5 * BLOCK + 1024)
        for number in range(4):
            vault[number * 17 * BLOCK:(number * 17 + 9) * BLOCK] = os.urandom(9 * BLOCK)
            self.write("vault.db", vault)
            self.run("snapshot", "vault.db", "--database", "vault.db")
            if number == 1:
                self.run("forget", "--keep-last", "1", "--prune")
        for number in range(2):
            self.write("small.db", small[:-512 * number] if number else small)
            self.run("snapshot", "small.db", "--database", "small.db")
        self.run("check", "--read-data")
        self.follow()

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def configuration(self):
        secret = ["repository-secret-file: secret", "repository-secret-format: raw"] if self.secret else []
        return "\n".join([
            "repository: repository", "state-directory: state", *secret, "jobs:",
            "  - {name: log, sources: 'log/*.db', every: 1h, allow-plaintext: true, follow: {interval: 50ms}}",
            "  - {name: other, sources: 'vault.db', at: '*-*-* 04:00', retry: 1h}", ""])

    def follow(self):
        """Follows a small database for some commits."""
        self.write("plan.yml", self.configuration().encode())
        base = sqlite3.connect(self.path("log/log.db"), isolation_level=None)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE t(n INTEGER PRIMARY KEY, x BLOB)")
        base.execute("INSERT INTO t VALUES (0, randomblob(3000))")
        child = subprocess.Popen(
            [self.settings.tool, "schedule", "run", "plan.yml"], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(self.folder))
        try:
            end = time.monotonic() + 240
            number = 0
            while len(self.names("segments")) < 6:
                if time.monotonic() > end:
                    raise RuntimeError("nothing was followed")
                if self.named("log.db"):
                    number += 1
                    # Counted before the commit: its segment may be there when the statement returns.
                    before = len(self.names("segments"))
                    base.execute("INSERT INTO t VALUES (?, randomblob(2500))", (number,))
                    # Where the snapshot was the job's own, nobody may have followed yet: then another commit is needed.
                    late = time.monotonic() + 10
                    while len(self.names("segments")) == before and time.monotonic() < late:
                        time.sleep(0.05)
                time.sleep(0.1)
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait()
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.close()

    def names(self, kind):
        found = []
        for folder, _, names in os.walk(self.path(f"repository/{kind}")):
            found += [os.path.join(folder, name) for name in names if not name.startswith(".")]
        return sorted(found)

    def named(self, database):
        for path in self.names("snapshots"):
            with open(path, "rb") as file:
                if json.loads(file.readline())["name"] == database:
                    return True
        return False

    def refer(self):
        """What each restore gives while nothing is changed."""
        listed = json.loads(self.run("snapshots", "--json"))["snapshots"]
        for database in sorted({one["database"] for one in listed}):
            self.restores.append(Restore(database, "latest"))
            for one in listed:
                if one["database"] == database:
                    self.restores.append(Restore(database, "id", one["id"]))
                    self.restores.append(Restore(database, "at", one["time"]))
        for path in self.names("segments"):
            milliseconds = int(os.path.basename(path).split(".")[2])
            moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
            self.restores.append(Restore("log.db", "at", f"{moment}.{milliseconds % 1000:03}Z"))
        for restore in self.restores:
            self.run(*restore.arguments())
            with open(self.path("out.db"), "rb") as file:
                restore.content = file.read()
            os.unlink(self.path("out.db"))

    def copy(self, folder):
        shutil.copytree(self.folder, folder)


def environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": folder, "XDG_CACHE_HOME": os.path.join(folder, "cache"),
            "XDG_STATE_HOME": os.path.join(folder, "state"), "TMPDIR": folder, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
