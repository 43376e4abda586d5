"""strace: counts system calls, makes the N-th of one kind fail or kill, and reads the log."""
import os
import re
import shutil
import subprocess

from .report import Skip

# What writes, and what makes durable or visible. `openat` and the like fail in tests of the library.
CALLS = ["write", "pwrite64", "writev", "ftruncate", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link",
         "linkat", "fchmod", "fchown"]
LINE = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+|\?)")


class Call:
    def __init__(self, match):
        self.pid = int(match["pid"])
        self.name = match["call"]
        self.arguments = match["arguments"]
        self.result = match["result"]

    @property
    def path(self):
        """The file behind the first descriptor, where the log decorates it (strace -y)."""
        found = re.match(r"\d+<([^>]*)>", self.arguments)
        return found[1] if found else ""

    @property
    def is_deleted(self):
        return re.match(r"\d+<[^>]*>\(deleted\)", self.arguments) is not None

    def quoted(self):
        return re.findall(r'"((?:[^"\\]|\\.)*)"', self.arguments)

    @property
    def touches_files(self):
        """Not a terminal, pipe or event descriptor: results and messages are another matter."""
        if self.path.startswith("/dev/"):
            return self.path.startswith("/dev/shm/")
        return self.path.startswith("/") if self.path else True


def require_strace():
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        raise Skip("strace may not trace here")


def trace(command, log, calls=CALLS, inject=None, extra=(), decorated=True, **rest):
    arguments = ["strace", "-f", *(["-y"] if decorated else []), "-q", "-o", log, "-e", "trace=" + ",".join(calls)]
    if inject:
        arguments += ["-e", "inject=" + inject]
    if not inject or "signal" not in inject:
        arguments += ["--seccomp-bpf"]  # Much faster, but does not deliver injected signals.
    rest.setdefault("timeout", 120)
    return subprocess.run(
        arguments + list(extra) + list(command), stdin=subprocess.DEVNULL, capture_output=True, **rest)


def read(log):
    if not os.path.exists(log):
        return []
    pending, calls = {}, []
    with open(log, errors="replace") as file:
        for line in file:
            # Calls of several threads are cut in two; put them together again, at the place where they ended.
            unfinished = re.match(r"^(\d+) +(.*) <unfinished \.\.\.>$", line.rstrip("\n"))
            if unfinished:
                pending[unfinished[1]] = unfinished[2]
                continue
            resumed = re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", line.rstrip("\n"))
            if resumed and resumed[1] in pending:
                line = f"{resumed[1]} {pending.pop(resumed[1])}{resumed[2]}"
            match = LINE.match(line)
            if match:
                calls.append(Call(match))
    return calls
