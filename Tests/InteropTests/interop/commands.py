"""The commands that change a key, a format or a place: what they leave is read by other engines."""
import functools

from . import content, judges, matrix
from .directions import Bench, add, same
from .tool import Failure

FAST = matrix.Settings(kdf_iterations=1000)
KEYS = {"passphrase": matrix.PASSPHRASE, "another passphrase": matrix.Key("passphrase", "\u00e4nother 'one'".encode()),
        "raw key": matrix.RAW_KEY, "raw key with salt": matrix.RAW_KEY_WITH_SALT}


def formats(tool):
    return (1, 2, 3, 4) if tool.format_4 else (1, 2, 3)


def export_between(source, target, tool, folder):
    bench = Bench(tool, folder)
    path, copy = folder / "from.db", folder / "to.db"
    judges.make(judges.JUDGES[0], path, matrix.PASSPHRASE, matrix.Settings(compatibility=source))
    tool.run("export", path, copy, "--compatibility", source, "--to-compatibility", target,
             key=matrix.PASSPHRASE, new_key=KEYS["another passphrase"]).expect(0)
    bench.read_back(copy, KEYS["another passphrase"], matrix.Settings(compatibility=target))


def migrate(version, key, tool, folder):
    bench = Bench(tool, folder)
    path = folder / "old.db"
    judges.make(judges.JUDGES[0], path, key, matrix.Settings(compatibility=version))
    before = path.read_bytes()
    run = tool.run("migrate", path, key=key)
    # On SQLCipher 3 its own format is the current one, and with a raw key format 2 is the same.
    if not tool.format_4 and (version == 3 or (version == 2 and key.raw)):
        tool.run("verify", path, key=key).expect(0)
        return
    run.expect(0)
    if path.read_bytes() == before:
        raise Failure("nothing was migrated")
    bench.read_back(path, key, bench.effective(matrix.Settings()))
    leftovers(folder, {"plain.db", "old.db"})


def rekey(old, new, tool, folder):
    bench = Bench(tool, folder)
    path, settings = folder / "vault.db", bench.effective(FAST)
    judges.make(judges.JUDGES[1], path, KEYS[old], settings)
    before = path.read_bytes()
    run = tool.run("rekey", path, *settings.options("source-", None), key=KEYS[old], new_key=KEYS[new],
                   new_key_prefix="new-")
    if (old, new) == ("raw key", "raw key with salt"):
        # A raw key is the same with and without the salt, which is in the file: judges open it with both.
        run.expect(64)
        if path.read_bytes() != before:
            raise Failure("it was changed")
        bench.read_back(path, KEYS[old], settings)
        return leftovers(folder, {"plain.db", "vault.db"})
    run.expect(0)
    bench.read_back(path, KEYS[new], settings)
    tool.run("verify", path, *settings.options("source-", None), key=KEYS[old]).expect(77)
    leftovers(folder, {"plain.db", "vault.db"})


def backup(old, new, tool, folder):
    bench = Bench(tool, folder)
    path, copy, settings = folder / "vault.db", folder / "backup.db", bench.effective(FAST)
    judges.make(judges.JUDGES[0], path, KEYS[old], settings)
    link = judges.JUDGES[0].open(path, KEYS[old], settings)
    link.execute("PRAGMA journal_mode = WAL")
    link.execute("INSERT INTO log VALUES ('only in the WAL')")
    expected = content.everything(link)
    tool.run("backup", path, copy, *settings.options("source-", None), key=KEYS[old],
             new_key=KEYS[new] if new else None).expect(0)
    link.close()
    bench.read_back(copy, KEYS[new or old], settings, expected)


def vacuum(into, tool, folder):
    bench = Bench(tool, folder)
    path, settings = folder / "vault.db", bench.effective(FAST)
    judges.make(judges.JUDGES[0], path, matrix.PASSPHRASE, settings)
    copy = folder / "vacuumed.db" if into else path
    options = ["--into", copy] if into else []
    tool.run("vacuum", path, *options, *settings.options("source-", None), key=matrix.PASSPHRASE).expect(0)
    bench.read_back(copy, matrix.PASSPHRASE, settings)


def round_trip(encoding, auto_vacuum, tool, folder):
    bench = Bench(tool, folder, encoding=encoding, auto_vacuum=auto_vacuum)
    path, settings = folder / "vault.db", bench.effective(FAST)
    tool.run("encrypt", bench.source, path, *FAST.options("", None), key=matrix.PASSPHRASE).expect(0)
    bench.read_back(path, matrix.PASSPHRASE, settings)
    bench.decrypt(path, matrix.PASSPHRASE, settings)


def wal_source(tool, folder):
    bench = Bench(tool, folder)
    link = judges.PLAIN.open(bench.source)
    link.execute("PRAGMA journal_mode = WAL")
    link.execute("INSERT INTO log VALUES ('only in the WAL')")
    expected = content.everything(link)
    path = folder / "vault.db"
    tool.run("encrypt", bench.source, path, *FAST.options("", None), key=matrix.PASSPHRASE).expect(0)
    bench.read_back(path, matrix.PASSPHRASE, bench.effective(FAST), expected)
    link.close()


def in_place(tool, folder):
    bench = Bench(tool, folder)
    kept = folder / "kept.db"
    tool.run("encrypt", bench.source, "--in-place", "--keep-original", kept, *FAST.options("", None),
             key=matrix.PASSPHRASE).expect(0)
    bench.read_back(bench.source, matrix.PASSPHRASE, bench.effective(FAST))
    same(bench.expected, judges.read(judges.PLAIN, kept), "the kept original")


def leftovers(folder, wanted):
    found = {path.name for path in folder.iterdir()}
    if found != wanted:
        raise Failure(f"beside it there are {sorted(found - wanted)}")


def checks(tool):
    if tool.sqlcipher is None:
        return
    for source in formats(tool):
        for target in formats(tool):
            yield f"export: compatibility {source} to {target}", functools.partial(export_between, source, target)
    for version in (1, 2, 3):
        for name in ("passphrase", "raw key"):
            yield f"migrate: compatibility {version}, {name}", functools.partial(migrate, version, KEYS[name])
    for old, new in (("passphrase", "another passphrase"), ("passphrase", "raw key"), ("raw key", "passphrase"),
                     ("raw key", "raw key with salt"), ("raw key with salt", "passphrase"),
                     ("passphrase", "raw key with salt")):
        yield f"rekey: {old} to {new}", functools.partial(rekey, old, new)
    for old, new in (("passphrase", None), ("raw key", None), ("raw key with salt", None), ("passphrase", "raw key"),
                     ("raw key", "another passphrase")):
        yield f"backup: {old}" + (f" to {new}" if new else ""), functools.partial(backup, old, new)
    yield "vacuum", functools.partial(vacuum, False)
    yield "vacuum --into", functools.partial(vacuum, True)
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        for auto_vacuum in (0, 1, 2):
            yield (f"encrypt and decrypt: {encoding}, auto_vacuum {auto_vacuum}",
                   functools.partial(round_trip, encoding, auto_vacuum))
    yield "encrypt: a source in WAL mode, in use", wal_source
    yield "encrypt --in-place --keep-original", in_place
