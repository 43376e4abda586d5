"""Keyrings in repositories: what snapshots carry, what a restore puts where, and what an audit finds."""
import collections
import itertools
import json
import os
import pwd
import shutil
import subprocess
import sys
import threading

from faults import tracing
from faults.report import Skip, expect
from suites import Box, by, data, reader, rows, write

READER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "RepositoryReader", "reader.py")
CONTENT = [("bread",), ("milk",)]
MOST = 5  # Kills per system call, unless LITEVAULT_FAULT_FULL is set.


class Archive(Box):
    def fill(self):
        self.prepare()
        os.rename(self.file("keys"), self.file("vault.db.keys"))
        return self

    def snapshot(self, *words, status=0):
        return json.loads(self.run("snapshot", "vault.db", "--repository", "r", *words, "--json", status=status).stdout)

    def restore(self, to, *words, status=0):
        done = self.run("restore", "--repository", "r", *words, to, "--json", status=status)
        return json.loads(done.stdout) if status == 0 else done

    def audit(self, *words, status=0):
        return json.loads(self.run("key", "audit", "--repository", "r", *words, "--json", status=status).stdout)

    def opens_by(self, database, name, keyring=None):
        """Whether a secret opens a database by its keyring, says the independent reader and engine."""
        keys = self.keys(name, keyring or database + ".keys") or []
        return any(rows(self.file(database), key) == CONTENT for key in keys)


