"""A sync fails, the command is repeated, and the power fails at any moment: what was found written may never have been synced."""
import collections
import json
import os
import shutil

from faults import disk, durable, tracing
from faults.powerloss import digest
from faults.report import expect
from suites import Box, by, data, reader, rows, write

CONTENT = [("bread",), ("milk",)]
OLD, NEW = "11" * 32, "22" * 32


class Place(Box):
    """A keyring `k/keys`, a database `d/vault.db` with its key, and `d/raw.db` with a raw key. A link leads from `d` to the keyring."""

    def fill(self):
        self.prepare()
        for name in "kdn":
            os.mkdir(self.file(name))
        os.rename(self.file("keys"), self.file("k/keys"))
        os.rename(self.file("vault.db"), self.file("d/vault.db"))
        os.symlink("../k/keys", self.file("d/vault.db.keys"))
        for name, text in (("old", OLD), ("new", NEW), ("list", "d/vault.db"), ("raw.list", "d/raw.db")):
            write(self.file(name), text)
        self.run("encrypt", "plain.db", "d/raw.db", "--key-file", "old", "--key-format", "hex")
        self.run("keygen", "--format", "identity", "id")
        self.recipient = json.loads(
            self.run("key", "export-recipient", "--key-file", "id", "--json").stdout)["recipient"]
        return self

    def trace(self, *words, inject=None, calls=disk.CALLS, **rest):
        """The exit status of a command, whose system calls are in `log`."""
        rest.setdefault("env", self.machine)
        return tracing.trace([self.tool, *words], self.path + ".log", calls, inject, cwd=self.path, **rest).returncode

    def record(self, *words, inject=None):
        """The same for a model of the disk."""
        return self.trace(*words, inject=inject, extra=disk.OPTIONS, decorated=False)

    def directory_syncs(self, *words):
        """Which syncs of a thread of a command are those of directories in here, from 1: strace counts each thread's for itself."""
        expect(self.trace(*words, calls=tracing.CALLS) == 0, f"{words} failed")
        counts, found, here = collections.Counter(), set(), os.path.realpath(self.path)
        for call in tracing.read(self.path + ".log"):
            if call.name == "fsync":
                counts[call.pid] += 1
                if call.path.startswith(here + "/") and os.path.isdir(call.path):
                    found.add(counts[call.pid])
        return sorted(found)


def relevant(tree):
    """The keyrings and databases: most states of a disk differ in temporary files alone."""
    return {top: {name: content for name, content in tree[top].items() if name[0] != "." and not name.endswith(".lock")}
            for top in "kdn"}


