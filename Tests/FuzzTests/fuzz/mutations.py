"""What is done to one file, document or block map of a copied repository."""
import copy
import hashlib
import hmac
import json
import os
import struct

NUMBERS = [0, -1, 1, 2, 31, 32, 33, 255, 4095, 4096, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**48, 2**48 + 1, 2**53, 2**62,
           2**63 - 4096, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -2**63, -2**63 - 1, 1e300, -1e300, 1e-300, 0.5, 9999999999]
TEXTS = ["", "0", "x", "\0", "\ud7ff\U0010ffff", "../../../../etc/passwd", "/etc/passwd", "x" * 70000, "9" * 400,
         "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "2026-13-45T99:99:99Z",
         "+292277026596-12-04T15:30:07Z", "-9999-01-01T00:00:00Z", "2026-11-21T12:30:06", "NaN", "true", "0" * 32, "f" * 64,
         "F" * 64, "g" * 64, "\n", "a\nb", "%s%n", "\u202e", "0000000000000000"]
OTHERS = [None, True, False, [], {}, [[]], [0], [[1, 2**63 - 1]], [[5, 1]], [[1]], [[-1, 5]], {"": ""}, [{}] * 1000]
STRAY = ["{0}~", "{0}.bak", "{0} (conflicted copy)", "Thumbs.db", ".DS_Store", "{0}.tmp", "0000000099", "{0}0", "0", "-1",
         "00000000001", "nul\n", "\udcff\udcfe", "ä", "9999999999", "0000000000"]


class Nothing(Exception):
    """This mutation has no object here; another one is chosen."""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def replace(path, content):
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(content)


