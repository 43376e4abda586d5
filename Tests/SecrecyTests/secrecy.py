"""What a process of the tool shows of its memory: nothing on standard error when it crashes, and no key once it is done
with it. Each search first finds something that was put there to be found. While a database is open the engine keeps the
key in its own memory, which this does not judge.
"""
# hazard: H-SEC-04 H-SEC-06
import fcntl
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TOOL = os.path.abspath(os.environ["LITEVAULT_TOOL"])
CRASHES = ["SEGV", "ILL", "TRAP", "BUS", "FPE", "ABRT", "QUIT"]
# Distinct bytes, so that no part of a key occurs by chance.
KEY = bytes((37 * index + 11) % 251 + 1 for index in range(32))
SALT = bytes((53 * index + 29) % 241 + 2 for index in range(16))
PASSPHRASE = b"Vqx7-passphrase-of-the-test-9Kzw"
PLANTED = b"planted-where-it-is-to-be-found"
NO_ENCRYPTION = 69


class Skip(Exception):
    pass


def full_pipe():
    """A pipe that nothing more can be written to."""
    output, entry = os.pipe()
    fcntl.fcntl(entry, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(entry, False)
    try:
        while True:
            os.write(entry, b"\n" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(entry, True)
    return output, entry


def drained(descriptor):
    parts = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts)


class Blocked:
    """The tool, as far as where it writes to a stream that is full."""

    def __init__(self, folder, words, stream, limits=None):
        self.output, entry = full_pipe()
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: entry}
        self.process = subprocess.Popen(
            [TOOL, *words], cwd=folder, stdin=subprocess.DEVNULL, **streams,
            # The default of the runtime is to print a backtrace; a user may ask for it as well.
            env=dict(os.environ, SWIFT_BACKTRACE="enable=yes,color=no,warnings=suppressed", PLANTED=PLANTED.decode()),
            preexec_fn=limits)
        os.close(entry)
        end = time.monotonic() + 240
        while not self.is_writing():
            if self.process.poll() is not None:
                raise AssertionError(f"ended with status {self.process.returncode}: {drained(self.output)[-400:]}")
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("never wrote anything")
            time.sleep(0.02)

    def is_writing(self):
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                words = (task / "syscall").read_text().split()
            except OSError:
                continue
            # write(2) or writev(2), by number.
            if words[0] in ({"x86_64": ("1", "20"), "aarch64": ("64", "66")}[os.uname().machine]):
                return True
        return False

    def found(self, needle):
        """The flags of each mapping that holds the bytes, by smaps of proc(5)."""
        result = []
        with open(f"/proc/{self.process.pid}/smaps") as table, open(f"/proc/{self.process.pid}/mem", "rb", 0) as memory:
            start = end = None
            for line in table:
                words = line.split()
                if "-" in words[0] and not words[0].endswith(":"):
                    start, end = (int(word, 16) for word in words[0].split("-"))
                    readable = words[1].startswith("r")
                elif words[0] == "VmFlags:" and readable:
                    try:
                        memory.seek(start)
                        if needle in memory.read(end - start):
                            result.append(words[1:])
                    except (OSError, ValueError, OverflowError):
                        continue
        return result

    def end(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        seen = drained(self.output)
        return self.process.wait(timeout=60), seen


def litevault(folder, *words):
    return subprocess.run([TOOL, *words], cwd=folder, capture_output=True)


SECRETS = {"the raw key": KEY, "its digits": KEY.hex().encode(), "its digits in capitals": KEY.hex().upper().encode(),
           "the passphrase": PASSPHRASE, "half of the raw key": KEY[:16], "key and salt": KEY[16:] + SALT}
KEYS = {
    "hex": ["--key-file", "hex.key", "--key-format", "hex"],
    "raw": ["--key-file", "raw.key", "--key-format", "raw"],
    "salted": ["--key-file", "salted.key", "--key-format", "raw"],
    "passphrase": ["--key-file", "pass.key"],
    "command": ["--key-command", "cat hex.key", "--key-format", "hex"],
}


def prepare(folder):
    for name, content in (("hex.key", KEY.hex().encode()), ("raw.key", KEY), ("salted.key", KEY + SALT),
                          ("pass.key", PASSPHRASE)):
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    link = sqlite3.connect(folder / "plain.db")
    link.execute("CREATE TABLE t(a)")
    link.executemany("INSERT INTO t VALUES (?)", [("x" * 900,)] * 4000)
    link.commit()
    link.close()
    for name in ("hex", "raw", "salted", "passphrase"):
        done = litevault(folder, "encrypt", "plain.db", f"{name}.db", *KEYS[name])
        if done.returncode == NO_ENCRYPTION:
            raise Skip("the linked engine does not encrypt")
        assert done.returncode == 0, done.stderr
    shutil.copy(folder / "hex.db", folder / "command.db")


def planted(folder):
    """The search finds planted bytes."""
    run = Blocked(folder, ["info", "hex.db", *KEYS["hex"], "--json"], "stdout")
    try:
        assert run.found(PLANTED), "what the environment holds was not found"
    finally:
        run.end()


def backtracer(folder):
    """Swift's runtime prints memory where nobody keeps it from doing so."""
    compiler = shutil.which("swiftc")
    if not compiler:
        raise Skip("no compiler")
    (folder / "planted.swift").write_text("""
        import Glibc
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
        for (index, byte) in "%s".utf8.enumerated() { bytes[index] = byte }
        // A register points to the bytes when it faults.
        memcpy(UnsafeMutableRawPointer(bitPattern: 64 + Int(CommandLine.argc))!, bytes, 64)
        """ % PLANTED.decode())
    subprocess.run([compiler, "-o", "planted", "planted.swift"], cwd=folder, check=True, capture_output=True)
    seen = subprocess.run(
        [folder / "planted"], capture_output=True, timeout=120,
        env=dict(os.environ, SWIFT_BACKTRACE="enable=yes,color=no,interactive=no,symbolicate=off,threads=crashed")).stderr
    if b"egisters" not in seen:
        raise Skip("the runtime has no backtracer here")
    assert PLANTED[:8].hex(" ").encode() in seen, seen[-2000:]


def crashed(folder, name, number):
    """In the middle of the work, with the database open: the pages are being authenticated."""
    run = Blocked(folder, ["verify", f"{name}.db", *KEYS[name], "--progress"], "stderr")
    assert any(run.found(secret) for secret in SECRETS.values()), "no key was in memory, so none could be shown"
    status, seen = run.end(getattr(signal, "SIG" + number))
    assert status == -getattr(signal, "SIG" + number), f"ended with status {status}"
    for word in (b"egisters", b"rax", b"Backtrace", b"Crashed"):
        assert word not in seen, seen[-2000:]
    for what, secret in SECRETS.items():
        assert secret not in seen and secret.hex().encode() not in seen and secret.hex(" ").encode() not in seen, what


def done(folder, name, command):
    """With the database closed, its key is nowhere."""
    run = Blocked(folder, [command, f"{name}.db", *KEYS[name], "--json"], "stdout")
    try:
        assert run.found(PLANTED)
        for what, secret in SECRETS.items():
            assert not run.found(secret), f"{what} is still in memory: {run.found(secret)}"
    finally:
        run.end()


def repository(folder):
    """The secret of a repository is used to the last byte, and is only in memory for keys."""
    words = ["--repository", "repository", "--repository-secret-file", "pass.key"]
    assert litevault(folder, "snapshot", "hex.db", *words).returncode == 0
    added = b"another-" + PASSPHRASE[::-1]
    with open(os.open(os.path.join(folder, "added.key"), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(added)
    for command in (["snapshots"], ["secret", "add", "--new-repository-secret-file", "added.key"], ["secret", "list"]):
        run = Blocked(folder, [*command, *words, "--json"], "stdout")
        try:
            for secret in (PASSPHRASE, added):
                for flags in run.found(secret):
                    assert "dd" in flags and "lo" in flags, f"{command}: {flags}"
        finally:
            run.end()
    assert litevault(folder, "snapshots", "--repository", "repository", "--repository-secret-file", "added.key").returncode == 0
    with open(os.path.join(folder, "repository/repository.json"), "rb") as file:
        stored = file.read()
    assert PASSPHRASE not in stored and added not in stored


def scarce(folder, limit):
    """With little memory that may be locked the tool works all the same, and locks what a key needs where it may."""
    run = Blocked(folder, ["verify", "hex.db", *KEYS["hex"], "--progress"], "stderr",
                  lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit)))
    try:
        assert any(run.found(secret) for secret in SECRETS.values())
    finally:
        run.end()
    done = subprocess.run(
        [TOOL, "verify", "hex.db", *KEYS["hex"]], cwd=folder, capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit)))
    assert done.returncode == 0, done.stderr


