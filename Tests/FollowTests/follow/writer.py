"""A process that writes to a live encrypted database until a file named stop appears: PATH KEYHEX WRITER SEED DIRECTORY [PAUSE].

A transaction moves amounts between accounts and adds one to its writer's counter. Each commit goes into a log of the
writer's: its number, when it began and when it had ended, in milliseconds since 1970. PAUSE is the longest one between two
transactions, in seconds. One that was killed is started again with the same arguments, and continues.
"""
import os
import random
import sys
import time

import sqlcipher3


def main(path, key, writer, seed, folder, pause="0.02"):
    random.seed(f"{seed} {writer} {os.getpid()}" if os.path.exists(os.path.join(folder, f"commits-{writer}")) else f"{seed} {writer}")
    db = sqlcipher3.connect(path, isolation_level=None, timeout=60)
    db.execute(f"PRAGMA key = \"x'{key}'\"")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {(200, 1000, 0)[int(writer)]}").fetchall()
    number = db.execute("SELECT n FROM counter WHERE writer = ?", (writer,)).fetchone()[0]
    with open(os.path.join(folder, f"commits-{writer}"), "a+") as log:
        log.seek(0)
        known = log.read().split("\n")[:-1]
        if len(known) < number:
            # It was killed between the commit and its line.
            log.write("%d %s %d\n" % (number, known[-1].split()[2] if known else "0", int(time.time() * 1000) + 1))
            log.flush()
        while not os.path.exists(os.path.join(folder, "stop")):
            begin = time.time()
            db.execute("BEGIN IMMEDIATE")
            for _ in range(random.choice((1, 1, 3, 20))):
                amount, one, other = random.randint(1, 9), random.randint(1, 400), random.randint(1, 400)
                db.execute("UPDATE account SET amount = amount - ? WHERE id = ?", (amount, one))
                db.execute("UPDATE account SET amount = amount + ? WHERE id = ?", (amount, other))
            if random.random() < 0.1:
                db.execute("INSERT INTO extra VALUES (randomblob(20000))")
            if random.random() < 0.05:
                db.execute("DELETE FROM extra WHERE rowid % 3 = 0")
            if random.random() < 0.05:
                db.execute("UPDATE account SET filler = randomblob(1500)")
                db.execute("ROLLBACK")
                continue
            db.execute("UPDATE counter SET n = n + 1 WHERE writer = ?", (writer,))
            db.execute("COMMIT")
            number += 1
            log.write("%d %d %d\n" % (number, int(begin * 1000), int(time.time() * 1000) + 1))
            log.flush()
            if random.random() < 0.02:
                kind = random.choice(("PASSIVE", "FULL", "RESTART", "TRUNCATE"))
                db.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
            time.sleep(random.random() * float(pause))
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
