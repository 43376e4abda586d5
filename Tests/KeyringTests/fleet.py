"""Many databases at once: `rekey` and `key add` with lists, patterns and journals; kills at each call that writes."""
import collections
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import time

from faults import tracing
from faults.report import Skip, expect
from suites import Box, by, data, reader, rows, write

CONTENT = [("bread",), ("milk",)]
OLD, NEW = "11" * 32, "22" * 32
BY_KEYS = ["--key-file", "old", "--key-format", "hex", "--new-key-file", "new", "--new-key-format", "hex"]
MOST = 4  # Kills per system call and operation, unless LITEVAULT_FAULT_FULL is set.


class Fleet(Box):
    """A directory with some databases, each with a keyring of its own beside it, and as many under one key."""

    def fill(self, count):
        self.count = count
        link = sqlite3.connect(self.file("plain.db"))
        link.execute("CREATE TABLE note (text)")
        link.executemany("INSERT INTO note VALUES (?)", CONTENT)
        link.commit()
        link.close()
        for name, text in (("a", "a" * 64), ("b", "b" * 64), ("old", OLD), ("new", NEW)):
            write(self.file(name), text)
        self.run("keygen", "--format", "identity", "id")
        self.recipient = json.loads(
            self.run("key", "export-recipient", "--key-file", "id", "--json").stdout)["recipient"]
        for number in range(count):
            self.run("encrypt", "plain.db", f"k{number}.db", "--key-file", "old", "--key-format", "hex")
            self.run("key", "init", f"r{number}.db.keys", "--kind", "file", "--new-key-file", "a")
            self.run("encrypt", "plain.db", f"r{number}.db", "--keyring", f"r{number}.db.keys", *by("a"))
            shutil.copy(self.file(f"r{number}.db.keys"), self.file(f"r{number}.old"))
        for kind in "kr":
            write(self.file(f"{kind}.list"), "\n".join(f"{kind}{number}.db" for number in range(count)))
        return self

    def key_of(self, number):
        """Which of the two keys opens a database; never none, never another content."""
        found = [key for key in (OLD, NEW) if rows(self.file(f"k{number}.db"), bytes.fromhex(key)) == CONTENT]
        expect(len(found) == 1, f"k{number}.db opens by {len(found)} of the keys")
        return found[0]

    def opened(self, number, keyring=None):
        """How many keys the slot has in a keyring, and which of them opens the database, by the independent reader."""
        keys = self.keys("a", keyring or f"r{number}.db.keys")
        found = [place for place, key in enumerate(keys) if rows(self.file(f"r{number}.db"), key) == CONTENT]
        return len(keys), found

    def report(self, *words, status=0, **rest):
        return json.loads(self.run(*words, "--json", status=status, **rest).stdout)

    def states(self, report):
        return [item["state"] for item in report["items"]]


