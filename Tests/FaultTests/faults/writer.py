"""A process that writes to a live encrypted database: PATH KEYHEX COMPATIBILITY NUMBER.

Moves money between two accounts and logs it, in one transaction, about 80 times a second, until a line arrives on
standard input. Then prints how many commits it made, in how many seconds, and the longest it waited for one.
"""
import os
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from faults import judge  # noqa: E402


def main(path, key, compatibility, number):
    connection = judge.connect(path, bytes.fromhex(key) if key != "-" else None, int(compatibility))
    connection.execute("PRAGMA busy_timeout = 10000")
    connection.execute("PRAGMA synchronous = NORMAL")
    print("ready", flush=True)
    longest, commits, started = 0.0, 0, time.monotonic()
    due = started
    while not select.select([sys.stdin], [], [], 0)[0]:
        begun = time.monotonic()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE live SET balance = balance - 1 WHERE id = ?", (2 * number,))
        connection.execute("UPDATE live SET balance = balance + 1 WHERE id = ?", (2 * number + 1,))
        connection.execute("INSERT INTO moved(writer, turn) VALUES (?, ?)", (number, commits + 1))
        connection.execute("COMMIT")
        commits += 1
        now = time.monotonic()
        longest = max(longest, now - begun)
        due = max(due + 0.0125, now - 0.1)
        time.sleep(max(0, due - time.monotonic()))
    print(commits, time.monotonic() - started, longest, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
