"""A backup of a database that two processes keep writing to."""
import os
import subprocess
import time

from . import judge
from .operations import KEY
from .report import expect

MEGABYTES = 60
WRITERS = 2
COMMITS = 3  # Of each writer in the middle half of one of the copies, which takes 60 ms on a fast machine. One that waits for the copy has none.
COPIES = 3, 20  # At least; and at most, until a copy has as many.
WAIT = 5.0  # Seconds a writer may be refused to begin one, by the copy or by the other writer.
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

    def stamps(number):
        return os.path.join(directory, f"times-{number}")

    def fewest(started, took):
        """The commits in the middle half of a copy, of the writer that has fewer. One that waits for copies has none there."""
        counts = []
        for number in range(WRITERS):
            with open(stamps(number)) as file:
                ended = [float(line) for line in file.read().split("\n")[:-1]]  # The last may be half written.
            counts.append(sum(started + took / 4 <= one <= started + took * 3 / 4 for one in ended))
        return min(counts)

    def undisturbed(when):
        return sorted(copy(f"{when}-{n}.db")[1] for n in range(3))[1]

    idle = undisturbed("before")
    writers = [subprocess.Popen(
        [settings.judge, "-B", os.path.join(os.path.dirname(__file__), "writer.py"), source,
         key.hex() if key else "-", str(compatibility), str(number), stamps(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for number in range(WRITERS)]
    try:
        for writer in writers:
            expect(writer.stdout.readline() == "ready\n", "a writer did not start")
        time.sleep(1)
        times, most = [], 0
        # On a machine that is slow just then a copy has few: another one is made.
        while len(times) < COPIES[0] or (most < COMMITS and len(times) < COPIES[1]):
            started = time.monotonic()
            dest, took = copy(f"busy-{len(times)}.db")
            times.append(took)
            most = max(most, fewest(started, took))
            moves = check(dest, key, compatibility)
            os.unlink(dest)
        time.sleep(0.2)
        results = [writer.communicate("stop\n", timeout=240)[0].split() for writer in writers]
    finally:
        for writer in writers:
            if writer.poll() is None:
                writer.kill()
    expect(all(len(r) == 3 for r in results), "a writer failed")
    if max(times) > FACTOR * idle:
        # The machine may have become slower meanwhile.
        idle = max(idle, undisturbed("after"))
    rates = [int(commits) / float(seconds) for commits, seconds, _ in results]
    longest = max(float(r[2]) for r in results)
    seen = (f"idle {idle:.2f} s, under writers {', '.join(f'{t:.2f}' for t in times)} s; "
            f"{' and '.join(f'{r:.0f}' for r in rates)} commits/s, {most} in the middle of a copy, "
            f"longest wait {longest * 1000:.0f} ms; {moves} moves in the last copy")
    expect(max(times) <= FACTOR * idle, f"slower than {FACTOR} times idle: {seen}")
    expect(most >= COMMITS, f"the writers do not write while a copy is made: {seen}")
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