def files(folder):
    """All files by their paths below the directory, in order; those of the tool's own (with a dot) are left out."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.relpath(os.path.join(place, name), folder) for name in sorted(names) if not name.startswith(".")]
    return found


# Bytes, whatever they mean.

def damaged(random, content):
    """Other bytes than these: a flip, a cut, an extension, zeros, noise."""
    content = bytearray(content)
    kind = random.choice(["bit", "bytes", "cut", "empty", "extend", "zeros", "all zeros", "noise", "repeat", "line"])
    place = random.randrange(len(content) or 1)
    if kind == "bit" and content:
        content[place] ^= 1 << random.randrange(8)
    elif kind == "bytes" and content:
        for _ in range(random.randint(1, 8)):
            content[random.randrange(len(content))] = random.randrange(256)
    elif kind == "cut":
        del content[place:]
    elif kind == "empty":
        content = bytearray()
    elif kind == "extend":
        content += random.choice([b"\0", b"\n", random.randbytes(random.randint(1, 9000)), bytes(content)])
    elif kind == "zeros":
        length = random.randint(1, 5000)
        content[place:place + length] = bytes(len(content[place:place + length]))
    elif kind == "all zeros":
        content = bytearray(len(content))
    elif kind == "noise":
        content = bytearray(random.randbytes(random.randint(1, 9000)))
    elif kind == "repeat":
        content[place:place] = content[max(0, place - 200):place]
    else:
        content[place:place] = random.choice([b"\r", b"\n", b"\xff", b"\0", b"\xef\xbb\xbf", b"[" * 3000, b'"'])
    return kind, bytes(content)


def raw(random, folder, names):
    """Damages, removes, doubles or replaces one of the files; tells what, and which one."""
    if not names:
        raise Nothing
    name = random.choice(names)
    path = os.path.join(folder, name)
    kind = random.choice(["damage"] * 6 + ["remove", "swap", "stray", "fifo", "directory", "link", "loop", "device", "sparse",
                                           "socket", "remove directory"])
    if kind == "damage":
        detail, content = damaged(random, read(path))
        replace(path, content)
        return f"{detail} of {name}", name
    if kind == "swap":
        other = random.choice(names)
        one, two = read(path), read(os.path.join(folder, other))
        replace(path, two)
        replace(os.path.join(folder, other), one)
        return f"swap of {name} and {other}", name
    if kind == "stray":
        form = random.choice(STRAY).format(os.path.basename(name))
        stray = os.path.join(os.path.dirname(path), form)
        if not os.path.lexists(stray):
            replace(stray, random.choice([read(path), b"", random.randbytes(3000)]))
        return f"stray {form!r} beside {name}", None
    if kind == "remove directory" and os.path.dirname(name):
        import shutil
        shutil.rmtree(os.path.dirname(path))
        return f"removal of the directory of {name}", name
    os.unlink(path)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        os.mkdir(path)
        if random.random() < 0.5:
            replace(os.path.join(path, "x"), b"x")
    elif kind == "link":
        os.symlink(os.path.join(folder, random.choice(names)), path)
    elif kind == "loop":
        os.symlink(path, path)
    elif kind == "device":
        os.symlink(random.choice(["/dev/zero", "/dev/random", "/dev/full"]), path)
    elif kind == "sparse":
        with open(path, "wb") as file:
            for size in (15 << 40, 15 << 36, 15 << 30):
                try:
                    file.truncate(size)
                    break
                except OSError:
                    continue
    elif kind == "socket":
        import socket
        with socket.socket(socket.AF_UNIX) as made:
            try:
                here = os.open(os.path.dirname(path), os.O_RDONLY)
                made.bind(f"/proc/self/fd/{here}/{os.path.basename(path)}")
                os.close(here)
            except OSError:
                pass
    return f"{kind} in place of {name}", name


# Documents whose hash, and code, are right.

def leaves(value, place=()):
    if isinstance(value, dict):
        for key in sorted(value):
            yield place + (key,)
            yield from leaves(value[key], place + (key,))
    elif isinstance(value, list):
        for index in range(min(len(value), 50)):
            yield place + (index,)
            yield from leaves(value[index], place + (index,))


def changed(random, value):
    """Changes some members of a JSON value."""
    done = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        places = list(leaves(value))
        if not places:
            break
        place = random.choice(places)
        holder = value
        for step in place[:-1]:
            holder = holder[step]
        old, kind = holder[place[-1]], random.random()
        if kind < 0.1:
            del holder[place[-1]]
            done.append(f"-{place}")
            continue
        if kind < 0.2:
            new = random.choice(NUMBERS + TEXTS + OTHERS)
        elif isinstance(old, bool):
            new = random.choice([not old, 0, "x"])
        elif isinstance(old, (int, float)):
            new = random.choice(NUMBERS + [old + 1, old - 1, old * 2])
        elif isinstance(old, str):
            new = random.choice(TEXTS + [old[:-1], old + "0", old.upper(), other_digit(random, old)])
        else:
            new = random.choice(OTHERS)
        # A copy: the next change may go into it.
        holder[place[-1]] = copy.deepcopy(new)
        done.append(f"{place}={str(new)[:30]!r}")
    return ", ".join(done)


def other_digit(random, text):
    if not text:
        return "0"
    place = random.randrange(len(text))
    return text[:place] + random.choice("0123456789abcdef") + text[place + 1:]


def dumped(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def sealed(body, key, payload=b""):
    line = body + b"\n"
    seal = b"sha256 " + hashlib.sha256(line).hexdigest().encode() + b"\n"
    if key:
        seal += b"hmac-sha256 " + hmac.new(key, line, hashlib.sha256).hexdigest().encode() + b"\n"
    return line + seal + payload


def parts(content):
    """The JSON of a sealed document, and what follows its seal."""
    lines = content.split(b"\n", 3)
    if len(lines) < 3:
        raise Nothing
    has_code = len(lines) > 3 and lines[2].startswith(b"hmac-sha256 ")
    payload = lines[3] if has_code else b"\n".join(lines[2:])
    return json.loads(lines[0]), payload


def resealed(random, folder, names, key):
    """A document that says something else, with its seal made again."""
    names = [name for name in names if name.startswith(("repository.json", "snapshots/", "segments/", "forgotten/", "verified/",
                                                        "doomed.json"))]
    if not names:
        raise Nothing
    name = random.choice(names)
    value, payload = parts(read(os.path.join(folder, name)))
    if random.random() < 0.15:
        body = dumped(value)
        what = random.choice(["utf8", "deep", "nan", "twice", "space", "bom", "utf16", "cut"])
        body = {
            "utf8": body.replace(b'"', b'"\xff\xfe', 1), "deep": b'{"x":' + b"[" * 500 + b"]" * 500 + b"," + body[1:],
            "nan": body[:-1] + b',"size":NaN}', "twice": body[:-1] + b"," + body[1:], "space": b" " * 3000 + body,
            "bom": b"\xef\xbb\xbf" + body, "utf16": body.decode().encode("utf-16"), "cut": body[:random.randrange(len(body))],
        }[what].replace(b"\n", b" ")
        replace(os.path.join(folder, name), sealed(body, key, payload))
        return f"{what} in {name}", name
    what = changed(random, value)
    if payload and random.random() < 0.5:
        # Frames as well, with the hash that the document has of them.
        detail, payload = damaged(random, payload)
        if random.random() < 0.7:
            value["payload_hash"] = hashlib.sha256(payload).hexdigest()
            value["payload_size"] = len(payload)
        what += f", {detail} of its payload"
    replace(os.path.join(folder, name), sealed(dumped(value), key, payload))
    return f"{what} in {name}", name


# Maps of blocks.

def node(level, entries):
    packs = list(dict.fromkeys(entry[0] for entry in entries))
    content = struct.pack(">BBHHH", level, 0, len(entries), len(packs), 0) + b"".join(map(bytes.fromhex, packs))
    for pack, position, digest in entries:
        content += struct.pack(">HI32s", packs.index(pack), position, bytes.fromhex(digest))
    return content


def mapped(random, reader, folder, template):
    """A manifest with a block map of our making; its nodes' hashes are right, but its shape or its entries are not."""
    name = random.choice([name for name in files(folder) if name.startswith("snapshots/")])
    manifest, _ = parts(read(os.path.join(folder, name)))
    repository = reader.Repository(folder, template.secret)
    root = manifest["root"]
    height, count = 1, -(-manifest["blocks"] // 32)
    while count > 1:
        height, count = height + 1, -(-count // 32)
    blocks = list(repository.leaves((root["pack"], root["offset"], root["hash"]), height - 1))
    kind = random.choice(["shared", "shared", "position", "pack", "hash", "order", "short", "long", "level", "cycle", "size"])
    pack = random.randbytes(16).hex()
    content = bytearray(b"LVtree\0\1" + bytes.fromhex(repository.id.hex()) + bytes.fromhex(pack) + bytes(24))

    def put(level, entries):
        made = node(level, entries)
        place = len(content)
        content.extend(made)
        return pack, place, hashlib.sha256(made).hexdigest()

    if kind == "shared":
        top, levels = put(0, (blocks * 32)[:32]), random.randint(2, 7)
        for level in range(1, levels + 1):
            top = put(level, [top] * 32)
        manifest["blocks"] = 32 ** (levels + 1) - random.choice([0, 0, 0, 1, 33])
        # Larger than any disk, or small enough to be written.
        manifest["size"] = manifest["blocks"] * 4096
        manifest["changed_blocks"] = 0
    else:
        index = random.randrange(len(blocks))
        name_of, position, digest = blocks[index]
        if kind == "position":
            blocks[index] = (name_of, random.choice([position + 1, 8191, 8192, 2**31, 2**32 - 1]), digest)
        elif kind == "pack":
            blocks[index] = (random.choice([pack, "0" * 32, "f" * 32]), position, digest)
        elif kind == "hash":
            blocks[index] = (name_of, position, hashlib.sha256(b"x").hexdigest())
        elif kind == "order":
            random.shuffle(blocks)
        level, row = 0, blocks
        while True:
            size = 31 if kind == "short" else 32
            told = level + 1 if kind == "level" and random.random() < 0.5 else level
            row = [put(told, row[start:start + size]) for start in range(0, len(row), size)]
            if len(row) == 1:
                break
            level += 1
        top = row[0]
        if kind == "long":
            top = put(level + 1, [top])
        if kind == "cycle":
            top = (pack, 64, top[2])
        if kind == "size":
            manifest["size"] = max(1, manifest["size"] + random.choice([-4096, 4096, -1, 1, -512]))
            manifest["blocks"] = -(-manifest["size"] // 4096)
            manifest["changed_blocks"] = min(manifest["changed_blocks"], manifest["blocks"])
    content += hashlib.sha256(content).digest()
    place = os.path.join(folder, "tree", pack[:2])
    os.makedirs(place, exist_ok=True)
    replace(os.path.join(place, pack), bytes(content))
    manifest["root"] = {"pack": top[0], "offset": top[1], "hash": top[2]}
    replace(os.path.join(folder, name), sealed(dumped(manifest), template.key))
    return f"a map with another {kind} in {name}", name


def rehashed(random, reader, folder):
    """A pack whose own hashes are right, but not its content."""
    name = random.choice([name for name in files(folder) if name.startswith(("data/", "tree/"))])
    content = bytearray(read(os.path.join(folder, name)))
    end = len(content) - 32
    for _ in range(random.randint(1, 4)):
        place = random.randrange(end)
        content[place] = random.randrange(256)
    if name.startswith("data/"):
        count = (len(content) - 96) // 4128
        table = 64 + count * 4096
        for index in range(count):
            block = content[64 + index * 4096:64 + (index + 1) * 4096]
            content[table + index * 32:table + (index + 1) * 32] = hashlib.sha256(block).digest()
        content[end:] = hashlib.sha256(content[:64] + content[table:end]).digest()
    else:
        content[end:] = hashlib.sha256(content[:end]).digest()
    replace(os.path.join(folder, name), bytes(content))
    return f"other content with right hashes in {name}", name
