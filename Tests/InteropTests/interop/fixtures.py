"""Files made by other engines, good and hostile: they open with all their data, or fail with the documented status."""
import functools
import pathlib
import shutil

from . import judges, matrix
from .directions import same
from .matrix import Key, Settings
from .tool import Failure

HOME = pathlib.Path(__file__).resolve().parents[2] / "LiteVaultCipherTests" / "Fixtures"
PASSPHRASE = Key("passphrase", b"fixture-pass")
UNICODE = Key("passphrase", "\u043f\u0430\u0440\u043e\u043b\u044c'\"\u03c0\U0001f600".encode())
FAST = Settings(kdf_iterations=1000)
ROWS = [(1, "alpha", b"\x00\xff"), (2, "b\u00e9ta", None), (3, "gamma \U0001f600", bytes(10))]

# name, key, settings; what SQLCipher 3.4.1 opens begins with v1, v2 or v3.
GOOD = [
    ("v3-3.4.1-default.db", PASSPHRASE, Settings(compatibility=3)),
    ("v3-3.4.1-wal.db", PASSPHRASE, Settings(compatibility=3)),
    ("v3-3.4.1-rawkey.db", matrix.RAW_KEY, Settings(compatibility=3)),
    ("v3-4.6.1-compat3.db", PASSPHRASE, Settings(compatibility=3)),
    ("v2-4.6.1-compat2.db", PASSPHRASE, Settings(compatibility=2)),
    ("v1-4.6.1-compat1.db", PASSPHRASE, Settings(compatibility=1)),
    ("v4-4.6.1-default.db", PASSPHRASE, Settings()),
    ("v4-4.6.1-wal.db", PASSPHRASE, Settings()),
    ("v4-4.6.1-kdf1000.db", PASSPHRASE, FAST),
    ("v4-4.6.1-page8192-sha256.db", PASSPHRASE, Settings(page_size=8192, kdf_iterations=1000, hmac="sha256", kdf="sha256")),
    ("v4-4.6.1-nohmac.db", PASSPHRASE, Settings(use_hmac=False, kdf_iterations=1000)),
    ("v4-4.6.1-rawkey.db", matrix.RAW_KEY, Settings()),
    ("v4-4.6.1-rawkey-salt.db", matrix.RAW_KEY_WITH_SALT, Settings()),
    ("v4-4.6.1-plainheader32.db", matrix.RAW_KEY_WITH_SALT, Settings(header=32, salt=matrix.SALT)),
    ("v4-4.6.1-unicode-key.db", UNICODE, FAST),
    ("v4-4.6.1-autovacuum.db", PASSPHRASE, FAST),
    ("v4-4.19-default.db", PASSPHRASE, Settings()),
]


def copied(name, folder, leave=()):
    """A copy with its -wal or -journal; `leave` are the endings that stay behind."""
    for ending in ("", "-wal", "-journal"):
        source = HOME / (name + ending)
        if source.exists() and ending not in leave:
            shutil.copyfile(source, folder / ("copy.db" + ending))
    return folder / "copy.db"


def is_of_format_4(name, settings):
    return name.startswith("v4")


