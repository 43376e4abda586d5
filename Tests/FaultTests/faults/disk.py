"""What a disk may hold after a power failure: a model of names and content, fed with the system calls of a run.

POSIX promises little: content is there once the file was synced, a name once its directory was. Before that any of the pending
changes may be there or not, in any combination; a rename within a directory is one change. So is what ext4 promises, and more.
"""
import os
import re

from .tracing import read as read_calls

CALLS = ["open", "openat", "creat", "mkdir", "mkdirat", "rmdir", "write", "pwrite64", "writev", "ftruncate", "fallocate", "lseek",
         "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "dup", "fcntl"]
OPTIONS = ["-xx", "-s", "4000000"]


def plain(text):
    return bytes(int(pair, 16) for pair in re.findall(r"\\x([0-9a-f]{2})", text))


class File:
    def __init__(self, content=b""):
        self.now = bytearray(content)
        self.synced = bytes(content)
        self.pending = []  # (offset, bytes) or (size, None)

    def change(self, offset, data):
        self.pending.append((offset, data))
        apply(self.now, offset, data)

    def sync(self):
        self.synced, self.pending = bytes(self.now), []

    def content(self, how):
        """`none` or `all` of the pending changes, or `sizes`: the file is as long as it should be, and what is new is zero."""
        found = bytearray(self.synced)
        for offset, data in self.pending:
            if how == "all" or data is None and how == "sizes":
                apply(found, offset, data)
            elif how == "sizes" and offset + len(data) > len(found):
                found.extend(bytes(offset + len(data) - len(found)))
        return bytes(found)


def apply(content, offset, data):
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset:offset + len(data)] = data


class Directory:
    def __init__(self):
        self.now, self.synced, self.pending = {}, {}, []  # pending: lists of (name, file or None)

    def change(self, *changes):
        self.pending.append(changes)
        self.now = changed(self.now, changes)

    def sync(self):
        self.synced, self.pending = dict(self.now), []


def changed(entries, changes):
    entries = dict(entries)
    for name, node in changes:
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node
    return entries


