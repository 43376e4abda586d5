"""Sources whose last writer died: what it committed counts, what it did not is undone, nothing is left beside."""
import itertools
import os
import shutil
import subprocess

from . import judge
from .operations import Sandbox, Templates
from .report import expect


def run(report, settings, engine, operations, directory):
    templates = Templates(directory, 0)
    numbers = itertools.count()
    cases = []
    for operation in operations:
        if operation.wal:
            continue  # Every operation is run on a WAL database here.
        for ending, text in [("-wal", "commits that are only in the log"), ("-journal", "a transaction half written")]:
            cases.append((
                f"{operation}: a source with {text}",
                lambda o=operation, e=ending: crashed(
                    settings, Sandbox(os.path.join(directory, f"crashed-{next(numbers)}"), o, templates), e)))
    report.cases(cases)


def crashed(settings, box, ending):
    key, compatibility = box.operation.source
    wanted = crash(box, key, compatibility, ending)
    done = subprocess.run(
        [settings.tool] + box.arguments(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
    result = box.source if box.operation.replaces else box.dest
    key, compatibility = box.operation.result
    expect(judge.content(result, key, compatibility) == wanted, "content was lost")
    if not box.operation.replaces:
        expect(judge.content(box.source, *box.operation.source) == wanted, "the source lost content")
    left = sorted(set(os.listdir(box.files)) - {"source.db", "dest.db"})
    expect(not left, lambda: f"left behind: {left}")


def crash(box, key, compatibility, ending):
    """Puts the files of a writer that is in the middle of something in place of the source. Returns its content."""
    work = os.path.join(box.directory, "crash.db")
    shutil.copyfile(box.source, work)
    connection = judge.connect(work, key, compatibility)
    try:
        if ending == "-wal":
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        else:
            connection.execute("PRAGMA cache_size = 1")  # Pages reach the file before the transaction ends.
            connection.execute("BEGIN")
        connection.execute("UPDATE account SET name = 'changed by the writer that died ' || id")
        connection.executemany(
            "INSERT INTO note(body) VALUES (?)", [(f"written by the writer that died {i}" * 20,) for i in range(100)])
        for part in ["", ending]:
            shutil.copyfile(work + part, box.source + part)
        expect(os.path.getsize(box.source + ending) > 4096, f"the test made no {ending}")
        expect(ending == "-wal" or box.fingerprint(box.source) != box.before, "the test's writer wrote nothing")
    finally:
        connection.close()
    return judge.content(box.source, key, compatibility)