def good(name, key, settings, tool, folder):
    path = copied(name, folder)
    (folder / "salt").write_text(matrix.SALT.hex())
    options = settings.options("source-", folder / "salt")
    kind = "plaintext-header" if settings.header else "encrypted"
    if tool.run("info", path, "--json").expect(0).json()["kind"] != kind:
        raise Failure(f"info does not say {kind}")
    if tool.sqlcipher is None:
        tool.run("verify", path, key=key).expect(69)
        tool.run("decrypt", path, folder / "no.db", "--yes", key=key).expect(69)
        return
    if is_of_format_4(name, settings) and not tool.format_4:
        before = path.read_bytes()
        tool.run("verify", path, *options, key=key).expect(69, 77)
        tool.run("decrypt", path, folder / "no.db", "--yes", *options, key=key).expect(69, 77)
        if path.read_bytes() != before or (folder / "no.db").exists():
            raise Failure("a file was changed or made all the same")
        return
    pristine = folder / "pristine.db"
    shutil.copyfile(HOME / name, pristine)
    expected = judges.read(judges.JUDGES[0], pristine, key, settings)
    # The mode in the file's header is not content: the readers of the copies ignore it.
    tool.run("verify", path, *options, key=key).expect(0)
    tool.run("verify", path, *options, key=Key("passphrase", b"wrong")).expect(*((64, 77) if settings.header else (77,)))
    plain = folder / "plain.db"
    tool.run("decrypt", path, plain, "--yes", *options, key=key).expect(0)
    same(expected, judges.read(judges.PLAIN, plain), "decrypted")
    if judges.PLAIN.open(plain).execute("SELECT * FROM t ORDER BY id").fetchall() != ROWS:
        raise Failure("other rows than the fixture's")
    copy = folder / "export.db"
    tool.run("export", path, copy, *options, key=key, new_key=matrix.RAW_KEY).expect(0)
    written = Settings() if tool.format_4 else Settings(compatibility=3)
    same(expected, judges.read(judges.JUDGES[0], copy, matrix.RAW_KEY, written), "exported")


def plain(tool, folder):
    path = copied("plain-3.40.1.db", folder)
    before = path.read_bytes()
    if tool.run("info", path, "--json").expect(0).json()["kind"] != "plain":
        raise Failure("info does not say plain")
    tool.run("verify", path).expect(0)
    tool.run("verify", path, key=PASSPHRASE).expect(66 if tool.sqlcipher else 69, 66)
    tool.run("decrypt", path, folder / "no.db", "--yes", key=PASSPHRASE).expect(66 if tool.sqlcipher else 69)
    if path.read_bytes() != before:
        raise Failure("the file was changed")


def raw_authentication_key(tool, folder):
    """A key form that the tool has no name for: as a passphrase it looks like a raw key literal, and is refused."""
    path = copied("v4-4.19-rawkey-hmac-salt.db", folder)
    text = b"x'" + (matrix.RAW + b"\xa5" * 32 + matrix.SALT).hex().encode() + b"'"
    tool.run("verify", path, key=Key("passphrase", text)).expect(77 if tool.sqlcipher else 69)
    tool.run("verify", path, key=Key("hex", text[2:-1])).expect(77 if tool.sqlcipher else 69)


# hazard: H-VER-01 H-VER-02 H-VER-05
def damaged(name, tool, folder):
    path = copied("hostile/" + name, folder)
    before = path.read_bytes()
    options = FAST.options("source-", None)
    found = tool.run("verify", path, *options, key=PASSPHRASE)
    if tool.format_4:
        found.expect(65)
        tool.run("decrypt", path, folder / "no.db", "--yes", *options, key=PASSPHRASE).expect(*decrypting(name))
        tool.run("verify", path, *options, key=Key("passphrase", b"wrong")).expect(77)
    else:
        found.expect(69, 77)
    if path.read_bytes() != before:
        raise Failure("the file was changed")


def decrypting(name):
    # Only an index is damaged, which a copy rebuilds from intact rows.
    return (65, 0) if name in ("tampered-page3.db", "truncated-midpage.db") else (65,)


def no_database(name, kind, tool, folder):
    path = copied("hostile/" + name, folder)
    before = path.read_bytes()
    if tool.run("info", path, "--json").expect(0).json()["kind"] != kind:
        raise Failure(f"info does not say {kind}")
    status = 66 if tool.sqlcipher else 69
    tool.run("verify", path, key=PASSPHRASE).expect(status, 66)
    tool.run("decrypt", path, folder / "no.db", "--yes", key=PASSPHRASE).expect(status)
    tool.run("encrypt", path, folder / "no.db", key=PASSPHRASE).expect(status, 0 if kind == "empty" else status)
    if path.read_bytes() != before:
        raise Failure("the file was changed")


