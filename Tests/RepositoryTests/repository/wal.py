"""Write-ahead logs as https://sqlite.org/fileformat2.html#walformat has them: written, and applied to their database."""
import os
import struct

MAGIC = 0x377F0682  # Checksums of little-endian words.


def sums(data, first=0, second=0):
    for one, two in struct.iter_unpack("<II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second


def write(path, pages, count, size):
    """A log with one transaction: `pages` are numbers and contents, `count` the pages of the database after it."""
    salts = os.urandom(8)
    header = struct.pack(">IIII", MAGIC, 3007000, size, 0) + salts
    running = sums(header)
    with open(path, "wb") as file:
        file.write(header + struct.pack(">II", *running))
        for place, (number, page) in enumerate(pages, 1):
            start = struct.pack(">II", number, count if place == len(pages) else 0)
            running = sums(page, *sums(start, *running))
            file.write(start + salts + struct.pack(">II", *running) + page)


def applied(path):
    """What a database is with its log: the committed frames up to the first that is not valid."""
    with open(path, "rb") as file:
        image = bytearray(file.read())
    try:
        with open(path + "-wal", "rb") as file:
            log = file.read()
    except FileNotFoundError:
        return image
    if len(log) < 32:
        return image
    magic, _, size, _ = struct.unpack_from(">IIII", log)
    running = sums(log[:24])
    if magic != MAGIC or running != struct.unpack_from(">II", log, 24):
        return image
    waiting = []
    for start in range(32, len(log) - 24 - size + 1, 24 + size):
        number, count = struct.unpack_from(">II", log, start)
        page = log[start + 24:start + 24 + size]
        running = sums(page, *sums(log[start:start + 8], *running))
        if log[start + 8:start + 16] != log[16:24] or running != struct.unpack_from(">II", log, start + 16):
            break
        waiting.append((number, page))
        if count:
            for number, page in waiting:
                image[(number - 1) * size:number * size] = page
            del image[count * size:]
            waiting = []
    return image
