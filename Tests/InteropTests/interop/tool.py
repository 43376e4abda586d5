"""The built `litevault`, run as a user runs it."""
import json
import os
import re
import subprocess
import tempfile


class Failure(Exception):
    """What a case failed with."""


class Run:
    def __init__(self, arguments, finished):
        self.arguments, self.status = arguments, finished.returncode
        self.output, self.errors = finished.stdout.decode(), finished.stderr.decode()

    def expect(self, *statuses):
        if self.status not in statuses:
            wanted = " or ".join(map(str, statuses))
            raise Failure(f"litevault {' '.join(self.arguments)}: status {self.status}, expected {wanted}: "
                          f"{self.errors.strip()[-300:]}")
        return self

    def json(self):
        return json.loads(self.output)

    def code(self):
        """The `code` of the failure, from standard error, every line of which has to be JSON."""
        lines = [json.loads(line) for line in self.errors.splitlines()]
        return lines[-1]["error"]["code"] if lines else None


class Tool:
    def __init__(self, path):
        self.path = path
        text = self.run("--version").expect(0).output.splitlines()[0]  # what the engine is; its defects follow
        found = re.search(r"SQLCipher (\d+)\.(\d+)\.(\d+)", text)
        self.text = text
        # None without encryption.
        self.sqlcipher = tuple(map(int, found.groups())) if found else None

    @property
    def format_4(self):
        return self.sqlcipher is not None and self.sqlcipher >= (4,)

    def run(self, *words, key=None, new_key=None, new_key_prefix="to-"):
        """Runs a command. Keys go through pipes; each of them fits into one."""
        arguments, pipes = [str(word) for word in words], []
        for prefix, given in (("", key), (new_key_prefix, new_key)):
            if given is None:
                continue
            reading, writing = os.pipe()
            os.write(writing, given.data + (b"" if given.form == "raw" else b"\n"))
            os.close(writing)
            pipes.append(reading)
            arguments += [f"--{prefix}key-fd", str(reading), f"--{prefix}key-format", given.form]
        try:
            finished = subprocess.run(
                [self.path] + arguments, pass_fds=pipes, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        finally:
            for pipe in pipes:
                os.close(pipe)
        return Run(arguments, finished)


def found_tool(root):
    """$LITEVAULT_TOOL, or what `swift build` of the default engine made."""
    path = os.environ.get("LITEVAULT_TOOL") or os.path.join(root, ".build/debug/litevault")
    if not os.access(path, os.X_OK):
        raise SystemExit(f"interop tests: {path} is not there; build it, or set LITEVAULT_TOOL")
    return os.path.abspath(path)


def scratch():
    return tempfile.TemporaryDirectory(prefix="litevault-interop-")