# hazard: H-REK-13
def hot_journal(key, tool, folder):
    """A killed rekey: the old key opens it, whichever key was tried first."""
    path = copied("hostile/rekey-hot-journal.db", folder)
    options = FAST.options("source-", None)
    tool.run("decrypt", path, folder / "no.db", "--yes", *options, key=Key("passphrase", b"new")).expect(77)
    if key == b"new":
        return
    tool.run("decrypt", path, folder / "plain.db", "--yes", *options, key=Key("passphrase", key)).expect(0)
    count = judges.PLAIN.open(folder / "plain.db").execute("SELECT count(*) FROM t").fetchone()
    if count != (60,):
        raise Failure(f"{count} rows instead of 60")
    tool.run("verify", path, *options, key=Key("passphrase", key)).expect(0)


# hazard: H-REK-13
def lost_journal(tool, folder):
    path = copied("hostile/rekey-hot-journal.db", folder, leave=("-journal",))
    tool.run("verify", path, *FAST.options("source-", None), key=Key("passphrase", b"old")).expect(65)


# hazard: H-OPEN-08
def crashed_wal(tool, folder):
    """A row that only the log holds, a wrong key, no key, and then the right one."""
    path = copied("hostile/wal-uncheckpointed.db", folder)
    log, options = folder / "copy.db-wal", FAST.options("source-", None)
    before = path.read_bytes(), log.read_bytes()
    wrong = Key("passphrase", b"wrong")
    copy = folder / "no.db"
    for words, keys in (
            (("verify", path), {"key": wrong}), (("info", path), {"key": wrong}), (("info", path), {}),
            (("verify", path), {}), (("decrypt", path, copy, "--yes"), {"key": wrong}), (("backup", path, copy), {"key": wrong}),
            (("vacuum", path), {"key": wrong}), (("migrate", path), {"key": wrong}), (("export", path, copy), {"key": wrong}),
            (("rekey", path), {"key": wrong, "new_key": PASSPHRASE, "new_key_prefix": "new-"})):
        run = tool.run(*words, *options, **keys)
        if run.status == 0 and words[0] != "info":
            raise Failure(f"{words[0]} succeeds without the key")
        if (path.read_bytes(), log.read_bytes() if log.exists() else None) != before:
            raise Failure(f"{words[0]} with {'a wrong key' if keys else 'no key'} changed the database or its log")
        if copy.exists():
            raise Failure(f"{words[0]} made a file")
    if not tool.format_4:
        return
    tool.run("verify", path, *options, key=PASSPHRASE).expect(0)
    tool.run("decrypt", path, folder / "plain.db", "--yes", *options, key=PASSPHRASE).expect(0)
    if judges.PLAIN.open(folder / "plain.db").execute("SELECT a FROM t").fetchall() != [("in-wal",)]:
        raise Failure("the row of the log is lost")


def checks(tool):
    for name, key, settings in GOOD:
        yield f"fixture {name}", functools.partial(good, name, key, settings)
    yield "fixture plain-3.40.1.db", plain
    yield "fixture v4-4.19-rawkey-hmac-salt.db", raw_authentication_key
    if tool.sqlcipher:
        for name in ("tampered-page1.db", "tampered-page3.db", "truncated-midpage.db", "truncated-page.db"):
            yield f"fixture hostile/{name}", functools.partial(damaged, name)
        if tool.format_4:
            yield "fixture hostile/rekey-hot-journal.db, old key", functools.partial(hot_journal, b"old")
            yield "fixture hostile/rekey-hot-journal.db, new key", functools.partial(hot_journal, b"new")
            yield "fixture hostile/rekey-hot-journal.db without its journal", lost_journal
        yield "fixture hostile/wal-uncheckpointed.db", crashed_wal
    for name, kind in (("magic-only.db", "not-a-database"), ("garbage-3000.db", "not-a-database"), ("zero-length.db", "empty")):
        yield f"fixture hostile/{name}", functools.partial(no_database, name, kind)
