"""Each case of the matrix, in both directions: the tool writes and two engines read, they write and the tool reads."""
import dataclasses
import functools

from . import content, judges, matrix
from .tool import Failure


def same(expected, found, what):
    text = judges.difference(expected, found)
    if text:
        raise Failure(f"{what}: {text}")


class Bench:
    """A directory, the tool, and a plaintext database in it."""

    def __init__(self, tool, folder, **how):
        self.tool, self.folder = tool, folder
        self.source = folder / "plain.db"
        judges.make(judges.PLAIN, self.source, **how)
        self.expected = judges.read(judges.PLAIN, self.source)

    def effective(self, settings):
        """What the engine writes when it is left to its defaults."""
        if self.tool.format_4 or settings.compatibility:
            return settings
        return dataclasses.replace(settings, compatibility=3)

    def salt_file(self, settings):
        path = self.folder / "salt"
        if settings.header and not path.exists():
            path.write_text(settings.salt.hex() + "\n")
        return path

    def read_back(self, path, key, settings, expected=None):
        for judge in judges.JUDGES:
            same(expected or self.expected, judges.read(judge, path, key, settings), f"{judge.name} reads {path.name}")

    def decrypt(self, path, key, settings, expected=None):
        """By the tool, compared with what went in."""
        result = self.folder / f"{path.name}.decrypted"
        self.tool.run("decrypt", path, result, "--yes", *settings.options("source-", self.salt_file(settings)),
                      key=key).expect(0)
        same(expected or self.expected, judges.read(judges.PLAIN, result), "decrypted")
        result.unlink()


def refusals(tool, settings):
    """The documented statuses of asking the tool's engine for such a file, None when it has to work."""
    if tool.sqlcipher is None:
        return (69,)
    if settings.leaves_too_little():
        return (64,)
    return (69,) if settings.needs_format_4() and not tool.format_4 else None


def written_by_the_tool(case, tool, folder):
    """encrypt; both engines read it all; info and verify agree; what an engine adds, the tool reads."""
    bench = Bench(tool, folder)
    path, settings = folder / "made.db", case.settings
    options = settings.options("", folder / "salt")
    # The salt of a plaintext header is the key's, or the tool's own.
    run = tool.run("encrypt", bench.source, path, *options, key=case.key)
    statuses = refusals(tool, settings)
    if statuses:
        run.expect(*statuses)
        if path.exists():
            raise Failure("a file was made all the same")
        return
    run.expect(0)
    settings = bench.effective(settings)
    if settings.header:
        settings = dataclasses.replace(settings, salt=bytes.fromhex((folder / "salt").read_text()))
    bench.read_back(path, case.key, settings)
    check_info(tool, path, case.key, settings, folder)
    options = settings.options("source-", folder / "salt")
    tool.run("verify", path, *options, key=case.key).expect(0)
    add(judges.JUDGES[0], path, case.key, settings)
    expected = judges.read(judges.JUDGES[0], path, case.key, settings)
    bench.decrypt(path, case.key, settings, expected)


def add(judge, path, key, settings):
    link = judge.open(path, key, settings)
    link.execute("CREATE TABLE added(x)")
    link.execute("INSERT INTO added VALUES ('by another engine')")
    link.execute("UPDATE t SET name = name || ' changed'")
    link.close()


def check_info(tool, path, key, settings, folder):
    found = tool.run("info", path, "--json", *settings.options("source-", folder / "salt"), key=key).expect(0).json()
    cipher = found["cipher"]
    wanted = {"page_size": settings.page_size_in_effect(), "hmac": settings.use_hmac and settings.version != 1,
              "plaintext_header": settings.header}
    if key.form == "passphrase":
        wanted["kdf_iterations"] = settings.iterations_in_effect()
        wanted["kdf_algorithm"] = settings.kdf or ("sha512" if settings.version == 4 else "sha1")
    if wanted["hmac"]:
        wanted["hmac_algorithm"] = settings.hmac or ("sha512" if settings.version == 4 else "sha1")
    wrong = {name: (cipher.get(name), value) for name, value in wanted.items() if cipher.get(name) != value}
    facts = (found["user_version"], found["application_id"], found["kind"])
    kind = "plaintext-header" if settings.header else "encrypted"
    if wrong or facts != (content.USER_VERSION, content.APPLICATION_ID, kind):
        raise Failure(f"info says {cipher}, {facts}; expected {wanted}")


def written_by(judge, case, tool, folder):
    """Another engine writes; the tool verifies, decrypts, and copies it under another key."""
    bench = Bench(tool, folder)
    path, settings = folder / "theirs.db", bench.effective(case.settings)
    judges.make(judge, path, case.key, settings)
    options = settings.options("source-", bench.salt_file(settings))
    statuses = refusals(tool, settings)
    if statuses:
        # An old engine cannot tell a file of a newer format from one under another key.
        tool.run("decrypt", path, folder / "no.db", "--yes", *options, key=case.key).expect(*statuses, 77)
        if (folder / "no.db").exists():
            raise Failure("a file was made all the same")
        return
    tool.run("verify", path, *options, key=case.key).expect(0)
    bench.decrypt(path, case.key, settings)
    copy = folder / "copy.db"
    tool.run("export", path, copy, *options, key=case.key, new_key=matrix.RAW_KEY).expect(0)
    bench.read_back(copy, matrix.RAW_KEY, bench.effective(matrix.Settings()))


def old_format_left_to_defaults(tool, folder):
    """On 3.4.1: a file of today's format is refused as unsupported, not as a wrong key."""
    path = folder / "new.db"
    judges.make(judges.JUDGES[0], path, matrix.PASSPHRASE, matrix.Settings())
    run = tool.run("verify", path, "--json", key=matrix.PASSPHRASE).expect(69)
    if run.code() != "unsupported":
        raise Failure(f"code {run.code()}")


def checks(tool):
    for case in matrix.cases():
        yield f"litevault writes: {case.name}", functools.partial(written_by_the_tool, case)
        if case.settings.leaves_too_little():
            continue
        for judge in judges.JUDGES:
            if tool.sqlcipher is not None:
                yield f"{judge.name} writes: {case.name}", functools.partial(written_by, judge, case)
    if tool.sqlcipher is not None and not tool.format_4:
        yield "sqlcipher3 writes: defaults of 4, read with the defaults of 3", old_format_left_to_defaults