def cases():
    yield "what is in memory is found", planted, []
    yield "H-SEC-06 without precautions a crash prints memory", backtracer, []
    for number in CRASHES:
        yield f"H-SEC-06 SIG{number} shows no memory", crashed, ["hex", number]
    yield "H-SEC-06 a crash with a passphrase shows no memory", crashed, ["passphrase", "SEGV"]
    for name in KEYS:
        for command in ("info", "verify"):
            yield f"H-SEC-04 after {command} no key ({name}) is in memory", done, [name, command]
    yield "H-SEC-04 a repository's secret is in locked memory that is not dumped", repository, []
    for limit in (65536, 0):
        yield f"H-SEC-04 with {limit} bytes that may be locked the tool works", scarce, [limit]


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="litevault-secrecy-") as place:
        folder, reason = pathlib.Path(place), None
        os.environ.update(XDG_STATE_HOME=place + "/state", XDG_CACHE_HOME=place + "/cache")
        if sys.platform != "linux" or os.getuid() != 0:
            reason = "reading another process's memory takes Linux and root"
        try:
            if not reason:
                prepare(folder)
        except Skip as skip:
            reason = str(skip)
        if reason:
            print(f"skipped  all cases: {reason}")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        for name, case, arguments in cases():
            result, why = "passed", ""
            try:
                case(folder, *arguments)
            except Skip as skip:
                result, why = "skipped", f": {skip}"
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                result, why = "failed", f": {error}"
            counts[result] += 1
            print(f"{result}  {name}{why}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
