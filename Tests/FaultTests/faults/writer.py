"""A process that writes to a live encrypted database: PATH KEYHEX COMPATIBILITY NUMBER TIMES.

Moves money between two accounts and logs it, in one transaction, about 80 times a second, until a line arrives on
standard input. Writes when each commit had ended, by the monotonic clock, into the file TIMES. In the end it prints
how many commits it made, in how many seconds, and the longest that it was refused to begin one.
"""
import os
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from faults import judge  # noqa: E402

MOST = 0.05  # Seconds that count between two attempts.


def begin(connection):
    """Begins to write, and returns how long others prevented it.

    Each attempt counts for little, so that being off the processor between two of them is not a wait.
    """
    waited, last = 0.0, None
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return waited
        except Exception as error:  # noqa: BLE001 - two engines have two classes
            if "locked" not in str(error):
                raise
        now = time.monotonic()
        waited += min(now - last, MOST) if last else 0
        last = now
        time.sleep(0.002)


def main(path, key, compatibility, number, times):
    connection = judge.connect(path, bytes.fromhex(key) if key != "-" else None, int(compatibility))
    connection.execute("PRAGMA busy_timeout = 10000")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("SELECT count(*) FROM live").fetchall()
    connection.execute("PRAGMA busy_timeout = 0")  # Attempts are repeated, and timed, by `begin`.
    times = open(times, "w")
    print("ready", flush=True)
    longest, commits, started = 0.0, 0, time.monotonic()
    due = started
    while not select.select([sys.stdin], [], [], 0)[0]:
        waited = begin(connection)
        connection.execute("UPDATE live SET balance = balance - 1 WHERE id = ?", (2 * number,))
        connection.execute("UPDATE live SET balance = balance + 1 WHERE id = ?", (2 * number + 1,))
        connection.execute("INSERT INTO moved(writer, turn) VALUES (?, ?)", (number, commits + 1))
        connection.execute("COMMIT")
        commits += 1
        now = time.monotonic()
        print(now, file=times, flush=True)
        longest = max(longest, waited)
        due = max(due + 0.0125, now - 0.1)
        time.sleep(max(0, due - time.monotonic()))
    print(commits, time.monotonic() - started, longest, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
