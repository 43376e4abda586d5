"""The suites of Tests/KeyringTests/run."""
import collections
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import time

import reader
import sqlcipher3
from faults import tracing
from faults.report import Skip, expect

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
MOST = 12  # Kills per system call and operation, unless LITEVAULT_FAULT_FULL is set.
PASSPHRASE = "Vqx7 passphrase of the test 9Kzw"


def write(path, text):
    with open(path, "w") as file:
        file.write(text + "\n")
    os.chmod(path, 0o600)


def data(path):
    with open(path, "rb") as file:
        return file.read()


def rows(path, key):
    """What an engine that is not ours reads with a raw key; None when the key does not open the file."""
    # What SQLCipher 3 writes opens with that version's defaults.
    for compatibility in (4, 3):
        connection = sqlcipher3.connect(path)
        try:
            connection.execute(f"PRAGMA key = \"x'{key.hex()}'\"")
            connection.execute(f"PRAGMA cipher_compatibility = {compatibility}")
            connection.execute("PRAGMA cipher_log_level = NONE")
            return connection.execute("SELECT text FROM note ORDER BY 1").fetchall()
        except sqlcipher3.DatabaseError:
            pass
        finally:
            connection.close()
    return None


class Box:
    """A directory with a plain database, secrets in files, and the tool."""

    def __init__(self, tool, path):
        self.tool, self.path = tool, path
        os.mkdir(path)

    def file(self, name):
        return os.path.join(self.path, name)

    @property
    def machine(self):
        """The environment of a machine that has seen this directory only: copies of a keyring are older ones of each other."""
        return {**os.environ, "XDG_STATE_HOME": self.path + ".state"}

    def run(self, *words, status=0, **rest):
        rest.setdefault("env", self.machine)
        done = subprocess.run(
            [self.tool, *words], cwd=self.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, **rest)
        expect(status is None or done.returncode == status,
               lambda: f"{words}: exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}")
        return done

    def prepare(self):
        """plain.db, vault.db and its keyring with slots of the files a and b."""
        link = sqlite3.connect(self.file("plain.db"))
        link.execute("CREATE TABLE note (text)")
        link.executemany("INSERT INTO note VALUES (?)", [("milk",), ("bread",)])
        link.commit()
        link.close()
        for name in "abc":
            write(self.file(name), hashlib.sha256(name.encode()).hexdigest())
        self.run("key", "init", "keys", "--kind", "file", "--new-key-file", "a")
        self.run("key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "b")
        self.run("encrypt", "plain.db", "vault.db", "--keyring", "keys", *by("a"))
        return self

    def keys(self, name, keyring="keys"):
        """The database keys that a secret opens, by the independent reader; None when it opens no slot."""
        try:
            return reader.unlock(data(self.file(keyring)), "secret", reader.secret_of(self.file(name)))
        except reader.WrongSecret:
            return None

    def opens(self, name, keyring="keys"):
        """Whether a secret opens the database, by the independent reader and engine."""
        found = [key for key in self.keys(name, keyring) or [] if rows(self.file("vault.db"), key)]
        for key in found:
            expect(rows(self.file("vault.db"), key) == [("bread",), ("milk",)], "another content")
        return bool(found)


def by(name):
    return ["--unlock", "secret", "--key-file", name]


# The format

def read(report, settings, place):
    def vectors():
        expected = data(os.path.join(VECTORS, "database-key")).decode().strip()
        for method in ("passphrase", "recovery", "identity", "secret"):
            keys = reader.unlock(
                data(os.path.join(VECTORS, "keyring")), method, reader.secret_of(os.path.join(VECTORS, method)))
            expect([key.hex() for key in keys] == [expected], method)

    def mutations():
        """The tool and the reader agree that nothing of 10,000 damaged keyrings unlocks: this is the reader's half."""
        original, dice = data(os.path.join(VECTORS, "keyring")), random.Random(16)
        secret = reader.secret_of(os.path.join(VECTORS, "secret"))
        for _ in range(10_000):
            changed = bytearray(original)
            changed[dice.randrange(len(changed))] = dice.choice(b"0123456789abcdef")
            if changed != original:
                try:
                    reader.unlock(bytes(changed), "secret", secret)
                except (reader.Rejected, reader.WrongSecret):
                    continue
                expect(False, f"unlocked: {changed}")

    def tool_reads_vectors():
        for method in ("passphrase", "recovery", "identity", "secret"):
            done = subprocess.run(
                [settings.tool, "key", "test", "keyring", "--unlock", method, "--key-file", method, "--json"],
                cwd=VECTORS, capture_output=True, stdin=subprocess.DEVNULL)
            expect(done.returncode == 0, lambda: f"{method}: {done.stderr}")

    report.case("the reader opens the vectors by every slot", vectors)
    report.case("the reader opens none of 10,000 damaged keyrings", mutations)
    report.case("the tool opens the vectors by every slot", tool_reads_vectors)


# Commands

def commands(report, settings, place):
    numbers = itertools.count()

    def box():
        return Box(settings.tool, os.path.join(place, str(next(numbers)))).prepare()

    def independent():
        own = box()
        expect(own.opens("a") and own.opens("b") and not own.opens("c"), "what opens")
        own.run("key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db")
        expect(own.opens("a") and not own.opens("b"), "what opens after the removal")
        expect(len(own.keys("a")) == 2, "the old key is kept")

    def old_copy():
        own = box()
        shutil.copy(own.file("keys"), own.file("old"))
        shutil.copy(own.file("vault.db"), own.file("backup.db"))
        own.run("key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db")
        expect(not own.opens("a", "old") and not own.opens("b", "old"), "an old keyring opens the new database")
        own.run("verify", "backup.db", "--keyring", "keys", *by("a"))

    def everywhere():
        own = box()
        ring = ["--keyring", "keys", *by("a")]
        own.run("info", "vault.db", *ring)
        own.run("verify", "vault.db", *ring)
        own.run("vacuum", "vault.db", *ring)
        own.run("backup", "vault.db", "copy.db", *ring)
        own.run("export", "vault.db", "c.db", *ring, "--to-key-file", "c")
        own.run("export", "c.db", "d.db", "--key-file", "c", "--to-keyring", "keys", "--to-unlock", "secret",
                "--to-key-file", "b")
        own.run("rekey", "c.db", "--key-file", "c", "--new-keyring", "keys", "--new-unlock", "secret",
                "--new-key-file", "a")
        for name in ("copy.db", "c.db", "d.db"):
            expect(rows(own.file(name), own.keys("a")[0]), f"{name} does not open")
        own.run("decrypt", "c.db", "plain2.db", "--yes", *ring)

    def created():
        own = box()
        write(own.file("p"), PASSPHRASE)
        own.run("encrypt", "plain.db", "new.db", "--new-keyring", "new.keys", "--key-file", "p")
        key = reader.unlock(data(own.file("new.keys")), "passphrase", PASSPHRASE.encode())[0]
        expect(rows(own.file("new.db"), key), "does not open")
        before = data(own.file("new.keys"))
        own.run("encrypt", "plain.db", "other.db", "--new-keyring", "new.keys", "--key-file", "p", status=73)
        own.run("encrypt", "plain.db", "no/such/other.db", "--new-keyring", "gone.keys", "--key-file", "p", status=73)
        expect(data(own.file("new.keys")) == before, "the keyring changed")
        expect(not os.path.exists(own.file("gone.keys")), "a keyring without its database was left")

    def recovered():
        own = box()
        write(own.file("p"), PASSPHRASE)
        done = own.run("key", "add", "keys", *by("a"), "--kind", "recovery", "--json")
        write(own.file("code"), json.loads(done.stdout)["recovery_code"].lower().replace("-", " "))
        own.run("key", "recover", "keys", "--key-file", "code", "--new-key-file", "p", "--name", "new")
        own.run("key", "test", "keys", "--key-file", "p", "--database", "vault.db")
        listed = json.loads(own.run("key", "list", "keys", "--json").stdout)
        expect([slot["kind"] for slot in listed["slots"]] == ["file", "file", "recovery", "passphrase"], str(listed))

    def refused():
        own = box()
        before = data(own.file("keys"))
        write(own.file("weak"), "short")
        ring = ["--keyring", "keys"]
        for status, words in [
            (77, ["verify", "vault.db", *ring, *by("c")]), (66, ["verify", "vault.db", "--keyring", "none", *by("a")]),
            (64, ["verify", "vault.db", *by("a")]), (77, ["verify", "vault.db", *ring]),
            (64, ["verify", "vault.db", *ring, *by("a"), "--key-format", "hex"]),
            (64, ["verify", "vault.db", *ring, "--unlock", "command", "--key-file", "a"]),
            (66, ["verify", "plain.db", *ring, *by("a")]), (65, ["key", "list", "a"]), (65, ["key", "list", "vault.db"]),
            (77, ["key", "add", "keys", *by("a"), "--new-key-file", "weak"]),
            (77, ["key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "weak"]),
            (64, ["key", "add", "keys", *by("a"), "--kind", "recipient", "--recipient", "litevault-recipient-1:00"]),
            (64, ["key", "remove", "keys", "1", "2", *by("a")]), (64, ["key", "remove", "keys", "9", *by("a")]),
            (66, ["key", "remove", "keys", "2", *by("a"), "--rekey", "typo.db"]),
            (66, ["key", "remove", "keys", "2", *by("a"), "--rekey", "plain.db"]),
            (73, ["key", "init", "keys", "--kind", "file", "--new-key-file", "a"]),
            (73, ["keygen", "a"]), (64, ["keygen", "--format", "raw"]),
        ]:
            own.run(*words, status=status)
        expect(data(own.file("keys")) == before, "the keyring changed")

    # hazard: H-KEY-47
    def resumed():
        """What a kill between the removal of the slot and that of the older keys leaves is finished by a command."""
        own = box()
        words = ["key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db"]
        own.run(*words)
        done = own.run(*words, "--forget-old-keys", status=64)
        expect(b"--forget-old-keys" in done.stderr and len(own.keys("a")) == 2, str(done.stderr))
        finish = ["key", "remove", "keys", *by("a")]
        for wrong in (finish, [*finish, "--rekey", "vault.db"], [*finish, "--rekey", "vault.db", "--forget-old-keys"]):
            own.run(*wrong, status=64)
        for dropped in (1, 0):
            found = json.loads(own.run(*finish, "--forget-old-keys", "--json").stdout)
            expect((found["removed"], found["dropped_keys"], found["old_keys"]) == ([], dropped, 0), str(found))
            expect(len(own.keys("a")) == 1 and own.opens("a") and not own.opens("b"), "what opens")

    def older_header():
        """The file does not show which key it has: it is opened with each, by the settings of the command."""
        own = box()
        opening = ["--keyring", "keys", *by("a")]
        own.run("encrypt", "plain.db", "header.db", *opening, "--plaintext-header", "32")
        own.run("key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db")
        for words in (["verify", "header.db"], ["decrypt", "header.db", "out.db", "--yes"], ["export", "header.db", "copy.db"]):
            own.run(*words, *opening, "--source-plaintext-header", "32")

    def keygen():
        own = box()
        for name, words, length in [("k", [], 33), ("h", ["--format", "hex"], 65), ("r", ["--format", "raw"], 32)]:
            own.run("keygen", *words, name)
            expect(len(data(own.file(name))) == length, f"{name}: {len(data(own.file(name)))} bytes")
            expect(os.stat(own.file(name)).st_mode & 0o777 == 0o600, "mode")
        own.run("encrypt", "plain.db", "k.db", "--key-file", "k")
        own.run("encrypt", "plain.db", "h.db", "--key-file", "h", "--key-format", "hex")
        own.run("encrypt", "plain.db", "r.db", "--key-file", "r", "--key-format", "raw")
        first, other = (own.run("keygen").stdout for _ in range(2))
        expect(first != other and len(first) == 33, "printed keys")

    report.cases([
        ("an independent reader and engine open what a slot opens", independent),
        ("an old keyring does not open the database after --rekey, the new one opens old backups", old_copy),
        ("every command that takes a key takes a keyring", everywhere),
        ("encrypt --new-keyring leaves a keyring with its database, or none", created),
        ("a recovery code sets a new passphrase", recovered),
        ("what is refused changes nothing", refused),
        ("H-KEY-47 older keys are dropped although the slot is gone already", resumed),
        ("a database with a plaintext header and an older key of the keyring opens", older_header),
        ("keygen makes keys of every format", keygen),
    ])


# Kills

OPERATIONS = {
    "init": ["key", "init", "new", "--kind", "file", "--new-key-file", "a"],
    "add": ["key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "c"],
    "change": ["key", "change", "keys", "2", *by("a"), "--kind", "file", "--new-key-file", "c"],
    "remove": ["key", "remove", "keys", "2", *by("a")],
    "remove --rekey": ["key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db"],
    "encrypt --new-keyring": ["encrypt", "plain.db", "new.db", "--new-keyring", "new", "--key-file", "weak",
                              "--allow-weak"],
}
# The slots that open the database before and after.
OPENED = {"add": ("ab", "abc"), "change": ("ab", "ac"), "remove": ("ab", "a"), "remove --rekey": ("ab", "a")}


def check(box, operation, finished):
    """- returns: the state that was found."""
    if operation in ("init", "encrypt --new-keyring"):
        # Either there is a keyring, complete, or none; the database that was is as it was.
        expect(box.opens("a"), "the other keyring")
        if os.path.exists(box.file("new")):
            reader.parse(data(box.file("new")))
        if os.path.exists(box.file("new.db")):
            keys = reader.unlock(data(box.file("new")), "passphrase", b"weak")
            expect(rows(box.file("new.db"), keys[0]), "the new database does not open by its keyring")
        return "after" if os.path.exists(box.file("new.db" if operation != "init" else "new")) else "before"
    before, after = OPENED[operation]
    opened = "".join(name for name in "abc" if box.opens(name))
    # In the middle of --rekey the slot that goes may have lost the database already, but the others never.
    expect(opened in (before, after), f"opened by {opened}, neither {before} nor {after}")
    if finished:
        expect(opened == after, f"opened by {opened} after success")
    if finished and operation == "remove --rekey":
        expect(box.keys("b") is None and not box.opens("b", "old"), "the removed slot opens after success")
    return "after" if opened == after else "before"


def kill(report, settings, place):
    tracing.require_strace()
    numbers = itertools.count()
    template = Box(settings.tool, os.path.join(place, "template")).prepare()
    shutil.copy(template.file("keys"), template.file("old"))
    write(template.file("weak"), "weak")

    def copy():
        box = Box.__new__(Box)
        box.tool, box.path = settings.tool, os.path.join(place, str(next(numbers)))
        shutil.copytree(template.path, box.path)
        return box

    cases = []
    for operation, words in OPERATIONS.items():
        box = copy()
        log = os.path.join(place, "log")
        done = tracing.trace([settings.tool, *words], log, cwd=box.path, env=box.machine)

        def undisturbed(box=box, done=done, operation=operation):
            expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
            check(box, operation, finished=True)

        report.case(f"{operation}: undisturbed", undisturbed)
        counters, points = collections.Counter(), collections.defaultdict(set)
        for call in tracing.read(log):
            counters[call.pid, call.name] += 1
            if call.touches_files:
                points[call.name].add(counters[call.pid, call.name])
        for call, found in sorted(points.items()):
            found = sorted(found)
            if len(found) > MOST and not settings.full:
                found = sorted({found[round(i * (len(found) - 1) / (MOST - 1))] for i in range(MOST)})
            for number in found:
                for fault in ("signal=SIGKILL", "error=ENOSPC"):
                    cases.append((
                        f"{operation}: {fault.split('=')[1]} at {call} {number}",
                        lambda o=operation, w=words, c=call, n=number, f=fault: one(copy(), o, w, c, n, f)))
    report.cases(cases)


def one(box, operation, words, call, number, fault):
    try:
        done = tracing.trace(
            [box.tool, *words], box.file("log"), [call], f"{call}:{fault}:when={number}", cwd=box.path,
            env=box.machine)
        killed = "KILL" in fault
        if killed:
            expect(done.returncode in (-9, 137), lambda: f"not killed: exit {done.returncode} {done.stderr}")
        state = check(box, operation, finished=done.returncode == 0)
        if done.returncode != 0 and not killed:
            expect(done.returncode == 74, lambda: f"exit {done.returncode}: {done.stderr}")
        if operation in OPENED and state == "before":
            # The same command finishes what was begun.
            again = box.run(*words, status=None)
            finished = again.returncode == 0
            expect(finished, lambda: f"again: exit {again.returncode}: {again.stderr}")
            check(box, operation, finished=True)
        elif operation == "remove --rekey" and box.keys("b") is not None:
            box.run(*words)
            check(box, operation, finished=True)
        if operation in OPENED:
            box.run("key", "change", "keys", "1", *by("a"), "--kind", "file", "--new-key-file", "a")
            left = [n for n in os.listdir(box.path) if ".litevault-" in n and ".keys" in n or n == "keys.lock"]
            expect(not left, f"left behind: {left}")
        return f"{state} state"
    finally:
        shutil.rmtree(box.path, ignore_errors=True)


# Secrets

def secrets(report, settings, place):
    box = Box(settings.tool, os.path.join(place, "box")).prepare()
    write(box.file("p"), PASSPHRASE)
    write(box.file("d"), hashlib.sha256(b"d").hexdigest())
    box.run("key", "add", "keys", *by("a"), "--new-key-file", "p")
    key = box.keys("a")[0]
    needles = {
        "the passphrase": PASSPHRASE.encode(), "the database key": key[:32], "its digits": key[:32].hex().encode(),
        "the secret of a slot": hashlib.sha256(b"a").hexdigest().encode(),
        "the secret of another slot": hashlib.sha256(b"b").hexdigest().encode(),
        "the secret of a new slot": hashlib.sha256(b"d").hexdigest().encode(),
    }
    runs = {
        "verify by a file": ["verify", "vault.db", "--keyring", "keys", *by("a")],
        "verify by a passphrase": ["verify", "vault.db", "--keyring", "keys", "--key-file", "p"],
        "verify by a variable": ["verify", "vault.db", "--keyring", "keys", "--key-env", "SECRET"],
        "add": ["key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "d"],
        "add a command": ["key", "add", "keys", "--key-env", "SECRET", "--kind", "command", "--wrap-command", "cat",
                          "--new-key-command", "cat"],
        "remove --rekey": ["key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db"],
    }

    def shown(words):
        """Arguments and environment of every program that is started, what is written to files and streams."""
        tracing.require_strace()
        log = os.path.join(place, "strace")
        done = subprocess.run(
            ["strace", "-f", "-q", "-v", "-s", "1000000", "-xx", "-o", log, "-e",
             "trace=execve,write,pwrite64,writev,sendto,sendmsg", settings.tool, *words],
            cwd=box.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=300,
            env=dict(box.machine, SECRET=PASSPHRASE))
        expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
        # The first call is our own: it starts the tool with the variable.
        with open(log) as file:
            calls = file.read().split("\n")[1:]
        # A secret has to go to an external program, through the pipe that is its standard input: not in these runs' needles.
        seen = "\n".join(calls)
        for name, needle in needles.items():
            for form in (needle, needle.hex().encode()):
                written = "".join(f"\\x{byte:02x}" for byte in form)
                expect(written not in seen, f"{name} was written or passed on")
                expect(form not in done.stdout + done.stderr, f"{name} was printed")

    def files():
        for name in os.listdir(box.path):
            if name in ("a", "b", "c", "d", "p"):
                continue
            content = data(box.file(name))
            for what, needle in needles.items():
                expect(needle not in content, f"{what} is in {name}")

    def wiped(words, method=None):
        """Once the tool has the result, its memory has neither secrets nor what was derived from them."""
        if os.getuid() != 0:
            raise Skip("reading another process's memory takes root")
        import secrecy
        ring = reader.parse(data(box.file("keys")))
        derived = {}
        for slot in ring["slots"]:
            for kind, secret in (("passphrase", PASSPHRASE.encode()), ("secret", reader.secret_of(box.file("a")))):
                private = reader.private_key(slot, kind, secret)
                if private is not None:
                    derived[f"the private key of slot {slot['number']} by {kind}"] = private
        derived["half of the database key"] = key[:16]
        # Without the salt behind it, which is in the file for all to read.
        derived["the other half of the database key"] = key[16:32]
        run = secrecy.Blocked(box.path, words, "stdout")
        try:
            expect(run.found(secrecy.PLANTED), "what was planted was not found")
            for what, needle in {**needles, **derived}.items():
                # The first bytes of a block that was freed are the allocator's.
                for part in (needle, needle[16:] if len(needle) >= 32 else needle):
                    expect(not run.found(part), f"{what} is still in memory")
        finally:
            run.end()

    for words in (["info", "vault.db", "--keyring", "keys", *by("a"), "--json"],
                  ["info", "vault.db", "--keyring", "keys", "--key-file", "p", "--json"],
                  ["key", "test", "keys", "--key-file", "p", "--json"]):
        report.case(f"after {' '.join(words[:2])} {words[-2]} no secret is in memory", lambda w=words: wiped(w))
    for name, words in runs.items():
        report.case(f"{name}: no secret in arguments, environment, files or streams", lambda w=words: shown(w))
    report.case("no secret in a file that was written", files)


# Timing

def timing(report, settings, place):
    def seconds(box, *words):
        best = 1e9
        for _ in range(5):
            started = time.monotonic()
            box.run(*words)
            best = min(best, time.monotonic() - started)
        return best

    def slots():
        box = Box(settings.tool, os.path.join(place, "box")).prepare()
        link = sqlite3.connect(box.file("large.db"))
        link.execute("CREATE TABLE note (text)")
        link.executemany("INSERT INTO note VALUES (?)", (("x" * 1000,) for _ in range(10_000)))
        link.commit()
        link.close()
        box.run("encrypt", "large.db", "large", "--keyring", "keys", *by("a"))
        write(box.file("raw"), box.keys("a")[0].hex())
        raw = seconds(box, "info", "large", "--key-file", "raw", "--key-format", "hex")
        ring = seconds(box, "info", "large", "--keyring", "keys", *by("a"))
        change = seconds(box, "key", "change", "keys", "2", *by("a"), "--kind", "file", "--new-key-file", "b")
        write(box.file("p"), PASSPHRASE)
        box.run("key", "add", "keys", *by("a"), "--new-key-file", "p")
        typed = seconds(box, "info", "large", "--keyring", "keys", "--key-file", "p")
        return (f"10 MB: info with a raw key {raw * 1000:.0f} ms, through a keyring {ring * 1000:.0f} ms, by a passphrase"
                f" {typed * 1000:.0f} ms; a slot changed in {change * 1000:.0f} ms")

    def large():
        """A slot of the keyring of a database of 4 GB: the pages are not read, so zeros do."""
        box = Box(settings.tool, os.path.join(place, "large")).prepare()
        def change():
            return seconds(box, "key", "change", "keys", "2", *by("a"), "--kind", "file", "--new-key-file", "b")
        small = change()
        os.truncate(box.file("vault.db"), 4 << 30)
        return f"a slot changed in {small * 1000:.0f} ms, and beside a database of 4 GiB in {change() * 1000:.0f} ms"

    def fleet():
        count = int(os.environ.get("LITEVAULT_KEYRING_FLEET") or 1000)
        box = Box(settings.tool, os.path.join(place, "fleet")).prepare()
        for number in range(count):
            shutil.copy(box.file("vault.db"), box.file(f"{number}.db"))
            shutil.copy(box.file("keys"), box.file(f"{number}.db.keys"))
        write(box.file("list"), "\n".join(f"{number}.db" for number in range(count)))
        box.run("keygen", "--format", "identity", "id")
        recipient = json.loads(box.run("key", "export-recipient", "--key-file", "id", "--json").stdout)["recipient"]
        fleet = ["--from-file", "list", "--own-keyrings", *by("a"), "--json"]
        def took(*words):
            done = subprocess.run(
                [box.tool, *words], cwd=box.path, capture_output=True, stdin=subprocess.DEVNULL, timeout=1800,
                env=box.machine)
            found = json.loads(done.stdout)
            expect(done.returncode == 0 and found["done"] == count, lambda: f"exit {done.returncode}: {done.stderr}")
            return found["seconds"]
        added = took("key", "add", *fleet, "--kind", "recipient", "--recipient", recipient)
        changed = took("rekey", *fleet)
        return f"{count} databases: a recipient added in {added:.1f} s, keys changed in {changed:.1f} s"

    report.case("how long it takes", slots)
    report.case("how long it takes beside 4 GiB", large)
    report.case("how long 1,000 databases take", fleet)


def many(report, settings, place):
    import fleet
    fleet.fleet(report, settings, place)


def stored(report, settings, place):
    import backups
    backups.backups(report, settings, place)


def proven(report, settings, place):
    import proofs
    proofs.proofs(report, settings, place)


def typed(report, settings, place):
    import prompts
    prompts.prompts(report, settings, place)


def lost(report, settings, place):
    import power
    power.power(report, settings, place)


SUITES = {"reader": read, "commands": commands, "proofs": proven, "kills": kill, "power": lost, "fleet": many, "backups": stored,
          "prompts": typed, "secrets": secrets, "timing": timing}
