#!/usr/bin/env python3
"""Restores a snapshot from a repository in a directory, by the page "Repository format" alone.

    reader.py REPOSITORY list
    reader.py REPOSITORY restore NAME SEQUENCE|latest DEST
    reader.py REPOSITORY log NAME
    reader.py REPOSITORY joined NAME
    reader.py REPOSITORY notices NAME COUNT
    reader.py REPOSITORY roll NAME SEQUENCE|latest DEST [TIME]

`notices` reads lines with an object's name and an offset, flips the lowest bit there, and prints the names of objects whose flipped bit none of the snapshots
COUNT to 1 noticed when it was restored. The keyring that a snapshot carries is written to DEST.keys. The secret is read from the file that READER_SECRET_FILE names.
Sealed repositories need the package `cryptography`, for speed alone.
"""
import datetime
import functools
import hashlib
import hmac
import json
import os
import struct
import sys
import tempfile
import zlib

BLOCK = 4096
CHUNK = 64 << 10
FAN_OUT = 32


class Damaged(Exception):
    pass


DAMAGE = (Damaged, KeyError, ValueError, struct.error, FileNotFoundError)


def need(condition, what):
    if not condition:
        raise Damaged(what)


def derived(secret, how):
    need(how["kdf"] == "pbkdf2-hmac-sha256" and how["iterations"] <= 5_000_000, "unknown derivation")
    return stretched(secret, bytes.fromhex(how["salt"]), how["iterations"])


@functools.cache
def stretched(secret, salt, iterations):
    return hashlib.pbkdf2_hmac("sha256", secret, salt, iterations, 32)


def chacha20(key, counter, nonce, data):
    """RFC 8439."""
    out = b""
    for start in range(0, len(data), 64):
        before = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), counter + start // 64,
                  *struct.unpack("<3I", nonce)]
        x = list(before)
        for _ in range(10):
            for a, b, c, d in [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                               (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]:
                for p, q, r, by in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)]:
                    x[p] = (x[p] + x[q]) & 0xFFFFFFFF
                    mixed = x[r] ^ x[p]
                    x[r] = (mixed << by | mixed >> (32 - by)) & 0xFFFFFFFF
        stream = struct.pack("<16I", *((i + j) & 0xFFFFFFFF for i, j in zip(x, before)))
        out += bytes(i ^ j for i, j in zip(data[start:start + 64], stream))
    return out


