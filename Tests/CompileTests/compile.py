"""The cases of Tests/CompileTests/run."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from compiler import compiler

HERE = pathlib.Path(sys.argv[1])
ROOT = HERE.parent.parent
TOOL = pathlib.Path(os.environ.get("LITEVAULT_TOOL", ROOT / ".build/debug/litevault"))
# Too much work for the solver, or more than one candidate: what a limit on scopes makes of an expression.
TOO_MUCH = re.compile(r"error: (the compiler is unable to type-check|reasonable time)")


COMPILER = compiler(TOOL)
CACHE = tempfile.TemporaryDirectory()


def errors(file, *more):
    """The lines of a file that the compiler refuses, with what it says first of each, and everything that it says."""
    command = [*COMPILER, "-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", CACHE.name]
    result = subprocess.run([*command, *more, str(file)], capture_output=True, text=True, timeout=300)
    lines = {}
    for number, text in re.findall(rf"{re.escape(str(file))}:(\d+):\d+: error: (.*)", result.stderr):
        lines.setdefault(int(number), text)
    if result.returncode != 0 and not lines:
        lines[0] = result.stderr.strip()[-500:] or f"the compiler ended with {result.returncode}"
    return lines


def accepted(file):
    found = errors(file)
    return "; ".join(f"line {line}: {text}" for line, text in sorted(found.items()))


def refused(file):
    marked = {n for n, line in enumerate(file.read_text().splitlines(), 1) if line.endswith("// refused")}
    if not marked:
        return "no line is marked"
    found = errors(file)
    problems = [f"line {line} compiles" for line in sorted(marked - set(found))]
    problems += [f"line {line} is refused: {found[line]}" for line in sorted(set(found) - marked)]
    return "; ".join(problems)


def exclusive(file):
    """Compiles with module SQLite, and is refused in each marked line with module LiteVault: for want of the call, then."""
    problem = accepted(file)
    if problem:
        return f"with SQLite: {problem}"
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / file.name
        other.write_text(file.read_text().replace("\nimport SQLite\n", "\nimport LiteVault\n"))
        problem = refused(other)
    return f"with LiteVault: {problem}" if problem else ""


def modules(client):
    """A library and a module that imports it beside SQLite: as SwiftPM compiles them, and as stricter projects do."""
    library = client.with_name("library.swift")
    for more in ([], ["-enable-upcoming-feature", "MemberImportVisibility"], ["-swift-version", "5"]):
        with tempfile.TemporaryDirectory() as folder:
            command = [
                *COMPILER, "-emit-module", "-parse-as-library", "-swift-version", "6", "-module-cache-path", CACHE.name, *more,
                "-module-name", "Library", "-emit-module-path", f"{folder}/Library.swiftmodule", str(library),
            ]
            result = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if result.returncode != 0:
                return f"the library {' '.join(more)}: {result.stderr.strip()[-500:]}"
            found = errors(client, "-I", folder, *more)
            if found:
                return " ".join(more) + "; ".join(f" line {line}: {text}" for line, text in sorted(found.items()))
    return ""


def scopes(file):
    found = re.match(r"// at most (\d+) scopes", file.read_text())
    if not found:
        sys.exit(f"{file} does not begin with `// at most N scopes`")
    return int(found[1])


def quick(file):
    found = errors(file, "-Xfrontend", f"-solver-scope-threshold={scopes(file)}")
    return "; ".join(f"line {line}: {text}" for line, text in sorted(found.items()))


def limit():
    """CI's builds limit the work for an expression in the modules of this package, and in no others."""
    file = next((HERE / "quick").glob("*.swift"))
    for module, is_limited in (("LiteVaultExample", True), ("ExampleTests", True), ("Example", False)):
        command = [
            str(ROOT / "ci/lib/lean-swiftc"), *COMPILER[1:], "-typecheck", "-parse-as-library", "-swift-version", "6",
            "-module-cache-path", CACHE.name, "-module-name", module, str(file),
        ]
        environment = {**os.environ, "LITEVAULT_SCOPES": "1"}
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        if bool(TOO_MUCH.search(result.stderr)) != is_limited or (result.returncode != 0) != is_limited:
            return f"{module}: {result.stderr.strip()[-500:] or 'compiles with one scope'}"
    return ""


def measure():
    for file in sorted((HERE / "quick").glob("*.swift")):
        low, high = 0, 1
        while errors(file, "-Xfrontend", f"-solver-scope-threshold={high}"):
            low, high = high, high * 2
        while high - low > max(1, high // 20):
            middle = (low + high) // 2
            if errors(file, "-Xfrontend", f"-solver-scope-threshold={middle}"):
                low = middle
            else:
                high = middle
        print(f"{high:7} of {scopes(file):7}  {file.stem}", flush=True)


def main():
    if "--measure" in sys.argv[2:]:
        measure()
        return 0
    passed = failed = 0
    for check in (accepted, refused, exclusive, quick):
        for file in sorted((HERE / check.__name__).glob("*.swift")):
            problem = check(file)
            if problem:
                failed += 1
                print(f"failed  {check.__name__}/{file.stem}: {problem}", flush=True)
            else:
                passed += 1
                print(f"passed  {check.__name__}/{file.stem}", flush=True)
    # hazard: H-DROP-02
    for name, problem in (("modules/client", modules(HERE / "modules" / "client.swift")), ("limit", limit())):
        print(f"failed  {name}: {problem}" if problem else f"passed  {name}", flush=True)
        passed, failed = (passed, failed + 1) if problem else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
