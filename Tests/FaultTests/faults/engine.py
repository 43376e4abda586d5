"""What the engine in the tool writes: found out by asking an engine that is not ours."""
import os
import subprocess
import tempfile

from . import judge


class Engine:
    """`compatibility`: the SQLCipher major version of new files, or None for an engine without encryption."""

    def __init__(self, tool):
        with tempfile.TemporaryDirectory(prefix="engine-") as directory:
            source, result, key = (os.path.join(directory, n) for n in ["source.db", "result.db", "key"])
            judge.make(source)
            with open(key, "w") as file:
                file.write(b"0123456789abcdef0123456789abcdef".hex())
            done = subprocess.run(
                [tool, "encrypt", source, result, "--key-file", key, "--key-format", "hex"],
                capture_output=True, text=True)
            if done.returncode == 69:
                self.compatibility = None
                return
            if done.returncode != 0:
                raise SystemExit(f"fault tests: a plain `encrypt` exits {done.returncode}: {done.stderr}")
            for version in [4, 3, 2, 1]:
                try:
                    judge.content(result, b"0123456789abcdef0123456789abcdef", version)
                    self.compatibility = version
                    return
                except judge.NotReadable:
                    pass
            raise SystemExit("fault tests: no judge can open what `encrypt` writes")

    @property
    def name(self):
        return f"SQLCipher {self.compatibility}" if self.compatibility else "SQLite without encryption"

    @property
    def older(self):
        """A file format that `migrate` has something to do for. With a raw key the formats 2 and 3 are the same."""
        return 3 if self.compatibility == 4 else 1
