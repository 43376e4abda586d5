"""The symbol graphs of this package's libraries, read from the debug build: what `import MODULE` gives its users.

The compiler's flags are those of the last debug build (`swift build`), read from its manifest, so that every module map
and include directory is found however the package is built. Nothing is compiled. Used by ci/house and ci/docs.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "Sources"
# The library products, and the module whose symbols each shows.
PRODUCTS = ["LiteVault", "LiteVaultBackup", "LiteVaultStoreTesting", "LiteVaultBackupService", "LiteVaultObjectStore", "LiteVaultKeyring", "SQLite"]


def tool(name):
    """A program of the toolchain: beside the compiler, or on the PATH."""
    swift = shutil.which(os.environ.get("SWIFT", "swift"))
    beside = pathlib.Path(os.path.realpath(swift)).parent / name if swift else None
    found = str(beside) if beside and beside.exists() else shutil.which(name)
    if not found:  # a wrapper named swift is first on the PATH
        target = subprocess.run([swift, "-print-target-info"], capture_output=True, text=True, check=True)
        runtime = pathlib.Path(json.loads(target.stdout)["paths"]["runtimeResourcePath"])
        found = str(runtime.parent.parent / "bin" / name)
    return found


def reexported(module):
    """The modules of this package whose names `import MODULE` brings along, MODULE first."""
    names = [module]
    for name in names:
        for source in sorted((SOURCES / name).rglob("*.swift")):
            for other in re.findall(r"^@_exported public import (\w+)", source.read_text(encoding="utf-8"), re.M):
                if other not in names and (SOURCES / other).is_dir() and any((SOURCES / other).rglob("*.swift")):
                    names.append(other)
    return names


def _commands():
    """How the last debug build called the compiler: its arguments, by module."""
    manifest = ROOT / ".build/debug.yaml"
    if not manifest.exists():
        sys.exit("there is no debug build: run 'swift build' first")
    commands = {}
    for line in manifest.read_text(encoding="utf-8").split("\n"):
        if line.startswith("    args: [") and '"-module-name"' in line and '"-emit-module-path"' in line:
            arguments = json.loads(line.split("args: ", 1)[1])
            commands[arguments[arguments.index("-module-name") + 1]] = arguments
    return commands


def _search_paths(arguments):
    """Of a call of the compiler, what says where modules are."""
    kept, words = [], iter(arguments)
    for word in words:
        if word in ("-I", "-target", "-sdk", "-F"):
            kept += [word, next(words)]
        elif word == "-Xcc":
            argument = next(words)
            if argument not in ("-fPIC", "-g", "-fno-omit-frame-pointer"):
                kept += [word, argument]
        elif word.startswith("-I") and len(word) > 2:
            kept += ["-I", word[2:]]
    return kept


def _extract(module, others, directory, commands):
    if module not in commands:
        sys.exit(f"the debug build has no module {module}: run 'swift build' first")
    directory.mkdir(parents=True, exist_ok=True)
    command = [tool("swift-symbolgraph-extract"), "-module-name", module, "-minimum-access-level", "public"]
    command += ["-skip-synthesized-members", "-emit-extension-block-symbols", "-output-dir", str(directory)]
    if others:
        command.append("-experimental-allowed-reexported-modules=" + ",".join(others))
    done = subprocess.run(command + _search_paths(commands[module]), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"no symbol graph of {module}: {done.stderr[-2000:]}")
    return directory


def extract(directory, products=PRODUCTS):
    """Writes DIRECTORY/PRODUCT/*.symbols.json for each product, and returns these directories by product."""
    commands, shown, jobs = _commands(), set(), {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for product in products:  # what two of them export, as the operators, is shown by the first
            others = [name for name in reexported(product)[1:] if name not in shown]
            shown.update(others)
            jobs[product] = pool.submit(_extract, product, others, directory / product, commands)
        return {product: job.result() for product, job in jobs.items()}
