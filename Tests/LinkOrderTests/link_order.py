"""The cases of Tests/LinkOrderTests/run."""
# hazard: H-LINK-01 H-LINK-02
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

BARE = r"""
#include <stdio.h>
#include <unistd.h>
typedef struct sqlite3 sqlite3;
int sqlite3_open(const char *, sqlite3 **);
int sqlite3_exec(sqlite3 *, const char *, void *, void *, void *);
int sqlite3_key(sqlite3 *, const void *, int);
int sqlite3_close(sqlite3 *);
int main(int count, char **words) {
    sqlite3 *db;
    if (sqlite3_open(words[2], &db)) return 2;
    int code = words[1][0] == 'f' ? sqlite3_key(db, "secret", 6) : sqlite3_exec(db, "PRAGMA key = 'secret'", 0, 0, 0);
    if (!code) code = sqlite3_exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES ('plain to see')", 0, 0, 0);
    sqlite3_close(db);
    return code;
}
"""


class Failure(Exception):
    pass


def require(truth, text):
    if not truth:
        raise Failure(text)


def run(*words, **how):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **how)


def libraries(program):
    """Base name -> path of the libraries that a program loads, in the order in which symbols are looked for."""
    lines = run("ldd", program).stdout
    return {name: path for name, path in re.findall(r"(lib\S+) => (/\S+)", lines)}


def first_of(found, name):
    return next((path for base, path in found.items() if base.startswith(name)), None)


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder = pathlib.Path(tool).resolve(), folder
        self.sqlcipher = first_of(libraries(tool), "libsqlcipher")
        self.sqlite = None
        cache = run("ldconfig", "-p").stdout or run("/sbin/ldconfig", "-p").stdout
        found = re.search(r"libsqlite3\.so\.0 \([^)]*x86-64[^)]*\) => (\S+)|libsqlite3\.so\.0 .*=> (\S+)", cache)
        if found:
            self.sqlite = found[1] or found[2]
        self.key = folder / "key"
        self.key.write_text("secret\n")
        self.source = folder / "plain.db"
        link = sqlite3.connect(self.source)
        link.executescript("CREATE TABLE t(a); INSERT INTO t VALUES ('plain to see');")
        link.close()
        self.cipher = folder / "cipher.db"
        if self.sqlcipher:
            require(self.litevault(self.tool, "encrypt", self.source, self.cipher).returncode == 0, "cannot prepare")

    def litevault(self, tool, *words, **how):
        return run(tool, *words, "--key-file", self.key, **how)

    def relinked(self, *order):
        """The tool, linked again with the libraries in this order."""
        objects = self.tool.parent / "litevault.product" / "Objects.LinkFileList"
        require(objects.exists(), f"{objects} is missing: the tool is not where it was built")
        result = self.folder / "litevault"
        made = run(
            os.environ.get("SWIFTC") or shutil.which("swiftc"), *order, "-L", pathlib.Path(self.sqlcipher).parent,
            "-Xlinker", f"-rpath={pathlib.Path(self.sqlcipher).parent}", "-emit-executable", "-module-name", "litevault",
            "-Xlinker", "--defsym", "-Xlinker", "main=LiteVaultTool_main", f"@{objects}", "-ldl", "-lstdc++", "-o", result)
        require(made.returncode == 0, f"linking failed: {made.stderr[-400:]}")
        return result

    def refuses(self, tool, **how):
        """Every command that would give a key says that there is no encryption, and touches nothing."""
        before = self.source.read_bytes(), self.cipher.read_bytes()
        names = set(os.listdir(self.folder))
        for words in (
                ("encrypt", self.source, self.folder / "new.db"), ("encrypt", self.source, "--in-place"),
                ("decrypt", self.cipher, self.folder / "new.db", "--yes"), ("verify", self.cipher),
                ("rekey", self.cipher, "--new-key-file", self.key), ("migrate", self.cipher),
                ("export", self.cipher, self.folder / "new.db"), ("backup", self.cipher, self.folder / "new.db"),
                ("vacuum", self.cipher), ("info", self.cipher)):
            done = self.litevault(tool, *words, "--json", **how)
            require(done.returncode == 69, f"{words[0]} ends with status {done.returncode}: {done.stderr[-200:]}")
            require('"no-encryption"' in done.stderr, f"{words[0]} says {done.stderr[-200:]}")
            require(before == (self.source.read_bytes(), self.cipher.read_bytes()), f"{words[0]} changed a file")
            require(set(os.listdir(self.folder)) == names, f"{words[0]} made a file")