def backups(report, settings, place):
    numbers = itertools.count()
    template = Archive(settings.tool, os.path.join(place, "template")).fill()

    def copy():
        box = Archive.__new__(Archive)
        box.tool, box.path = settings.tool, os.path.join(place, str(next(numbers)))
        shutil.copytree(template.path, box.path)
        return box

    def together():
        own = copy()
        taken = own.snapshot()["snapshot"]
        expect(taken["keyring"] is True, str(taken))
        found = own.restore("new.db")
        expect(found["keyring"] == {"path": "new.db.keys", "outcome": "written", "has_key": True}, str(found))
        expect(data(own.file("new.db.keys")) == data(own.file("vault.db.keys")), "another keyring")
        expect(os.stat(own.file("new.db.keys")).st_mode & 0o777 == 0o600, "mode")
        expect(own.opens_by("new.db", "a") and own.opens_by("new.db", "b"), "it does not open")
        done = subprocess.run(
            [sys.executable, READER, own.file("r"), "restore", "vault.db", "latest", own.file("read.db")],
            capture_output=True)
        expect(done.returncode == 0, lambda: f"the independent reader: {done.stderr}")
        expect(own.opens_by("read.db", "a"), "what the independent reader restored does not open")

    def of_its_time():
        own = copy()
        first = own.snapshot()["snapshot"]["id"]
        own.run("key", "change", "vault.db.keys", "2", *by("a"), "--kind", "file", "--new-key-file", "c")
        second = own.snapshot()["snapshot"]["id"]
        own.run("key", "remove", "vault.db.keys", "2", *by("a"), "--rekey", "vault.db", "--forget-old-keys")
        third = own.snapshot()["snapshot"]["id"]
        for snapshot, names in ((first, "ab"), (second, "ac"), (third, "a")):
            own.restore(snapshot + ".db", "--snapshot", snapshot)
            opened = "".join(name for name in "abc" if own.opens_by(snapshot + ".db", name))
            expect(opened == names, f"opened by {opened}, not {names}")
        # The keyring of today does not open what has the key of then.
        expect(not own.opens_by(first + ".db", "a", "vault.db.keys"), "by the keyring of today")

    def recovered():
        """From a lost machine there is the repository; elsewhere there are a private key and a recovery code."""
        own = copy()
        own.run("keygen", "--format", "identity", "id")
        recipient = json.loads(own.run("key", "export-recipient", "--key-file", "id", "--json").stdout)["recipient"]
        own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "recipient", "--recipient", recipient)
        added = own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "recovery", "--json").stdout
        write(own.file("code"), json.loads(added)["recovery_code"])
        old = own.snapshot()["snapshot"]["id"]
        own.run("key", "remove", "vault.db.keys", "1", "4", *by("b"), "--rekey", "vault.db", "--forget-old-keys")
        own.snapshot()
        kept = ("r", "id", "code", "c")
        for name in os.listdir(own.path):
            if name not in kept:
                os.unlink(own.file(name))
        own.restore("new.db")
        own.restore("old.db", "--snapshot", old)
        for database, methods in (("new.db", {"identity": "id"}), ("old.db", {"identity": "id", "recovery": "code"})):
            for method, name in methods.items():
                keys = reader.unlock(data(own.file(database + ".keys")), method, reader.secret_of(own.file(name)))
                expect(any(rows(own.file(database), key) == CONTENT for key in keys), f"{database} by {method}")
                own.run("key", "test", database + ".keys", "--unlock", method, "--key-file", name, "--database", database)
        own.run("key", "test", "new.db.keys", "--unlock", "recovery", "--key-file", "code", status=77)
        # And the new machine gets a slot of its own.
        own.run("key", "add", "new.db.keys", "--unlock", "identity", "--key-file", "id", "--kind", "file",
                "--new-key-file", "c")
        expect(own.opens_by("new.db", "c"), "the slot of the new machine")

    def kept():
        own = copy()
        own.snapshot()
        before = data(own.file("vault.db.keys"))
        own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "file", "--new-key-file", "c")
        newer = data(own.file("vault.db.keys"))
        found = own.restore("vault.db", "--in-place")
        expect(found["keyring"]["outcome"] == "other" and found["keyring"]["has_key"] is True, str(found))
        expect(data(own.file("vault.db.keys")) == newer and own.opens_by("vault.db", "c"), "a newer one was replaced")
        found = own.restore("vault.db", "--in-place", "--keyring-to", "then.keys")
        expect(data(own.file("then.keys")) == before and data(own.file("vault.db.keys")) == newer, str(found))
        own.restore("vault.db", "--in-place", "--keyring-to", "a", status=73)
        found = own.restore("vault.db", "--in-place", "--replace-keyring")
        expect(found["keyring"]["outcome"] == "replaced", str(found))
        expect(data(own.file("vault.db.keys")) == before, "not replaced")
        expect(data(own.file("vault.db.keys.replaced")) == newer, "the other one is gone")
        # Another keyring does not open it: that is said, and nothing is lost.
        own.run("key", "init", "other.db.keys", "--kind", "file", "--new-key-file", "a")
        other = data(own.file("other.db.keys"))
        done = own.run("restore", "--repository", "r", "other.db", "--json")
        found = json.loads(done.stdout)
        expect(found["keyring"] == {"path": "other.db.keys", "outcome": "other", "has_key": False}, str(found))
        expect(b"does not open" in done.stderr and data(own.file("other.db.keys")) == other, str(done.stderr))
        found = own.restore("bare.db", "--no-keyring")
        expect(found["keyring"] is None and not os.path.exists(own.file("bare.db.keys")), str(found))

    # hazard: H-KEY-40
    def standby():
        """What is promoted opens by the keyring beside it, and so do its backups, although the key was changed meanwhile."""
        own = copy()
        os.mkdir(own.file("away"))
        words = ["--repository", "r", "--database", "vault.db"]
        own.snapshot()
        own.run("follow-restore", *words, "--once", "away/standby.db")
        expect(own.opens_by("away/standby.db", "a") and own.opens_by("away/standby.db", "b"), "the first state")
        own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "file", "--new-key-file", "c")
        own.snapshot()
        own.run("follow-restore", *words, "--once", "away/standby.db")
        expect(own.opens_by("away/standby.db", "c"), "by the slot that was added")
        own.run("key", "remove", "vault.db.keys", "2", *by("a"), "--rekey", "vault.db", "--forget-old-keys")
        own.snapshot()
        done = own.run("follow-restore", *words, "--once", "away/standby.db")
        expect(b"stays" not in done.stderr, str(done.stderr))
        expect(data(own.file("away/standby.db.keys")) == data(own.file("vault.db.keys")), "an older keyring")
        expect(own.opens_by("away/standby.db", "a") and not own.opens_by("away/standby.db", "b"), "the new key")
        own.run("follow-restore", *words, "--promote", "away/standby.db")
        expect(own.opens_by("away/standby.db", "a"), "the promoted database")
        own.run("snapshot", "away/standby.db", "--repository", "r")
        own.restore("out.db")
        own.run("verify", "out.db", "--keyring", "out.db.keys", *by("a"))

    def stored_or_not():
        own = copy()
        expect(own.snapshot("--no-keyring")["snapshot"]["keyring"] is False, "stored")
        own.restore("none.db", "--keyring-to", "none.keys", status=66)
        expect(not os.path.exists(own.file("none.db")), "restored without the keyring that was asked for")
        own.restore("none.db")
        os.rename(own.file("vault.db.keys"), own.file("elsewhere"))
        expect(own.snapshot()["snapshot"]["keyring"] is False, "there is none")
        expect(own.snapshot("--keyring", "elsewhere")["snapshot"]["keyring"] is True, "named")
        own.run("snapshot", "vault.db", "--repository", "r", "--keyring", "typo", status=66)
        own.run("snapshot", "vault.db", "--repository", "r", "--keyring", "a", status=66)
        os.symlink("elsewhere", own.file("vault.db.keys"))
        expect(own.snapshot()["snapshot"]["keyring"] is True, "behind a link")
        os.unlink(own.file("vault.db.keys"))
        for content in (b"x" * 100, b"litevault-keyring 1\n" + b"x" * 50_000, b"\xff\xfe",
                        b"litevault-keyring 1" + b"\n" * 39_000, b"litevault-keyring 1\n" + b"\1" * 39_000):
            with open(own.file("vault.db.keys"), "wb") as file:
                file.write(content)
            done = own.run("snapshot", "vault.db", "--repository", "r", "--json")
            expect(json.loads(done.stdout)["snapshot"]["keyring"] is False and b"not stored" in done.stderr,
                   str(done.stderr))
        os.unlink(own.file("vault.db.keys"))
        os.mkfifo(own.file("vault.db.keys"))
        done = own.run("snapshot", "vault.db", "--repository", "r", "--json")
        expect(b"not stored" in done.stderr, "a pipe")

    def audit():
        own = copy()
        first = own.snapshot()["snapshot"]["id"]
        own.run("key", "remove", "vault.db.keys", "2", *by("a"))
        second = own.snapshot()["snapshot"]["id"]
        own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "file", "--new-key-file", "c")
        own.run("key", "remove", "vault.db.keys", "2", *by("a"), "--rekey", "vault.db")
        third = own.snapshot()["snapshot"]["id"]
        fourth = own.snapshot("--no-keyring")["snapshot"]["id"]
        found = own.audit()
        needs = {item["id"]: item["keys"] for item in found["snapshots"]}
        ids = reader.parse(data(own.file("vault.db.keys")))["keys"]
        ids = [key if isinstance(key, str) else key.hex() for key in ids]
        expect(needs == {first: [ids[1]], second: [ids[1]], third: [ids[0]], fourth: []}, f"{needs} {ids}")
        expect(found["without_keyring"] == 1, str(found))
        slots = [(slot["slot"]["slot"], slot["removed"], slot["opens"]) for slot in found["slots"]]
        # The removed slot 2 opens what has the old key, also what was stored after it was removed.
        expect((2, True, [first, second]) in slots and (1, False, [first, second, third]) in slots, str(slots))
        expect(len(slots) == 2, "a slot that no keyring of the repository had")
        shown = own.run("key", "audit", "--repository", "r").stdout
        for secret in [key for key in own.keys("a", "vault.db.keys")] + [data(own.file(name)).strip() for name in "ab"]:
            expect(secret not in shown and secret.hex().encode() not in shown, "a secret is shown")
        # A slot that is removed in use, but in the newest snapshot's keyring.
        own.run("key", "add", "vault.db.keys", *by("a"), "--kind", "file", "--new-key-file", "c")
        own.snapshot()
        own.run("key", "remove", "vault.db.keys", "2", *by("a"))
        removed = [slot["removed"] for slot in own.audit()["slots"] if slot["slot"]["slot"] == 2]
        expect(sorted(removed) == [False, True], str(removed))
        removed = [slot["removed"] for slot in own.audit("--keyring", "vault.db.keys")["slots"]
                   if slot["slot"]["slot"] == 2]
        expect(removed == [True, True], str(removed))

    def checked():
        own = copy()
        first = own.snapshot()["snapshot"]["id"]
        own.run("rekey", "vault.db", "--own-keyrings", "--journal", "j", *by("a"))
        own.snapshot()
        words = ["--keyring", "vault.db.keys", *by("a")]
        for chosen in ([], ["--snapshot", first]):
            own.run("check", "--repository", "r", "--restore-test", "--assert", "SELECT count(*) FROM note", *words, *chosen)
        own.restore("old.db", "--snapshot", first, "--verify-with-key", *words)
        own.run("key", "init", "other", "--kind", "file", "--new-key-file", "a")
        own.run("check", "--repository", "r", "--restore-test", "--keyring", "other", *by("a"), status=77)

    def changed():
        own = copy()
        own.snapshot()
        found = [os.path.join(where, name) for where, _, names in os.walk(own.file("r/snapshots")) for name in names]
        with open(found[0], "r+b") as file:
            content = file.read()
            file.seek(0)
            file.write(content.replace(b"generation 2", b"generation 3"))
        own.restore("new.db", status=65)
        expect(not os.path.exists(own.file("new.db.keys")), "a keyring of a damaged manifest")

    def while_it_changes():
        own = copy()
        failed = []

        def change():
            for number in range(6):
                done = own.run("rekey", "vault.db", "--own-keyrings", "--journal", f"j{number}", "--forget-old-keys",
                               *by("a"), "--wait", "30s", status=None)
                if done.returncode not in (0, 75):
                    failed.append(done.stderr)

        thread = threading.Thread(target=change)
        thread.start()
        taken = []
        while thread.is_alive() or not taken:
            done = own.run("snapshot", "vault.db", "--repository", "r", "--json", status=None)
            expect(done.returncode in (0, 75), lambda: f"exit {done.returncode}: {done.stderr}")
            if done.returncode == 0:
                taken.append(json.loads(done.stdout)["snapshot"]["id"])
        thread.join()
        expect(not failed, str(failed))
        for snapshot in taken:
            own.restore(snapshot, "--snapshot", snapshot)
            expect(own.opens_by(snapshot, "a"), f"{snapshot} does not open by its keyring")
        return f"{len(taken)} snapshots"

    report.cases([
        ("a snapshot carries the keyring, and a restore puts both back", together),
        ("old snapshots open with the slots of their time, and with no others", of_its_time),
        ("from the repository alone a recipient and a recovery code open what had their slots", recovered),
        ("an existing keyring stays unless it is asked to be replaced", kept),
        ("H-KEY-40 a standby, what is promoted and its backups open by their keyrings after a change of the key", standby),
        ("what is stored as a keyring is one, and a snapshot does not fail for it", stored_or_not),
        ("an audit finds the key of each snapshot, and what removed slots open", audit),
        ("check and restore try every key that the keyring had", checked),
        ("a changed keyring in a manifest is damage", changed),
        ("each snapshot has the keyring of its image while the key changes", while_it_changes),
    ])
    kills(report, settings, copy)


