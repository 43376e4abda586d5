"""A backup of a database that two processes keep writing to."""
import os
import subprocess
import time

from . import judge
from .operations import KEY
from .report import expect

MEGABYTES = 60
WRITERS = 2
RATE = 50  # Commits a second that each writer must reach during the backup.
WAIT = 1.0  # Seconds a writer may wait for one.
FACTOR = 10


def run(report, settings, engine, operations, directory):
    kinds = [("plain", None)] if engine.compatibility is None else [("encrypted", KEY)]
    for name, key in kinds:
        report.case(
            f"backup: {MEGABYTES} MB {name} WAL database under {WRITERS} writers",
            lambda: backup(settings, engine, key, os.path.join(directory, f"live-{name}")))


def backup(settings, engine, key, directory):
    os.makedirs(directory)
    source = os.path.join(directory, "live.db")
    compatibility = engine.compatibility or 4
    judge.make(source, key, compatibility, MEGABYTES, wal=True)
    connection = judge.connect(source, key, compatibility)
    connection.execute("CREATE TABLE live(id INTEGER PRIMARY KEY, balance INTEGER)")
    connection.execute("CREATE TABLE moved(id INTEGER PRIMARY KEY, writer INTEGER, turn INTEGER)")
    connection.executemany("INSERT INTO live VALUES (?, 0)", [(i,) for i in range(2 * WRITERS)])
    connection.close()
    keys = os.path.join(directory, "key")
    with open(keys, "w") as file:
        file.write(KEY.hex())
    options = ["--key-file", keys, "--key-format", "hex"] if key else []

    def copy(name):
        dest = os.path.join(directory, name)
        started = time.monotonic()
        done = subprocess.run(
            [settings.tool, "backup", source, dest] + options, capture_output=True, text=True, timeout=300)
        took = time.monotonic() - started
        expect(done.returncode == 0, lambda: f"exit {done.returncode} after {took:.1f} s: {done.stderr}")
        return dest, took

    idle = sorted(copy(f"idle-{n}.db")[1] for n in range(3))[1]
    writers = [subprocess.Popen(
        [settings.judge, "-B", os.path.join(os.path.dirname(__file__), "writer.py"), source,
         key.hex() if key else "-", str(compatibility), str(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for number in range(WRITERS)]
    try:
        for writer in writers:
            expect(writer.stdout.readline() == "ready\n", "a writer did not start")
        time.sleep(1)
        times = []
        for turn in range(3):
            dest, took = copy(f"busy-{turn}.db")
            times.append(took)
            moves = check(dest, key, compatibility)
        time.sleep(0.2)
        results = [writer.communicate("stop\n", timeout=60)[0].split() for writer in writers]
    finally:
        for writer in writers:
            if writer.poll() is None:
                writer.kill()
    expect(all(len(r) == 3 for r in results), "a writer failed")
    rates = [int(commits) / float(seconds) for commits, seconds, _ in results]
    longest = max(float(r[2]) for r in results)
    seen = (f"idle {idle:.2f} s, under writers {', '.join(f'{t:.2f}' for t in times)} s; "
            f"{' and '.join(f'{r:.0f}' for r in rates)} commits/s, longest wait {longest * 1000:.0f} ms; "
            f"{moves} moves in the last copy")
    expect(max(times) <= FACTOR * idle, f"slower than {FACTOR} times idle: {seen}")
    expect(min(rates) >= RATE, f"writers too slow for the test to mean anything: {seen}")
    expect(longest <= WAIT, f"a writer waited too long: {seen}")
    check(source, key, compatibility)
    return seen


def check(path, key, compatibility):
    """The copy is a committed state: money is conserved, the log tells the balances and has no gap."""
    judge.content(path, key, compatibility)  # Whole, and integrity_check is content with it.
    connection = judge.connect(path, key, compatibility)
    try:
        moves = 0
        for number in range(WRITERS):
            (count, last), = connection.execute(
                "SELECT count(*), coalesce(max(turn), 0) FROM moved WHERE writer = ?", (number,)).fetchall()
            balances = connection.execute(
                "SELECT balance FROM live WHERE id IN (?, ?) ORDER BY id", (2 * number, 2 * number + 1)).fetchall()
            expect(count == last, f"writer {number}: {count} moves logged, the last is {last}")
            expect(balances == [(-last,), (last,)], f"writer {number}: {last} moves, balances {balances}")
            moves += count
        return moves
    finally:
        connection.close()
