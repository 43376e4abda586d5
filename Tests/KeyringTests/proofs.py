"""What shows that a keyring is the right one before new data is encrypted under its key; forged ones are made by forger.py."""
import json
import os
import re
import shutil
import stat

import forger
from faults.report import expect
from suites import PASSPHRASE, VECTORS, Box, by, data, itertools, reader, rows, write

FINGERPRINT = r"[0-9a-f]{4}(?:-[0-9a-f]{4}){7}"


class Ring(Box):
    """A keyring with a slot of each kind that a person without a key store can use, and a state directory of its own."""

    def fill(self):
        self.prepare()
        write(self.file("p"), PASSPHRASE)
        self.run("keygen", "--format", "identity", "id")
        recipient = self.run("key", "export-recipient", "--key-file", "id").stdout.decode().strip()
        done = self.run("key", "add", "keys", *by("a"), "--kind", "recovery", "--json")
        write(self.file("code"), json.loads(done.stdout)["recovery_code"])
        self.run("key", "add", "keys", *by("a"), "--new-key-file", "p")
        self.run("key", "add", "keys", *by("a"), "--kind", "command", "--wrap-command", "cat", "--new-key-command", "cat")
        self.run("key", "add", "keys", *by("a"), "--kind", "recipient", "--recipient", recipient)
        # The secret of a recipient endorses when it first writes.
        self.run("key", "add", "keys", "--unlock", "identity", "--key-file", "id", "--trust-keyring", self.fingerprint(),
                 "--kind", "file", "--new-key-file", "c")
        return self

    def run(self, *words, **rest):
        state = os.path.join(self.path, "state")
        return super().run(*words, env={**os.environ, "XDG_STATE_HOME": state}, **rest)

    def forget(self):
        """As on a machine that has not used it."""
        shutil.rmtree(self.file("state"), ignore_errors=True)

    def fingerprint(self, name="a", keyring="keys"):
        ring = reader.parse(data(self.file(keyring)))
        return reader.fingerprint(ring, reader.unlocked(ring, "secret", reader.secret_of(self.file(name)))[0])

    def endorsed(self, method, name, keyring="keys"):
        ring = reader.parse(data(self.file(keyring)))
        return reader.unlocked(ring, method, reader.secret_of(self.file(name)))[1]

    def put(self, content, keyring="keys"):
        with open(self.file(keyring), "wb") as file:
            file.write(content)

    def refuses(self, way, status=77):
        """None of the commands that encrypt new data does so under the keyring, and each shows the fingerprint."""
        before = {name: data(self.file(name)) for name in os.listdir(self.path) if os.path.isfile(self.file(name))}
        for prefix, words in [
            ("", ["encrypt", "plain.db", "new.db"]),
            ("new-", ["rekey", "other.db", "--key-file", "c"]),
            ("to-", ["export", "other.db", "new.db", "--key-file", "c"]),
            ("to-", ["backup", "other.db", "new.db", "--key-file", "c"]),
        ]:
            own = [f"--{prefix}{word[2:]}" if word.startswith("--") else word for word in way]
            done = self.run(*words, f"--{prefix}keyring", "keys", *own, "--json", status=status)
            error = json.loads(done.stderr.splitlines()[-1])["error"]
            expect(error["code"] == "key-rejected" and re.search(FINGERPRINT, error["message"]), str(error))
            expect("--trust-keyring" in error["remedy"], str(error))
        after = {name: data(self.file(name)) for name in os.listdir(self.path) if os.path.isfile(self.file(name))}
        expect(after == before, "something was written")


WAYS = {
    "secret": by("a"), "recovery": ["--unlock", "recovery", "--key-file", "code"],
    "passphrase": ["--unlock", "passphrase", "--key-file", "p"],
    "identity": ["--unlock", "identity", "--key-file", "id"],
    "command": ["--unlock", "command", "--key-command", "cat"],
}


