"""`litevault restore` as one needs it at night: over what lies there, from what lies there, or not at all."""
import datetime
import json
import os
import shutil
import subprocess

from faults.report import expect

from . import wal
from .sandbox import BLOCK, Sandbox, Template, command

NEW = ("restore", ["restore", "out.db"], ({2, 3}, {2, 3}))


def run(report, settings, folder):
    template = Template(settings, os.path.join(folder, "restores"), blocks=400)
    cases = [
        ("the old database is replaced with its log, and kept where that was asked", in_place),
        ("a database that a process has open is not replaced", in_use),
        ("a database that appears to be replaced meanwhile, or whose other name is taken, stays", refused),
        ("of a database of which 1 % differ, 1 % is fetched", delta),
        ("a restore that was killed continues with what it had written", resumed),
        ("--dry-run and --if-missing write nothing", nothing),
        ("--to-stdout writes the database, and nothing else", to_stdout),
        ("--to-stdout into a pipe that is closed early, or into nothing, is an error of one line", closed_output),
        ("times are UTC, or local where that is said, and 'latest' is the newest", times),
        ("progress counts to the size of the database", progress),
    ]

    def bound(number, body):
        def case():
            box = Sandbox(template, os.path.join(folder, f"restores-{number}"), NEW)
            try:
                return body(box)
            finally:
                box.remove()
        return case
    report.cases([(name, bound(number, body)) for number, (name, body) in enumerate(cases)])