def kills(report, settings, copy):
    tracing.require_strace()
    words = ["restore", "--repository", "r", "--in-place", "--replace-keyring", "vault.db"]
    box = copy()
    box.snapshot()
    box.run("key", "add", "vault.db.keys", *by("a"), "--kind", "file", "--new-key-file", "c")
    log = os.path.join(box.path, "..", "log")
    database = data(box.file("vault.db"))
    old, new = data(box.file("vault.db.keys")), box.restore("then.db") and data(box.file("then.db.keys"))

    def fresh():
        own = copy()
        shutil.rmtree(own.path)
        shutil.copytree(box.path, own.path)
        return own

    # hazard: H-BAK-15
    def ordered():
        """The replaced keyring is kept for good before another one gets its name, and that before the database does."""
        own, log = fresh(), os.path.join(box.path, "..", "order")
        tracing.trace([own.tool, *words], log, cwd=own.path, env=own.machine)
        calls = tracing.read(log)
        steps = []
        for call in calls:
            name = os.path.basename((call.quoted() or [""])[-1])
            if call.name.startswith(("rename", "link")) and call.result == "0" and name.startswith("vault.db"):
                steps.append(name)
            elif call.name == "fsync" and call.path == os.path.realpath(own.path):
                steps.append("sync")
        steps = [step for step, _ in itertools.groupby(steps)]
        start = steps.index("vault.db.keys.replaced")
        wanted = ["vault.db.keys.replaced", "sync", "vault.db.keys", "sync", "vault.db", "sync"]
        expect(steps[start:start + 6] == wanted, str(steps))
        shutil.rmtree(own.path)

    # hazard: H-BAK-13
    def found():
        """An existing keyring may be of a restore that was killed: it is durable before the database gets its name."""
        own = fresh()
        own.restore("new.db")
        os.unlink(own.file("new.db"))
        done = tracing.trace([own.tool, "restore", "--repository", "r", "new.db"], own.path + ".log", cwd=own.path, env=own.machine)
        expect(done.returncode == 0, lambda: str(done.stderr))
        calls = tracing.read(own.path + ".log")
        named = [i for i, call in enumerate(calls) if call.name.startswith(("rename", "link")) and call.result == "0"
                 and os.path.basename((call.quoted() or [""])[-1]) == "new.db"][-1]
        complete = [i for i, call in enumerate(calls[:named]) if call.name == "fsync" and ".litevault-" in call.path][-1]
        expect(any(call.name == "fsync" and call.path == os.path.realpath(own.path) for call in calls[complete:named]),
               "the directory of the keyring was not synced")
        shutil.rmtree(own.path)

    # hazard: H-BAK-49
    def owned():
        """Whatever has the name of the database or its keyring belongs to the owner, wherever a restore is killed."""
        if os.geteuid() != 0:
            raise Skip("only root gives files away")
        nobody = pwd.getpwnam("nobody").pw_uid
        command = ["restore", "--repository", "r", "--owner", "nobody", "--if-missing", "new.db"]
        own = fresh()
        steps = ["fchown", "fsync", "link", "linkat", "rename", "renameat", "renameat2"]
        done = tracing.trace([own.tool, *command], own.path + ".log", steps, cwd=own.path, env=own.machine)
        expect(done.returncode == 0, lambda: str(done.stderr))
        counts, places = collections.Counter(), set()
        for call in tracing.read(own.path + ".log"):
            counts[call.pid, call.name] += 1
            if "new.db" in call.arguments or call.path == os.path.realpath(own.path):
                places.add((call.name, counts[call.pid, call.name]))
        expect(any(call.startswith(("rename", "link")) for call, _ in places), str(places))
        shutil.rmtree(own.path)
        seen = 0
        for call, number in sorted(places):
            own = fresh()
            tracing.trace([own.tool, *command], own.file("log"), [call], f"{call}:signal=SIGKILL:when={number}",
                          cwd=own.path, env=own.machine)
            for again in (False, True):
                if again:
                    own.run(*command)
                for name in ("new.db", "new.db.keys"):
                    if os.path.exists(own.file(name)):
                        seen += 1
                        expect(os.stat(own.file(name)).st_uid == nobody, f"{name} is not the owner's after {call} {number}")
                    else:
                        expect(not again, f"{name} is missing after {call} {number}")
            shutil.rmtree(own.path)
        return f"{len(places)} kills, {seen} files"

    report.case("H-BAK-49 what a restore gives its name belongs to the owner from that moment", owned)
    report.case("H-BAK-13 a keyring that a restore finds is kept for good before the database gets its name", found)
    report.case("H-BAK-15 the keyring that a restore replaces is kept for good before it is replaced", ordered)

    traced = fresh()
    done = tracing.trace([traced.tool, *words], log, cwd=traced.path, env=traced.machine)
    expect(done.returncode == 0, lambda: str(done.stderr))
    counters, points = collections.Counter(), collections.defaultdict(set)
    for call in tracing.read(log):
        counters[call.pid, call.name] += 1
        if call.touches_files:
            points[call.name].add(counters[call.pid, call.name])

    def disturbed(call, number, fault):
        own = fresh()
        try:
            done = tracing.trace(
                [own.tool, *words], own.file("log"), [call], f"{call}:{fault}:when={number}", cwd=own.path,
                env=own.machine)
            found = data(own.file("vault.db.keys"))
            if fault.startswith("error") and done.returncode not in (0, 74) and data(own.file("vault.db")) == database:
                expect(found == old and not os.path.exists(own.file("vault.db.keys.replaced")),
                       f"exit {done.returncode}: the database was not replaced, but its keyring was")
            expect(found in (old, new), "neither the keyring of before nor that of the snapshot")
            expect(own.opens_by("vault.db", "a"), "the database does not open by the keyring beside it")
            kept = own.file("vault.db.keys.replaced")
            if found == new:
                expect(data(kept) == old, "the replaced keyring is gone")
            if os.path.exists(kept):
                os.rename(kept, own.file("kept"))
            again = own.run(*words, status=None)
            expect(again.returncode == 0, lambda: f"again: exit {again.returncode} {again.stderr}")
            expect(data(own.file("vault.db.keys")) == new and own.opens_by("vault.db", "a"), "again")
            return f"exit {done.returncode}"
        finally:
            shutil.rmtree(own.path, ignore_errors=True)

    cases = []
    for call, found in sorted(points.items()):
        found = sorted(found)
        if len(found) > MOST and not settings.full:
            found = sorted({found[round(i * (len(found) - 1) / (MOST - 1))] for i in range(MOST)})
        for number in found:
            for fault in ("signal=SIGKILL", "error=ENOSPC"):
                cases.append((f"restore with its keyring: {fault.split('=')[1]} at {call} {number}",
                              lambda c=call, n=number, f=fault: disturbed(c, n, f)))
    report.cases(cases)
