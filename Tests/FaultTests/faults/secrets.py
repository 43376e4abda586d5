"""After every command no key is found in what the tool passed on, wrote, printed or left.

Watched: argument lists and environments of every process (strace of execve), every byte that the tool itself hands to
a write, its output, and all files afterwards. The key source itself is not held against the tool.
"""
import itertools
import os
import pty
import re
import subprocess
import threading

from . import judge, tracing
from .report import Failure, expect

PASSPHRASE = "Zyxw-correct-horse-9481"
OTHER_PASSPHRASE = "Qpon-battery-staple-7730"
RAW = bytes([0x9E, 0xC3, 0x41, 0x77, 0xD2, 0x05, 0xB8, 0x6F] * 4)
OTHER_RAW = bytes([0x8A, 0x12, 0xF3, 0x5C, 0xE1, 0x94, 0x2D, 0xB6] * 4)
SOURCES = ["file", "fd", "env", "command", "credential", "prompt"]
FORMATS = ["passphrase", "hex", "raw"]


def run(report, settings, engine, operations, directory):
    if engine.compatibility is None:
        report.note("secrets: the engine takes no keys")
        return
    tracing.require_strace()
    numbers = itertools.count()
    vaults = Vaults(settings, os.path.join(directory, "vaults"))
    cases = []
    for (command, takes), kind, source in itertools.product(COMMANDS.items(), FORMATS, SOURCES):
        if source == "prompt" and kind == "raw":
            continue  # 32 arbitrary bytes cannot be typed.
        if source != "file" and not settings.full and engine.compatibility != 4:
            continue  # The engine is given a key in the same way wherever the tool read it.
        for wrong in [False, True] if takes["wrong"] and kind != "raw" else [False]:
            name = f"{command}: no trace of a {'rejected ' if wrong else ''}{kind} key from {source}"
            cases.append((name, lambda c=command, t=takes, k=kind, s=source, w=wrong: Watch(
                settings, engine, vaults, os.path.join(directory, f"secret-{next(numbers)}"), c, t, k, s, w).run()))
    report.cases(cases)


# What each command is given. {new}: where the key options of the result go.
COMMANDS = {
    "encrypt": dict(arguments=["encrypt", "{plain}", "{dest}"], new=None, wrong=False),
    "encrypt --in-place": dict(arguments=["encrypt", "--in-place", "{plain}"], new=None, wrong=False),
    "decrypt": dict(arguments=["decrypt", "{vault}", "{dest}", "--yes"], new=None, wrong=True),
    "rekey": dict(arguments=["rekey", "{vault}"], new="new", wrong=True),
    "export": dict(arguments=["export", "{vault}", "{dest}"], new="to", wrong=True),
    "migrate": dict(arguments=["migrate", "{old}"], new=None, wrong=True),
    "info": dict(arguments=["info", "{vault}"], new=None, wrong=True, asks=["--key-prompt"]),
    "verify": dict(arguments=["verify", "{vault}"], new=None, wrong=True),
    "vacuum": dict(arguments=["vacuum", "{vault}"], new=None, wrong=False),
    "backup": dict(arguments=["backup", "{vault}", "{dest}"], new=None, wrong=False),
    "backup to another key": dict(arguments=["backup", "{vault}", "{dest}"], new="to", wrong=False),
}


class Vaults:
    """Encrypted databases by key and format, made once by the judge, with few iterations where the key allows it."""

    def __init__(self, settings, directory):
        os.makedirs(directory)
        self.directory = directory
        self.made = {}
        self.lock = threading.Lock()

    def copy(self, name, key, compatibility, path):
        with self.lock:
            wanted = (name, key, compatibility)
            if wanted not in self.made:
                self.made[wanted] = os.path.join(self.directory, f"{len(self.made)}.db")
                self.make(self.made[wanted], key, compatibility)
        with open(self.made[wanted], "rb") as source, open(path, "wb") as target:
            target.write(source.read())

    @staticmethod
    def make(path, key, compatibility):
        if key is None or isinstance(key, bytes):
            return judge.make(path, key, compatibility)
        connection = judge.sqlcipher3.connect(path, isolation_level=None)
        connection.execute("PRAGMA key = '%s'" % key)
        if compatibility != 4:
            connection.execute(f"PRAGMA cipher_compatibility = {compatibility}")
        connection.executescript(judge.SCHEMA)
        connection.close()


