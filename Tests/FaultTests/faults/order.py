"""A new file becomes durable before it becomes visible, and visible durably: fsync, rename, fsync of the directory."""
import os
import shutil

from . import tracing
from .operations import OWNER, Sandbox, TEMPORARY, Templates
from .report import expect

WRITES = {"write", "pwrite64", "writev", "ftruncate"}
SYNCS = {"fsync", "fdatasync"}
RENAMES = {"rename", "renameat", "renameat2", "link", "linkat"}


def run(report, settings, engine, operations, directory):
    tracing.require_strace()
    templates = Templates(directory, megabytes=0)
    for number, operation in enumerate(operations):
        box = Sandbox(os.path.join(directory, f"order-{number}"), operation, templates)
        report.case(f"{operation}: fsync, rename, fsync of the directory", lambda: order(settings, box))
        box.remove()
        if operation.replaces:
            box = Sandbox(os.path.join(directory, f"order-{number}c"), operation, templates)
            report.case(
                f"{operation}: when the directory cannot be synced, the old file's bytes stay",
                lambda: kept(settings, box))
            box.remove()
            continue
        box = Sandbox(os.path.join(directory, f"order-{number}b"), operation, templates)
        report.case(
            f"{operation}: a kernel without renameat2 links and unlinks instead", lambda: fallback(settings, box))
        box.remove()


def order(settings, box):
    log = os.path.join(box.directory, "log")
    done = tracing.trace([settings.tool] + box.arguments(), log)
    expect(done.returncode == 0, lambda: done.stderr.decode(errors="replace"))
    final = "source.db" if box.operation.replaces else "dest.db"
    calls = tracing.read(log)
    renames = [i for i, c in enumerate(calls) if c.name in RENAMES and c.quoted()[-1:] and
               os.path.basename(c.quoted()[-1]) == final]
    expect(len(renames) == 1, f"{len(renames)} renames to {final}")
    rename = renames[0]
    temporary = os.path.basename(calls[rename].quoted()[0])
    expect(TEMPORARY.match(temporary), f"renamed from {temporary}")
    if not box.operation.replaces:
        expect("RENAME_NOREPLACE" in calls[rename].arguments, "the rename could have replaced a file")

    def on(call, name):
        # The old file, which no longer has a name, may be overwritten: that is how its plaintext is erased.
        return os.path.basename(call.path) == name and not call.is_deleted

    writes = [i for i, c in enumerate(calls) if c.name in WRITES and on(c, temporary)]
    syncs = [i for i, c in enumerate(calls) if c.name in SYNCS and on(c, temporary) and c.result == "0"]
    expect(writes, "nothing was written to the temporary")
    expect(syncs, "no fsync of the temporary")
    expect(max(writes) < max(syncs) < rename, "the last fsync is not between the last write and the rename")
    after = [c for c in calls[rename:] if c.name in SYNCS and c.path == os.path.realpath(box.files)]
    expect(after, "no fsync of the directory after the rename")
    late = [c.name for c in calls[rename:] if c.name in WRITES and on(c, final)]
    expect(not late, f"written to under its final name: {late}")
    box.check(temporaries_allowed=False)


def kept(settings, box):
    """The rename may be lost in a power failure then, and the name stand for the old file again."""
    log = os.path.join(box.directory, "log")
    shutil.copytree(box.files, box.files + "-before")
    tracing.trace([settings.tool] + box.arguments(), log)
    syncs, renamed = 0, False
    for call in tracing.read(log):
        syncs += call.name == "fsync"
        renamed = renamed or call.name in RENAMES and os.path.basename(call.quoted()[-1]) == "source.db"
        if renamed and call.name == "fsync":
            break
    else:
        expect(False, "no fsync after the rename")
    shutil.rmtree(box.files)
    os.rename(box.files + "-before", box.files)
    os.chown(box.source, *OWNER)
    done = tracing.trace([settings.tool] + box.arguments(), log, inject=f"fsync:error=EIO:when={syncs}")
    expect(done.returncode == 74, lambda: f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    expect(box.check(temporaries_allowed=False) == "new", "the rename did not happen")
    late = [c.name for c in tracing.read(log) if c.is_deleted and c.name in WRITES]
    expect(not late, f"the old file was written to: {late}")


def fallback(settings, box):
    log = os.path.join(box.directory, "log")
    done = tracing.trace(
        [settings.tool] + box.arguments(), log, ["renameat2", "linkat"], "renameat2:error=ENOSYS")
    expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    expect([c.name for c in tracing.read(log)] == ["renameat2", "linkat"], "did not link")
    expect(box.check(temporaries_allowed=False) == "new", "nothing was done")