def power(report, settings, place):
    tracing.require_strace()
    template = Place(settings.tool, os.path.join(place, "template")).fill()
    numbers = iter(range(1_000_000))

    def copy(prepare=None):
        own = Place.__new__(Place)
        own.tool, own.path = settings.tool, os.path.join(place, str(next(numbers)))
        shutil.copytree(template.path, own.path, symlinks=True)
        if prepare:
            prepare(own)
        return own

    def judged(own, model, judge, seen, ended):
        """Judges whatever the disk may hold while the calls in the log are made; `ended`: and that success was reported then."""
        for event in model.replay(own.path + ".log", own.path):
            for tree in map(relevant, model.states()):
                is_over = ended and event == "end"
                if (digest(tree), is_over) in seen:
                    continue
                seen.add((digest(tree), is_over))
                path = f"{own.path}-{next(numbers)}"
                disk.store(tree, path)
                judge(path, is_over)
                shutil.rmtree(path)

    def repeated(words, judge, then=None, prepare=None):
        """Each sync of a directory fails once, then the command is repeated, or followed by another one."""
        seen, ended = set(), 0
        for number in copy(prepare).directory_syncs(*words):
            own = copy(prepare)
            model = disk.Disk(own.path)
            own.record(*words, inject=f"fsync:error=EIO:when={number}")
            judged(own, model, judge, seen, ended=False)
            status = own.record(*(then or words))
            judged(own, model, judge, seen, ended=status == 0)
            ended += status == 0
            shutil.rmtree(own.path)
        expect(ended, "no repetition ended with success")
        return f"{len(seen)} states"

    def by_keyring(keyring):
        def judge(path, is_over):
            keys = reader.unlock(data(f"{path}/{keyring}"), "secret", reader.secret_of(template.file("a")))
            opened = [number for number, key in enumerate(keys) if rows(f"{path}/d/vault.db", key) == CONTENT]
            expect(opened, f"no key of the keyring opens the database: {sorted(os.listdir(path + '/d'))}")
            expect(not is_over or opened == [0], "the database has its old key again")
        return judge

    def by_raw_key(path, is_over):
        opened = [key for key in (OLD, NEW) if rows(f"{path}/d/raw.db", bytes.fromhex(key)) == CONTENT]
        expect(len(opened) == 1, f"{len(opened)} keys open the database")
        expect(not is_over or opened == [NEW], "the database has its old key again")

    def by_recipient(path, is_over):
        kinds = [slot["kind"] for slot in reader.parse(data(path + "/k/keys"))["slots"]]
        expect(not is_over or "recipient" in kinds, f"the slot that was reported is gone: {kinds}")

    def beside(own):
        os.replace(own.file("k/keys"), own.file("d/vault.db.keys"))

    # hazard: H-KEY-32
    remove = ["key", "remove", "k/keys", "2", *by("a"), "--rekey", "d/vault.db"]
    rekey = ["rekey", "--from-file", "list", "--own-keyrings", *by("a")]
    removed_beside = ["key", "remove", "d/vault.db.keys", "2", *by("a")]
    cases = [
        ("H-KEY-32 key remove --rekey", lambda: repeated(remove, by_keyring("k/keys"))),
        ("H-KEY-32 rekey --own-keyrings through a link", lambda: repeated(rekey, by_keyring("k/keys"))),
        ("H-KEY-32 rekey --own-keyrings --forget-old-keys",
         lambda: repeated([*rekey, "--forget-old-keys"], by_keyring("k/keys"))),
        ("H-KEY-32 key remove --rekey, continued with --forget-old-keys alone",
         lambda: repeated([*removed_beside, "--rekey", "d/vault.db"], by_keyring("d/vault.db.keys"),
                          then=[*removed_beside, "--forget-old-keys"], prepare=beside)),
        ("rekey of several databases", lambda: repeated(
            ["rekey", "--from-file", "raw.list", "--key-file", "old", "--key-format", "hex", "--new-key-file", "new",
             "--new-key-format", "hex"], by_raw_key)),
        ("key add to several keyrings", lambda: repeated(
            ["key", "add", "--from-file", "list", "--own-keyrings", *by("a"), "--kind", "recipient", "--recipient",
             template.recipient], by_recipient)),
    ]

    # hazard: H-KEY-32
    def created():
        """A database is encrypted under the key of a keyring whose directory was never synced."""
        own = copy()
        model, seen = disk.Disk(own.path), set()

        def judge(path, is_over):
            if os.path.exists(path + "/d/new.db"):
                expect(os.path.exists(path + "/n/keys"), "there is a database, and its keyring is gone")
                keys = reader.unlock(data(path + "/n/keys"), "secret", reader.secret_of(template.file("a")))
                expect(rows(path + "/d/new.db", keys[0]) == CONTENT, "the keyring does not open the database")
            expect(not is_over or os.path.exists(path + "/d/new.db"), "the database is gone")

        status = own.record("key", "init", "n/keys", "--kind", "file", "--new-key-file", "a", inject="fsync:error=EIO:when=2")
        expect(status == 74, f"key init: exit {status}")
        judged(own, model, judge, seen, ended=False)
        status = own.record("encrypt", "plain.db", "d/new.db", "--keyring", "n/keys", *by("a"))
        expect(status == 0, f"encrypt: exit {status}")
        judged(own, model, judge, seen, ended=True)
        return f"{len(seen)} states"
    cases.append(("H-KEY-32 encrypt --keyring after a key init that failed", created))

    # hazard: H-KEY-33
    def remembered():
        """What the machine remembers of a keyring is durable when the command that used it ends, from the first time on."""
        own = copy()
        os.mkdir(own.file("home"))
        elsewhere = ("XDG_STATE_HOME", "STATE_DIRECTORY")
        variables = {name: value for name, value in os.environ.items() if name not in elsewhere}
        variables["HOME"] = os.path.realpath(own.file("home"))
        memory = variables["HOME"] + "/.local/state/litevault/keyrings"

        def calls(*words):
            status = own.trace(*words, calls=[*tracing.CALLS, "mkdir", "mkdirat"], env=variables)
            expect(status == 0, f"{words}: exit {status}")
            return tracing.read(own.path + ".log")

        left = durable.unsynced(calls("key", "init", "n/keys", "--kind", "file", "--new-key-file", "a"), os.path.realpath(own.path))
        expect(os.listdir(memory), "nothing is remembered")
        expect(not left, lambda: "not synced: " + ", ".join(name.path for name in left))
        # The process that remembered it may have been killed before that sync.
        found = calls("encrypt", "plain.db", "d/new.db", "--keyring", "n/keys", *by("a"))
        expect(any(call.name == "fsync" and call.path == memory for call in found), "the memory was not synced again")
    report.cases([(f"{name}: the power fails while it is repeated", body) for name, body in cases])
    report.case("H-KEY-33 what a machine remembers of keyrings outlasts a power failure", remembered)