def unseal(key, box, context):
    """ChaCha20-Poly1305 (RFC 8439) of a nonce, a ciphertext and a tag; None if the tag is wrong."""
    nonce, sealed, tag = box[:12], box[12:-16], box[-16:]
    once = chacha20(key, 0, nonce, bytes(32))
    r = int.from_bytes(once[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    message = b"".join(part + bytes(-len(part) % 16) for part in (context, sealed))
    message += struct.pack("<QQ", len(context), len(sealed))
    total = 0
    for start in range(0, len(message), 16):
        total = (total + int.from_bytes(message[start:start + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    code = (total + int.from_bytes(once[16:], "little")) & ((1 << 128) - 1)
    return chacha20(key, 1, nonce, sealed) if hmac.compare_digest(code.to_bytes(16, "little"), tag) else None


def hkdf(key, salt, info):
    """RFC 5869, SHA-256, 32 bytes."""
    return hmac.new(hmac.new(salt, key, hashlib.sha256).digest(), info + b"\1", hashlib.sha256).digest()


def opened(stored, name, sealing, repository):
    """The content of a sealed object."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    need(stored[:8] == b"LVseal\0\2" and len(stored) >= 64, f"{name}: not sealed")
    key = ChaCha20Poly1305(hkdf(sealing, stored[8:40], b"litevault-repository 2 object" + repository + name.encode()))

    def part(kind, index, box):
        try:
            return key.decrypt(struct.pack(">IQ", kind, index), box, b"")
        except InvalidTag:
            raise Damaged(f"{name}: part {kind}.{index}")

    size, = struct.unpack(">Q", part(0, 0, stored[40:64]))
    count = (size + CHUNK - 1) // CHUNK
    place = 64 + 4 * count + 16
    table = struct.unpack(f">{count}I", part(1, 0, stored[64:place]))
    content = b""
    for index, entry in enumerate(table):
        length, wanted = (entry & 0x7FFFFFFF) + 16, min(CHUNK, size - index * CHUNK)
        chunk = part(2, index, stored[place:place + length])
        if entry >> 31:
            expander = zlib.decompressobj()
            chunk = expander.decompress(chunk, wanted + 1)
            need(expander.eof, f"{name}: chunk {index}")
        need(len(chunk) == wanted, f"{name}: chunk {index}")
        content += chunk
        place += length
    need(place == len(stored), f"{name}: length")
    return content


class Repository:
    def __init__(self, folder, secret=None):
        self.folder = folder
        self.key = self.previous = self.sealing = None
        self.content = ("", b"")
        config = self.document("repository.json")
        need(config["type"] == "repository", "not a repository")
        need(config["min_reader"] <= 2 and set(config["features"]) <= {"secret-slots", "sealed"}, "needs a newer reader")
        need("sealing" not in config or secret is not None, "is sealed, and needs its secret")
        self.id = bytes.fromhex(config["id"])
        if secret is not None:
            slots = config.get("secrets", [])
            need("secret" in config or slots, "has no secret")
            need(len(slots) <= 16 and sum(slot["iterations"] for slot in slots) <= 20_000_000, "slots")
            for slot in slots:
                context = b"litevault-repository 1 slot" + self.id + struct.pack(">Q", slot["number"])
                opened = unseal(derived(secret, slot), bytes.fromhex(slot["sealed"]), context)
                if opened:
                    self.key = opened
            if not self.key:
                need("secret" in config, "wrong secret")
                self.key = derived(secret, config["secret"])
            self.document("repository.json")  # Again, with its authentication code.
            if "previous" in config:
                once = hmac.new(self.id, self.key, hashlib.sha256).digest()
                once = hmac.new(once, b"litevault-repository 1 previous\1", hashlib.sha256).digest()
                self.previous = unseal(once, bytes.fromhex(config["previous"]), b"")
                need(self.previous, "the previous key")
            if "sealing" in config:
                once = hkdf(self.key, self.id, b"litevault-repository 2 sealing")
                self.sealing = unseal(once, bytes.fromhex(config["sealing"]), b"")
                need(self.sealing, "the key of objects")
        self.unsealed = config.get("unsealed", False)
        self.keyed = config.get("identifiers") == "keyed"

    def get(self, name, offset=0, length=-1):
        if self.sealing and name != "repository.json":
            if self.content[0] != name:
                with open(os.path.join(self.folder, name), "rb") as file:
                    stored = file.read()
                if not self.unsealed or stored[:6] == b"LVseal":
                    stored = opened(stored, name, self.sealing, self.id)
                self.content = (name, stored)
            return self.content[1][offset:None if length < 0 else offset + length]
        with open(os.path.join(self.folder, name), "rb") as file:
            file.seek(offset)
            return file.read(length)

    def document(self, name):
        """The JSON of a sealed document whose seal holds."""
        lines = self.get(name).split(b"\n")
        need(len(lines) >= 3, f"{name}: no document")
        body = lines[0] + b"\n"
        need(lines[1] == b"sha256 " + hashlib.sha256(body).hexdigest().encode(), f"{name}: hash")
        if self.key:
            codes = [hmac.new(key, body, hashlib.sha256).hexdigest().encode() for key in (self.key, self.previous) if key]
            need(any(hmac.compare_digest(lines[2], b"hmac-sha256 " + code) for code in codes), f"{name}: authentication code")
        value = json.loads(lines[0])
        value["_hash"] = hashlib.sha256(body).hexdigest()
        return value

    def database(self, name):
        if self.keyed:
            naming = hkdf(self.sealing, self.id, b"litevault-repository 2 database")
            return hmac.new(naming, name.encode(), hashlib.sha256).hexdigest()[:32]
        return hashlib.sha256(self.id + name.encode()).hexdigest()[:32]

    def names(self):
        try:
            ids = sorted(os.listdir(os.path.join(self.folder, "snapshots")))
        except FileNotFoundError:
            ids = []
        for database in ids:
            yield [self.manifest(database, number) for number in self.sequences(database)]

    def numbers(self, database):
        """Those of manifests and of fences in their place."""
        names = os.listdir(os.path.join(self.folder, "snapshots", database))
        return sorted(int(name) for name in names if not name.startswith("."))

    def sequences(self, database):
        return [number for number in self.numbers(database) if not self.fence(database, number)]

    def fence(self, database, sequence):
        name = f"snapshots/{database}/{sequence:010d}"
        found = self.document(name)
        if found["type"] != "fence":
            return None
        need(found["repository"] == self.id.hex() and found["database"] == database, f"{name}: of another place")
        need(found["sequence"] == sequence, f"{name}: of another place")
        return found

    def line(self, database, sequence):
        """The number of the promotion that began the line of a snapshot, 0 without one; and the promotion that ended it, None without one."""
        begin = 0
        for number in self.numbers(database):
            found = self.fence(database, number)
            if found and "promotion" in found:
                if number > sequence:
                    return begin, found["promotion"]
                begin = number
        return begin, None

    def manifest(self, database, sequence):
        name = f"snapshots/{database}/{sequence:010d}"
        manifest = self.document(name)
        need(manifest["type"] == "snapshot", f"{name}: type")
        need(manifest["repository"] == self.id.hex(), f"{name}: of another repository")
        need(manifest["database"] == database == self.database(manifest["name"]), f"{name}: of another database")
        need(manifest["sequence"] == sequence, f"{name}: of another place")
        need(1 <= len(manifest.get("keyring", "-").encode()) <= 40_000, f"{name}: keyring")
        need(manifest["blocks"] == -(-manifest["size"] // BLOCK), f"{name}: blocks")
        return manifest

    def node(self, entry):
        """The level and the entries of a node: (pack, position, hash)."""
        pack, offset, expected = entry
        name = f"tree/{pack[:2]}/{pack}"
        self.header(name, b"LVtree\0\1", pack)
        level, zero, count, packs, zeros = struct.unpack(">BBHHH", self.get(name, offset, 8))
        need(zero == zeros == 0 and 1 <= packs <= count <= FAN_OUT, f"{name}: node")
        data = self.get(name, offset, 8 + packs * 16 + count * 38)
        need(hashlib.sha256(data).hexdigest() == expected, f"{name}: node's hash")
        names = [data[8 + i * 16:24 + i * 16].hex() for i in range(packs)]
        entries = []
        for i in range(count):
            slot, position, digest = struct.unpack_from(">HI32s", data, 8 + packs * 16 + i * 38)
            need(slot < packs, f"{name}: slot")
            entries.append((names[slot], position, digest.hex()))
        return level, entries

    def header(self, name, magic, pack):
        need(self.get(name, 0, 64) == magic + self.id + bytes.fromhex(pack) + bytes(24), f"{name}: header")

    def leaves(self, entry, level):
        """Every block's entry, in order."""
        found, entries = self.node(entry)
        need(found == level, "level")
        if level == 0:
            yield from entries
        else:
            for child in entries:
                yield from self.leaves(child, level - 1)

    def restore(self, manifest, destination):
        levels, nodes = 0, -(-manifest["blocks"] // FAN_OUT)
        while nodes > 1:
            levels, nodes = levels + 1, -(-nodes // FAN_OUT)
        root = manifest["root"]
        count = 0
        with open(destination, "xb") as file:
            for pack, position, expected in self.leaves((root["pack"], root["offset"], root["hash"]), levels):
                block = self.get(f"data/{pack[:2]}/{pack}", 64 + position * BLOCK, BLOCK)
                need(hashlib.sha256(block).hexdigest() == expected, f"data/{pack[:2]}/{pack}: block {position}")
                file.write(block)
                count += 1
            need(count == manifest["blocks"], "not as many blocks as the manifest says")
            file.truncate(manifest["size"])
        if "keyring" in manifest:
            with open(destination + ".keys", "x") as file:
                file.write(manifest["keyring"])

    def log(self, database):
        """The segments of a followed log: documents whose frames match their hash and continue each other in their run."""
        folder = f"segments/{database}"
        last = None
        for name in sorted(os.listdir(os.path.join(self.folder, folder))):
            if name.startswith(".") or name == "joined":
                continue
            name = f"{folder}/{name}"
            data = self.get(name)
            segment = self.document(name)
            need(segment["type"] == "segment" and segment["repository"] == self.id.hex(), f"{name}: of another place")
            need(name.split("/")[2] == f"{segment['sequence']:010d}.{segment['snapshot']:010d}.{segment['seen']}", name)
            frames = data[len(data) - segment["payload_size"]:]
            need(hashlib.sha256(frames).hexdigest() == segment["payload_hash"], f"{name}: hash of the frames")
            length = 24 + segment["page_size"]
            need(frames[:8] == b"LVWALSG1" and len(frames) == 80 + segment["frames"] * length, f"{name}: frames")
            # The checksum after the last frame, which its header has.
            after = frames[-length + 16:-length + 24].hex()
            end = segment.get("end")
            need(not end or end["checksum"] == after and len(end["file"]) == 32, f"{name}: end")
            if last and last["run"] == segment["run"] and segment["sequence"] == last["sequence"] + 1:
                need(segment["place"] == last["place"] + 1 and segment["predecessor"] == last["_hash"], f"{name}: order")
                if segment["salts"] == last["salts"]:
                    need(segment["first_frame"] == last["first_frame"] + last["frames"], f"{name}: frames are missing")
                    need(frames[72:80].hex() == last["_after"], f"{name}: does not continue the frames")
                else:
                    need(segment["first_frame"] == 1, f"{name}: frames are missing")
            last = dict(segment, _after=after, _name=name)
            yield last


    def joined(self, database):
        """The joined segments: documents whose pages match their hash."""
        folder = f"segments/{database}/joined"
        try:
            names = sorted(os.listdir(os.path.join(self.folder, folder)))
        except FileNotFoundError:
            names = []
        for name in names:
            if name.startswith("."):
                continue
            name = f"{folder}/{name}"
            data, segment = self.get(name), self.document(name)
            part = segment["joined"]
            need(segment["type"] == "joined" and segment["repository"] == self.id.hex(), f"{name}: of another place")
            numbers = [part["first"], segment["sequence"], part["first_snapshot"], segment["snapshot"]]
            need(name.split("/")[3] == ".".join(f"{n:010d}" for n in numbers) + f".{segment['seen']}.{part['level']}", name)
            pages = data[len(data) - segment["payload_size"]:]
            need(hashlib.sha256(pages).hexdigest() == segment["payload_hash"], f"{name}: hash of the pages")
            need(pages[:8] == b"LVJOINS1" and pages[8:24].hex() == segment["run"], f"{name}: header")
            first, last, _, seen = struct.unpack(">QQQQ", pages[24:56])
            need(last == segment["place"] and last - first == segment["sequence"] - part["first"], f"{name}: places")
            need(seen == segment["seen"] and pages[56:64].hex() == part["salts"], f"{name}: first segment")
            page_size, size, count, zero = struct.unpack(">IIII", pages[96:112])
            need(page_size == segment["page_size"] and count == part["pages"] and zero == 0, f"{name}: pages")
            need(len(pages) == 112 + count * (4 + page_size), f"{name}: length")
            yield dict(segment, _first=part["first"], _link=part["hash"], _pages=pages, _size=size)

    def roll(self, manifest, destination, until):
        """Brings a restored snapshot forward to a label in milliseconds, by the objects that go furthest."""
        database = manifest["database"]
        objects = [dict(one, _first=one["sequence"], _link=one["_hash"]) for one in self.log(database)]
        objects += self.joined(database)
        begin, promotion = self.line(database, manifest["sequence"])
        objects = [one for one in objects if one["snapshot"] >= begin]
        if promotion:
            last = promotion.get("segment", promotion.get("newest"))
            objects = [one for one in objects if (one["seen"] <= promotion["state"] if last is None else one["sequence"] <= last)]
        known = manifest.get("followed", {}).get("segment", 0)
        for number in self.sequences(database):
            if number < manifest["sequence"]:
                known = max(known, self.manifest(database, number).get("newest_segment", {}).get("sequence", 0))
        # One object after the other that begins with the next segment; of several the one that goes furthest.
        objects = [one for one in objects if one["sequence"] >= known and one["seen"] <= until]
        objects.sort(key=lambda one: (one["_first"], -one["sequence"]))
        order = Order(manifest, known, stepped(objects))
        count, last = 0, None
        with open(destination, "r+b") as file:
            for one in objects:
                if last:
                    if one["_first"] <= last["sequence"]:
                        continue
                    if one["run"] != last["run"]:
                        break
                    need(one["_first"] == last["sequence"] + 1, f"segment {last['sequence'] + 1} is missing")
                    need(one["predecessor"] == last["_link"], f"segment {one['_first']}: order")
                else:
                    place = order.place(one)
                    need(place != "lacking", f"segment {one['_first'] - 1} is missing")
                    if place != "continues":
                        continue
                size = one["page_size"]
                data = one.get("_pages") or self.get(one["_name"])[-one["payload_size"]:]
                head, start = (4, 112) if "_pages" in one else (24, 80)
                for at in range(start, len(data), head + size):
                    file.seek((int.from_bytes(data[at:at + 4], "big") - 1) * size)
                    file.write(data[at + head:at + head + size])
                pages = one["_size"] if "_pages" in one else int.from_bytes(data[-size - 20:-size - 16], "big")
                count, last = count + 1, one
            if last:
                file.truncate(pages * last["page_size"])
        return count, last


def resets(old, new):
    """How often a log was reset between two pairs of salts: the first half counts. None if the salts do not lead forward."""
    count = (int(new[:8], 16) - int(old[:8], 16)) % (1 << 32)
    return count if 1 <= count < 1 << 16 else None


def stepped(objects):
    """Whether labels decrease: an older version stored what a clock said that was set back."""
    return any(one["sequence"] < two["sequence"] and two["seen"] < one["seen"] for one, two in zip(objects, objects[1:]))


class Order:
    """The rules of "Which segments continue a snapshot"."""

    def __init__(self, manifest, known, is_stepped):
        log = manifest.get("log")
        self.position = (log["salts"], log["frames"]) if log else None
        self.run = manifest.get("followed", {}).get("run")
        self.places = manifest.get("followed", {}).get("places")
        self.sequence, self.label = manifest["sequence"], milliseconds(manifest["time"])
        self.known, self.is_stepped, self.end = known, is_stepped, None

    def place(self, one):
        if not self.position:
            return "foreign"
        place = self.found(one)
        if place == "contained":
            salts, frames = self.position
            last = (one["salts"], one["first_frame"] + one["frames"] - 1)
            at_end = last == self.position or frames == 0 and resets(last[0], salts)
            self.end = one if at_end else None
        return place

    def found(self, one):
        salts, frames = self.position
        part = one.get("joined")
        first = (part["salts"], part["first_frame"]) if part else (one["salts"], one["first_frame"])
        last = (one["salts"], one["first_frame"] + one["frames"] - 1)
        if one["sequence"] <= self.known:
            return "contained"
        if self.places is not None and self.run == one["run"]:
            if one["place"] < self.places:
                return "contained"
            return "continues" if one["place"] - (one["sequence"] - one["_first"]) <= self.places else "lacking"
        if last[0] == salts and last[1] <= frames:
            return "contained"
        if first[0] == salts:
            return "continues" if first[1] <= frames + 1 else "foreign" if self.began_later(one) else "lacking"
        if last[0] == salts:
            return "continues"
        if part and "logs" in part:
            if self.is_among(part["logs"]):
                return "continues"
        elif part and (resets(first[0], salts) or 1 << 32) < (resets(first[0], last[0]) or 0):
            return "continues"
        if first[1] == 1 and self.follows_reset(one, first):
            return "continues"
        if resets(last[0], salts) or "start" not in one and not self.is_stepped and one["seen"] < self.label:
            return "contained"
        return "foreign" if self.began_later(one) else "unknown"

    def is_among(self, logs):
        """Whether the image ends in one of the logs, or right behind one but the last."""
        salts, frames = self.position
        for number, each in enumerate(logs):
            is_last, offset = number == len(logs) - 1, (int(salts[:8], 16) - each["first"]) % (1 << 32)
            if offset < each["count"]:
                return not is_last or offset < each["count"] - 1
            if not is_last and frames == 0 and resets(f"{(each['first'] + each['count'] - 1) % (1 << 32):08x}", salts):
                return True
        return False

    def follows_reset(self, one, first):
        place = one["place"] - (one["sequence"] - one["_first"])
        start = one.get("start")
        if place > 0:
            if self.end and self.end["run"] == one["run"] and self.end["place"] + 1 == place:
                return True
            is_next = resets(self.position[0], first[0]) == 1
            if is_next and one["_first"] - 1 <= self.known and self.run in (None, one["run"]):
                return True
        elif start:
            if start.get("snapshot") == self.sequence:
                return True
            is_same = (start["salts"], start["frame"]) == self.position
            return is_same and (int(start["salts"], 16) != 0 or self.run == one["run"])
        return not start and not self.is_stepped and milliseconds(one["began"]) <= self.label <= one["seen"]

    def began_later(self, one):
        if one.get("start", {}).get("snapshot") == self.sequence:
            return False
        if self.run:
            return self.run != one["run"]
        start = one.get("start")
        if not start:
            return milliseconds(one["began"]) > self.label
        if start["newest"] >= self.sequence:
            return True
        if start["salts"] == self.position[0]:
            return start["frame"] > self.position[1]
        return resets(self.position[0], start["salts"]) is not None


def milliseconds(time):
    moment = datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1000)


def notices(folder, secret, database, newest, name, offset):
    """Whether a flipped bit in an object makes one of the snapshots fail. The newest needs most objects."""
    path = os.path.join(folder, name)

    def flip():
        with open(path, "r+b") as file:
            file.seek(offset)
            byte = file.read(1)
            file.seek(offset)
            file.write(bytes([byte[0] ^ 1]))
    flip()
    try:
        with tempfile.TemporaryDirectory() as place:
            for number in range(newest, 0, -1):
                try:
                    repository = Repository(folder, secret)
                    repository.restore(repository.manifest(repository.database(database), number), os.path.join(place, str(number)))
                except DAMAGE:
                    return True
        return False
    finally:
        flip()


def main(arguments):
    secret = None
    if os.environ.get("READER_SECRET_FILE"):
        with open(os.environ["READER_SECRET_FILE"], "rb") as file:
            secret = file.read().removesuffix(b"\n")
    try:
        repository = Repository(arguments[0], secret)
        if arguments[1] == "list":
            for snapshots in repository.names():
                for one in snapshots:
                    print(one["_hash"][:16], one["name"], one["sequence"], one["time"], one["size"])
        elif arguments[1] == "log":
            for one in repository.log(repository.database(arguments[2])):
                print(one["sequence"], one["run"], one["place"], one["frames"], one["time"])
        elif arguments[1] == "joined":
            for one in repository.joined(repository.database(arguments[2])):
                print(one["_first"], one["sequence"], one["joined"]["level"], one["joined"]["pages"], one["time"])
        elif arguments[1] == "notices":
            for line in sys.stdin:
                name, offset = line.split()
                if not notices(arguments[0], secret, arguments[2], int(arguments[3]), name, int(offset)):
                    print(name)
        elif arguments[1] == "roll":
            database = repository.database(arguments[2])
            number = repository.sequences(database)[-1] if arguments[3] == "latest" else arguments[3]
            manifest = repository.manifest(database, int(number))
            repository.restore(manifest, arguments[4])
            until = milliseconds(arguments[5]) if len(arguments) > 5 else 1 << 62
            count, last = repository.roll(manifest, arguments[4], until)
            print(count, last["time"] if last else manifest["time"])
        else:
            database = repository.database(arguments[2])
            number = repository.sequences(database)[-1] if arguments[3] == "latest" else arguments[3]
            repository.restore(repository.manifest(database, int(number)), arguments[4])
    except DAMAGE as error:
        sys.exit(f"damaged: {error!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
