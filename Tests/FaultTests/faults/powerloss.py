"""The power fails at any moment: whatever POSIX allows a disk to hold then opens with the old state or the new one."""
import hashlib
import os
import shutil
import subprocess

from . import crashed, disk, judge, tracing
from .durable import Place, snapshot
from .operations import Sandbox, Templates
from .report import expect

# States of each command that are judged, unless LITEVAULT_FAULT_FULL is set; those of snapshots take a restore each.
MOST, MOST_RESTORES = 40, 12


def run(report, settings, engine, operations, directory):
    tracing.require_strace()
    templates = Templates(directory, megabytes=0)
    number = iter(range(1_000_000))

    def place():
        return os.path.join(directory, str(next(number)))

    cases = []
    for operation in operations:
        for ending in ["", "-journal"] if operation.replaces and not operation.wal else [""]:
            cases.append((
                f"{operation}{' after a crash' if ending else ''}: the power fails at any moment",
                lambda o=operation, e=ending: database(settings, Sandbox(place(), o, templates), e)))
    template = Place(settings, os.path.join(directory, "template"), engine).fill()
    for name, before in [("a first snapshot", 0), ("a second snapshot", 1)]:
        cases.append((f"{name}: the power fails at any moment",
                      lambda b=before: repository(settings, template.copied(place()), engine, b)))
    report.cases(cases)


def recorded(command, log, **rest):
    done = tracing.trace(command, log, disk.CALLS, extra=disk.OPTIONS, decorated=False, **rest)
    expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")


def states(settings, name, model, log, cwd, most=MOST):
    """(tree, whether success had been reported), each once; a sample of them, unless all are wanted."""
    seen, during, after = set(), [], []
    for event in model.replay(log, cwd):
        for tree in model.states():
            mark = (digest(tree), event == "end")
            if mark not in seen:
                seen.add(mark)
                (after if event == "end" else during).append(tree)
    if not settings.full:
        chance = settings.random(name)
        during, after = (chance.sample(found, min(most, len(found))) for found in (during, after))
    return [(tree, False) for tree in during] + [(tree, True) for tree in after], len(seen)


def digest(tree):
    if isinstance(tree, bytes):
        return hashlib.sha256(tree).digest()
    return hashlib.sha256(repr(sorted((name, digest(below)) for name, below in tree.items())).encode()).digest()


def database(settings, box, ending):
    """A command that makes or replaces a database."""
    if ending:
        crashed.crash(box, *box.operation.source, ending)
    content = judge.content(box.source, *box.operation.source)
    model, log = disk.Disk(box.files), box.directory + ".log"
    recorded([settings.tool] + box.arguments(), log)
    found, all_of_them = states(settings, str(box.operation) + ending, model, log, os.getcwd())
    for number, (tree, is_over) in enumerate(found):
        path = f"{box.directory}-{number}"
        disk.store(tree, path)
        try:
            source, dest = (read_by(os.path.join(path, name), box.operation) for name in ("source.db", "dest.db"))
            where = f"{sorted(tree)} {'after the end' if is_over else ''}"
            if box.operation.replaces:
                expect(source and source[0] == content, f"the database is lost: {source} of {where}")
                expect(not is_over or source[1] == "new", f"the old database is back: {where}")
            else:
                expect(source and source[0] == content, f"the source is lost: {where}")
                expect(dest is None or dest[0] == content, f"half a destination: {dest} of {where}")
                expect(dest or not is_over, f"the destination is gone: {where}")
        finally:
            shutil.rmtree(path)
    box.remove()
    return f"{len(found)} of {all_of_them} states"


def read_by(path, operation):
    """(content, "new" or "old") by an engine that is not ours; a text for what opens by neither key; None if there is no file."""
    if not os.path.exists(path):
        return None
    said = []
    for which, how in (("new", operation.result), ("old", operation.source)):
        try:
            return judge.content(path, *how), which
        except judge.NotReadable as error:
            said.append(str(error))
    return (" / ".join(said), "neither")


def repository(settings, own, engine, before):
    """Snapshots: what was reported as stored is restored, whatever became of the rest."""
    for _ in range(before):
        own.run(*snapshot(engine, "r"))
    os.makedirs(own.file("r"), mode=0o700, exist_ok=True)
    how = (own.key, engine.compatibility or 4)
    old = judge.content(own.file("vault.db"), *how)
    if before:
        link = judge.connect(own.file("vault.db"), *how)
        link.execute("UPDATE account SET name = 'changed' || id")
        link.close()
    new = judge.content(own.file("vault.db"), *how)
    model, log = disk.Disk(own.path), own.log
    recorded([settings.tool, *snapshot(engine, "r")], log, cwd=own.path, env=own.variables)
    found, all_of_them = states(settings, f"snapshot {before}", model, log, own.path, MOST_RESTORES)
    for number, (tree, is_over) in enumerate(found):
        path = f"{own.path}-{number}"
        disk.store(tree, path)
        try:
            done = subprocess.run(
                [settings.tool, "restore", "--repository", "r", "--accept-repository", "out.db"], cwd=path,
                env=own.variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            out = os.path.join(path, "out.db")
            restored = judge.content(out, *how) if done.returncode == 0 else None
            where = f"exit {done.returncode} {done.stderr[-300:]}"
            expect(restored in (old, new, None), f"restored something else: {where}")
            expect(restored or not before, f"the earlier snapshot is lost: {where}")
            expect(not is_over or restored == new, f"a snapshot that was reported as stored is lost: {where}")
        finally:
            shutil.rmtree(path)
    return f"{len(found)} of {all_of_them} states"