class Disk:
    """The directory `root` as it is, and then as a log of system calls changes it."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.top = self.load(self.root)
        self.files = {}  # descriptors: [node, position, appends, pid]

    def load(self, path):
        found = Directory()
        for name in os.listdir(path):
            below = os.path.join(path, name)
            if os.path.islink(below):
                continue
            if os.path.isdir(below):
                found.now[name] = self.load(below)
            elif os.path.isfile(below):
                with open(below, "rb") as file:
                    found.now[name] = File(file.read())
        found.sync()
        return found

    def place(self, base, path):
        """The directory of a path and its last name; None if it is elsewhere."""
        path = os.path.normpath(os.path.join(base, path))
        if path != self.root and not path.startswith(self.root + "/"):
            return None
        parts = [p for p in path[len(self.root):].split("/") if p]
        node = self.top
        for part in parts[:-1]:
            node = node.now.get(part)
            if not isinstance(node, Directory):
                return None
        return (node, parts[-1]) if parts else (None, "")

    def find(self, base, path):
        place = self.place(base, path)
        return None if place is None else self.top if place[0] is None else place[0].now.get(place[1])

    def replay(self, log, cwd):
        """Yields after each change of a name, each sync, and at the end."""
        where = {}  # descriptors of directories: their paths
        for call in read_calls(log):
            if call.result.startswith("-") or call.result == "?":
                continue
            if self.step(call, where, os.path.realpath(cwd)):
                yield call.name
        yield "end"

    def step(self, call, where, cwd):
        name, text, result = call.name, call.arguments, int(call.result)
        words = [plain(w).decode("utf-8", "surrogateescape") for w in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', text)] \
            if name not in ("write", "pwrite64", "writev") else []
        at = re.findall(r"(?:^|, )(AT_FDCWD|\d+), \"", text) if name.endswith(("at", "at2")) else []
        bases = [cwd if a == "AT_FDCWD" else where.get(int(a), cwd) for a in at] + [cwd, cwd]
        number = int(re.match(r"\d+", text)[0]) if re.match(r"\d+", text) else None
        if name in ("open", "openat", "creat"):
            self.files.pop(result, None)
            where.pop(result, None)
            path = os.path.normpath(os.path.join(bases[0], words[0]))
            place = self.place(bases[0], words[0])
            if place is None:
                return False
            node = self.find(bases[0], words[0])
            created = node is None and place[0] is not None and "O_CREAT" in text
            if created:
                node = File()
                place[0].change((place[1], node))
            if isinstance(node, Directory):
                where[result] = path
            elif "O_TRUNC" in text and node is not None:
                node.change(0, None)
            self.files[result] = [node, 0, "O_APPEND" in text]
            return created
        if name in ("dup", "fcntl"):
            if name == "dup" or "F_DUPFD" in text:
                self.files[result] = self.files.get(number)
                if number in where:
                    where[result] = where[number]
            return False
        if name in ("mkdir", "mkdirat"):
            place = self.place(bases[0], words[0])
            if place:
                place[0].change((place[1], Directory()))
            return bool(place)
        if name in ("unlink", "unlinkat", "rmdir"):
            place = self.place(bases[0], words[0])
            if place:
                place[0].change((place[1], None))
            return bool(place)
        if name.startswith(("rename", "link")):
            old, new = self.place(bases[0], words[0]), self.place(bases[1], words[1])
            node = self.find(bases[0], words[0])
            if node is None or new is None:
                return False
            moves = name.startswith("rename")
            if moves and old[0] is new[0]:
                old[0].change((old[1], None), (new[1], node))
            else:
                new[0].change((new[1], node))
                if moves:
                    old[0].change((old[1], None))
            return True
        entry = self.files.get(number)
        if not entry or entry[0] is None:
            return False
        node = entry[0]
        if name in ("fsync", "fdatasync"):
            node.sync()
            return True
        if isinstance(node, Directory):
            return False
        if name == "lseek":
            entry[1] = result
        elif name == "ftruncate":
            node.change(int(text.rsplit(", ", 1)[1]), None)
        elif name == "pwrite64":
            node.change(int(text.rsplit(", ", 1)[1]), plain(text)[:result])
        elif name in ("write", "writev"):
            offset = len(node.now) if entry[2] else entry[1]
            node.change(offset, plain(text)[:result])
            entry[1] = offset + result
        return False

    def states(self):
        """What the disk may hold now, as trees: names to bytes or trees. Bounded: single changes and prefixes, not all subsets."""
        pending = []

        def walk(node):
            pending.extend((node, number) for number in range(len(node.pending)))
            for below in {id(n): n for n in list(node.now.values()) + list(node.synced.values())}.values():
                if isinstance(below, Directory):
                    walk(below)
        walk(self.top)
        everything = set(range(len(pending)))
        chosen = {frozenset(), frozenset(everything)}
        for number in everything:
            chosen |= {frozenset([number]), frozenset(everything - {number}), frozenset(range(number))}
        for names in chosen:
            kept = {}
            for index in sorted(names):
                node, number = pending[index]
                kept.setdefault(id(node), set()).add(number)
            for how in ("none", "sizes", "all"):
                yield self.tree(self.top, kept, how)

    def tree(self, node, kept, how):
        if isinstance(node, File):
            return node.content(how)
        entries = node.synced
        for number in sorted(kept.get(id(node), ())):
            entries = changed(entries, node.pending[number])
        return {name: self.tree(below, kept, how) for name, below in entries.items()}


def store(tree, path):
    os.makedirs(path, mode=0o700, exist_ok=True)
    for name, below in tree.items():
        if isinstance(below, dict):
            store(below, os.path.join(path, name))
        else:
            descriptor = os.open(os.path.join(path, name), os.O_WRONLY | os.O_CREAT, 0o600)
            with open(descriptor, "wb") as file:
                file.write(below)
