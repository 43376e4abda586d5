"""Engines that are not ours: SQLCipher 4.19 (sqlcipher3), SQLite3MultipleCiphers (apsw-sqlite3mc), plain SQLite."""
import pathlib
import sqlite3

import apsw
import sqlcipher3

from . import content


def literal(raw):
    return f"\"x'{raw.hex()}'\""


def passphrase(data):
    """The PRAGMA that gives it. As text where it is text: of a hexkey SQLite takes the first 40 bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or "\0" in text:
        assert len(data) <= 40
        return f"PRAGMA hexkey = '{data.hex()}'"
    return "PRAGMA key = '" + text.replace("'", "''") + "'"


class SQLCipher:
    name = "sqlcipher3"

    def open(self, path, key, settings):
        link = sqlcipher3.connect(str(path), isolation_level=None)
        # Without this, a wrong key prints to standard error.
        link.execute("PRAGMA cipher_log_level = NONE")
        if settings.needs_defaults():
            link.execute("PRAGMA cipher_default_use_hmac = OFF")
        if key.raw is not None:
            link.execute(f"PRAGMA key = {literal(key.raw)}")
        else:
            link.execute(passphrase(key.data))
        if settings.needs_defaults():
            link.execute("PRAGMA cipher_default_use_hmac = ON")
        for pragma in settings.pragmas():
            link.execute("PRAGMA " + pragma)
        return link


class MultipleCiphers:
    name = "sqlite3mc"

    def open(self, path, key, settings):
        link = apsw.Connection(str(path))
        for pragma in settings.mc_pragmas():
            link.execute("PRAGMA " + pragma)
        # The salt cannot be passed to it; it takes the raw key with the salt.
        raw = key.raw if key.raw is not None else settings.derived(key) if settings.header else None
        if raw is not None:
            link.execute(f"PRAGMA key = {literal(raw)}")
        else:
            link.execute(passphrase(key.data))
        return link


class Plain:
    """Python's own SQLite, for plaintext databases."""
    name = "sqlite3"

    def open(self, path, key=None, settings=None):
        return sqlite3.connect(str(path), isolation_level=None)


JUDGES = (SQLCipher(), MultipleCiphers())
PLAIN = Plain()


def make(judge, path, key=None, settings=None, **how):
    """A new database of `content`, written by the judge, complete in its main file."""
    link = judge.open(path, key, settings)
    content.make(link, **how)
    link.close()


def read(judge, path, key=None, settings=None):
    """Everything in a database, after the judge's own check of it."""
    if not pathlib.Path(path).exists():
        raise AssertionError(f"{path.name} does not exist")
    link = judge.open(path, key, settings)
    try:
        found = content.everything(link)
        verdict = content.integrity(link)
    finally:
        link.close()
    if verdict != ["ok"]:
        raise AssertionError(f"{judge.name}: integrity_check: {verdict[:3]}")
    return found


def difference(expected, found):
    """The first difference of two lists of lines, None when there is none."""
    for number in range(max(len(expected), len(found))):
        one = expected[number] if number < len(expected) else "nothing"
        other = found[number] if number < len(found) else "nothing"
        if one != other:
            return f"line {number}: {one:.150} became {other:.150}"
    return None