def bare_engine(bench):
    """That the hazard is there when a program is linked like this: otherwise the other cases would show nothing."""
    (bench.folder / "bare.c").write_text(BARE)
    compiler = shutil.which("clang") or str(pathlib.Path(shutil.which("swiftc")).parent / "clang")
    program = bench.folder / "bare"
    made = run(compiler, bench.folder / "bare.c", "-o", program, bench.sqlite, bench.sqlcipher,
               f"-Wl,-rpath,{pathlib.Path(bench.sqlcipher).parent}")
    require(made.returncode == 0, f"compiling failed: {made.stderr[-400:]}")
    path = bench.folder / "bare.db"
    require(run(program, "pragma", path).returncode == 0, "the PRAGMA fails")
    require(b"plain to see" in path.read_bytes(), "the PRAGMA encrypts")
    # What the function does with a structure of the other library is undefined: mostly it crashes, now and then it writes plaintext.
    for _ in range(20):
        path.unlink(missing_ok=True)
        if run(program, "function", path).returncode != 0 or b"plain to see" in path.read_bytes():
            return
    raise Failure("sqlite3_key works")


def wrong_order(bench):
    tool = bench.relinked(bench.sqlite, bench.sqlcipher)
    order = list(libraries(tool))
    at = [next((index for index, name in enumerate(order) if name.startswith(base)), -1)
          for base in ("libsqlite3", "libsqlcipher")]
    require(0 <= at[0] < at[1], f"not linked in the wrong order: {order}")
    bench.refuses(tool)


def right_order(bench):
    tool = bench.relinked(bench.sqlcipher, bench.sqlite)
    require(first_of(libraries(tool), "libsqlite3"), "libsqlite3 is not linked at all")
    done = bench.litevault(tool, "verify", bench.cipher)
    require(done.returncode == 0, f"verify: {done.stderr[-200:]}")


def preloaded(bench):
    bench.refuses(bench.tool, env={**os.environ, "LD_PRELOAD": bench.sqlite})


def no_encryption(bench):
    bench.cipher.write_bytes(os.urandom(8192))
    bench.refuses(bench.tool)


ENCRYPTING = {
    "the bare engine writes plaintext or crashes": bare_engine,
    "libsqlite3 linked first: refused before a key is given": wrong_order,
    "libsqlite3 linked second: works": right_order,
    "libsqlite3 preloaded: refused before a key is given": preloaded,
}
PLAIN = {"an engine without encryption: refused before a file is made": no_encryption}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tool = os.environ.get("LITEVAULT_TOOL") or root / ".build/debug/litevault"
    if not os.access(tool, os.X_OK):
        sys.exit(f"link order tests: {tool} is not there; build it, or set LITEVAULT_TOOL")
    cases = ENCRYPTING if first_of(libraries(tool), "libsqlcipher") else PLAIN
    counts = {"passed": 0, "failed": 0}
    for name, case in cases.items():
        detail = ""
        with tempfile.TemporaryDirectory(prefix="litevault-link-") as folder:
            try:
                case(Bench(tool, pathlib.Path(folder)))
                outcome = "passed"
            except Failure as failure:
                outcome, detail = "failed", ": " + " ".join(str(failure).split())
        counts[outcome] += 1
        print(f"{outcome}  {name}{detail}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


sys.exit(main())