class Watch:
    def __init__(self, settings, engine, vaults, directory, command, takes, kind, source, wrong):
        self.settings, self.engine, self.vaults = settings, engine, vaults
        self.directory, self.command, self.takes = directory, command, takes
        self.kind, self.source, self.wrong = kind, source, wrong
        self.files = os.path.join(directory, "files")
        self.keys = os.path.join(directory, "keys")
        os.makedirs(self.files)
        os.makedirs(self.keys)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LITEVAULT")}
        if "KEYTABLE_LIBRARY" in os.environ:  # for the tool alone: ci/lib/keytable.c
            self.environment["LD_PRELOAD"] = os.environ["KEYTABLE_LIBRARY"]
        self.descriptors = []
        self.typed = b""

    def run(self):
        raw = self.kind != "passphrase"
        key, other = (RAW, OTHER_RAW) if raw else (PASSPHRASE, OTHER_PASSPHRASE)
        # A key is not changed to itself: that has an error of its own.
        new = other[::-1] if self.wrong else other
        paths = {n: os.path.join(self.files, n + ".db") for n in ["plain", "vault", "old", "dest"]}
        text = " ".join(self.takes["arguments"])
        if "{plain}" in text:
            self.vaults.copy("plain", None, 4, paths["plain"])
        if "{vault}" in text:
            self.vaults.copy("vault", key, self.engine.compatibility, paths["vault"])
        if "{old}" in text:
            self.vaults.copy("old", key, self.engine.older, paths["old"])
        arguments = [a.format(**paths) for a in self.takes["arguments"]]
        first = other if self.wrong else key
        arguments += self.options("", first)
        if self.takes["new"]:
            arguments += self.options(self.takes["new"] + "-", new)
        status, output, log = self.trace(arguments)
        if self.wrong:
            expect(status == 77, f"exit {status}: {output.decode(errors='replace')[:300]}")
        else:
            expect(status == 0, f"exit {status}: {output.decode(errors='replace')[:300]}")
        for name, forms in [("key", self.forms(key)), ("other key", self.forms(other)), ("new key", self.forms(new))]:
            self.search(output, forms, name, "the output")
            self.search_log(log, forms, name)
            self.search_files(forms, name)

    def options(self, prefix, key):
        """Puts the key where the tool shall find it, and returns the options that say so."""
        if self.kind == "raw":
            data = key
        elif self.kind == "hex":
            data = key.hex().encode() + b"\n"
        else:
            data = key.encode() + b"\n"
        name = f"{prefix}secret"
        path = os.path.join(self.keys, name)
        with open(path, "wb") as file:
            file.write(data)
        formatting = [f"--{prefix}key-format", self.kind]
        if self.source == "file":
            return [f"--{prefix}key-file", path] + formatting
        if self.source == "fd":
            self.descriptors.append(os.open(path, os.O_RDONLY))
            return [f"--{prefix}key-fd", str(self.descriptors[-1])] + formatting
        if self.source == "env" and self.kind != "raw":
            variable = "LV_SECRET_" + prefix.strip("-").upper()
            self.environment[variable] = data.decode().strip()
            return [f"--{prefix}key-env", variable] + formatting
        if self.source == "credential":
            self.environment["CREDENTIALS_DIRECTORY"] = self.keys
            return [f"--{prefix}key-credential", name] + formatting
        if self.source == "prompt":
            # Asked for once, or twice where it is a new one; too many answers do no harm.
            self.typed += data
            return formatting + self.takes.get("asks", [])
        return [f"--{prefix}key-command", f"cat '{path}'"] + formatting

    def trace(self, arguments):
        log = os.path.join(self.directory, "log")
        command = ["strace", "-f", "-q", "-xx", "-v", "-y", "-s", "300000", "--seccomp-bpf", "-o", log,
                   "-e", "trace=execve,write,pwrite64,writev,pwritev,sendto,sendmsg", self.settings.tool] + arguments
        if self.source == "prompt":
            return self.at_terminal(command, log)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
            env=self.environment, pass_fds=self.descriptors)
        for descriptor in self.descriptors:
            os.close(descriptor)
        return done.returncode, done.stdout, log

    def at_terminal(self, command, log):
        """Types each key when asked, and again when asked again."""
        parent, child = pty.openpty()
        process = subprocess.Popen(
            command, stdin=child, stdout=child, stderr=child, env=self.environment, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(child)
        answers = [line + b"\n" for line in self.typed.split(b"\n") if line]
        output, position, asked = b"", 0, 0
        while True:
            try:
                data = os.read(parent, 4096)
            except OSError:
                break
            if not data:
                break
            output += data
            # A prompt ends without a newline; the first key may be asked for twice when it is a new one.
            fresh = output[position:]
            if re.search(rb": ?$", fresh):
                again = re.search(rb"again|repeat|confirm", fresh.split(b"\n")[-1], re.I)
                if not again:
                    asked += 1
                os.write(parent, answers[min(asked, len(answers)) - 1])
                position = len(output)
        os.close(parent)
        return process.wait(120), output, log

    def forms(self, key):
        data = key if isinstance(key, bytes) else key.encode()
        return [data, data.hex().encode(), data.hex().upper().encode()]

    @staticmethod
    def search(data, forms, name, place):
        for form in forms:
            if form in data:
                raise Failure(f"the {name} is in {place}")

    def search_files(self, forms, name):
        for directory, _, names in os.walk(self.files):
            for file in names:
                with open(os.path.join(directory, file), "rb") as opened:
                    self.search(opened.read(), forms, name, file)

    def search_log(self, log, forms, name):
        patterns = ["".join(f"\\x{byte:02x}" for byte in form) for form in forms]
        tool, executed = set(), 0
        with open(log, errors="replace") as lines:
            for line in lines:
                pid, _, rest = line.partition(" ")
                rest = rest.lstrip()
                if rest.startswith("execve("):
                    executed += 1
                    # The first is the tool with the environment that the test gave it.
                    if executed == 1:
                        tool.add(pid)
                        continue
                    tool.discard(pid)
                    place = "what was passed to another process"
                elif pid in self.foreign(log):
                    continue
                else:
                    place = "a write of the tool"
                for pattern in patterns:
                    if pattern in rest:
                        raise Failure(f"the {name} is in {place}")
        expect(executed >= 1, "strace saw no execve")

    def foreign(self, log):
        """Processes that ran another program: the user's key command prints the key, as it should."""
        if not hasattr(self, "_foreign"):
            with open(log, errors="replace") as lines:
                pids = [line.split()[0] for line in lines if " execve(" in line]
            self._foreign = set(pids[1:]) - set(pids[:1])
        return self._foreign
