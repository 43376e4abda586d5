"""What is in the way is refused before anything changes: files, other processes, a disk that is really full."""
import itertools
import os
import subprocess

from .operations import Sandbox, Templates
from .report import Skip, expect

MEGABYTES = 4


def run(report, settings, engine, operations, directory):
    small, large = Templates(directory, 0), Templates(directory, MEGABYTES)
    numbers = itertools.count()

    def sandbox(operation, templates=small, place=directory):
        return Sandbox(os.path.join(place, f"refusal-{next(numbers)}"), operation, templates)

    cases = []

    def add(operation, text, body, *arguments, templates=small):
        cases.append((f"{operation}: {text}", lambda: body(settings, sandbox(operation, templates), *arguments)))

    # hazard: H-WAL-03
    for operation in operations:
        if operation.wal:
            if operation.replaces:
                name = f"H-WAL-03 {operation}: a disk without room for the result leaves it in WAL mode"
                cases.append((name, lambda o=operation: full_disk(
                    settings, lambda place: sandbox(o, large, place), directory, f"disk-{next(numbers)}", 30)))
            continue
        if operation.replaces:
            for how in ["reads", "writes to"]:
                add(operation, f"a file is busy that another process {how}", busy, how)
            add(operation, "a symbolic link is followed, not replaced", through_link)
        else:
            add(operation, "an existing destination stays as it is", existing)
            add(operation, "a dangling link as destination stays as it is", dangling)
            for ending in ["-wal", "-journal"]:
                add(operation, f"a stale {ending} beside the destination is refused", stale, ending)
            add(operation, "the source as destination is refused", itself)
            for mask in [0o777, 0]:
                add(operation, f"the destination has mode 600 under umask {mask:03o}", masked, mask)
        for share in [10, 40, 70]:
            name = f"{operation}: a disk with room for {share} % of the result"
            cases.append((name, lambda o=operation, s=share: full_disk(
                settings, lambda place: sandbox(o, large, place), directory, f"disk-{next(numbers)}", s)))
    report.cases(cases)


def tool(settings, box, **rest):
    return subprocess.run(
        [settings.tool] + box.arguments(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        **rest)


def refused(box, done, status):
    expect(done.returncode == status, lambda: f"exit {done.returncode}: {done.stderr}")
    expect(done.stderr.strip(), "no message")
    expect(box.fingerprint(box.source) == box.before, "the source changed")
    expect(not box.temporaries(), lambda: f"temporary files remain: {box.temporaries()}")


def existing(settings, box):
    with open(box.dest, "w") as file:
        file.write("precious")
    refused(box, tool(settings, box), 73)
    with open(box.dest) as file:
        expect(file.read() == "precious", "the destination changed")


def dangling(settings, box):
    os.symlink("nowhere", box.dest)
    refused(box, tool(settings, box), 73)
    expect(os.readlink(box.dest) == "nowhere" and not os.path.exists(box.dest), "the link was followed or replaced")


def stale(settings, box, ending):
    with open(box.dest + ending, "w") as file:
        file.write("stale")
    done = tool(settings, box)
    refused(box, done, 73)
    expect("dest.db" + ending in done.stderr, lambda: f"the message does not name the file: {done.stderr}")
    expect(not os.path.exists(box.dest), "a destination appeared")


def itself(settings, box):
    arguments = [a.replace("{dest}", "{source}") for a in box.operation.arguments]
    box.operation = type(box.operation)("itself", arguments, box.operation.source, box.operation.result)
    refused(box, tool(settings, box), 73)


def masked(settings, box, mask):
    done = tool(settings, box, umask=mask)
    expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
    mode = os.stat(box.dest).st_mode & 0o7777
    expect(mode == 0o600, f"mode {mode:03o}")


def busy(settings, box, how):
    script = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.dirname(os.path.abspath(__file__)))!r})
from faults import judge
connection = judge.connect({box.source!r}, {box.operation.source[0]!r}, {box.operation.source[1]!r})
connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
{'connection.execute("BEGIN IMMEDIATE")' if how != 'reads' else ''}
print("ready", flush=True)
sys.stdin.read()
"""
    other = subprocess.Popen(
        [settings.judge, "-B", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        expect(other.stdout.readline() == "ready\n", "the other process did not start")
        refused(box, tool(settings, box), 75)
    finally:
        other.communicate("")
    done = tool(settings, box)
    expect(done.returncode == 0, lambda: f"still refused afterwards: {done.returncode} {done.stderr}")
    expect(box.check(temporaries_allowed=False) == "new", "nothing was done")


def through_link(settings, box):
    link = os.path.join(box.directory, "link.db")
    os.symlink(box.source, link)
    real, box.source = box.source, link
    done = tool(settings, box)
    box.source = real
    expect(done.returncode == 0, lambda: f"exit {done.returncode}: {done.stderr}")
    expect(os.path.islink(link), "the link was replaced")
    expect(box.check(temporaries_allowed=False) == "new", "nothing was done")


def full_disk(settings, sandbox, directory, name, share):
    if os.geteuid() != 0:
        raise Skip("only root may mount a small file system")
    place = os.path.join(directory, name)
    os.makedirs(place)
    room = MEGABYTES * 1_100_000 * (100 + share) // 100 // 1024
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}k", "none", place], capture_output=True).returncode:
        raise Skip("mounting is not permitted here")
    try:
        box = sandbox(place)
        done = tool(settings, box)
        expect(done.returncode == 74, lambda: f"exit {done.returncode}: {done.stderr}")
        expect(box.check(temporaries_allowed=False) == "old", "a result on a full disk")
        expect(not box.operation.wal or box.journal_mode() == "wal", lambda: f"journal mode {box.journal_mode()}")
        return done.stderr.strip().splitlines()[-1].replace(box.files + "/", "")
    finally:
        subprocess.run(["umount", place], capture_output=True)