def hold(fleet, name):
    """Another process that has a database open, as a pool has."""
    code = f"import sys; f = open({fleet.file(name)!r}, 'rb'); print('open', flush=True); sys.stdin.read()"
    held = subprocess.Popen(
        [os.environ["LITEVAULT_JUDGES"], "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    held.stdout.readline()
    return held


def release(held):
    held.stdin.close()
    held.wait()
    held.stdout.close()


def fleet(report, settings, place):
    numbers = itertools.count()
    template = Fleet(settings.tool, os.path.join(place, "template")).fill(3)

    def copy():
        box = Fleet.__new__(Fleet)
        box.tool, box.count, box.recipient = settings.tool, template.count, template.recipient
        box.path = os.path.join(place, str(next(numbers)))
        shutil.copytree(template.path, box.path)
        return box

    def one_key():
        own = copy()
        found = own.report("rekey", "--from-file", "k.list", *BY_KEYS)
        expect(own.states(found) == ["done"] * 3 and found["journal"] is None, str(found))
        expect(not os.path.exists(own.file("k.list.journal")), "the journal of a change that is over is there")
        expect([own.key_of(number) for number in range(3)] == [NEW] * 3, "keys")
        again = own.report("rekey", "--glob", "k*.db", *BY_KEYS)
        expect(own.states(again) == ["already"] * 3, f"again: {again}")

    def own_keyrings():
        own = copy()
        words = ["rekey", "--from-file", "r.list", "--own-keyrings", *by("a")]
        expect(own.states(own.report(*words)) == ["done"] * 3, "states")
        for number in range(3):
            expect(own.opened(number) == (2, [0]), f"r{number}: {own.opened(number)}")
            expect(own.opened(number, f"r{number}.old") == (1, []), "the old keyring opens it")
        own.report(*words, "--forget-old-keys")
        for number in range(3):
            expect(own.opened(number) == (1, [0]), "older keys are there")
        expect(len({own.keys("a", f"r{number}.db.keys")[0] for number in range(3)}) == 3, "one key for all")
        own.run("rekey", "r0.db", "--own-keyrings", *by("a"), status=64)

    def in_use():
        own = copy()
        held = hold(own, "k1.db")
        try:
            before = data(own.file("k1.db"))
            found = own.report("rekey", "--from-file", "k.list", *BY_KEYS, "--wait", "0s", status=75)
            expect(own.states(found) == ["done", "busy", "done"] and found["returns"] == 0, str(found))
            expect(data(own.file("k1.db")) == before, "the one in use was changed")
            done = own.run("rekey", "k1.db", *BY_KEYS, status=75)
            expect(b"k1.db" in done.stderr, "one by itself does not say which")
        finally:
            release(held)
        found = own.report("rekey", "--from-file", "k.list", *BY_KEYS)
        expect(own.states(found) == ["already", "done", "already"] and found["continued"], str(found))

    def comes_back():
        own = copy()
        held = hold(own, "r0.db")
        words = [own.tool, "rekey", "--from-file", "r.list", "--own-keyrings", *by("a"), "--wait", "500s", "--json"]
        run = subprocess.Popen(words, cwd=own.path, env=own.machine, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        journal, end = own.file("r.list.journal"), time.monotonic() + 400
        # Until the others are done: only then it is let go.
        while not os.path.exists(journal) or data(journal).count(b'"done"') < 2:
            expect(time.monotonic() < end and run.poll() is None, "the others are not done")
            time.sleep(0.02)
        expect(b"r0.db" not in data(journal), "a key was made for a database that is in use")
        release(held)
        found = json.loads(run.communicate()[0])
        expect(run.returncode == 0 and own.states(found) == ["done"] * 3, str(found))

    def ended():
        own = copy()
        held = hold(own, "r0.db")
        words = ["rekey", "--from-file", "r.list", "--own-keyrings", *by("a"), "--wait", "500s"]
        run = subprocess.Popen(
            [own.tool, *words], cwd=own.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=own.machine)
        journal, end = own.file("r.list.journal"), time.monotonic() + 400
        while not os.path.exists(journal) or data(journal).count(b'"done"') < 2:
            expect(time.monotonic() < end and run.poll() is None, "the others are not done")
            time.sleep(0.02)
        own.run(*words, status=75)  # Another one by the same journal.
        run.terminate()
        expect(run.wait(240) == 143, f"exit {run.returncode}")
        release(held)
        found = own.report(*words)
        expect(own.states(found) == ["done", "already", "already"] and found["continued"], str(found))

    def dry_run():
        own = copy()
        held = hold(own, "k1.db")
        before = {name: data(own.file(name)) for name in os.listdir(own.path)}
        try:
            found = own.report("rekey", "--from-file", "k.list", *BY_KEYS, "--dry-run", status=75)
            expect(own.states(found) == ["ready", "busy", "ready"], str(found))
        finally:
            release(held)
        found = own.report("rekey", "--from-file", "r.list", "--own-keyrings", *by("a"), "--dry-run")
        expect(own.states(found) == ["ready"] * 3, str(found))
        own.report("key", "add", "--from-file", "r.list", "--own-keyrings", *by("a"), "--kind", "recipient",
                   "--recipient", own.recipient, "--dry-run")
        expect({name: data(own.file(name)) for name in os.listdir(own.path)} == before, "something changed")

    def failures():
        own = copy()
        own.run("rekey", "k1.db", "--key-file", "old", "--key-format", "hex", "--new-key-file", "a")
        words = ["k0.db", "k1.db", "missing.db", "plain.db", "k2.db"]
        found = own.report("rekey", *words, *BY_KEYS, status=1)
        expect(own.states(found) == ["done", "failed", "failed", "failed", "done"], str(found))
        codes = [item.get("code") for item in found["items"]]
        expect(codes == [None, "key-rejected", "no-input", "wrong-kind", None], str(codes))
        own.run("rekey", "missing.db", "gone.db", *BY_KEYS, status=66)
        own.run("rekey", "--glob", "nothing*", *BY_KEYS, status=64)
        own.run("rekey", "--from-file", "nothing", *BY_KEYS, status=66)
        own.run("rekey", *BY_KEYS, status=64)

    def named_twice():
        own = copy()
        os.symlink("k0.db", own.file("link.db"))
        found = own.report("rekey", "k0.db", "./k0.db", "link.db", own.file("k0.db"), *BY_KEYS)
        expect(own.states(found) == ["done"], str(found))
        expect(os.path.islink(own.file("link.db")), "the link was replaced")

    def journals():
        own = copy()
        held = hold(own, "k1.db")
        words = ["rekey", "--from-file", "k.list", "--wait", "0s"]
        own.run(*words, *BY_KEYS, status=75)
        write(own.file("third"), "33" * 32)
        journal = own.file("k.list.journal")
        before = data(journal)
        # To another key: those that are done would be passed over.
        own.run(*words, *BY_KEYS[:4], "--new-key-file", "third", "--new-key-format", "hex", status=64)
        own.run("key", "add", "--from-file", "k.list", *by("a"), "--kind", "recipient", "--recipient", own.recipient,
                status=64)
        expect(data(journal) == before, "the journal changed")
        for name in ("k0.db", "old", "plain.db"):
            content = data(own.file(name))
            own.run(*words, *BY_KEYS, "--journal", name, status=64)
            expect(data(own.file(name)) == content, f"{name} was taken for a journal and changed")
        # Nor is one that begins as a journal may after a power failure, and is longer than its first line.
        for size in (4096, (1 << 28) + 30):
            with open(own.file("image"), "wb") as file:
                file.truncate(size - 5)
                file.seek(0, os.SEEK_END)
                file.write(b"image" if size > 4096 else bytes(5))
            own.run(*words, *BY_KEYS, "--journal", "image", status=65 if size > 4096 else 64)
            expect(os.path.getsize(own.file("image")) == size, f"a file of {size} bytes was taken for a journal")
        os.remove(own.file("image"))
        release(held)
        with open(journal, "ab") as file:
            file.write(b'{"path":"half of a li')
        found = own.report(*words, *BY_KEYS)
        expect(own.states(found) == ["already", "done", "already"], str(found))
        # A file that came from elsewhere since is not passed over.
        own = copy()
        journal = own.file("k.list.journal")
        held = hold(own, "k2.db")
        own.run(*words, *BY_KEYS, status=75)
        release(held)
        shutil.copy(template.file("k0.db"), own.file("k0.db"))
        found = own.report(*words, *BY_KEYS)
        expect(own.key_of(0) == NEW and own.states(found)[0] == "done", str(found))
        write(journal, "litevault-fleet 1 rekey\nnonsense")
        own.run(*words, *BY_KEYS, status=65)

    def header(own, *names):
        """Databases whose first 16 bytes are the same under every key."""
        for name in names:
            key = ["--keyring", f"{name}.keys", *by("a")] if name.startswith("r") else [
                "--key-file", "old", "--key-format", "hex", "--salt-file", own.file("salt")]
            if os.path.exists(own.file("salt")):
                os.unlink(own.file("salt"))
            os.unlink(own.file(name))
            own.run("encrypt", "plain.db", name, *key, "--plaintext-header", "32")
            shutil.copy(own.file(name), own.file(name + ".before"))

    # hazard: H-BAK-17
    def restored():
        """One that is done by the journal and was restored since has the old key: it is not done."""
        own = copy()
        # With a plaintext header the salt is beside the file, the same for all that one call changes.
        header(own, "k0.db")
        settings = ["--source-plaintext-header", "32", "--source-salt-file", "salt"]
        words = ["rekey", "k0.db", "k1.db", *BY_KEYS, *settings, "--journal", "j", "--wait", "0s"]
        # k1.db has no such header, and fails.
        found = own.report(*words, status=None)
        expect(own.states(found) == ["done", "failed"], str(found))
        found = own.report(*words, status=None)
        expect(own.states(found) == ["already", "failed"], f"undisturbed: {found}")
        shutil.copy(own.file("k0.db.before"), own.file("k0.db"))
        found = own.report(*words, status=None)
        expect(own.states(found) == ["done", "failed"], f"restored: {found}")
        check = ["verify", "k0.db", *settings, "--key-format", "hex", "--key-file"]
        own.run(*check, "new")
        own.run(*check, "old", status=77)
        # To another key, before anything is changed; and no more once one that is done shows that it is the right journal.
        write(own.file("third"), "33" * 32)
        other = ["third" if word == "new" else word for word in words]
        before = data(own.file("k0.db")), data(own.file("j"))
        own.run(*other, status=64)
        expect((data(own.file("k0.db")), data(own.file("j"))) == before, "something changed")

    # hazard: H-BAK-17
    def same_salt():
        """Keys with one salt: the file begins alike under both."""
        own = copy()
        for name, digits in (("old", OLD), ("new", NEW)):
            write(own.file(name), digits + "ab" * 16)
        for number in range(3):
            os.unlink(own.file(f"k{number}.db"))
            own.run("encrypt", "plain.db", f"k{number}.db", "--key-file", "old", "--key-format", "hex")
            shutil.copy(own.file(f"k{number}.db"), own.file(f"k{number}.before"))
        words = ["rekey", "--from-file", "k.list", *BY_KEYS, "--wait", "0s"]
        held = hold(own, "k2.db")
        expect(own.states(own.report(*words, status=75)) == ["done", "done", "busy"], "states")
        shutil.copy(own.file("k0.before"), own.file("k0.db"))
        expect(own.states(own.report(*words, status=75)) == ["done", "already", "busy"], "restored")
        # One of them has a third key meanwhile: that is not the journal's fault, and the others are done.
        write(own.file("third"), "33" * 32 + "ab" * 16)
        own.run("rekey", "k0.db", "--key-file", "new", "--key-format", "hex", "--new-key-file", "third",
                "--new-key-format", "hex")
        release(held)
        found = own.report(*words, status=77)
        expect(own.states(found) == ["failed", "already", "done"], str(found))
        expect([own.key_of(number) for number in (1, 2)] == [NEW] * 2, "keys")

    # hazard: H-BAK-17
    def restored_keyring():
        own = copy()
        header(own, "r0.db", "r1.db", "r2.db")
        words = ["rekey", "--from-file", "r.list", "--own-keyrings", *by("a"), "--wait", "0s",
                 "--source-plaintext-header", "32"]

        def opens(number, keyring, status):
            own.run("verify", f"r{number}.db", "--keyring", keyring, *by("a"), "--source-plaintext-header", "32",
                    status=status)
        held = hold(own, "r2.db")
        expect(own.states(own.report(*words, status=75)) == ["done", "done", "busy"], "states")
        expect(own.states(own.report(*words, status=75)) == ["already", "already", "busy"], "undisturbed")
        # A database alone, whose keyring has its key still; and one with its keyring.
        shutil.copy(own.file("r0.db.before"), own.file("r0.db"))
        shutil.copy(own.file("r1.db.before"), own.file("r1.db"))
        shutil.copy(own.file("r1.old"), own.file("r1.db.keys"))
        # This machine remembers the keyring, and refuses an older one; another machine does not.
        elsewhere = dict(own.machine, XDG_STATE_HOME=own.file("state"))
        found = json.loads(own.run(*words, "--json", status=75, env=elsewhere).stdout)
        expect(own.states(found) == ["done", "done", "busy"], f"restored: {found}")
        for number in (0, 1):
            opens(number, f"r{number}.db.keys", 0)
            opens(number, f"r{number}.old", 77)
        # And one whose old key was dropped: no key opens it.
        own.run("rekey", "r0.db", "--own-keyrings", *by("a"), "--journal", "j", "--forget-old-keys",
                "--source-plaintext-header", "32")
        shutil.copy(own.file("r0.db.before"), own.file("r0.db"))
        release(held)
        found = own.report(*words, status=77)
        expect(own.states(found) == ["failed", "already", "done"], str(found))

    # hazard: H-KEY-27
    def other_salt():
        own = copy()
        write(own.file("new"), OLD + "ab" * 16)
        before = {name: data(own.file(name)) for name in os.listdir(own.path)}
        for more in ([], ["--dry-run"]):
            found = own.report("rekey", "--glob", "k*.db", *BY_KEYS, *more, status=64)
            expect(own.states(found) == ["failed"] * 3, str(found))
        # There are no others.
        expect(b"The others" not in own.run("rekey", "--glob", "k*.db", *BY_KEYS, status=64).stderr, "others that there are none of")
        done = own.run("rekey", "k0.db", *BY_KEYS, status=64)
        expect(b"only in its salt" in done.stderr and not done.stdout, str(done))
        expect({name: data(own.file(name)) for name in os.listdir(own.path)} == before, "something changed")
        # And back, and to another salt.
        os.unlink(own.file("k0.db"))
        own.run("encrypt", "plain.db", "k0.db", "--key-file", "new", "--key-format", "hex")
        before = data(own.file("k0.db"))
        write(own.file("third"), OLD + "cd" * 16)
        for key in ("old", "third"):
            own.run("rekey", "k0.db", "--key-file", "new", "--key-format", "hex", "--new-key-file", key,
                    "--new-key-format", "hex", status=64)
        expect(data(own.file("k0.db")) == before, "it was changed")

    # hazard: H-BAK-14
    def begun_elsewhere():
        """A journal says that a key was made, of which the keyring knows nothing: both files were restored since."""
        own = copy()
        words = ["rekey", "r0.db", "--own-keyrings", *by("a"), "--journal", "j"]
        before = [data(own.file(name)) for name in ("r0.db", "r0.db.keys")]
        own.run(*words)
        newest = reader.parse(data(own.file("r0.db.keys")))["keys"][0]
        for name, content in zip(("r0.db", "r0.db.keys"), before):
            with open(own.file(name), "wb") as file:
                file.write(content)
        line = json.dumps({"key": newest, "path": os.path.realpath(own.file("r0.db")), "state": "begun"})
        write(own.file("j"), f"litevault-fleet 1 rekey with own keyrings\n{line}\n")
        found = own.report(*words, env=dict(own.machine, XDG_STATE_HOME=own.file("state")))
        expect(own.states(found) == ["done"], str(found))
        expect(data(own.file("r0.db")) != before[0], "nothing was done")
        expect(own.opened(0) == (2, [0]) and own.opened(0, "r0.old") == (1, []), "the former keyring opens it")

    def zeros():
        """What a disk may hold after a power failure: the file has its new size, and not all of its new content."""
        words = ["rekey", "--from-file", "k.list", "--wait", "0s"]
        for end in (b"", b"}\n"):
            own = copy()
            journal = own.file("k.list.journal")
            held = hold(own, "k2.db")
            own.run(*words, *BY_KEYS, status=75)
            release(held)
            whole = data(journal)
            with open(journal, "ab") as file:
                file.write(bytes(150) + end)
            found = own.report(*words, *BY_KEYS)
            expect(own.states(found) == ["already", "already", "done"], f"{end}: {found}")
            # Only the first line, of which nothing was written, or a part.
            for start in (0, 9):
                own = copy()
                with open(own.file("k.list.journal"), "wb") as file:
                    file.write(whole[:start] + bytes(whole.index(b"\n") + 1 - start - len(end)) + end)
                found = own.report(*words, *BY_KEYS)
                expect(own.states(found) == ["done"] * 3, f"{start}: {found}")
        # A line behind the zeros was written later, when they were durable: that is damage.
        own = copy()
        with open(own.file("k.list.journal"), "wb") as file:
            file.write(whole + bytes(20) + b"\n" + whole.splitlines(True)[1])
        own.run(*words, *BY_KEYS, status=65)

    def recipients():
        own = copy()
        words = ["key", "add", "--from-file", "r.list", "--own-keyrings", *by("a"), "--kind", "recipient",
                 "--recipient", own.recipient, "--name", "recovery"]
        with open(own.file("r1.db.keys"), "r+b") as file:
            damaged = file.read()
            file.seek(0)
            file.write(damaged.replace(b"generation 1", b"generation 2"))
        found = own.report(*words, status=65)
        expect(own.states(found) == ["done", "failed", "done"], str(found))
        with open(own.file("r1.db.keys"), "wb") as file:
            file.write(damaged)
        found = own.report(*words)
        expect(own.states(found) == ["already", "done", "already"], str(found))
        found = own.report("key", "add", *(f"r{n}.db.keys" for n in range(3)), *words[5:])
        expect(own.states(found) == ["already"] * 3, str(found))
        for number in range(3):
            own.run("verify", f"r{number}.db", "--keyring", f"r{number}.db.keys", "--unlock", "identity", "--key-file",
                    "id")
        own.run("key", "add", "r0.db.keys", "r1.db.keys", *by("a"), "--kind", "recovery", status=64)

    report.cases([
        ("a list of databases gets one key, and is not changed twice", one_key),
        ("each database gets a random key in its own keyring", own_keyrings),
        ("a database in use is passed over, and done by the next run", in_use),
        ("it comes back to a database in use once the others are done", comes_back),
        ("a signal ends it, and the next run continues by the journal", ended),
        ("--dry-run says what stands in the way and changes nothing", dry_run),
        ("what fails stays as it was, and the others are done", failures),
        ("two names of one file are one database", named_twice),
        ("a journal is continued only for the change and the file that it is of", journals),
        ("H-BAK-17 a database with a plaintext header that was restored is not done", restored),
        ("H-BAK-17 a database under a key with the same salt that was restored is not done", same_salt),
        ("H-BAK-17 a database that was restored, with its keyring or without, is not done", restored_keyring),
        ("H-KEY-27 a key is not changed to itself with another salt", other_salt),
        ("H-BAK-17 a database that a journal calls begun, and that was restored with its keyring, is not done", begun_elsewhere),
        ("H-BAK-14 a journal that ends in zeros after a power failure is continued", zeros),
        ("a recipient is added to every keyring once", recipients),
    ])
    kills(report, settings, copy)


OPERATIONS = {
    "rekey": ["rekey", "--from-file", "k.list", *BY_KEYS],
    "rekey --own-keyrings": ["rekey", "--from-file", "r.list", "--own-keyrings", "--forget-old-keys", *by("a")],
    "key add": ["key", "add", "--from-file", "r.list", "--own-keyrings", *by("a"), "--kind", "recipient"],
}


def check(box, operation, finished):
    for number in range(box.count):
        if operation == "rekey":
            expect(box.key_of(number) == NEW or not finished, f"k{number}.db has the old key after success")
            continue
        keys, opened = box.opened(number)
        expect(len(opened) == 1, f"r{number}.db opens by {opened} of {keys} keys")
        if operation == "key add":
            kinds = [slot["kind"] for slot in reader.parse(data(box.file(f"r{number}.db.keys")))["slots"]]
            expect(kinds in (["file"], ["file", "recipient"]), f"slots {kinds}")
            expect(len(kinds) == 2 or not finished, "not added after success")
        else:
            # No more than one new key was made, however often the run was killed.
            expect(keys <= 2, f"{keys} keys")
            if finished:
                expect((keys, opened) == (1, [0]), f"r{number}: {keys} keys, {opened}")
                expect(box.opened(number, f"r{number}.old") == (1, []), "the old keyring opens it after success")


def kills(report, settings, copy):
    tracing.require_strace()
    cases = []
    for operation, words in OPERATIONS.items():
        box = copy()
        words = words + (["--recipient", box.recipient] if operation == "key add" else [])
        # One at a time, so that the N-th call is the same in each run; and several, where it is not.
        for width in ("1", "3"):
            log = os.path.join(box.path, "..", f"log {operation} {width}")
            done = tracing.trace([box.tool, *words, "--jobs", width], log, cwd=box.path, env=box.machine)
            expect(done.returncode == 0, lambda: f"{operation}: exit {done.returncode}: {done.stderr}")
            report.case(f"{operation}, {width} at a time: undisturbed", lambda b=box, o=operation: check(b, o, True))
            counters, points = collections.Counter(), collections.defaultdict(set)
            for call in tracing.read(log):
                counters[call.pid, call.name] += 1
                if call.touches_files:
                    points[call.name].add(counters[call.pid, call.name])
            for call, found in sorted(points.items()):
                found, most = sorted(found), MOST if width == "1" else 2
                if len(found) > most and not settings.full:
                    found = sorted({found[round(i * (len(found) - 1) / (most - 1))] for i in range(most)})
                for number in found:
                    for fault in ("signal=SIGKILL", "error=ENOSPC") if width == "1" else ("signal=SIGKILL",):
                        cases.append((
                            f"{operation}, {width} at a time: {fault.split('=')[1]} at {call} {number}",
                            lambda o=operation, w=words + ["--jobs", width], c=call, n=number, f=fault:
                                disturbed(copy(), o, w, c, n, f)))
            box = copy()
    report.cases(cases)


def disturbed(box, operation, words, call, number, fault):
    try:
        done = tracing.trace(
            [box.tool, *words], box.file("log"), [call], f"{call}:{fault}:when={number}", cwd=box.path,
            env=box.machine)
        check(box, operation, finished=done.returncode == 0)
        if done.returncode not in (0, -9, 137):
            expect(done.returncode in (74, 1), lambda: f"exit {done.returncode}: {done.stderr}")
        # The same command finishes what was begun.
        again = box.run(*words, status=None)
        expect(again.returncode == 0, lambda: f"again: exit {again.returncode}: {again.stderr} {again.stdout}")
        if operation != "rekey --own-keyrings" or done.returncode != 0:
            check(box, operation, finished=True)
        left = [n for n in os.listdir(box.path) if ".litevault-" in n or n.endswith((".journal", ".lock"))]
        left = [n for n in left if n.endswith(".journal")] if done.returncode != 0 else left
        expect(not left, f"left behind: {left}")
        return f"exit {done.returncode}"
    finally:
        shutil.rmtree(box.path, ignore_errors=True)
