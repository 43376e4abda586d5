"""Passphrases of keyrings that a person types on a terminal, and core dumps of a process that has one."""
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import termios

from faults import tracing
from faults.report import expect
from suites import Box, by, data, reader, write

GOOD, OTHER = "several random words 17", "quite another passphrase 4"


def terminal(box, answers, *words):
    """Runs the tool on a terminal, and types an answer at each prompt. Returns its status, output and how often it asked."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [box.tool, *words], cwd=box.path, stdin=child, stdout=child, stderr=child, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(child)
    output, seen, asked = b"", 0, 0
    while True:
        ready, _, _ = select.select([parent], [], [], 600)
        expect(ready, lambda: f"waits after {output[-200:]}")
        try:
            got = os.read(parent, 4096)
        except OSError:
            break
        if not got:
            break
        output += got
        if re.search(rb": ?$", output[seen:]):
            seen = len(output)
            answer = answers[asked] if asked < len(answers) else None
            asked += 1
            # The end of input, when it asks more often than a person would answer.
            os.write(parent, b"\x04" if answer is None else answer.encode() + b"\n")
    os.close(parent)
    return process.wait(600), output, asked


def prompts(report, settings, place):
    def box(name):
        own = Box(settings.tool, os.path.join(place, name)).prepare()
        return own

    def unechoed(output, *secrets):
        for secret in secrets:
            expect(secret.encode() not in output, lambda: f"the terminal shows what was typed: {output}")

    def init():
        own = box("init")
        status, output, asked = terminal(own, [GOOD, GOOD], "key", "init", "new")
        expect(status == 0 and asked == 2, f"exit {status}, asked {asked} times: {output}")
        unechoed(output, GOOD)
        expect(reader.unlock(data(own.file("new")), "passphrase", GOOD.encode()), "it does not open")
        status, output, asked = terminal(own, [GOOD], "key", "test", "new")
        expect(status == 0 and asked == 1, f"exit {status}, asked {asked} times: {output}")
        unechoed(output, GOOD)

    def differ():
        own = box("differ")
        for words in (["key", "init", "new"], ["encrypt", "plain.db", "new.db", "--new-keyring", "new"]):
            status, output, asked = terminal(own, [GOOD, OTHER], *words)
            expect(status == 77 and asked >= 2, f"{words}: exit {status}, asked {asked} times: {output}")
            unechoed(output, GOOD, OTHER)
            expect(not os.path.exists(own.file("new")) and not os.path.exists(own.file("new.db")), "created")

    def weak():
        own = box("weak")
        status, output, _ = terminal(own, ["short", "short"], "key", "init", "new")
        expect(status == 77 and not os.path.exists(own.file("new")), f"exit {status}: {output}")

    def change():
        own = box("change")
        write(own.file("p"), GOOD)
        own.run("key", "add", "keys", *by("a"), "--new-key-file", "p")
        before = data(own.file("keys"))
        status, output, asked = terminal(own, [GOOD, OTHER, GOOD], "key", "change", "keys", "3")
        expect(status == 77 and data(own.file("keys")) == before, f"exit {status}, asked {asked} times: {output}")
        # The passphrase that opens it once, the new one twice.
        status, output, asked = terminal(own, [GOOD, OTHER, OTHER], "key", "change", "keys", "3")
        expect(status == 0 and asked == 3, f"exit {status}, asked {asked} times: {output}")
        unechoed(output, GOOD, OTHER)
        expect(reader.unlock(data(own.file("keys")), "passphrase", OTHER.encode()), "it does not open")

    def no_core():
        """The limit is zero, and the process not dumpable, before the first byte of a secret is read."""
        tracing.require_strace()
        own = box("core")
        log = os.path.join(place, "core.log")
        for words in (["key", "test", "keys", *by("a")], ["verify", "vault.db", "--keyring", "keys", *by("a")],
                      ["key", "add", "keys", *by("a"), "--kind", "file", "--new-key-file", "c"]):
            done = subprocess.run(
                ["strace", "-f", "-q", "-o", log, "-e", "trace=prlimit64,setrlimit,prctl,openat", settings.tool, *words],
                cwd=own.path, capture_output=True, stdin=subprocess.DEVNULL)
            expect(done.returncode == 0, lambda: str(done.stderr))
            calls = data(log).decode()
            read = calls.index('"a"')
            limited = re.search(r"rlimit\w*\(.*RLIMIT_CORE, \{rlim_cur=0, rlim_max=0\}", calls)
            hidden = re.search(r"PR_SET_DUMPABLE, (0|SUID_DUMP_DISABLE)", calls)
            expect(limited and limited.start() < read, "the limit of core dumps")
            expect(hidden and hidden.start() < read, "the process is dumpable")

    def aborted():
        own = box("aborted")
        os.unlink(own.file("a"))
        os.mkfifo(own.file("a"), 0o600)
        process = subprocess.Popen(
            [settings.tool, "key", "test", "keys", *by("a")], cwd=own.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
            if resource.getrlimit(resource.RLIMIT_CORE)[1] in (-1, 1 << 30) else None)
        # It has opened the pipe, so that it is at the secret.
        with open(own.file("a"), "w") as file:
            file.write("half of a secret")
            file.flush()
            os.kill(process.pid, signal.SIGABRT)
            _, status = os.waitpid(process.pid, 0)
        process.returncode = -signal.SIGABRT
        expect(os.WIFSIGNALED(status) and not os.WCOREDUMP(status), f"status {status}")
        expect(not [name for name in os.listdir(own.path) if "core" in name], "a core dump")

    report.cases([
        ("a new passphrase is typed twice on a terminal, without an echo", init),
        ("two passphrases that differ create nothing", differ),
        ("a weak passphrase that is typed creates nothing", weak),
        ("a change asks for the old passphrase once and for the new one twice", change),
        ("core dumps are off before a secret is read", no_core),
        ("a process that is aborted with a secret leaves no core dump", aborted),
    ])
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place, exist_ok=True)