def litevault(box, *arguments, status=0, **more):
    done = subprocess.run(
        command(box.settings, *arguments, "--json"), cwd=box.folder, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=120, env=dict(os.environ, **more))
    expect(done.returncode == status, lambda: f"exit {done.returncode}, not {status}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout) if not status else json.loads(done.stderr.splitlines()[-1])["error"]


def read(box, name):
    with open(box.path(name), "rb") as file:
        return file.read()


def in_place(box):
    box.make_live()
    os.chmod(box.path("live.db"), 0o640)
    told = litevault(box, "restore", "--in-place", "live.db", "--keep-original", "kept.db")
    expect(told["replaced"] and told["original"] == "kept.db", told)
    box.judge_live(True)
    expect(os.stat(box.path("live.db")).st_mode & 0o777 == 0o640, "the mode was not kept")
    # Again, without keeping anything, and without a log.
    with open(box.path("live.db"), "wb") as file:
        file.write(box.template.images[1])
    told = litevault(box, "restore", "--in-place", "live.db")
    expect(told["replaced"] and read(box, "live.db") == box.template.images[3], told)
    expect("original" not in told, told)
    # Where there is nothing, it is a restore like any other.
    told = litevault(box, "restore", "--in-place", "new.db")
    expect(not told["replaced"] and read(box, "new.db") == box.template.images[3], told)


def in_use(box):
    box.make_live()
    holder = subprocess.Popen(["sleep", "60"], stdin=open(box.path("live.db"), "r+b"))
    try:
        failed = litevault(box, "restore", "--in-place", "live.db", status=75)
        expect(failed["code"] == "busy", failed)
    finally:
        holder.kill()
        holder.wait()
    expect(read(box, "live.db") == box.template.images[2] and wal.applied(box.path("live.db")) == box.old, "it was changed")


def refused(box):
    box.make_live()
    shutil.copy(box.path("vault.db"), box.path("taken.db"))
    failed = litevault(box, "restore", "--in-place", "live.db", "--keep-original", "taken.db", status=73)
    expect(failed["code"] == "cannot-create", failed)
    expect(wal.applied(box.path("live.db")) == box.old, "it was changed")
    expect(read(box, "taken.db") == read(box, "vault.db"), "the other file was changed")
    os.link(box.path("vault.db"), box.path("linked.db"))
    expect(litevault(box, "restore", "--in-place", "linked.db", status=64)["code"] == "usage", "hard links")
    os.symlink("live.db", box.path("link.db"))
    expect(litevault(box, "restore", "--in-place", "link.db", status=73)["code"] == "cannot-create", "a link")
    left = [name for name in os.listdir(box.folder) if "litevault" in name or name.startswith(".")]
    expect(not left, f"left: {left}")


def delta(box):
    new = box.template.images[3]
    old = bytearray(new)
    changed = max(1, len(new) // BLOCK // 100)
    for number in range(changed):
        place = number * 97 * BLOCK
        old[place:place + 10] = os.urandom(10)
    with open(box.path("live.db"), "wb") as file:
        file.write(old)
    told = litevault(box, "restore", "--in-place", "--delta", "live.db")
    expect(read(box, "live.db") == new, "not what was stored")
    expect(told["fetched"] == changed * BLOCK and told["fetched"] + told["reused"] == len(new), told)
    # Shorter and longer ones.
    for length in (0, 5, 3 * BLOCK + 7, len(new) + 5 * BLOCK):
        with open(box.path("live.db"), "wb") as file:
            file.write((bytes(new) + os.urandom(5 * BLOCK))[:length])
        told = litevault(box, "restore", "--in-place", "--delta", "live.db")
        expect(read(box, "live.db") == new, f"not what was stored, from {length} bytes")
        expect(told["reused"] == min(length, len(new)) // BLOCK * BLOCK, f"{length}: {told}")
    return f"{changed} of {len(new) // BLOCK} blocks fetched"


def resumed(box):
    new = box.template.images[3]
    # The name that a killed process leaves: it is dead, as it is of an earlier boot.
    for written, owner in [(new[:len(new) // 2 + 11], "7-1-2-3-4"), (new[:BLOCK], "7-1-2-3-5")]:
        with open(box.path(f".out.db.litevault-{owner}.tmp"), "wb") as file:
            file.write(written)
    told = litevault(box, "restore", "out.db")
    expect(read(box, "out.db") == new, "not what was stored")
    expect(told["reused"] == len(new) // 2 // BLOCK * BLOCK, told)
    left = [name for name in os.listdir(box.folder) if name.startswith(".")]
    expect(not left, f"left: {left}")
    # What was written may be anything after a power failure.
    os.unlink(box.path("out.db"))
    with open(box.path(".out.db.litevault-7-1-2-3-4.tmp"), "wb") as file:
        file.write(os.urandom(100 * BLOCK) + new[100 * BLOCK:200 * BLOCK])
    told = litevault(box, "restore", "out.db")
    expect(read(box, "out.db") == new and told["reused"] == 100 * BLOCK, told)
    return f"{told['reused']} bytes were not read again"


def nothing(box):
    before = sorted(os.listdir(box.folder))
    told = litevault(box, "restore", "--dry-run")
    expect(told["dry_run"] and not told["restored"] and told["image_size"] == len(box.template.images[3]), told)
    told = litevault(box, "restore", "--dry-run", "--if-missing", "vault.db")
    expect(told == {"schema": 1, "command": "restore", "repository": "repository", "destination": "vault.db",
                    "restored": False, "reason": "destination-exists"}, told)
    expect(sorted(os.listdir(box.folder)) == before, "something was written")
    expect(read(box, "vault.db") == box.template.images[4], "it was changed")
    told = litevault(box, "restore", "--if-missing", "out.db")
    expect(told["restored"] and read(box, "out.db") == box.template.images[3], told)


def to_stdout(box):
    done = subprocess.run(command(box.settings, "restore", "--to-stdout"), cwd=box.folder, capture_output=True, timeout=120)
    expect(done.returncode == 0 and done.stdout == box.template.images[3], done.stderr.decode(errors="replace"))
    expect(b"Restored snapshot" in done.stderr, done.stderr)
    done = subprocess.run(command(box.settings, "restore", "--to-stdout", "--json"), cwd=box.folder, capture_output=True)
    expect(done.returncode == 64 and not done.stdout, done.stderr.decode(errors="replace"))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command(box.settings, "restore", "--to-stdout"), cwd=box.folder, stdout=full,
                              stderr=subprocess.PIPE, timeout=120)
    expect(done.returncode == 74, f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")


def closed_output(box):
    # Closed before, in the middle, and never opened: one line that says so, and no success.
    def tried(read, close=None):
        child = subprocess.Popen(
            command(box.settings, "restore", "--to-stdout"), cwd=box.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=close)
        got = child.stdout.read(read)
        child.stdout.close()
        told = child.stderr.read().decode(errors="replace")
        child.stderr.close()
        expect(child.wait(timeout=120) == 74, f"exit {child.returncode} after {len(got)} bytes: {told}")
        errors = [line for line in told.splitlines() if line.startswith("error: ")]
        expect(len(errors) == 1 and "standard output" in errors[0] and "Restored" not in told, told)
        return told.splitlines()
    expect(len(tried(0)) == 1 and len(tried(1000)) == 1, "more than one line")
    tried(0, lambda: os.close(1))


def times(box):
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=60)
    berlin = (now + datetime.timedelta(hours=5, minutes=30)).strftime("%Y-%m-%d %H:%M")
    for at, more in [("latest", {}), (now.strftime("%Y-%m-%dT%H:%M:%S"), {}), (berlin + " local", {"TZ": "Asia/Kolkata"})]:
        told = litevault(box, "restore", "--dry-run", "--at", at, **more)
        if at != "latest":
            wanted = datetime.datetime.fromisoformat(told["wanted"].replace("Z", "+00:00"))
            expect(abs((wanted - now).total_seconds()) < 61, f"{at}: {told}")
    # The hour that a clock shows twice, and the one that it skips.
    for at in ("2026-10-25 02:30 local", "2026-03-29 02:30 local"):
        failed = litevault(box, "restore", "--dry-run", "--at", at, status=64, TZ="Europe/Berlin")
        expect("local time" in failed["message"], failed)


def progress(box):
    done = subprocess.run(
        command(box.settings, "restore", "out.db", "--json", "--progress"), cwd=box.folder, capture_output=True, timeout=120)
    events = [json.loads(line)["progress"] for line in done.stderr.splitlines() if b'"progress"' in line]
    expect(events and events[-1]["done"] == events[-1]["total"] == len(box.template.images[3]), events)