def proofs(report, settings, place):
    numbers = itertools.count()
    template = Ring(settings.tool, os.path.join(place, "template")).fill()
    template.run("encrypt", "plain.db", "other.db", "--key-file", "c")

    def copy():
        box = Ring.__new__(Ring)
        box.tool, box.path = settings.tool, os.path.join(place, str(next(numbers)))
        shutil.copytree(template.path, box.path)
        # Paths are what the memory knows keyrings by.
        box.forget()
        return box

    def vectors():
        ring = reader.parse(data(os.path.join(VECTORS, "keyring-2")))
        expected = data(os.path.join(VECTORS, "database-key")).decode().strip()
        for method in ("passphrase", "recovery", "identity", "secret"):
            keys, endorsed = reader.unlocked(ring, method, reader.secret_of(os.path.join(VECTORS, method)))
            expect([key.hex() for key in keys] == [expected] and endorsed, method)
            expect(reader.fingerprint(ring, keys) == data(os.path.join(VECTORS, "fingerprint")).decode().strip(), method)

    def endorsed():
        own = copy()
        for method, name in [("secret", "a"), ("secret", "b"), ("recovery", "code"), ("passphrase", "p"), ("identity", "id")]:
            expect(own.endorsed(method, name), f"{method} {name}")
        for number, way in enumerate(WAYS.values()):
            own.forget()
            own.run("encrypt", "plain.db", f"e{number}.db", "--keyring", "keys", *way)
            found = json.loads(own.run("key", "test", "keys", *way, "--json").stdout)["keyring_proof"]
            expect(found == {"fingerprint": own.fingerprint(), "proof": "remembered"}, str(found))

    def forged(endorsements):
        # hazard: H-KEY-21
        def test():
            own = copy()
            own.put(forger.forge(data(own.file("keys")), endorsements))
            for way in WAYS.values():
                own.run("key", "test", "keys", *way)
                own.refuses(way)
            # hazard: H-KEY-22
            own.run("key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "id")
            own.run("key", "change", "keys", "2", *by("a"), "--kind", "file", "--new-key-file", "b")
            for way in WAYS.values():
                own.refuses(way)
            expect(not own.endorsed("secret", "a"), "a forged keyring was endorsed by a change")
        return test

    def known():
        # hazard: H-KEY-24
        own = copy()
        original = data(own.file("keys"))
        own.run("encrypt", "plain.db", "x.db", "--keyring", "keys", *by("a"))
        places = [os.path.join(root, name) for root, _, names in os.walk(own.file("state")) for name in names]
        expect(len(places) == 1 and stat.S_IMODE(os.stat(places[0]).st_mode) == 0o600, str(places))
        own.put(forger.forge(original))
        own.refuses(by("a"))
        found = json.loads(own.run("key", "test", "keys", *by("a"), "--json").stdout)["keyring_proof"]
        expect(found["proof"] == "contradicted", str(found))
        own.put(original)
        own.run("encrypt", "plain.db", "y.db", "--keyring", "keys", *by("a"))

    def member():
        # hazard: H-KEY-25
        own = copy()
        original, keys = data(own.file("keys")), own.keys("a")
        own.run("key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db")
        newest = data(own.file("keys"))
        for content in (original, forger.forge(original, "kept", keys), forger.forge(newest, "dropped", keys)):
            own.put(content)
            own.refuses(by("a"))
        own.put(newest)
        own.run("encrypt", "plain.db", "x.db", "--keyring", "keys", *by("a"))

    def trusted():
        own = copy()
        own.put(forger.forge(data(own.file("keys")), "dropped"))
        words = ["encrypt", "plain.db", "x.db", "--keyring", "keys", *by("a"), "--trust-keyring"]
        own.run(*words, "0000-" * 7 + "0000", status=77)
        own.run(*words, "nonsense", status=64)
        expect(not os.path.exists(own.file("x.db")), "written")
        own.run(*words, own.fingerprint().upper())
        expect(rows(own.file("x.db"), own.keys("a")[0]), "the file does not open")
        # From now on this machine remembers it, and by the next change the slot endorses it.
        own.run("encrypt", "plain.db", "y.db", "--keyring", "keys", *by("b"))
        own.run("key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "id")
        expect(own.endorsed("secret", "a") and not own.endorsed("secret", "b"), "endorsements")

    def old():
        own = copy()
        ring = reader.parse(data(own.file("keys")))
        for slot in ring["slots"]:
            slot["endorsed"] = None
        own.put(forger.text(ring, own.keys("a")))
        expect(data(own.file("keys")).startswith(b"litevault-keyring 1\n"), "not an old one")
        for way in WAYS.values():
            own.run("verify", "vault.db", "--keyring", "keys", *way)
            own.run("key", "test", "keys", "--database", "vault.db", *way)
        own.refuses(by("a"))
        own.run("key", "add", "keys", *by("a"), "--trust-keyring", own.fingerprint(), "--kind", "file", "--new-key-file", "id")
        expect(data(own.file("keys")).startswith(b"litevault-keyring 2\n") and own.endorsed("secret", "a"), "endorsed")
        own.forget()
        own.run("encrypt", "plain.db", "x.db", "--keyring", "keys", *by("a"))
        own.forget()
        own.refuses(by("b"))

    def observed():
        # hazard: H-KEY-18
        own = copy()
        shutil.copy(own.file("keys"), own.file("old.keys"))
        shutil.copy(own.file("vault.db"), own.file("old.db"))
        own.run("key", "remove", "keys", "3", *by("a"), "--rekey", "vault.db", "--forget-old-keys", "--yes")
        shutil.copy(own.file("old.db"), own.file("vault.db"))
        before = data(own.file("keys")), data(own.file("vault.db"))
        done = own.run("key", "remove", "keys", "2", *by("a"), "--rekey", "vault.db", status=77)
        expect(b"vault.db" in done.stderr and not done.stdout, str(done))
        expect((data(own.file("keys")), data(own.file("vault.db"))) == before, "something changed")
        expect(own.opens("b", "old.keys"), "the removed passphrase is harmless here, and the test tests nothing")
        os.rename(own.file("keys"), own.file("vault.db.keys"))
        done = own.run("rekey", "vault.db", "--own-keyrings", "--journal", "j", *by("a"), "--json", status=77)
        found = json.loads(done.stdout)
        expect(found["done"] == 0 and found["items"][0]["code"] == "key-rejected", str(found))
        expect((data(own.file("vault.db.keys")), data(own.file("vault.db"))) == before, "something changed")
        # hazard: H-KEY-20
        own.run("rekey", "other.db", "--key-file", "c", "--new-key-file", "c", status=64)

    def dropped():
        # hazard: H-KEY-30
        own = copy()
        shutil.copy(own.file("vault.db"), own.file("other.db"))
        before = data(own.file("keys")), data(own.file("vault.db"))
        words = "key", "remove", "keys", "3", *by("a"), "--rekey", "vault.db", "--forget-old-keys"
        done = own.run(*words, status=64)
        expect(b"other.db" in done.stderr and b"--yes" in done.stderr, str(done))
        expect((data(own.file("keys")), data(own.file("vault.db"))) == before, "something changed")
        done = json.loads(own.run(*words, "--rekey", "other.db", "--json").stdout)
        expect(done["dropped_keys"] >= 1 and done["old_keys"] == 0, str(done))
        for database in ("vault.db", "other.db"):
            own.run("verify", database, "--keyring", "keys", *by("a"))

    report.cases([
        ("the reader finds the endorsements and the fingerprint of the vectors", vectors),
        ("every kind of slot endorses, and encrypts new data without further proof", endorsed),
        *((f"a forged keyring, endorsements {how}, opens and gets no new data", forged(how))
          for how in ("dropped", "kept", "relabelled")),
        ("a machine that used a keyring knows that another one is in its place", known),
        ("an old key that a former member brings back gets no new data where a newer one was used", member),
        ("a keyring is trusted by its fingerprint, and by no other", trusted),
        ("a keyring of an earlier version opens all that exists, and is endorsed once it is trusted", old),
        ("a database that no key opens is an error that names it", observed),
        ("no key is dropped that a database beside the keyring has", dropped),
    ])
